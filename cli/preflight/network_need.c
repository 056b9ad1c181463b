/*
 * Looks for the plugins wherever files name them. For ssh and mpi sshd is looked for in commands
 * and scripts too: a job with these plugins may use the keys or the list of hosts alone.
 */
#include "cli/preflight/network_need.h"

#include "base/mem.h"
#include "job/plugins/sshd_port.h"
#include "node/machine/sockaddr_rules.h"

/* What is looked for: the first plugin with a need. */
struct search {
    bool sshd_matters; /* this user may not listen below 1024, and the files start sshd */
    enum network_need need;
    struct error *why;
};

static void find_sshd(struct search *search, const json_t *plugins, const char *path)
{
    scoped(arena) struct arena *arena = arena_new(0);
    scoped(json) json_t *doc = json_pack("{s:O}", "plugins", (json_t *)(uintptr_t)plugins);
    struct job_spec spec;
    const char *plugin;
    int64_t port = schema_decode(&job_patch_schema, doc, arena, &spec, NULL)
                       ? job_sshd_low_port(&spec, &plugin)
                       : 0;

    if (!port)
        return;
    scoped_str field = mem_printf("%s[%s]", path, plugin);

    search->need = NETWORK_OWN;
    error_set(search->why, ERR_INVALID, field,
              "sshd of plugin %s listens on port %lld, and this user may not listen below 1024",
              plugin, (long long)port);
}

static void find_ray(struct search *search, const json_t *plugins, const char *path)
{
    scoped_str field = mem_printf("%s[ray]", path);

    if (!json_object_get(plugins, "ray"))
        return;
    search->need = NETWORK_OWN_IF_POSSIBLE;
    error_set(search->why, ERR_INVALID, field,
              "nodes of Ray announce the address of their interface and listen on ports that they "
              "do not declare");
}

/* Looks at an object as in spec.plugins, at `path`. */
static void look(struct search *search, const json_t *plugins, const char *path)
{
    if (!json_is_object(plugins))
        return;
    if (search->sshd_matters)
        find_sshd(search, plugins, path);
    if (search->need == NETWORK_ANY)
        find_ray(search, plugins, path);
}

static void look_at_step(struct search *search, const json_t *step, size_t index)
{
    static const char *const members[] = {"jobSpec", "spec"};
    const json_t *patch = json_object_get(step, "patch");

    for (size_t i = 0; i < countof(members) && patch && search->need == NETWORK_ANY; i++) {
        scoped_str path = mem_printf("spec.flows[%zu].patch.%s.plugins", index, members[i]);

        look(search, json_object_get(json_object_get(patch, members[i]), "plugins"), path);
    }
}

static void look_at_flow(struct search *search, const json_t *spec)
{
    const json_t *step;
    size_t i;

    look(search, json_object_get(json_object_get(spec, "scheduling"), "plugins"),
         "spec.scheduling.plugins");
    json_array_foreach(json_object_get(spec, "flows"), i, step) look_at_step(search, step, i);
}

static void look_at_manifest(struct search *search, const struct manifest *manifest)
{
    const json_t *spec = json_object_get(manifest->doc, "spec");

    if (manifest->kind == &kind_job || manifest->kind == &kind_job_template)
        look(search, json_object_get(spec, "plugins"), "spec.plugins");
    else if (manifest->kind == &kind_job_flow)
        look_at_flow(search, spec);
}

static bool starts_sshd(const struct manifests *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (job_mentions_sshd(json_object_get(set->items[i].doc, "spec")) ||
            (set->items[i].kind == &kind_config_map &&
             job_mentions_sshd(json_object_get(set->items[i].doc, "data"))))
            return true;
    return false;
}

enum network_need preflight_network_need(const struct manifests *set, const struct manifest **out,
                                         struct error *why)
{
    struct search search = {.why = why};

    search.sshd_matters = sockaddr_low_ports_move() && starts_sshd(set);
    for (size_t i = 0; i < set->count && search.need == NETWORK_ANY; i++) {
        *out = &set->items[i];
        look_at_manifest(&search, *out);
    }
    return search.need;
}
