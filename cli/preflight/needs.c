/*
 * Programs that the pods of the files say they need (annotation jobflow.dev/needs) and that this
 * machine lacks. A need that many pods have is tried and reported once.
 *
 * The pods of a template that no flow of the files uses are not started, so what they need is only
 * worth a warning.
 */
#include <string.h>

#include "api/types/kinds/pod/pod.h"
#include "api/types/text/doc.h"
#include "base/mem.h"
#include "cli/preflight/internal.h"
#include "node/machine/programs.h"

/* The result of one need, by `PATH need`. */
struct tried {
    UT_hash_handle hh;
    bool met, warned, refused;
    struct error why;
    char key[];
};

struct needs_run {
    struct preflight_run *run;
    struct tried *tried;
};

static struct tried *try_once(struct needs_run *needs, const char *path, const char *need)
{
    scoped_str key = mem_printf("%s %s", path, need);
    struct tried *tried;

    HASH_FIND_STR(needs->tried, key, tried);
    if (tried)
        return tried;
    tried = mem_alloc(sizeof *tried + strlen(key) + 1);
    memcpy(tried->key, key, strlen(key) + 1);
    tried->met = programs_have(path, need, &tried->why);
    HASH_ADD_STR(needs->tried, key, tried);
    return tried;
}

static void forget_tried(struct needs_run *needs)
{
    struct tried *tried, *next;

    HASH_ITER(hh, needs->tried, tried, next)
    {
        HASH_DEL(needs->tried, tried);
        mem_free(tried);
    }
}

/* Returns the PATH that a container of the pod sets to a plain text, else that of this process. */
static const char *path_of(const json_t *pod)
{
    const json_t *container, *variable;
    const char *path = programs_path();
    size_t i, k;

    json_array_foreach(json_object_get(pod, "containers"), i, container)
    {
        json_array_foreach(json_object_get(container, "env"), k, variable)
        {
            const char *name = doc_text(variable, "name"), *value = doc_text(variable, "value");

            if (name && value && strcmp(name, "PATH") == 0 && !strchr(value, '$'))
                path = value;
        }
    }
    return path;
}

static bool names_template(const json_t *flow, const char *ns, const char *name)
{
    const char *its_ns = doc_text(flow, "metadata.namespace");
    const json_t *step;
    size_t i;

    if (!ns || !its_ns || strcmp(ns, its_ns) != 0)
        return false;
    json_array_foreach(json_object_get(json_object_get(flow, "spec"), "flows"), i, step)
    {
        const char *named = doc_text(step, "jobTemplateName");
        const char *template = named ? named : doc_text(step, "name");

        if (template && strcmp(template, name) == 0 && !json_object_get(step, "run") &&
            !json_object_get(step, "jobTemplate"))
            return true;
    }
    return false;
}

/* Returns whether a flow of the files makes jobs of the template. Bare jobs are started as they
 * are. */
static bool is_started(const struct manifests *set, const struct manifest *manifest)
{
    const char *ns = doc_text(manifest->doc, "metadata.namespace");
    const char *name = doc_text(manifest->doc, "metadata.name");

    for (size_t i = 0; i < set->count && manifest->kind == &kind_job_template; i++)
        if (set->items[i].kind == &kind_job_flow && name &&
            names_template(set->items[i].doc, ns, name))
            return true;
    return manifest->kind == &kind_job || manifest->kind == &kind_job_flow;
}

static void report(struct needs_run *needs, const struct manifest *manifest, const char *spec,
                   size_t task, struct tried *tried)
{
    const bool refuse =
        needs->run->options->needs == NEEDS_REQUIRED && is_started(needs->run->set, manifest);
    const struct error *why = &tried->why;
    struct error_list list = {0};
    struct error err = {0};
    char field[160];

    if (tried->refused || (tried->warned && !refuse))
        return;
    snprintf(field, sizeof field, "%s.tasks[%zu].template.metadata.annotations[%s]", spec, task,
             ANNOTATION_NEEDS);
    error_set(&err, ERR_INVALID, field,
              why->code == ERR_INVALID ? "%s"
                                       : "%s on this machine, and the pods need it: install it",
              why->message);
    tried->refused = refuse;
    tried->warned = true;
    if (refuse) {
        preflight_error(needs->run, manifest, &err);
        return;
    }
    error_list_append(&list, &err);
    preflight_warn(needs->run, manifest, &list);
    error_list_release(&list);
}

static void check_task(struct needs_run *needs, const struct manifest *manifest, const char *spec,
                       size_t index, const json_t *task)
{
    static const char separators[] = " ,\t\n";
    const json_t *template = json_object_get(task, "template");
    const json_t *metadata = json_object_get(template, "metadata");
    const char *at = json_string_value(
        json_object_get(json_object_get(metadata, "annotations"), ANNOTATION_NEEDS));

    for (size_t len; at && *(at += strspn(at, separators)); at += len) {
        len = strcspn(at, separators);
        scoped_str need = mem_printf("%.*s", (int)len, at);
        struct tried *tried = try_once(needs, path_of(json_object_get(template, "spec")), need);

        if (!tried->met)
            report(needs, manifest, spec, index, tried);
    }
}

/* Checks the tasks of a JobSpec at the path `path`. */
static void check_spec(struct needs_run *needs, const struct manifest *manifest, const char *path,
                       const json_t *spec)
{
    const json_t *task;
    size_t t;

    json_array_foreach(json_object_get(spec, "tasks"), t, task)
        check_task(needs, manifest, path, t, task);
}

static void check_inline_templates(struct needs_run *needs, const struct manifest *manifest)
{
    const json_t *step;
    size_t i;

    json_array_foreach(json_object_get(json_object_get(manifest->doc, "spec"), "flows"), i, step)
    {
        const json_t *template = json_object_get(step, "jobTemplate");
        char path[64];

        snprintf(path, sizeof path, "spec.flows[%zu].jobTemplate.spec", i);
        check_spec(needs, manifest, path, json_object_get(template, "spec"));
    }
}

void preflight_check_needs(struct preflight_run *run)
{
    struct needs_run needs = {.run = run};

    for (size_t i = 0; i < run->set->count && run->options->needs != NEEDS_IGNORED; i++) {
        const struct manifest *manifest = &run->set->items[i];

        if (manifest->kind == &kind_job || manifest->kind == &kind_job_template)
            check_spec(&needs, manifest, "spec", json_object_get(manifest->doc, "spec"));
        else if (manifest->kind == &kind_job_flow)
            check_inline_templates(&needs, manifest);
    }
    forget_tried(&needs);
}
