/*
 * Maintains queue states. One record per queue name holds the number of its PodGroups and the
 * action requested by a Command.
 */
#include "node/scheduler/queue_state.h"

#include <string.h>

#include "api/types/kinds/command.h"
#include "api/types/kinds/scheduling/podgroup.h"
#include "api/types/kinds/scheduling/queue.h"
#include "base/collections/hash.h"
#include "base/log.h"
#include "base/loop/metrics.h"
#include "base/loop/workq.h"

#define ANNOTATION_CLOSED_BY_PARENT "volcano.sh/closed-by-parent"
#define COMPONENT                   "vc-controller-manager"

struct record {
    UT_hash_handle hh; /* links the records in a hash table by name of the queue */
    struct queue_states *states;
    char *name;
    int64_t groups;
    struct metric *by_phase[PODGROUP_PHASE_N]; /* metrics of the number of PodGroups by phase; NULL:
                                                * not counted */
    enum queue_action asked; /* the action that is requested and not in the state yet */
    struct work work;
    struct cluster_call call;
    bool writing;
};

/* clang-format off */
static const struct metric_def phase_defs[PODGROUP_PHASE_N] = {
    [PODGROUP_PENDING]   = {"volcano_queue_pod_group_pending_count",   "Pending PodGroups of a queue.",
                            METRIC_GAUGE, .labels = {"queue_name"}},
    [PODGROUP_RUNNING]   = {"volcano_queue_pod_group_running_count",   "Running PodGroups of a queue.",
                            METRIC_GAUGE, .labels = {"queue_name"}},
    [PODGROUP_UNKNOWN]   = {"volcano_queue_pod_group_unknown_count",   "Unknown PodGroups of a queue.",
                            METRIC_GAUGE, .labels = {"queue_name"}},
    [PODGROUP_INQUEUE]   = {"volcano_queue_pod_group_inqueue_count",   "Inqueue PodGroups of a queue.",
                            METRIC_GAUGE, .labels = {"queue_name"}},
    [PODGROUP_COMPLETED] = {"volcano_queue_pod_group_completed_count", "Completed PodGroups of a queue.",
                            METRIC_GAUGE, .labels = {"queue_name"}},
};
/* clang-format on */

struct queue_states {
    struct cluster *cluster;
    struct record *records;
    struct cluster_watcher queue_watcher, group_watcher, command_watcher;
    size_t calls;
    bool stopped;
};

enum after { STAYS, OPENS, CLOSES, CLOSES_LATER };

/* clang-format off */
static const enum after rules[QUEUE_STATE_N][QUEUE_ACTION_N] = {
    /*                  sync          OpenQueue  CloseQueue */
    [QUEUE_NONE]    = {OPENS,        OPENS,     CLOSES},
    [QUEUE_OPEN]    = {OPENS,        OPENS,     CLOSES},
    [QUEUE_CLOSING] = {CLOSES_LATER, OPENS,     CLOSES},
    [QUEUE_CLOSED]  = {STAYS,        OPENS,     STAYS},
    [QUEUE_UNKNOWN] = {STAYS,        OPENS,     CLOSES},
};
/* clang-format on */

enum queue_state queue_state_decide(enum queue_state state, enum queue_action action,
                                    bool has_groups)
{
    switch (rules[state][action]) {
    case OPENS:
        return QUEUE_OPEN;
    case CLOSES:
    case CLOSES_LATER:
        return has_groups ? QUEUE_CLOSING : QUEUE_CLOSED;
    case STAYS:
        break;
    }
    return state;
}

#define QUEUE_TEXT(name, text) text,
static const char *const state_texts[] = {QUEUE_STATES(QUEUE_TEXT)};
#undef QUEUE_TEXT

static enum queue_state state_of(const struct object *queue)
{
    const char *text = queue_state_of(queue);

    for (size_t i = 0; i < countof(state_texts); i++)
        if (strcmp(text, state_texts[i]) == 0)
            return (enum queue_state)i;
    return QUEUE_UNKNOWN;
}

static struct record *record_named(struct queue_states *states, const char *name);
static void sync_queue(struct work *work);

static struct metric_family *gauge_of(struct queue_states *states, enum podgroup_phase phase)
{
    return phase_defs[phase].name
               ? metrics_family(loop_metrics(states->cluster->loop), &phase_defs[phase])
               : NULL;
}

static void record_free(struct record *record)
{
    struct queue_states *states = record->states;

    for (int phase = 0; phase < PODGROUP_PHASE_N; phase++)
        if (record->by_phase[phase])
            metric_drop(gauge_of(states, (enum podgroup_phase)phase),
                        (const char *const[]){record->name});
    HASH_DELETE(hh, states->records, record);
    work_stop(&record->work);
    mem_free(record->name);
    mem_free(record);
}

static void release(struct queue_states *states)
{
    struct record *record, *next;

    HASH_ITER(hh, states->records, record, next)
    record_free(record);
    mem_free(states);
}

/* Ends a write. The record is then checked again for more work. */
static void written(struct cluster_call *call, const struct object *result, const struct error *err)
{
    struct record *record = container_of(call, struct record, call);
    struct queue_states *states = record->states;

    record->writing = false;
    states->calls--;
    if (states->stopped) {
        if (!states->calls)
            release(states);
        return;
    }
    if (err && err->code != ERR_NOT_FOUND) {
        work_add_backoff(&record->work);
        return;
    }
    work_forget(&record->work);
    work_add(&record->work);
}

static void begin_call(struct record *record)
{
    record->writing = true;
    record->call.done = written;
    record->states->calls++;
}

static void write_state(struct record *record, const struct object *queue, enum queue_state state)
{
    scoped(json) json_t *status = object_status_json(queue);
    char *text;

    json_object_set_new(status, "state", json_string(state_texts[state]));
    text = json_dumps(status, JSON_COMPACT);
    begin_call(record);
    log_info("queue state changed", kv_str("queue", record->name),
             kv_str("from", queue_state_of(queue)), kv_str("to", state_texts[state]));
    cluster_update_status(record->states->cluster, &record->call, queue,
                          blob_new(text, strlen(text)));
    mem_free(text);
}

static void write_annotation(struct record *record, const struct object *queue, const char *value)
{
    struct meta draft = *queue->meta;
    struct kv *annotations = mem_array(draft.n_annotations + 1, sizeof *annotations);
    uint32_t n = 0;

    for (uint32_t i = 0; i < draft.n_annotations; i++)
        if (strcmp(draft.annotations[i].key, ANNOTATION_CLOSED_BY_PARENT) != 0)
            annotations[n++] = draft.annotations[i];
    annotations[n++] = (struct kv){ANNOTATION_CLOSED_BY_PARENT, value};
    draft.annotations = annotations;
    draft.n_annotations = n;
    begin_call(record);
    cluster_update(record->states->cluster, &record->call,
                   object_with_meta(queue, meta_new(&draft)));
    mem_free(annotations);
}

static void write_parent(struct record *record, const struct object *queue)
{
    scoped(json) json_t *body = object_body_json(queue);
    json_t *spec = json_object_get(body, "spec");

    if (!spec) {
        spec = json_object();
        json_object_set_new(body, "spec", spec);
    }
    json_object_set_new(spec, "parent", json_string("root"));
    begin_call(record);
    cluster_update(record->states->cluster, &record->call,
                   object_with_body(queue, object_body_from_json(body)));
}

static bool is_root(const struct record *record)
{
    return strcmp(record->name, "root") == 0;
}

static bool closed_by_parent(const struct object *queue)
{
    const char *value = meta_annotation(queue->meta, ANNOTATION_CLOSED_BY_PARENT);

    return value && strcmp(value, "true") == 0;
}

static bool is_shut(enum queue_state state)
{
    return state == QUEUE_CLOSING || state == QUEUE_CLOSED;
}

static const struct object *parent_of(struct record *record, const struct object *queue)
{
    const char *parent = queue_spec_of(queue)->parent;

    if (is_root(record) || !parent || !*parent || strcmp(parent, "root") == 0)
        return NULL;
    return cluster_get(record->states->cluster, &kind_queue, "", parent);
}

/* Determines the action to take, given the parent's state. Returns false if an annotation must be
 * written first. */
static bool consider_parent(struct record *record, const struct object *queue,
                            enum queue_action *action)
{
    const struct object *parent = parent_of(record, queue);
    enum queue_state own = state_of(queue);

    if (!parent)
        return true;
    if (is_shut(state_of(parent))) {
        if (*action == QUEUE_DO_OPEN) {
            cluster_event(record->states->cluster, queue, EVENT_WARNING, "OpenQueue", COMPONENT,
                          "queue %s stays closed: its parent %s is not open", record->name,
                          object_name(parent));
            record->asked = *action = QUEUE_SYNC;
        }
        if (!is_shut(own) && !closed_by_parent(queue)) {
            write_annotation(record, queue, "true");
            return false;
        }
        if (!is_shut(own))
            *action = QUEUE_DO_CLOSE;
    } else if (is_shut(own) && closed_by_parent(queue) && *action == QUEUE_SYNC) {
        *action = QUEUE_DO_OPEN;
    }
    return true;
}

static void sync_queue(struct work *work)
{
    struct record *record = container_of(work, struct record, work);
    const struct object *queue =
        cluster_get(record->states->cluster, &kind_queue, "", record->name);
    enum queue_action action = record->asked;
    enum queue_state now, next;

    if (!queue && !record->writing && !record->groups)
        record_free(record); /* names of queues that are gone take no memory */
    if (!queue || record->writing)
        return;
    if (!is_root(record) && (!queue_spec_of(queue)->parent || !*queue_spec_of(queue)->parent)) {
        write_parent(record, queue);
        return;
    }
    if (is_root(record) && action == QUEUE_DO_CLOSE)
        action = record->asked = QUEUE_SYNC;
    if (!consider_parent(record, queue, &action))
        return;
    now = state_of(queue);
    next = queue_state_decide(now, action, record->groups > 0);
    record->asked = QUEUE_SYNC;
    if (next != now) {
        if (action == QUEUE_DO_CLOSE)
            cluster_event(record->states->cluster, queue, EVENT_NORMAL, "CloseQueue", COMPONENT,
                          "queue %s takes no new work", record->name);
        write_state(record, queue, next);
    } else if (now == QUEUE_OPEN && closed_by_parent(queue)) {
        write_annotation(record, queue, "false");
    }
}

static struct record *record_named(struct queue_states *states, const char *name)
{
    struct record *record;

    if (!name || !*name)
        name = "default";
    HASH_FIND(hh, states->records, name, strlen(name), record);
    if (record)
        return record;
    record = mem_alloc(sizeof *record);
    record->states = states;
    record->name = mem_strdup(name);
    for (int phase = 0; phase < PODGROUP_PHASE_N; phase++) {
        struct metric_family *gauge = gauge_of(states, (enum podgroup_phase)phase);

        record->by_phase[phase] = gauge ? metric_of(gauge, (const char *const[]){name}) : NULL;
    }
    work_init(&record->work, states->cluster->loop, sync_queue);
    HASH_ADD_KEYPTR(hh, states->records, record->name, strlen(record->name), record);
    return record;
}

static void queue_changed(struct cluster_watcher *watcher, enum cluster_change change,
                          const struct object *old, const struct object *object)
{
    struct queue_states *states = container_of(watcher, struct queue_states, queue_watcher);
    struct record *record, *next;

    record_named(states, object_name(object));
    /* child queues depend on the state of their parent */
    HASH_ITER(hh, states->records, record, next)
    {
        const struct object *queue = cluster_get(states->cluster, &kind_queue, "", record->name);
        const char *parent = queue ? queue_spec_of(queue)->parent : NULL;

        if (strcmp(record->name, object_name(object)) == 0 ||
            (parent && strcmp(parent, object_name(object)) == 0))
            work_add(&record->work);
    }
}

/* Counts a group in its queue. Decisions need only the number of groups, for a queue that is
 * Closing; counts by phase are metrics. A new group without a phase counts as Pending. */
static struct record *count_group(struct queue_states *states, const struct object *group, int by)
{
    struct record *record = record_named(states, podgroup_spec_of(group)->queue);
    enum podgroup_phase phase = podgroup_status_of(group)->phase;
    struct metric *gauge = record->by_phase[phase == PODGROUP_NONE ? PODGROUP_PENDING : phase];

    if (gauge)
        metric_add(gauge, by);
    record->groups += by;
    return record;
}

static void group_changed(struct cluster_watcher *watcher, enum cluster_change change,
                          const struct object *old, const struct object *object)
{
    struct queue_states *states = container_of(watcher, struct queue_states, group_watcher);
    struct record *left = NULL;

    if (change == CHANGE_MODIFIED && old->status == object->status && old->body == object->body)
        return;
    if (change != CHANGE_ADDED)
        left = count_group(states, change == CHANGE_DELETED ? object : old, -1);
    if (change != CHANGE_DELETED)
        count_group(states, object, 1);
    if (left && !left->groups)
        work_add(&left->work);
}

static const struct {
    const char *name;
    enum queue_action action;
} actions[] = {{"OpenQueue", QUEUE_DO_OPEN}, {"CloseQueue", QUEUE_DO_CLOSE}};

static bool is_meant(const struct command *command, const struct object *queue)
{
    return !command->target.uid || !*command->target.uid ||
           strcmp(command->target.uid, object_uid(queue)) == 0;
}

/* Returns what the command asks of the queue; QUEUE_SYNC: nothing that can be done. */
static enum queue_action action_of(const struct command *command, const struct object *queue)
{
    for (size_t i = 0; queue && is_meant(command, queue) && i < countof(actions); i++)
        if (command->action && strcmp(command->action, actions[i].name) == 0)
            return actions[i].action;
    return QUEUE_SYNC;
}

static void command_changed(struct cluster_watcher *watcher, enum cluster_change change,
                            const struct object *old, const struct object *object)
{
    struct queue_states *states = container_of(watcher, struct queue_states, command_watcher);
    const struct command *command = command_of(object);
    enum queue_action asked;
    struct record *record;

    if (change != CHANGE_ADDED || object_deleting(object) || !command->target.kind ||
        strcmp(command->target.kind, kind_queue.name) != 0 || !command->target.name)
        return;
    asked = action_of(command, cluster_get(states->cluster, &kind_queue, "", command->target.name));
    if (asked == QUEUE_SYNC) {
        cluster_event(states->cluster, object, EVENT_WARNING, "CommandRejected", COMPONENT,
                      "%s of queue %s: no such queue, or no such action", command->action,
                      command->target.name);
    } else {
        record = record_named(states, command->target.name);
        record->asked = asked;
        work_add(&record->work);
    }
    cluster_remove(states->cluster, NULL, &kind_command, object_namespace(object),
                   object_name(object),
                   &(struct cluster_removal){.uid = object_uid(object), .grace_s = -1});
}

static void watch(struct queue_states *states, struct cluster_watcher *watcher,
                  const struct kind *kind,
                  void (*changed)(struct cluster_watcher *, enum cluster_change,
                                  const struct object *, const struct object *))
{
    watcher->kind = kind;
    watcher->changed = changed;
    cluster_watch(states->cluster, watcher);
}

struct queue_states *queue_states_start(struct cluster *cluster)
{
    struct queue_states *states = mem_alloc(sizeof *states);

    states->cluster = cluster;
    watch(states, &states->group_watcher, &kind_pod_group, group_changed);
    watch(states, &states->queue_watcher, &kind_queue, queue_changed);
    watch(states, &states->command_watcher, &kind_command, command_changed);
    return states;
}

void queue_states_stop(struct queue_states *states)
{
    struct record *record, *next;

    if (!states)
        return;
    cluster_unwatch(states->cluster, &states->queue_watcher);
    cluster_unwatch(states->cluster, &states->group_watcher);
    cluster_unwatch(states->cluster, &states->command_watcher);
    HASH_ITER(hh, states->records, record, next)
    work_stop(&record->work);
    states->stopped = true;
    if (!states->calls)
        release(states);
}
