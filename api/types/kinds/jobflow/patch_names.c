/*
 * Looks up each name of a patch in the template. What is unknown must be a whole new element, or
 * carry "$patch: add". Elements without a name are matched by position and are not looked up.
 */
#include "api/types/kinds/jobflow/patch_names.h"

#include <string.h>

#include "api/types/checks.h"
#include "api/types/text/doc.h"
#include "api/types/text/suggest.h"

static const char *text_of(const json_t *object, const char *member)
{
    return json_string_value(json_object_get(object, member));
}

static bool has_directive(const json_t *element, const char *directive)
{
    const char *text = text_of(element, "$patch");

    return text && strcmp(text, directive) == 0;
}

/* The containers of one list of a task. */
struct container_list {
    const char *member, *word;
};

static const struct container_list container_lists[] = {
    {"containers", "container"},
    {"initContainers", "init container"},
    {"ephemeralContainers", "ephemeral container"},
};

static bool is_whole_container(const json_t *container)
{
    return json_object_get(container, "image") &&
           (json_object_get(container, "command") || json_object_get(container, "args"));
}

static const json_t *list_of(const json_t *pod_template, const char *member)
{
    return json_object_get(json_object_get(pod_template, "spec"), member);
}

/* One list of containers in a patched task. */
struct patched_list {
    const struct container_list *kind;
    const char *task;                    /* name of the template's task */
    const json_t *known, *before, *list; /* of the template, of the earlier patch, of the patch */
};

static void check_container(const struct patched_list *of, size_t at, const char *path,
                            struct error_list *errors)
{
    const json_t *container = json_array_get(of->list, at), *other;
    const char *name = text_of(container, "name");
    struct suggest near = {0};
    bool is_known, adds = has_directive(container, "add");
    size_t i;

    if (!name || has_directive(container, "delete"))
        return;
    is_known = doc_named(of->known, name) || doc_named(of->before, name);
    if (is_known && adds)
        FINDING(errors, ("%s.template.spec.%s[%zu].name", path, of->kind->member, at),
                "task \"%s\" of the template has a %s \"%s\" already: \"$patch: add\" is for a new "
                "one",
                of->task, of->kind->word, name);
    if (is_known || adds)
        return;
    json_array_foreach(of->known, i, other)
    {
        if (text_of(other, "name"))
            suggest_offer(&near, name, text_of(other, "name"));
    }
    if (near.word)
        FINDING(errors, ("%s.template.spec.%s[%zu].name", path, of->kind->member, at),
                "task \"%s\" of the template has no %s \"%s\"; did you mean \"%s\"? "
                "(\"$patch: add\" adds a new one)",
                of->task, of->kind->word, name, near.word);
    else if (!is_whole_container(container))
        FINDING(errors, ("%s.template.spec.%s[%zu].name", path, of->kind->member, at),
                "task \"%s\" of the template has no %s \"%s\", and as a new one it needs image and "
                "command, or \"$patch: add\"",
                of->task, of->kind->word, name);
}

static void check_containers(const struct job_task *task, const json_t *before, const json_t *patch,
                             const char *path, struct error_list *errors)
{
    const json_t *pod_template = json_object_get(patch, "template");
    const json_t *earlier = json_object_get(before, "template");

    if (has_directive(patch, "replace") || has_directive(pod_template, "replace") ||
        has_directive(json_object_get(pod_template, "spec"), "replace"))
        return;
    for (size_t k = 0; k < countof(container_lists); k++) {
        const char *member = container_lists[k].member;
        const struct patched_list of = {
            .kind = &container_lists[k],
            .task = task->name ? task->name : "",
            .known = list_of(task->template, member),
            .before = list_of(earlier, member),
            .list = list_of(pod_template, member),
        };

        for (size_t at = 0; at < json_array_size(of.list); at++)
            check_container(&of, at, path, errors);
    }
}

/* A task that neither the template nor the earlier patch has. */
static void check_new_task(const struct job_spec *template, const json_t *task, const char *path,
                           struct error_list *errors)
{
    const char *name = text_of(task, "name");
    struct suggest near = {0};

    for (size_t t = 0; t < template->tasks.count; t++)
        if (template->tasks.items[t].name)
            suggest_offer(&near, name, template->tasks.items[t].name);
    if (has_directive(task, "add") || has_directive(task, "delete") ||
        (json_object_get(task, "template") && (json_object_get(task, "replicas") || !near.word)))
        return;
    FINDING_CODE(errors, ERR_NOT_FOUND, ("%s.name", path), "the template has no task \"%s\"%s%s%s",
                 name, near.word ? "; did you mean \"" : ", and as a new one it needs a template",
                 near.word ? near.word : "", near.word ? "\"?" : "");
}

/* Returns the template's task that element `at` of the patch changes, or NULL. */
static const struct job_task *task_of(const struct job_spec *template, const json_t *tasks,
                                      size_t at)
{
    const char *name = text_of(json_array_get(tasks, at), "name");

    if (!name)
        return at < template->tasks.count && (template->tasks.count == 1 ||
                                              template->tasks.count == json_array_size(tasks))
                   ? &template->tasks.items[at]
                   : NULL;
    for (size_t t = 0; t < template->tasks.count; t++)
        if (template->tasks.items[t].name && strcmp(template->tasks.items[t].name, name) == 0)
            return &template->tasks.items[t];
    return NULL;
}

void jobflow_check_patch_names(const struct job_spec *template, const json_t *patch,
                               const json_t *before, const char *path, struct error_list *errors)
{
    const json_t *tasks = json_object_get(patch, "tasks"), *task;
    size_t at;

    json_array_foreach(tasks, at, task)
    {
        const struct job_task *known = task_of(template, tasks, at);
        const char *name = text_of(task, "name");
        const json_t *earlier = name ? doc_named(json_object_get(before, "tasks"), name) : NULL;
        scoped(buf) struct buf where = {0};

        buf_printf(&where, "%s.tasks[%zu]", path, at);
        if (known && has_directive(task, "add"))
            FINDING(errors, ("%s.name", where.data),
                    "the template has a task \"%s\" already: \"$patch: add\" is for a new one",
                    known->name);
        else if (known)
            check_containers(known, earlier, task, where.data, errors);
        else if (name && !earlier)
            check_new_task(template, task, where.data, errors);
    }
}
