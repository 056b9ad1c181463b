/*
 * Compares requests of pods with what nodes have.
 */
#include "api/submit/node_fit.h"

#include "api/submit/fields.h"

static const char *const resources[NODE_FIT_RESOURCES] = {"cpu", "memory"};

static void read_node(void *arg, const struct object *node)
{
    struct submit_node_fit *fit = arg;
    scoped(json) json_t *status = object_status_json(node);
    const json_t *allocatable = json_object_get(status, "allocatable");

    for (size_t r = 0; r < NODE_FIT_RESOURCES; r++) {
        quantity_nano has;

        if (!quantity_parse(submit_text_at(allocatable, resources[r]), &has, NULL))
            continue;
        if (!fit->known[r] || has > fit->most[r])
            fit->most[r] = has;
        fit->known[r] = true;
    }
}

void submit_node_fit_read(struct submit_node_fit *fit, const struct store *store)
{
    if (!fit->read)
        store_each(store, &kind_node, NULL, read_node, fit);
    fit->read = true;
}

/* Returns what the containers of a task's pods request together. */
static quantity_nano requested(const json_t *task, const char *resource)
{
    const json_t *spec = json_object_get(json_object_get(task, "template"), "spec");
    quantity_nano sum = 0, one;
    json_t *container;
    size_t i;

    json_array_foreach(json_object_get(spec, "containers"), i, container)
    {
        const json_t *given = json_object_get(container, "resources");
        const char *text = submit_text_at(json_object_get(given, "requests"), resource);

        if (!*text)
            text = submit_text_at(json_object_get(given, "limits"), resource);
        if (quantity_parse(text, &one, NULL))
            sum += one;
    }
    return sum;
}

void submit_node_fit_check(const struct submit_node_fit *fit, const json_t *tasks, const char *path,
                           struct submit_problems *problems)
{
    for (size_t r = 0; r < NODE_FIT_RESOURCES; r++)
        for (size_t t = 0; fit->known[r] && t < json_array_size(tasks); t++)
            if (requested(json_array_get(tasks, t), resources[r]) > fit->most[r])
                submit_problem(problems, "Unschedulable", path,
                               "the pods of %s need more %s than any node has",
                               submit_text_at(json_array_get(tasks, t), "name"), resources[r]);
}
