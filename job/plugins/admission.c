/*
 * Plugins at admission: which plugins a plugin implies, what it refuses or warns of in a job, and
 * which replicas must not change. Warnings become events again when the job is run. Ref:
 * spec/job-plugins.md 1.3, 10, O-P04, O-P07, O-P15, O-P41.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api/types/checks.h"
#include "base/mem.h"
#include "job/plugins/plugin.h"

PRINTF_LIKE(3, 0)
static void add(struct error_list *list, const char *field, const char *format, va_list args)
{
    struct error found = {.code = ERR_INVALID};

    snprintf(found.field, sizeof found.field, "%s", field);
    vsnprintf(found.message, sizeof found.message, format, args);
    error_list_append(list, &found);
}

void job_review_refuse(struct job_review *review, const char *field, const char *format, ...)
{
    scoped_str path = field ? mem_printf("%s.%s", review->path, field)
                            : mem_printf("%s.plugins[%s]", review->path, review->plugin);
    va_list args;

    if (!review->errors)
        return;
    va_start(args, format);
    add(review->errors, path, format, args);
    va_end(args);
}

void job_review_warn(struct job_review *review, const char *reason, const char *format, ...)
{
    va_list args;

    if (!review->warnings)
        return;
    va_start(args, format);
    add(review->warnings, reason, format, args);
    va_end(args);
}

static const json_t *volume_named(const json_t *volumes, const char *name)
{
    size_t i;
    json_t *volume;

    json_array_foreach(volumes, i, volume)
    {
        const char *has = json_string_value(json_object_get(volume, "name"));

        if (has && name && strcmp(has, name) == 0)
            return volume;
    }
    return NULL;
}

struct mount_rule {
    const char *path, *source, *member, *object;
};

static bool same_content(const struct job_task *task, const json_t *mount,
                         const struct mount_rule *rule)
{
    const json_t *volume = volume_named(job_template_list(task, "volumes"),
                                        json_string_value(json_object_get(mount, "name")));
    const char *object =
        json_string_value(json_object_get(json_object_get(volume, rule->source), rule->member));

    return object && strcmp(object, rule->object) == 0;
}

static void review_containers(struct job_review *review, const struct job_spec *spec, size_t t,
                              const char *list, const struct mount_rule *rule)
{
    const struct job_task *task = &spec->tasks.items[t];
    size_t c, m;
    json_t *container, *mount;

    json_array_foreach(job_template_list(task, list), c, container)
        json_array_foreach(json_object_get(container, "volumeMounts"), m, mount)
    {
        const char *at = json_string_value(json_object_get(mount, "mountPath"));
        scoped_str field = NULL;

        if (!at || strcmp(at, rule->path) != 0 || same_content(task, mount, rule))
            continue;
        field = mem_printf("tasks[%zu].template.spec.%s[%zu].volumeMounts[%zu].mountPath", t, list,
                           c, m);
        job_review_refuse(
            review, field, "\"%s\" is where plugin %s mounts %s: mount volume %s elsewhere", at,
            review->plugin, rule->object, json_string_value(json_object_get(mount, "name")));
    }
}

void job_review_mount(const struct job_plugin_job *job, struct job_review *review, const char *path,
                      const char *source, const char *member, const char *object)
{
    const struct mount_rule rule = {path, source, member, object};

    for (size_t t = 0; t < job->spec->tasks.count; t++) {
        review_containers(review, job->spec, t, "initContainers", &rule);
        review_containers(review, job->spec, t, "containers", &rule);
    }
    for (size_t v = 0; v < job->spec->volumes.count; v++) {
        scoped_str field = mem_printf("volumes[%zu].mountPath", v);
        const char *at = job->spec->volumes.items[v].mount_path;

        if (at && strcmp(at, path) == 0)
            job_review_refuse(review, field,
                              "\"%s\" is where plugin %s mounts %s: mount the volume elsewhere", at,
                              review->plugin, object);
    }
}

struct review_pass {
    struct job_review review;
    bool by_name;
};

static void review_arguments(const struct job_plugin *plugin, const struct job_plugin_job *job,
                             struct job_review *review)
{
    struct error_list ignored = {0};
    void *scratch;

    if (!plugin->flags || job->args.count == 0)
        return;
    scratch = mem_alloc(plugin->flags_size);
    job_args_read(plugin->flags, job->args, scratch, &ignored);
    mem_free(scratch);
    for (size_t i = 0; i < ignored.count; i++)
        job_review_warn(review, REASON_ARGUMENT_IGNORED, "plugin %s: argument ignored: %s%s%s",
                        plugin->name, ignored.items[i].field, *ignored.items[i].field ? ": " : "",
                        ignored.items[i].message);
    error_list_release(&ignored);
}

static void review_one(void *arg, const struct job_plugin *plugin, const struct job_plugin_job *job)
{
    struct review_pass *pass = arg;

    pass->review.plugin = plugin->name;
    if (!pass->by_name) {
        review_arguments(plugin, job, &pass->review);
        if (plugin->review)
            plugin->review(job, &pass->review);
    } else if (plugin->review_name) {
        plugin->review_name(job, &pass->review);
    }
}

static void review_all(const struct job_plugin_job *job, const struct job_review *review)
{
    struct review_pass pass = {*review, job->name != NULL};

    job_plugins_each(job, review_one, &pass, NULL);
}

void job_plugins_review(const struct job_plugin_job *job, const char *path,
                        struct error_list *errors, struct error_list *warnings)
{
    review_all(job, &(struct job_review){
                        .plugin = "", .path = path, .errors = errors, .warnings = warnings});
}

static void imply(json_t *plugins)
{
    json_t *args, *copy = json_copy(plugins); /* an implied plugin implies no other */
    const char *name;

    json_object_foreach(copy, name, args)
    {
        const struct job_plugin *plugin = job_plugin_find(name, NULL);

        for (size_t i = 0; plugin && plugin->implies[i]; i++)
            if (!json_object_get(plugins, plugin->implies[i]))
                json_object_set_new(plugins, plugin->implies[i], json_array());
    }
    json_decref(copy);
}

static void check_names(const struct job_spec *spec, const char *path, struct error_list *errors)
{
    for (size_t i = 0; i < spec->plugins.count; i++) {
        struct error err = {0};

        if (!job_plugin_find(spec->plugins.items[i].key, &err))
            FINDING(errors, ("%s.plugins[%s]", path, spec->plugins.items[i].key), "%s",
                    err.message);
    }
}

/* Warnings are errors where the server is strict about arguments (O-P04). */
static void report_warnings(const struct admission *adm, const char *path,
                            const struct error_list *warnings, struct error_list *errors)
{
    for (size_t i = 0; i < warnings->count; i++) {
        const struct error *found = &warnings->items[i];

        if (adm->strict_plugin_arguments && strcmp(found->field, REASON_ARGUMENT_IGNORED) == 0)
            FINDING(errors, ("%s.plugins", path), "%s", found->message);
        else
            WARNING(adm, ("%s.plugins", path), "%s", found->message);
    }
}

static void check(const struct admission *adm, const struct job_spec *spec, const char *name,
                  const char *path, struct error_list *errors)
{
    const struct job_plugin_job job = {.name = name, .spec = spec};
    struct error_list warnings = {0};

    if (spec->plugins.count == 0)
        return;
    if (!name)
        check_names(spec, path, errors);
    review_all(&job, &(struct job_review){.plugin = "",
                                          .path = path,
                                          .errors = errors,
                                          .warnings = &warnings,
                                          .no_key_arguments = adm->no_key_arguments,
                                          .no_low_ports = adm->no_low_ports});
    report_warnings(adm, path, &warnings, errors);
    error_list_release(&warnings);
}

struct command_pass {
    const struct job_task *task;
    const char *container;
    bool given;
};

static void ask_for_command(void *arg, const struct job_plugin *plugin,
                            const struct job_plugin_job *job)
{
    struct command_pass *pass = arg;

    if (plugin->commands && plugin->commands(job, pass->task, pass->container))
        pass->given = true;
}

static bool commands(const struct job_spec *spec, const struct job_task *task,
                     const char *container)
{
    const struct job_plugin_job job = {.spec = spec};
    struct command_pass pass = {task, container, false};

    job_plugins_each(&job, ask_for_command, &pass, NULL);
    return pass.given;
}

struct size_pass {
    const struct job_spec *before, *after;
    struct error_list *errors;
};

static void check_size(void *arg, const struct job_plugin *plugin, const struct job_plugin_job *job)
{
    struct size_pass *pass = arg;

    for (size_t t = 0; plugin->fixed_size && t < pass->before->tasks.count; t++) {
        const struct job_task *before = &pass->before->tasks.items[t];
        const char *why;

        if (t >= pass->after->tasks.count ||
            before->replicas == pass->after->tasks.items[t].replicas)
            continue;
        why = plugin->fixed_size(job, before);
        if (why)
            FINDING(pass->errors, ("spec.tasks[%zu].replicas", t),
                    "Forbidden: task %s keeps its %d replicas while the job lives: %s",
                    before->name, before->replicas, why);
    }
}

static void check_update(const struct job_spec *before, const struct job_spec *after,
                         struct error_list *errors)
{
    const struct job_plugin_job job = {.spec = before};
    struct size_pass pass = {before, after, errors};

    job_plugins_each(&job, check_size, &pass, NULL);
}

const struct plugin_rules job_plugin_rules = {
    .imply = imply,
    .check = check,
    .commands = commands,
    .check_update = check_update,
};
