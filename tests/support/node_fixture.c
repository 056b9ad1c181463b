#include "tests/support/node_fixture.h"
#include "tests/unit.h"

#include <stdio.h>

#include "api/types/kinds/scheduling/podgroup.h"
#include "tests/support/node_script.h"

enum { START_MS = 1700000000000 };

struct rig *rig_new(void)
{
    struct rig *rig = mem_alloc(sizeof *rig);
    const struct store_options store = {.directory = NULL};
    const struct registry_options registry = {.virtual_runtime = true};
    struct error err;

    rig->capabilities =
        (struct runtime_capabilities){.level = "plain", .why = "scripted", .own_addresses = true};
    rig->clock = clock_virtual_new(START_MS, 1);
    rig->loop = loop_new(rig->clock);
    rig->store = store_open(rig->loop, &store, &err);
    check_ok("store", rig->store != NULL, err);
    rig->registry = registry_new(rig->loop, rig->store, &registry);
    rig->cluster = cluster_embedded_new(rig->loop, rig->registry);
    rig_settle(rig);
    return rig;
}

void rig_stop(struct rig *rig)
{
    rig_settle(rig);
    queue_usage_stop(rig->queue_usage);
    plain_groups_stop(rig->plain_groups);
    queue_states_stop(rig->queue_states);
    scheduler_stop(rig->scheduler);
    kubelet_stop(rig->kubelet);
    node_stop(rig->node);
    if (rig->runtime)
        rig->runtime->ops->free(rig->runtime);
    rig->queue_states = NULL;
    rig->queue_usage = NULL;
    rig->plain_groups = NULL;
    rig->scheduler = NULL;
    rig->kubelet = NULL;
    rig->node = NULL;
    rig->runtime = NULL;
    rig_settle(rig);
}

void rig_free(struct rig *rig)
{
    rig_stop(rig);
    cluster_embedded_free(rig->cluster);
    registry_free(rig->registry);
    store_close(rig->store);
    loop_free(rig->loop);
    clock_free(rig->clock);
    mem_free(rig);
}

void rig_start_scheduler(struct rig *rig, struct amount capacity)
{
    static const struct kv labels[] = {{"kubernetes.io/hostname", "here"}};

    const struct place_options here = {"here", capacity, labels, 1};

    rig_start_scheduler_on(rig, &(struct scheduler_options){&here, 1, {.count = 0}});
}

void rig_start_scheduler_on(struct rig *rig, const struct scheduler_options *options)
{
    rig->scheduler = scheduler_start(rig->cluster, options);
    rig->queue_states = queue_states_start(rig->cluster);
    rig->plain_groups = plain_groups_start(rig->cluster);
    rig->queue_usage = queue_usage_start(rig->cluster, rig->scheduler);
    rig_settle(rig);
}

struct rig *rig_with_scheduler(int64_t pods)
{
    struct rig *rig = rig_new();

    rig_start_scheduler(rig, (struct amount){4000, 8LL << 30, pods});
    return rig;
}

void rig_start_kubelet(struct rig *rig, const struct kubelet_options *options)
{
    rig->runtime = node_script_new(rig);
    rig->kubelet = kubelet_start(rig->cluster, rig->runtime, options);
    rig_settle(rig);
}

void rig_settle(struct rig *rig)
{
    loop_settle(rig->loop);
}

void rig_advance(struct rig *rig, int64_t ms)
{
    loop_advance(rig->loop, ms);
}

/* Objects. */

static json_t *parse(const char *format, va_list args) PRINTF_LIKE(1, 0);
static json_t *parse(const char *format, va_list args)
{
    scoped_str text = NULL;
    json_error_t where;
    json_t *doc;

    check("written", vasprintf(&text, format, args) >= 0);
    for (char *at = text; *at; at++)
        if (*at == '\'')
            *at = '"';
    doc = json_loads(text, 0, &where);
    if (!doc)
        check_fail("%s: %s", where.text, text);
    return doc;
}

static void must(bool ok, struct error_list *errors)
{
    struct error err;

    if (!ok) {
        error_list_ok(errors, &err);
        check_fail("refused: %s: %s", err.field, err.message);
    }
    error_list_release(errors);
}

static const struct registry_write plain = {.unknown = UNKNOWN_ERROR};

void rig_create(struct rig *rig, const char *format, ...)
{
    struct error_list errors = {0};
    const struct object *out;
    va_list args;

    va_start(args, format);
    scoped(json) json_t *doc = parse(format, args);
    va_end(args);
    must(registry_create(rig->registry, doc, &plain, &out, &errors), &errors);
}

void rig_set_status(struct rig *rig, const struct kind *kind, const char *name, const char *format,
                    ...)
{
    struct error_list errors = {0};
    const struct object *out;
    va_list args;
    char *text;

    va_start(args, format);
    scoped(json) json_t *doc = parse(format, args);
    va_end(args);
    text = json_dumps(doc, JSON_COMPACT);
    must(registry_update_status(rig->registry, rig_get(rig, kind, name),
                                blob_new(text, strlen(text)), &out, &errors),
         &errors);
    mem_free(text);
}

void rig_patch(struct rig *rig, const struct kind *kind, const char *name, const char *format, ...)
{
    struct error_list errors = {0};
    const struct object *out;
    va_list args;

    va_start(args, format);
    scoped(json) json_t *patch = parse(format, args);
    va_end(args);
    must(registry_patch(rig->registry, kind, kind->namespaced ? "default" : "", name,
                        REGISTRY_PATCH_MERGE, patch, REGISTRY_MAIN, &plain, &out, &errors),
         &errors);
}

void rig_delete(struct rig *rig, const struct kind *kind, const char *name, int64_t grace_s)
{
    struct error_list errors = {0};
    const struct object *out;

    must(registry_delete(rig->registry, kind, kind->namespaced ? "default" : "", name,
                         &(struct registry_delete){.grace_s = grace_s, .internal = true}, &out,
                         &errors),
         &errors);
}

const struct object *rig_get(struct rig *rig, const struct kind *kind, const char *name)
{
    return cluster_get(rig->cluster, kind, kind->namespaced ? "default" : "", name);
}

const char *rig_status(struct rig *rig, const struct kind *kind, const char *name)
{
    const struct object *object = rig_get(rig, kind, name);

    return object && object->status ? object->status->text : "";
}

enum pod_phase rig_pod_phase(struct rig *rig, const char *name)
{
    const struct object *pod = rig_get(rig, &kind_pod, name);

    return pod ? pod_status_of(pod)->phase : POD_UNKNOWN;
}

struct event_search {
    const char *reason, *text;
    bool found;
};

static void look_at_event(void *arg, const struct object *event)
{
    struct event_search *search = arg;
    scoped(json) json_t *body = object_body_json(event);
    const char *reason = json_string_value(json_object_get(body, "reason"));
    const char *message = json_string_value(json_object_get(body, "message"));

    if (reason && message && strcmp(reason, search->reason) == 0 && strstr(message, search->text))
        search->found = true;
}

bool rig_has_event(struct rig *rig, const char *reason, const char *text)
{
    struct event_search search = {reason, text, false};

    rig_settle(rig);
    cluster_each(rig->cluster, &kind_event, NULL, look_at_event, &search);
    return search.found;
}

bool rig_bound(struct rig *rig, const char *name)
{
    const struct object *pod = rig_get(rig, &kind_pod, name);

    return pod && pod_spec_of(pod)->node_name && *pod_spec_of(pod)->node_name;
}

const char *rig_group_phase(struct rig *rig, const char *name)
{
    const struct object *group = rig_get(rig, &kind_pod_group, name);

    return group ? podgroup_phase_text(podgroup_status_of(group)->phase) : "gone";
}

static void count_bound(void *arg, const struct object *pod)
{
    size_t *n = arg;

    *n += pod_spec_of(pod)->node_name && *pod_spec_of(pod)->node_name;
}

size_t rig_count_bound(struct rig *rig)
{
    size_t n = 0;

    cluster_each(rig->cluster, &kind_pod, "default", count_bound, &n);
    return n;
}

void rig_group(struct rig *rig, const char *name, int min_member, const char *more_spec)
{
    rig_create(rig,
               "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'PodGroup',"
               "'metadata':{'name':'%s','namespace':'default'},'spec':{'minMember':%d%s}}",
               name, min_member, more_spec ? more_spec : "");
}

void rig_pods(struct rig *rig, const char *group, int from, int to, const char *more_spec)
{
    for (int i = from; i < to; i++)
        rig_create(rig,
                   "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s-%d',"
                   "'namespace':'default','annotations':{'scheduling.k8s.io/group-name':'%s'}},"
                   "'spec':{'restartPolicy':'Never','containers':[{'name':'c','image':'i',"
                   "'command':['true']}]%s}}",
                   group, i, group, more_spec ? more_spec : "");
}

void rig_set_phase(struct rig *rig, const char *pod, const char *phase)
{
    rig_set_status(rig, &kind_pod, pod, "{'phase':'%s'}", phase);
    rig_settle(rig);
}
