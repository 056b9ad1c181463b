/*
 * Looks for the plugins wherever files name them. For ssh and mpi sshd is looked for in commands
 * and scripts too: a job with these plugins may use the keys or the list of hosts alone.
 */
#include "cli/preflight/network_need.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "job/plugins/sshd_port.h"
#include "node/machine/sockaddr_rules.h"
#include "node/sandbox/isolation_level.h"

/* Why sshd of a pod does not work, in the words that follow the plugin. NULL = it does. */
struct obstacles {
    const char *login;     /* in any network */
    const char *low_ports; /* on a port below 1024 of the machine's network */
};

/* What is looked for: the first plugin with a need. */
struct search {
    struct obstacles sshd; /* none if the files do not start sshd */
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
                       ? job_sshd_port(&spec, &plugin)
                       : 0;
    bool is_low = port < SSHD_LOW_PORTS_END && search->sshd.low_ports;

    if (!port || (!search->sshd.login && !is_low))
        return;
    scoped_str field = mem_printf("%s[%s]", path, plugin);

    search->need = search->sshd.login ? NETWORK_NONE_HELPS : NETWORK_OWN;
    if (search->sshd.login)
        error_set(search->why, ERR_INVALID, field, "sshd of plugin %s %s", plugin,
                  search->sshd.login);
    else
        error_set(search->why, ERR_INVALID, field, "sshd of plugin %s listens on port %lld, and %s",
                  plugin, (long long)port, search->sshd.low_ports);
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
    if (search->sshd.login || search->sshd.low_ports)
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

static enum network_need find_need(const struct manifests *set, const struct obstacles *sshd,
                                   const struct manifest **out, struct error *why)
{
    struct search search = {.why = why};

    if ((sshd->login || sshd->low_ports) && starts_sshd(set))
        search.sshd = *sshd;
    for (size_t i = 0; i < set->count && search.need == NETWORK_ANY; i++) {
        *out = &set->items[i];
        look_at_manifest(&search, *out);
    }
    return search.need;
}

/* Returns why sshd of pods cannot have a low port at that level, or for this user. NULL = it can. */
static const char *why_no_low_ports(const char *level)
{
    if (sockaddr_low_ports_move())
        return "this user may not listen below 1024";
    if (strcmp(level, "user") == 0)
        return "pods of level user may not listen below 1024";
    return strcmp(level, "plain") == 0 ? "at level plain it does not find the keys of its pod"
                                       : NULL;
}

/* Returns whether the shell runs no command. Such users cannot log in. */
static bool refuses_commands(const char *shell)
{
    static const char *const none[] = {"nologin", "false", "true", "sync"};
    const char *slash = strrchr(shell, '/'), *name = slash ? slash + 1 : shell;

    for (size_t i = 0; i < countof(none); i++)
        if (strcmp(name, none[i]) == 0)
            return true;
    return false;
}

/* Returns why sshd runs no command for this user, as an owned text. NULL = it does. Pods with a
 * root of their own have a user database of their own, so this holds at level plain alone. */
static char *why_no_login(void)
{
    const struct passwd *user = getpwuid(geteuid());

    if (!user)
        return mem_printf("knows no user with the id %u of this process: the user database has "
                          "none",
                          (unsigned)geteuid());
    if (!refuses_commands(user->pw_shell))
        return NULL;
    return mem_printf("runs commands by the login shell of its user, and that of %s is %s",
                      user->pw_name, user->pw_shell);
}

/* Returns whether no better level than plain works on this machine. */
static bool only_plain_works(void)
{
    char scratch[] = "/tmp/jobflow-level.XXXXXX";
    enum isolation_level level = ISOLATION_PLAIN;
    scoped_str why = NULL;

    return mkdtemp(scratch) && isolation_level_choose("auto", scratch, &level, &why, NULL) &&
           level == ISOLATION_PLAIN;
}

enum network_need preflight_network_need(const struct manifests *set, const char *isolation,
                                         const struct manifest **out, struct error *why)
{
    const char *level = isolation ? isolation : "auto";
    bool is_auto = strcmp(level, "auto") == 0, may_be_plain = is_auto || !strcmp(level, "plain");
    scoped_str login = may_be_plain ? why_no_login() : NULL;
    struct obstacles elsewhere = {NULL, why_no_low_ports(level)};
    struct obstacles plain = {login, why_no_low_ports("plain")};
    enum network_need need = find_need(set, may_be_plain ? &plain : &elsewhere, out, why);

    /* Levels are tried in child processes, so they are tried only when the answer matters. */
    if (is_auto && (need == NETWORK_NONE_HELPS || (need == NETWORK_OWN && !elsewhere.low_ports)) &&
        !only_plain_works())
        need = find_need(set, &elsewhere, out, why);
    return need;
}
