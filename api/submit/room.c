/*
 * Compares requests of pods with what nodes have.
 */
#include "api/submit/room.h"

#include "api/submit/fields.h"

static const char *const resources[SUBMIT_ROOM_RESOURCES] = {"cpu", "memory"};

static void look_at_node(void *arg, const struct object *node)
{
    struct submit_room *room = arg;
    scoped(json) json_t *status = object_status_json(node);
    const json_t *allocatable = json_object_get(status, "allocatable");

    for (size_t r = 0; r < SUBMIT_ROOM_RESOURCES; r++) {
        quantity_nano has;

        if (!quantity_parse(submit_text_at(allocatable, resources[r]), &has, NULL))
            continue;
        if (!room->known[r] || has > room->most[r])
            room->most[r] = has;
        room->known[r] = true;
    }
}

void submit_room_look(struct submit_room *room, const struct store *store)
{
    if (!room->looked)
        store_each(store, &kind_node, NULL, look_at_node, room);
    room->looked = true;
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

void submit_room_check(const struct submit_room *room, const json_t *tasks, const char *path,
                       struct submit_problems *problems)
{
    for (size_t r = 0; r < SUBMIT_ROOM_RESOURCES; r++)
        for (size_t t = 0; room->known[r] && t < json_array_size(tasks); t++)
            if (requested(json_array_get(tasks, t), resources[r]) > room->most[r])
                submit_problem(problems, "Unschedulable", path,
                               "the pods of %s need more %s than any node has",
                               submit_text_at(json_array_get(tasks, t), "name"), resources[r]);
}
