/*
 * Steps that every write shares: checking limits, storing, removing.
 */
#include "api/registry/internal.h"
#include "base/mem.h"

enum { SCHEDULES_MAX = 1000 }; /* CronJobs and FlowTriggers of a namespace (everyday.md 2.11) */

bool registry_may_write(const struct registry *r, struct error_list *errors)
{
    struct error err;

    if (store_writable(r->store, &err))
        return true;
    error_list_append(errors, &err);
    return false;
}

struct admission registry_admission_for(const struct registry *r, const struct registry_write *how)
{
    struct admission admission = r->admission;

    admission.warnings = how ? how->warnings : NULL;
    return admission;
}

const struct object *registry_put(struct registry *r, struct object *object,
                                  enum registry_dry_run dry_run)
{
    if (dry_run == REGISTRY_APPLY)
        return store_put(r->store, object);
    mem_grow(r->kept, r->n_kept, r->cap_kept);
    r->kept[r->n_kept++] = object;
    return object;
}

void registry_remove(struct registry *r, const struct object *object)
{
    store_delete(r->store, object);
    gc_removed(r->gc, object);
}

/* A number of objects that `of` may hold. */
struct quota {
    size_t used, limit;
    const char *of, *things, *way_out;
};

static bool refuse_quota(const struct object *object, const struct quota *quota,
                         struct error_list *errors)
{
    char resource[RESOURCE_TEXT_MAX];

    error_list_add(errors, ERR_FORBIDDEN, "",
                   "%s \"%s\" is forbidden: exceeded quota: %s may hold %zu %s; delete some or %s",
                   registry_resource(object->kind, resource), object_name(object), quota->of,
                   quota->limit, quota->things, quota->way_out);
    return false;
}

/* Returns how many CronJobs and FlowTriggers a namespace has, for one of them; else 0. */
static size_t count_schedules(const struct registry *r, const struct object *object)
{
    const char *ns = object_namespace(object);

    if (object->kind != &kind_cron_job && object->kind != &kind_flow_trigger)
        return 0;
    return store_count(r->store, &kind_cron_job, ns) +
           store_count(r->store, &kind_flow_trigger, ns);
}

static bool within_quota(const struct registry *r, const struct object *object,
                         struct error_list *errors)
{
    const struct registry_limits *limits = &r->options.limits;
    const char *ns = object_namespace(object);
    const struct quota quotas[] = {
        {store_count(r->store, NULL, NULL), limits->objects, "the store", "objects",
         "raise the limit"},
        {store_count(r->store, NULL, ns), limits->objects_in_namespace, "a namespace", "objects",
         "raise the limit"},
        {store_count(r->store, object->kind, ns), limits->kind_in_namespace,
         "one kind in a namespace", "objects", "raise the limit"},
        {count_schedules(r, object), SCHEDULES_MAX, "a namespace", "CronJobs and FlowTriggers",
         "use another namespace"},
    };

    for (size_t i = 0; i < countof(quotas); i++)
        if (quotas[i].used >= quotas[i].limit)
            return refuse_quota(object, &quotas[i], errors);
    return true;
}

bool registry_has_room(const struct registry *r, const struct object *object, bool is_new,
                       struct error_list *errors)
{
    const struct registry_limits *limits = &r->options.limits;
    size_t bytes =
        meta_bytes(object->meta) + object->body->len + (object->status ? object->status->len : 0);
    struct store_stats stats;

    if (bytes > limits->object_bytes) {
        error_list_add(errors, ERR_TOO_LARGE, "", "Request entity too large: limit is %zu",
                       limits->object_bytes);
        return false;
    }
    store_stats(r->store, &stats);
    if (stats.body_bytes + stats.meta_bytes + stats.status_bytes + bytes > limits->store_bytes) {
        error_list_add(errors, ERR_STORAGE, "",
                       "the store has reached its limit of %zu bytes; delete objects or raise it",
                       limits->store_bytes);
        return false;
    }
    return !is_new || within_quota(r, object, errors);
}
