/*
 * Rules of a pod's spec that a field table cannot express: names, programs, sizes, mounts and
 * probes of containers, and volumes. Those of resources are in resources_check.c.
 *
 * Ref: Kubernetes pkg/apis/core/validation ValidatePodSpec, the part that concerns pods on this
 * machine; DC-10 for programs; spec/reliability.md L-35 and L-36 for sizes.
 */
#include "api/types/kinds/pod/admission.h"

#include <string.h>

#include "api/types/checks.h"
#include "api/types/kinds/pod/core_schema.h"
#include "api/types/kinds/pod/sim_annotations.h"
#include "api/types/kinds/pod/volume_path.h"
#include "api/types/labels.h"
#include "base/collections/name_index.h"
#include "base/compiler.h"

struct check {
    const struct admission *adm;
    const struct limits *limits;
    struct error_list *errors;
    const char *path; /* path of the pod spec */
    const struct pod_spec *spec;
    const struct pod_commands *commands; /* says which containers need no command; may be NULL */
    struct name_index volumes;
    struct name_index containers;
};

/* A container and its path, for example "spec.initContainers[0]". */
struct container_place {
    const struct pod_container *container;
    const char *path;
    bool init;
};

static bool gets_command(const struct check *c, const struct container_place *at)
{
    return c->commands && !at->init && at->container->name &&
           c->commands->given(c->commands->ctx, at->container->name);
}

static void check_program(struct check *c, const struct container_place *at)
{
    const struct pod_container *container = at->container;

    if (!c->adm->virtual_runtime && !container->command.count && !container->args.count &&
        !gets_command(c, at))
        FINDING(c->errors, ("%s.command", at->path),
                "Required value: container \"%s\" has neither command nor args: programs of this "
                "machine are run, images are not used; name the program to run",
                container->name);
}

static size_t strings_size(struct check *c, const struct container_place *at, const char *member,
                           const struct str_list *strings)
{
    size_t total = 0;

    for (size_t i = 0; i < strings->count; i++) {
        size_t len = strlen(strings->items[i]);

        total += len;
        if ((int64_t)len > c->limits->argument_bytes)
            FINDING(c->errors, ("%s.%s[%zu]", at->path, member, i),
                    "Too long: %zu bytes, at most %lld are allowed", len,
                    (long long)c->limits->argument_bytes);
    }
    return total;
}

static bool env_name_valid(const char *name)
{
    if (!*name)
        return false;
    for (const char *at = name; *at; at++)
        if (*at == '=' || (unsigned char)*at <= ' ' || (unsigned char)*at == 0x7f)
            return false;
    return true;
}

static size_t check_env(struct check *c, const struct container_place *at)
{
    size_t total = 0;

    for (size_t i = 0; i < at->container->env.count; i++) {
        const struct env_var *var = &at->container->env.items[i];
        size_t len = strlen(var->name) + (var->value ? strlen(var->value) : 0);

        total += len;
        if (!env_name_valid(var->name))
            FINDING(c->errors, ("%s.env[%zu].name", at->path, i),
                    "Invalid value: \"%s\": a variable's name is not empty and has no '=', no "
                    "space and no control character",
                    var->name);
        if (var->value && *var->value && var->value_from)
            FINDING(c->errors, ("%s.env[%zu].valueFrom", at->path, i),
                    "Invalid value: may not be specified when `value` is not empty");
        if (var->value_from && json_object_size(var->value_from) != 1)
            FINDING(c->errors, ("%s.env[%zu].valueFrom", at->path, i),
                    "Invalid value: exactly one of fieldRef, resourceFieldRef, configMapKeyRef and "
                    "secretKeyRef must be given");
        if ((int64_t)len > c->limits->argument_bytes)
            FINDING(c->errors, ("%s.env[%zu].value", at->path, i),
                    "Too long: %zu bytes with its name, at most %lld are allowed", len,
                    (long long)c->limits->argument_bytes);
    }
    return total;
}

/* L-35: refuses arguments and variables that are too large for execve, so that the pod does not
 * fail when it starts. */
static void check_sizes(struct check *c, const struct container_place *at)
{
    size_t total = strings_size(c, at, "command", &at->container->command) +
                   strings_size(c, at, "args", &at->container->args) + check_env(c, at);

    if ((int64_t)total > c->limits->arguments_bytes)
        FINDING(c->errors, ("%s", at->path),
                "Too long: command, args and env have %zu bytes together, at most %lld are allowed",
                total, (long long)c->limits->arguments_bytes);
}

static bool is_given(const char *text)
{
    return text && *text;
}

static void check_sub_path(struct check *c, const struct container_place *at, size_t i,
                           const char *member, const char *path)
{
    if (path && !path_descends(path))
        FINDING(c->errors, ("%s.volumeMounts[%zu].%s", at->path, i, member),
                "Invalid value: \"%s\": must be a relative path without '..'", path);
}

static void check_mounts(struct check *c, const struct container_place *at)
{
    const struct pod_container *container = at->container;
    scoped(name_index) struct name_index paths = {0};

    if ((int64_t)container->mounts.count > c->limits->container_mounts)
        FINDING(c->errors, ("%s.volumeMounts", at->path),
                "Too many: %zu: must have at most %lld items", container->mounts.count,
                (long long)c->limits->container_mounts);
    name_index_init(&paths, container->mounts.count);
    for (size_t i = 0; i < container->mounts.count; i++) {
        const struct volume_mount *mount = &container->mounts.items[i];
        const char *problem = mount_path_problem(mount->mount_path);

        if (!*mount->mount_path)
            FINDING(c->errors, ("%s.volumeMounts[%zu].mountPath", at->path, i), "Required value");
        else if (problem)
            FINDING(c->errors, ("%s.volumeMounts[%zu].mountPath", at->path, i),
                    "Invalid value: \"%s\": %s", mount->mount_path, problem);
        else if (name_index_put(&paths, mount->mount_path, (uint32_t)i) != NAME_NONE)
            FINDING(c->errors, ("%s.volumeMounts[%zu].mountPath", at->path, i),
                    "Invalid value: \"%s\": must be unique", mount->mount_path);
        if (name_index_get(&c->volumes, mount->name) == NAME_NONE)
            FINDING(c->errors, ("%s.volumeMounts[%zu].name", at->path, i),
                    "Not found: \"%s\": the pod has no volume of this name", mount->name);
        check_sub_path(c, at, i, "subPath", mount->sub_path);
        check_sub_path(c, at, i, "subPathExpr", mount->sub_path_expr);
        if (is_given(mount->sub_path) && is_given(mount->sub_path_expr))
            FINDING(c->errors, ("%s.volumeMounts[%zu].subPathExpr", at->path, i),
                    "Invalid value: \"%s\": subPathExpr and subPath are mutually exclusive",
                    mount->sub_path_expr);
    }
}

static void check_probe(struct check *c, const struct container_place *at, const char *member,
                        const json_t *probe)
{
    static const char *const handlers[] = {"exec", "httpGet", "tcpSocket", "grpc"};
    size_t given = 0;

    if (!probe)
        return;
    for (size_t i = 0; i < countof(handlers); i++)
        given += json_object_get(probe, handlers[i]) != NULL;
    if (given != 1)
        FINDING(c->errors, ("%s.%s", at->path, member),
                "%s: exactly one of exec, httpGet, tcpSocket and grpc must be given",
                given ? "Forbidden" : "Required value");
}

static void check_container(struct check *c, const struct container_place *at)
{
    const struct pod_container *container = at->container;
    struct error err = {0};

    if (!name_is_dns_label(container->name, &err))
        FINDING(c->errors, ("%s.name", at->path), "Invalid value: \"%s\": %s", container->name,
                err.message);
    else if (name_index_put(&c->containers, container->name, 0) != NAME_NONE)
        FINDING(c->errors, ("%s.name", at->path), "Duplicate value: \"%s\"", container->name);
    if (container->restart_policy && !at->init)
        FINDING(c->errors, ("%s.restartPolicy", at->path),
                "Forbidden: may not be set for non-init containers");
    check_program(c, at);
    check_sizes(c, at);
    check_mounts(c, at);
    pod_check_container_resources(at->container, at->path, c->errors);
    check_probe(c, at, "livenessProbe", container->liveness);
    check_probe(c, at, "readinessProbe", container->readiness);
    check_probe(c, at, "startupProbe", container->startup);
}

static void check_container_list(struct check *c, const char *list,
                                 const struct pod_container *items, size_t count, bool init)
{
    scoped(buf) struct buf path = {0};

    for (size_t i = 0; i < count; i++) {
        buf_clear(&path);
        buf_printf(&path, "%s.%s[%zu]", c->path, list, i);
        check_container(c, &(struct container_place){&items[i], path.data, init});
    }
}

static void check_containers(struct check *c)
{
    const struct pod_spec *spec = c->spec;
    size_t total = spec->init_containers.count + spec->containers.count;

    if (!spec->containers.count)
        FINDING(c->errors, ("%s.containers", c->path), "Required value: a pod needs a container");
    if ((int64_t)total > c->limits->pod_containers)
        FINDING(c->errors, ("%s.containers", c->path),
                "Too many: %zu: must have at most %lld items", total,
                (long long)c->limits->pod_containers);
    name_index_init(&c->containers, total);
    check_container_list(c, "initContainers", spec->init_containers.items,
                         spec->init_containers.count, true);
    check_container_list(c, "containers", spec->containers.items, spec->containers.count, false);
}

static void check_volumes(struct check *c)
{
    const struct pod_spec *spec = c->spec;
    scoped(buf) struct buf path = {0};
    struct error err = {0};

    name_index_init(&c->volumes, spec->volumes.count);
    if ((int64_t)spec->volumes.count > c->limits->pod_volumes)
        FINDING(c->errors, ("%s.volumes", c->path), "Too many: %zu: must have at most %lld items",
                spec->volumes.count, (long long)c->limits->pod_volumes);
    for (size_t i = 0; i < spec->volumes.count; i++) {
        const char *name = spec->volumes.items[i].name;

        if (!name_is_dns_label(name, &err))
            FINDING(c->errors, ("%s.volumes[%zu].name", c->path, i), "Invalid value: \"%s\": %s",
                    name, err.message);
        else if (name_index_put(&c->volumes, name, (uint32_t)i) != NAME_NONE)
            FINDING(c->errors, ("%s.volumes[%zu].name", c->path, i), "Duplicate value: \"%s\"",
                    name);
        buf_clear(&path);
        buf_printf(&path, "%s.volumes[%zu]", c->path, i);
        pod_check_volume(c->adm, &spec->volumes.items[i], path.data, c->errors);
    }
}

static void check_dns_label(struct check *c, const char *member, const char *value)
{
    struct error err = {0};

    if (value && *value && !name_is_dns_label(value, &err))
        FINDING(c->errors, ("%s.%s", c->path, member), "Invalid value: \"%s\": %s", value,
                err.message);
}

static void check_spec(const struct admission *adm, const struct pod_spec *spec,
                       const struct pod_commands *commands, const char *path,
                       struct error_list *errors)
{
    struct check check = {adm, limits_of(adm), errors, path, spec, commands};

    check_volumes(&check);
    check_containers(&check);
    pod_check_pod_resources(spec, path, errors);
    check_dns_label(&check, "hostname", spec->hostname);
    check_dns_label(&check, "subdomain", spec->subdomain);
    if (spec->active_deadline_s.set && spec->active_deadline_s.value < 1)
        FINDING(errors, ("%s.activeDeadlineSeconds", path),
                "Invalid value: %lld: must be greater than or equal to 1",
                (long long)spec->active_deadline_s.value);
    name_index_release(&check.volumes);
    name_index_release(&check.containers);
}

void pod_check_spec(const struct admission *adm, const struct pod_spec *spec, const char *path,
                    struct error_list *errors)
{
    check_spec(adm, spec, NULL, path, errors);
}

static void check_labels(const json_t *metadata, const char *path, struct error_list *errors)
{
    const char *key;
    json_t *value;
    struct error err = {0};

    json_object_foreach(json_object_get(metadata, "labels"), key, value)
    {
        if (!label_key_valid(key, &err))
            FINDING(errors, ("%s.metadata.labels", path), "Invalid value: \"%s\": %s", key,
                    err.message);
        else if (!label_value_valid(json_string_value(value), &err))
            FINDING(errors, ("%s.metadata.labels[%s]", path, key), "Invalid value: \"%s\": %s",
                    json_string_value(value), err.message);
    }
}

static void check_sim(const struct admission *adm, const json_t *metadata, const char *path,
                      struct error_list *errors)
{
    const json_t *annotations = json_object_get(metadata, "annotations");
    scoped(buf) struct buf at = {0};

    if (!adm->virtual_runtime || !annotations)
        return;
    buf_printf(&at, "%s.metadata.annotations", path);
    pod_sim_check(json_string_value(json_object_get(annotations, ANNOTATION_SIM_DURATION)),
                  json_string_value(json_object_get(annotations, ANNOTATION_SIM_EXIT_CODE)),
                  at.data, errors);
}

void pod_check_template(const struct admission *adm, const json_t *template,
                        const struct pod_commands *commands, const char *path,
                        struct error_list *errors)
{
    const json_t *doc = json_object_get(template, "spec");
    scoped(arena) struct arena *arena = arena_new(0);
    scoped(buf) struct buf spec_path = {0};
    struct error err = {0};
    struct pod_spec spec;

    check_labels(json_object_get(template, "metadata"), path, errors);
    check_sim(adm, json_object_get(template, "metadata"), path, errors);
    buf_printf(&spec_path, "%s.spec", path);
    if (!schema_decode(&pod_spec_schema, doc, arena, &spec, &err)) {
        FINDING(errors, ("%s.%s", spec_path.data, err.field), "%s", err.message);
        return;
    }
    pod_spec_finish(&spec, doc, arena);
    check_spec(adm, &spec, commands, spec_path.data, errors);
}
