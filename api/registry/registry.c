/*
 * Creates and frees the registry, and answers the look-ups of admission.
 */
#include "api/registry/registry.h"

#include <string.h>

#include "api/registry/internal.h"
#include "api/types/decoded.h"
#include "base/mem.h"

static const struct registry_limits default_limits = {
    .objects = 4000000,
    .objects_in_namespace = 3500000,
    .kind_in_namespace = 1100000,
    .object_bytes = (size_t)128 << 20,
    .store_bytes = (size_t)8 << 30,
};

static const struct object *look_up(void *ctx, const struct kind *kind, const char *ns,
                                    const char *name)
{
    return store_get(((struct registry *)ctx)->store, kind, ns, name);
}

static void look_at_each(void *ctx, const struct kind *kind, const char *ns,
                         void (*visit)(void *arg, const struct object *object), void *arg)
{
    store_each(((struct registry *)ctx)->store, kind, ns, visit, arg);
}

/* Decoded statuses of finished objects that are cached: more than one turn uses. */
enum { STATUSES_DECODED = 2048 };

static void drop_kept(struct registry *r)
{
    while (r->n_kept)
        object_unref(r->kept[--r->n_kept]);
}

static void end_turn(struct turn_hook *hook)
{
    drop_kept(container_of(hook, struct registry, turn_end));
    decoded_trim(STATUSES_DECODED);
}

static void default_limit(size_t *limit, size_t value)
{
    if (*limit == 0)
        *limit = value;
}

static void default_all_limits(struct registry_limits *limits)
{
    default_limit(&limits->objects, default_limits.objects);
    default_limit(&limits->objects_in_namespace, default_limits.objects_in_namespace);
    default_limit(&limits->kind_in_namespace, default_limits.kind_in_namespace);
    default_limit(&limits->object_bytes, default_limits.object_bytes);
    default_limit(&limits->store_bytes, default_limits.store_bytes);
}

void registry_rule_flows(struct registry *r, const struct registry_flow_rules *rules)
{
    bool ours = !r->options.upstream_compat;

    r->options.flows = *rules;
    r->options.flows.deletion_protection = rules->deletion_protection && ours;
    r->admission.allow_flow_updates = !rules->reject_updates || !ours;
    limits_for_flows(&r->flow_limits, rules->steps);
}

struct registry *registry_new(struct loop *loop, struct store *store,
                              const struct registry_options *options)
{
    struct registry *r = mem_alloc(sizeof *r);

    r->loop = loop;
    r->store = store;
    r->options = *options;
    default_all_limits(&r->options.limits);
    r->admission = (struct admission){
        .get = look_up,
        .each = look_at_each,
        .ctx = r,
        .scheduler_name = "volcano",
        .limits = &r->flow_limits,
        .upstream_compat = options->upstream_compat,
        .virtual_runtime = options->virtual_runtime,
        .plugins = options->plugins,
        .strict_plugin_arguments = options->strict_plugin_arguments,
        .no_key_arguments = options->no_key_arguments,
        .no_low_ports = options->no_low_ports,
    };
    registry_rule_flows(r, &options->flows);
    r->turn_end.end = end_turn;
    loop_on_turn_end(loop, &r->turn_end);
    r->gc = gc_new(r);
    r->settle = settle_new(r);
    if (store_is_read_only(store))
        return r;
    r->events = event_ttl_new(r);
    builtins_make(r);
    return r;
}

void registry_free(struct registry *r)
{
    if (!r)
        return;
    drop_kept(r);
    loop_off_turn_end(r->loop, &r->turn_end);
    gc_free(r->gc);
    settle_free(r->settle);
    event_ttl_free(r->events);
    mem_free(r->kept);
    mem_free(r);
}

struct store *registry_store(const struct registry *r)
{
    return r->store;
}
