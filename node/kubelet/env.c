/*
 * Resolves the environment and arguments of a container: variables of the node, Service variables,
 * then envFrom, then env, then ids of devices, each later definition replacing an earlier one; then command, args and
 * subPathExpr.
 *
 * A variable may refer to another one many times, and that one to a third, so the result can be
 * exponentially larger than the manifest. Every text is therefore counted, and a container is
 * refused as soon as its texts exceed what Linux passes to a program. Ref: reliability.md L-35.
 */
#include "node/kubelet/env.h"

#include <string.h>

#include "api/types/kinds/pod/volume_path.h"
#include "api/types/text/doc.h"
#include "base/collections/hash.h"
#include "node/kubelet/service_env.h"

/* The limits of Linux for the arguments and variables of a program: one text with its NUL; all
 * texts with their pointers, less a reserve for what the runtime adds. */
enum { TEXT_BYTES_MAX = (128 << 10) - 1, ALL_BYTES_MAX = (2 << 20) - (256 << 10) };

/* The variables of a container: in the order of their first definition, and by name. */
struct variable {
    UT_hash_handle hh;
    struct variable *next;
    const char *name, *value;
};
struct variables {
    struct arena *arena;
    struct variable *by_name;
    struct variable *first, **tail;
    size_t count;
    size_t bytes;         /* size of all texts made so far, with their pointers */
    const char *too_long; /* where the first text beyond TEXT_BYTES_MAX is: a variable, "command" or
                           * "args" */
};

static bool too_large(const struct variables *vars)
{
    return vars->too_long || vars->bytes > ALL_BYTES_MAX;
}

/* Counts a text of `len` bytes that belongs to `what` (a variable, "command" or "args"). */
static void count_text(struct variables *vars, const char *what, size_t len)
{
    vars->bytes += len + 1 + sizeof(char *);
    if (len > TEXT_BYTES_MAX && !vars->too_long)
        vars->too_long = what;
}

static const char *lookup(const struct variables *vars, const char *name, size_t len)
{
    struct variable *found;

    HASH_FIND(hh, vars->by_name, name, len, found);
    return found ? found->value : NULL;
}

static void define(struct variables *vars, const char *name, const char *value)
{
    struct variable *var;
    size_t len = strlen(name);

    HASH_FIND(hh, vars->by_name, name, len, var);
    if (!var) {
        var = arena_alloc(vars->arena, sizeof *var);
        var->name = name;
        HASH_ADD_KEYPTR(hh, vars->by_name, var->name, len, var);
        *vars->tail = var;
        vars->tail = &var->next;
        vars->count++;
    }
    var->value = value;
    count_text(vars, name, len + 1 + strlen(value));
}

static void define_one(void *vars, const char *name, const char *value)
{
    define(vars, name, value);
}

/* Returns the ")" that closes the reference at `at`. `*close` keeps the last one found, so that
 * many "$(" before one ")" search for it once. */
static const char *closing(const char *at, const char **close)
{
    if (*close && *close <= at)
        *close = strchr(at, ')');
    return *close;
}

/* Replaces $(NAME) by its value and $$ by $. The result is cut after TEXT_BYTES_MAX, which the
 * caller finds when it counts the text. */
static const char *expand(const struct variables *vars, const char *text)
{
    scoped(buf) struct buf out = {0};
    const char *at = text, *close = text;

    if (!strchr(text, '$'))
        return text;
    while (*at && out.len <= TEXT_BYTES_MAX) {
        const char *end = at[0] == '$' && at[1] == '(' ? closing(at, &close) : NULL;
        const char *value = end ? lookup(vars, at + 2, (size_t)(end - at) - 2) : NULL;

        if (value) {
            buf_str(&out, value);
            at = end + 1;
        } else if (end) {
            buf_add(&out, at, (size_t)(end - at) + 1);
            at = end + 1;
        } else if (at[0] == '$' && at[1] == '$') {
            buf_char(&out, '$');
            at += 2;
        } else {
            buf_char(&out, *at++);
        }
    }
    return arena_strndup(vars->arena, out.data ? out.data : "", out.len);
}

static bool usable_name(const char *name)
{
    return *name && !strchr(name, '=');
}

static enum resolve_result add_source(const struct value_source *source, struct variables *vars,
                                      const json_t *from)
{
    const json_t *map = json_object_get(from, "configMapRef");
    const json_t *ref = map ? map : json_object_get(from, "secretRef");
    const struct kind *kind = map ? &kind_config_map : &kind_secret;
    const char *name = doc_text(ref, "name"), *prefix = doc_text(from, "prefix");
    struct value_items items;

    if (!name)
        return RESOLVED;
    if (!value_data(source, kind, name, VALUE_TEXTS, NULL, &items)) {
        if (value_flag(ref, "optional"))
            return RESOLVED;
        return resolve_wait(source, kind, name, "%s \"%s\" not found", kind->singular, name);
    }
    for (size_t i = 0; i < items.count && !too_large(vars); i++) {
        const char *key = items.items[i].key;

        if (prefix && *prefix)
            key = arena_printf(vars->arena, "%s%s", prefix, key);
        if (usable_name(key))
            define(vars, key, items.items[i].bytes);
    }
    return RESOLVED;
}

static enum resolve_result key_value(const struct value_source *source, const struct kind *kind,
                                     const json_t *ref, const char **out)
{
    const char *name = doc_text(ref, "name"), *key = doc_text(ref, "key");
    struct value_items items;

    *out = NULL;
    if (!name || !key)
        return RESOLVED;
    if (!value_data(source, kind, name, VALUE_TEXTS, key, &items)) {
        if (value_flag(ref, "optional"))
            return RESOLVED;
        return resolve_wait(source, kind, name, "%s \"%s\" not found", kind->singular, name);
    }
    if (items.count) {
        *out = items.items[0].bytes;
        return RESOLVED;
    }
    if (value_flag(ref, "optional"))
        return RESOLVED;
    return resolve_wait(source, kind, name, "couldn't find key %s in %s %s/%s", key, kind->name,
                        object_namespace(source->pod), name);
}

static enum resolve_result value_from(const struct value_source *source,
                                      const struct pod_container *container,
                                      const struct env_var *var, const char **out)
{
    const json_t *ref;

    if ((ref = json_object_get(var->value_from, "configMapKeyRef")))
        return key_value(source, &kind_config_map, ref, out);
    if ((ref = json_object_get(var->value_from, "secretKeyRef")))
        return key_value(source, &kind_secret, ref, out);
    if ((ref = json_object_get(var->value_from, "fieldRef"))) {
        *out = value_field(source, doc_text(ref, "fieldPath"));
        if (!*out)
            return resolve_invalid(source, "InvalidFieldPath",
                                   "container %s: env %s: fieldPath %s is not supported",
                                   container->name, var->name, doc_text(ref, "fieldPath"));
        return RESOLVED;
    }
    ref = json_object_get(var->value_from, "resourceFieldRef");
    *out = ref ? value_resource(source, ref, container) : NULL;
    if (ref && !*out)
        return resolve_invalid(source, "InvalidResourceField",
                               "container %s: env %s: resource %s is not supported",
                               container->name, var->name, doc_text(ref, "resource"));
    return RESOLVED;
}

static bool can_continue(const struct variables *vars, enum resolve_result result)
{
    return result == RESOLVED && !too_large(vars);
}

static void define_devices(const struct value_source *source, const struct pod_container *container,
                           struct variables *vars, enum device_rank rank)
{
    if (source->devices)
        device_variables(source->devices, source->devices_of_pod, source->spec, container, rank,
                         vars->arena, define_one, vars);
}

static enum resolve_result define_all(const struct value_source *source,
                                      const struct pod_container *container, struct variables *vars)
{
    enum resolve_result result = RESOLVED;

    for (size_t i = 0; source->environment && i < source->environment->count; i++)
        define(vars, source->environment->items[i].key, source->environment->items[i].value);
    define_devices(source, container, vars, DEVICE_BELOW_CONTAINER);
    service_env(source->services, object_namespace(source->pod), vars->arena, define_one, vars);
    for (size_t i = 0; i < json_array_size(container->env_from) && can_continue(vars, result); i++)
        result = add_source(source, vars, json_array_get(container->env_from, i));
    for (size_t i = 0; i < container->env.count && can_continue(vars, result); i++) {
        const struct env_var *var = &container->env.items[i];
        const char *value =
            var->value ? value_hosts_as_addresses(source, expand(vars, var->value)) : "";

        if (var->value_from)
            result = value_from(source, container, var, &value);
        if (result == RESOLVED && value) /* a value of NULL is optional and absent */
            define(vars, var->name, value);
    }
    define_devices(source, container, vars, DEVICE_ABOVE_CONTAINER);
    return result;
}

static void take_env(const struct variables *vars, struct runtime_container *out)
{
    struct runtime_env *env = arena_array(vars->arena, vars->count + 1, sizeof *env);
    size_t n = 0;

    for (const struct variable *var = vars->first; var; var = var->next)
        env[n++] = (struct runtime_env){var->name, var->value};
    out->env = env;
    out->n_env = n;
}

static const char **add_texts(const struct value_source *source, struct variables *vars,
                              const char *what, const struct str_list *texts, const char **out)
{
    for (size_t i = 0; i < texts->count && !too_large(vars); i++) {
        const char *text = value_hosts_as_addresses(source, expand(vars, texts->items[i]));

        count_text(vars, what, strlen(text));
        *out++ = text;
    }
    return out;
}

static void take_argv(const struct value_source *source, struct variables *vars,
                      const struct pod_container *container, struct runtime_container *out)
{
    size_t n = container->command.count + container->args.count;
    const char **argv = arena_array(vars->arena, n + 1, sizeof *argv), **at = argv;

    at = add_texts(source, vars, "command", &container->command, at);
    add_texts(source, vars, "args", &container->args, at);
    out->argv = argv;
    out->n_argv = n;
}

static enum resolve_result refuse_size(const struct value_source *source,
                                       const struct variables *vars,
                                       const struct pod_container *container)
{
    if (vars->too_long)
        return resolve_invalid(source, "ArgumentsTooLong",
                               "container %s: %s has more than %d bytes once its references are "
                               "resolved: mount it as a file instead",
                               container->name, vars->too_long, TEXT_BYTES_MAX);
    return resolve_invalid(
        source, "ArgumentsTooLong",
        "container %s: its variables and arguments have more than %d bytes in all "
        "once their references are resolved: mount what is large as a file instead",
        container->name, ALL_BYTES_MAX);
}

static bool has_expressions(const struct pod_container *container)
{
    for (size_t i = 0; i < container->mounts.count; i++)
        if (container->mounts.items[i].sub_path_expr)
            return true;
    return false;
}

/* Expands subPathExpr. A variable may contain any path, so the result is checked again. */
static enum resolve_result take_sub_paths(const struct value_source *source,
                                          const struct variables *vars,
                                          const struct pod_container *container,
                                          struct runtime_container *out)
{
    size_t n = container->mounts.count;
    const char **paths = arena_array(vars->arena, n, sizeof *paths);

    for (size_t i = 0; i < n; i++) {
        const struct volume_mount *mount = &container->mounts.items[i];

        paths[i] = mount->sub_path_expr ? expand(vars, mount->sub_path_expr) : mount->sub_path;
        if (mount->sub_path_expr && (strstr(paths[i], "$(") || !path_descends(paths[i])))
            return resolve_invalid(
                source, "InvalidSubPath",
                "container %s: subPathExpr %s becomes \"%s\", which is not a relative "
                "path without '..' and with all its variables known",
                container->name, mount->sub_path_expr, paths[i]);
    }
    out->sub_paths = paths;
    return RESOLVED;
}

enum resolve_result kubelet_env(const struct value_source *source,
                                const struct pod_container *container,
                                struct runtime_container *out)
{
    struct variables vars = {.arena = source->arena, .tail = &vars.first};
    enum resolve_result result = define_all(source, container, &vars);

    out->spec = container;
    if (can_continue(&vars, result)) {
        take_env(&vars, out);
        take_argv(source, &vars, container, out);
    }
    if (result == RESOLVED && too_large(&vars))
        result = refuse_size(source, &vars, container);
    if (result == RESOLVED && has_expressions(container))
        result = take_sub_paths(source, &vars, container, out);
    HASH_CLEAR(hh, vars.by_name);
    return result;
}
