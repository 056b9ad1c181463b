/*
 * Creates the PodGroup of a plain pod, then annotates the pod with its name. One record is kept per
 * pod that has no group yet.
 */
#include "node/scheduler/podgroup_controller.h"

#include <stdlib.h>
#include <string.h>

#include "api/types/kind.h"
#include "api/types/kinds/pod/pod.h"
#include "api/types/kinds/scheduling/podgroup.h"
#include "api/types/text/quantity.h"
#include "base/collections/hash.h"
#include "base/loop/workq.h"
#include "base/mem.h"
#include "node/scheduler/internal.h"

#define ANNOTATION_MIN_MEMBER "scheduling.volcano.sh/group-min-member"
#define ANNOTATION_QUEUE      "scheduling.volcano.sh/queue-name"

enum { RESOURCES_MAX = 16 };

struct plain_pod {
    UT_hash_handle hh; /* links the records in a hash table by uid of the pod */
    struct plain_groups *groups;
    struct meta *meta;
    struct work work;
    struct cluster_call call;
    bool writing, gone;
};

struct plain_groups {
    struct cluster *cluster;
    struct plain_pod *pods;
    struct cluster_watcher watcher;
    size_t calls;
    bool stopped;
};

bool pod_wants_group(const struct object *pod)
{
    const struct pod_spec *spec = pod_spec_of(pod);
    const char *group;

    if (!spec->scheduler_name || strcmp(spec->scheduler_name, SCHEDULER_NAME) != 0)
        return false;
    group = meta_annotation(pod->meta, ANNOTATION_GROUP_NAME);
    return (!group || !*group) && (!spec->node_name || !*spec->node_name) &&
           pod_status_phase(pod) == POD_PENDING;
}

/* Collects the resources that the group asks for. */

struct resource_list {
    const struct pod_spec *spec;
    int32_t times;
    struct str_pair items[RESOURCES_MAX];
    char values[RESOURCES_MAX][QUANTITY_TEXT_MAX];
    size_t count;
};

static void add_resource(void *arg, const char *name)
{
    struct resource_list *list = arg;
    bool is_cpu = strcmp(name, "cpu") == 0, is_memory = strcmp(name, "memory") == 0;
    quantity_nano value = is_cpu ? (quantity_nano)pod_spec_requests(list->spec).cpu_milli * 1000000
                                 : (quantity_nano)pod_spec_request(list->spec, name) * 1000000000;

    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].key, name) == 0)
            return;
    if (list->count == RESOURCES_MAX)
        return;
    quantity_print(value * list->times, is_memory ? QUANTITY_BINARY : QUANTITY_DECIMAL,
                   list->values[list->count]);
    list->items[list->count] = (struct str_pair){name, list->values[list->count]};
    list->count++;
}

/* Returns the minimum number of pods given by the pod's controller, if its kind is known here. */
static int32_t min_member_of(struct cluster *cluster, const struct object *pod)
{
    const struct owner_ref *owner = meta_controller(pod->meta);
    const struct kind *kind = owner ? kind_by_gvk(owner->api_version, owner->kind) : NULL;
    const struct object *object =
        kind
            ? cluster_get(cluster, kind, kind->namespaced ? object_namespace(pod) : "", owner->name)
            : NULL;
    const char *text = object && strcmp(object_uid(object), owner->uid) == 0
                           ? meta_annotation(object->meta, ANNOTATION_MIN_MEMBER)
                           : NULL;
    char *end;
    long value = text ? strtol(text, &end, 10) : 1;

    return text && *text && !*end && value >= 0 && value <= INT32_MAX ? (int32_t)value : 1;
}

static struct blob *group_body(struct cluster *cluster, const struct object *pod)
{
    const struct pod_spec *pod_spec = pod_spec_of(pod);
    const char *queue = meta_annotation(pod->meta, ANNOTATION_QUEUE);
    struct podgroup_spec spec = {
        .min_member = min_member_of(cluster, pod),
        .queue = queue && *queue ? queue : "default",
        .priority_class = pod_spec->priority_class,
        .has_min_resources = true,
    };
    struct resource_list list = {.spec = pod_spec, .times = spec.min_member};

    pod_spec_each_resource(pod_spec, add_resource, &list);
    spec.min_resources.items = list.items;
    spec.min_resources.count = list.count;
    return podgroup_spec_blob(&spec);
}

static char *group_name(const struct object *pod)
{
    const struct owner_ref *owner = meta_controller(pod->meta);

    return mem_printf("podgroup-%s", owner ? owner->uid : object_uid(pod));
}

static struct object *build_group(struct cluster *cluster, const struct object *pod,
                                  const char *name)
{
    static const char *const inherited[] = {
        "volcano.sh/preemptable", "volcano.sh/cooldown-time", "volcano.sh/revocable-zone",
        "volcano.sh/jdb-min-available", "volcano.sh/jdb-max-unavailable"};
    const struct owner_ref self = {"v1", "Pod", object_name(pod), object_uid(pod), true, false};
    bool controlled = meta_controller(pod->meta) != NULL;
    struct kv annotations[countof(inherited)];
    struct meta draft = {
        .namespace = object_namespace(pod),
        .name = name,
        .uid = "",
        .owners = controlled ? pod->meta->owners : &self,
        .n_owners = controlled ? pod->meta->n_owners : 1,
        .annotations = annotations,
        .deletion_grace_s = -1,
    };

    for (size_t i = 0; i < countof(inherited); i++) {
        const char *value = meta_annotation(pod->meta, inherited[i]);

        if (value)
            annotations[draft.n_annotations++] = (struct kv){inherited[i], value};
    }
    return object_new(&kind_pod_group, meta_new(&draft), group_body(cluster, pod), NULL);
}

static void annotate(struct plain_pod *plain, const struct object *pod, const char *name)
{
    struct meta draft = *pod->meta;
    struct kv *annotations = mem_array(draft.n_annotations + 1, sizeof *annotations);

    if (draft.n_annotations)
        memcpy(annotations, draft.annotations, draft.n_annotations * sizeof *annotations);
    annotations[draft.n_annotations++] = (struct kv){ANNOTATION_GROUP_NAME, name};
    draft.annotations = annotations;
    cluster_update(plain->groups->cluster, &plain->call, object_with_meta(pod, meta_new(&draft)));
    mem_free(annotations);
}

static void free_pod(struct plain_pod *plain)
{
    work_stop(&plain->work);
    meta_unref(plain->meta);
    mem_free(plain);
}

static void forget(struct plain_pod *plain)
{
    if (!plain->gone)
        HASH_DELETE(hh, plain->groups->pods, plain);
    plain->gone = true;
    if (!plain->writing)
        free_pod(plain);
}

static const struct object *pod_of(const struct plain_pod *plain)
{
    const struct object *pod =
        cluster_get(plain->groups->cluster, &kind_pod, plain->meta->namespace, plain->meta->name);

    return pod && strcmp(object_uid(pod), plain->meta->uid) == 0 ? pod : NULL;
}

static void written(struct cluster_call *call, const struct object *result, const struct error *err)
{
    struct plain_pod *plain = container_of(call, struct plain_pod, call);
    struct plain_groups *groups = plain->groups;
    const struct object *pod;

    plain->writing = false;
    groups->calls--;
    if (groups->stopped || plain->gone) {
        free_pod(plain);
        if (groups->stopped && !groups->calls)
            mem_free(groups);
        return;
    }
    pod = pod_of(plain);
    if (!err || err->code == ERR_EXISTS) {
        work_add(&plain->work);
        return;
    }
    if (pod && err->code != ERR_CONFLICT)
        cluster_event(groups->cluster, pod, EVENT_WARNING, "PodGroupError", SCHEDULER_COMPONENT,
                      "no PodGroup for the pod: %s", err->message);
    work_add_backoff(&plain->work);
}

/* Starts the next write for the pod. */
static void advance(struct work *work)
{
    struct plain_pod *plain = container_of(work, struct plain_pod, work);
    struct plain_groups *groups = plain->groups;
    const struct object *pod = pod_of(plain);
    scoped_str name = NULL;

    if (plain->writing)
        return;
    if (!pod || object_deleting(pod) || !pod_wants_group(pod)) {
        forget(plain);
        return;
    }
    name = group_name(pod);
    plain->writing = true;
    plain->call.done = written;
    groups->calls++;
    if (cluster_get(groups->cluster, &kind_pod_group, object_namespace(pod), name))
        annotate(plain, pod, name);
    else
        cluster_create(groups->cluster, &plain->call, build_group(groups->cluster, pod, name));
}

/* Creates a record when a plain pod appears. Later steps depend only on the record. */
static void pod_changed(struct cluster_watcher *watcher, enum cluster_change change,
                        const struct object *old, const struct object *pod)
{
    struct plain_groups *groups = container_of(watcher, struct plain_groups, watcher);
    struct plain_pod *plain = NULL;

    if (change != CHANGE_ADDED && !groups->pods)
        return;
    HASH_FIND(hh, groups->pods, object_uid(pod), strlen(object_uid(pod)), plain);
    if (plain) {
        work_add(&plain->work);
        return;
    }
    if (change != CHANGE_ADDED || !pod_wants_group(pod))
        return;
    plain = mem_alloc(sizeof *plain);
    plain->groups = groups;
    plain->meta = meta_ref(pod->meta);
    work_init(&plain->work, groups->cluster->loop, advance);
    HASH_ADD_KEYPTR(hh, groups->pods, plain->meta->uid, strlen(plain->meta->uid), plain);
    work_add(&plain->work);
}

struct plain_groups *plain_groups_start(struct cluster *cluster)
{
    struct plain_groups *groups = mem_alloc(sizeof *groups);

    groups->cluster = cluster;
    groups->watcher.kind = &kind_pod;
    groups->watcher.changed = pod_changed;
    cluster_watch(cluster, &groups->watcher);
    return groups;
}

void plain_groups_stop(struct plain_groups *groups)
{
    struct plain_pod *plain, *next;

    if (!groups)
        return;
    cluster_unwatch(groups->cluster, &groups->watcher);
    groups->stopped = true;
    HASH_ITER(hh, groups->pods, plain, next)
    {
        work_stop(&plain->work);
        forget(plain);
    }
    if (!groups->calls)
        mem_free(groups);
}
