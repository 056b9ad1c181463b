#include "tests/support/node_fixture.h"
#include "tests/unit.h"

#include <stdio.h>

#include "api/types/kinds/scheduling/podgroup.h"
#include "tests/support/look.h"
#include "tests/support/node_script.h"

enum { START_MS = 1700000000000 };

struct node_fixture *node_fixture_new(void)
{
    struct node_fixture *fixture = mem_alloc(sizeof *fixture);
    const struct store_options store = {.directory = NULL};
    const struct registry_options registry = {.virtual_runtime = true};
    struct error err;

    fixture->capabilities =
        (struct runtime_capabilities){.level = "plain", .why = "scripted", .own_addresses = true};
    fixture->clock = clock_virtual_new(START_MS, 1);
    fixture->loop = loop_new(fixture->clock);
    fixture->store = store_open(fixture->loop, &store, &err);
    check_ok("store", fixture->store != NULL, err);
    fixture->registry = registry_new(fixture->loop, fixture->store, &registry);
    fixture->cluster = cluster_embedded_new(fixture->loop, fixture->registry);
    node_fixture_settle(fixture);
    return fixture;
}

void node_fixture_stop(struct node_fixture *fixture)
{
    node_fixture_settle(fixture);
    queue_usage_stop(fixture->queue_usage);
    plain_groups_stop(fixture->plain_groups);
    queue_states_stop(fixture->queue_states);
    scheduler_stop(fixture->scheduler);
    kubelet_stop(fixture->kubelet);
    log_keeper_stop(fixture->logs);
    node_stop(fixture->node);
    if (fixture->runtime)
        fixture->runtime->ops->free(fixture->runtime);
    fixture->queue_states = NULL;
    fixture->queue_usage = NULL;
    fixture->plain_groups = NULL;
    fixture->scheduler = NULL;
    fixture->kubelet = NULL;
    fixture->logs = NULL;
    fixture->node = NULL;
    fixture->runtime = NULL;
    node_fixture_settle(fixture);
}

void node_fixture_free(struct node_fixture *fixture)
{
    node_fixture_stop(fixture);
    cluster_embedded_free(fixture->cluster);
    registry_free(fixture->registry);
    store_close(fixture->store);
    loop_free(fixture->loop);
    clock_free(fixture->clock);
    mem_free(fixture);
}

void node_fixture_start_scheduler(struct node_fixture *fixture, struct amount capacity)
{
    static const struct kv labels[] = {{"kubernetes.io/hostname", "here"}};

    const struct scheduler_node here = {"here", capacity, labels, 1};

    node_fixture_start_scheduler_on(fixture, &(struct scheduler_options){&here, 1, {.count = 0}});
}

void node_fixture_start_scheduler_on(struct node_fixture *fixture,
                                     const struct scheduler_options *options)
{
    fixture->scheduler = scheduler_start(fixture->cluster, options);
    fixture->queue_states = queue_states_start(fixture->cluster);
    fixture->plain_groups = plain_groups_start(fixture->cluster);
    fixture->queue_usage = queue_usage_start(fixture->cluster, fixture->scheduler);
    node_fixture_settle(fixture);
}

struct node_fixture *node_fixture_with_scheduler(int64_t pods)
{
    struct node_fixture *fixture = node_fixture_new();

    node_fixture_start_scheduler(fixture, (struct amount){4000, 8LL << 30, pods});
    return fixture;
}

void node_fixture_start_kubelet(struct node_fixture *fixture, const struct kubelet_options *options)
{
    fixture->runtime = node_script_new(fixture);
    fixture->kubelet = kubelet_start(fixture->cluster, fixture->runtime, options);
    node_fixture_settle(fixture);
}

static bool log_kept(void *ctx, const char *uid)
{
    return log_keeper_keeps(((struct node_fixture *)ctx)->logs, uid);
}

void node_fixture_start_logs(struct node_fixture *fixture, const struct kubelet_options *options,
                             const struct log_limits *limits)
{
    struct kubelet_options kubelet = *options;

    kubelet.log_kept = log_kept;
    kubelet.ctx = fixture;
    fixture->runtime = node_script_new(fixture);
    fixture->logs = log_keeper_start(fixture->cluster, fixture->runtime, limits);
    fixture->kubelet = kubelet_start(fixture->cluster, fixture->runtime, &kubelet);
    node_fixture_settle(fixture);
}

void node_fixture_settle(struct node_fixture *fixture)
{
    loop_settle(fixture->loop);
}

void node_fixture_advance(struct node_fixture *fixture, int64_t ms)
{
    loop_advance(fixture->loop, ms);
}

/* Parses formatted JSON with single quotes for double ones. */

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

void node_fixture_create(struct node_fixture *fixture, const char *format, ...)
{
    struct error_list errors = {0};
    const struct object *out;
    va_list args;

    va_start(args, format);
    scoped(json) json_t *doc = parse(format, args);
    va_end(args);
    must(registry_create(fixture->registry, doc, &plain, &out, &errors), &errors);
}

void node_fixture_set_status(struct node_fixture *fixture, const struct kind *kind,
                             const char *name, const char *format, ...)
{
    struct error_list errors = {0};
    const struct object *out;
    va_list args;
    char *text;

    va_start(args, format);
    scoped(json) json_t *doc = parse(format, args);
    va_end(args);
    text = json_dumps(doc, JSON_COMPACT);
    must(registry_update_status(fixture->registry, node_fixture_get(fixture, kind, name),
                                blob_new(text, strlen(text)), &out, &errors),
         &errors);
    mem_free(text);
}

void node_fixture_patch(struct node_fixture *fixture, const struct kind *kind, const char *name,
                        const char *format, ...)
{
    struct error_list errors = {0};
    const struct object *out;
    va_list args;

    va_start(args, format);
    scoped(json) json_t *patch = parse(format, args);
    va_end(args);
    must(registry_patch(fixture->registry,
                        (struct registry_target){kind, kind->namespaced ? "default" : "", name},
                        &(struct registry_patch){REGISTRY_PATCH_MERGE, patch}, &plain, &out,
                        &errors),
         &errors);
}

void node_fixture_delete(struct node_fixture *fixture, const struct kind *kind, const char *name,
                         int64_t grace_s)
{
    struct error_list errors = {0};
    const struct object *out;

    must(registry_delete(fixture->registry,
                         (struct registry_target){kind, kind->namespaced ? "default" : "", name},
                         &(struct registry_delete){.grace_s = grace_s, .internal = true}, &out,
                         &errors),
         &errors);
}

const struct object *node_fixture_get(struct node_fixture *fixture, const struct kind *kind,
                                      const char *name)
{
    return cluster_get(fixture->cluster, kind, kind->namespaced ? "default" : "", name);
}

const char *node_fixture_status(struct node_fixture *fixture, const struct kind *kind,
                                const char *name)
{
    const struct object *object = node_fixture_get(fixture, kind, name);

    return object && object->status ? object->status->text : "";
}

enum pod_phase node_fixture_pod_phase(struct node_fixture *fixture, const char *name)
{
    const struct object *pod = node_fixture_get(fixture, &kind_pod, name);

    return pod ? pod_status_of(pod)->phase : POD_UNKNOWN;
}

bool node_fixture_has_event(struct node_fixture *fixture, const char *reason, const char *text)
{
    node_fixture_settle(fixture);
    return look_for_event_text(fixture->store, reason, text);
}

bool node_fixture_bound(struct node_fixture *fixture, const char *name)
{
    const struct object *pod = node_fixture_get(fixture, &kind_pod, name);

    return pod && pod_spec_of(pod)->node_name && *pod_spec_of(pod)->node_name;
}

const char *node_fixture_group_phase(struct node_fixture *fixture, const char *name)
{
    const struct object *group = node_fixture_get(fixture, &kind_pod_group, name);

    return group ? podgroup_phase_text(podgroup_status_of(group)->phase) : "gone";
}

static void count_bound(void *arg, const struct object *pod)
{
    size_t *n = arg;

    *n += pod_spec_of(pod)->node_name && *pod_spec_of(pod)->node_name;
}

size_t node_fixture_count_bound(struct node_fixture *fixture)
{
    size_t n = 0;

    cluster_each(fixture->cluster, &kind_pod, "default", count_bound, &n);
    return n;
}

void node_fixture_group(struct node_fixture *fixture, const char *name, int min_member,
                        const char *more_spec)
{
    node_fixture_create(fixture,
                        "{'apiVersion':'scheduling.volcano.sh/v1beta1','kind':'PodGroup',"
                        "'metadata':{'name':'%s','namespace':'default'},'spec':{'minMember':%d%s}}",
                        name, min_member, more_spec ? more_spec : "");
}

void node_fixture_pods(struct node_fixture *fixture, const char *group, int from, int to,
                       const char *more_spec)
{
    for (int i = from; i < to; i++)
        node_fixture_create(
            fixture,
            "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s-%d',"
            "'namespace':'default','annotations':{'scheduling.k8s.io/group-name':'%s'}},"
            "'spec':{'restartPolicy':'Never','containers':[{'name':'c','image':'i',"
            "'command':['true']}]%s}}",
            group, i, group, more_spec ? more_spec : "");
}

void node_fixture_set_phase(struct node_fixture *fixture, const char *pod, const char *phase)
{
    node_fixture_set_status(fixture, &kind_pod, pod, "{'phase':'%s'}", phase);
    node_fixture_settle(fixture);
}
