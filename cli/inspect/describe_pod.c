/*
 * Describes a Pod: where it runs, and its containers with their states, exit codes and restarts.
 */
#include <string.h>

#include "api/types/text/doc.h"
#include "base/mem.h"
#include "cli/inspect/describe.h"

static const json_t *status_of(const json_t *pod, const char *list, const char *container)
{
    size_t i;
    json_t *status;

    json_array_foreach(json_object_get(json_object_get(pod, "status"), list), i, status)
    {
        const char *name = doc_text(status, "name");

        if (name && strcmp(name, container) == 0)
            return status;
    }
    return NULL;
}

/* Returns command and args as one line; owned. */
static char *command_line(const json_t *container)
{
    static const char *const lists[] = {"command", "args"};
    scoped(buf) struct buf text = {0};
    size_t i;
    json_t *word;

    for (size_t j = 0; j < countof(lists); j++)
        json_array_foreach(json_object_get(container, lists[j]), i, word)
            buf_printf(&text, "%s%s", text.len ? " " : "", json_string_value(word));
    return buf_take(&text);
}

/* One state of {"waiting": …}, {"running": …} or {"terminated": …}. */
static void describe_state(const struct describer *d, const char *key, json_t *state)
{
    const char *word = json_object_iter_key(json_object_iter(state));
    const json_t *what = word ? json_object_get(state, word) : NULL;
    const json_t *code = json_object_get(what, "exitCode");
    char title[32];

    if (!word)
        return;
    snprintf(title, sizeof title, "%c%s", word[0] - ('a' - 'A'), word + 1);
    printf("    ");
    describe_line(key, title);
    printf("%s", doc_text(what, "reason") ? "      " : "");
    describe_phase(d, "Reason", doc_text(what, "reason"));
    printf("%s", doc_text(what, "message") ? "      " : "");
    describe_line("Message", doc_text(what, "message"));
    if (code) {
        printf("      ");
        describe_int("Exit Code", json_integer_value(code));
    }
    if (json_integer_value(json_object_get(what, "signal"))) {
        printf("      ");
        describe_int("Signal", json_integer_value(json_object_get(what, "signal")));
    }
    printf("%s", doc_text(what, "startedAt") ? "      " : "");
    describe_line("Started", doc_text(what, "startedAt"));
    printf("%s", doc_text(what, "finishedAt") ? "      " : "");
    describe_line("Finished", doc_text(what, "finishedAt"));
}

/* Lists the ids of the container's devices, like "nvidia.com/gpu: 0, 1". */
static void describe_devices(const json_t *status)
{
    size_t i, j;
    const json_t *entry, *device;

    json_array_foreach(json_object_get(status, "allocatedResourcesStatus"), i, entry)
    {
        scoped(buf) struct buf text = {0};
        const char *name = doc_text(entry, "name");

        buf_printf(&text, "%s:", name ? name : "");
        json_array_foreach(json_object_get(entry, "resources"), j, device)
            buf_printf(&text, "%s %s", j ? "," : "", doc_text(device, "resourceID"));
        printf("    ");
        describe_line("Devices", text.data);
    }
}

static void describe_container(const struct describer *d, const json_t *container,
                               const char *statuses)
{
    const char *name = doc_text(container, "name");
    const json_t *status = name ? status_of(d->doc, statuses, name) : NULL;
    scoped_str command = command_line(container);

    printf("  %s:\n", name ? name : "");
    printf("%s", *command ? "    " : "");
    describe_line("Command", command);
    if (!status)
        return;
    describe_state(d, "State", json_object_get(status, "state"));
    describe_state(d, "Last State", json_object_get(status, "lastState"));
    printf("    ");
    describe_line("Ready", json_is_true(json_object_get(status, "ready")) ? "True" : "False");
    printf("    ");
    describe_int("Restart Count", json_integer_value(json_object_get(status, "restartCount")));
    describe_devices(status);
}

static void describe_containers(const struct describer *d, const char *heading, const char *list,
                                const char *statuses)
{
    const json_t *containers = json_object_get(doc_at(d->doc, "spec"), list);
    size_t i;
    json_t *container;

    if (json_array_size(containers))
        printf("%s:\n", heading);
    json_array_foreach(containers, i, container) describe_container(d, container, statuses);
}

static void describe_conditions(const struct describer *d)
{
    static const char *const titles[] = {"TYPE", "STATUS", "REASON", "MESSAGE"};
    static const char *const members[] = {"type", "status", "reason", "message"};
    const json_t *conditions = doc_at(d->doc, "status.conditions");
    size_t n = json_array_size(conditions);
    char **cells = mem_array(n * countof(titles) + 1, sizeof *cells);

    for (size_t i = 0; i < n * countof(titles); i++) {
        const char *text =
            doc_text(json_array_get(conditions, i / countof(titles)), members[i % countof(titles)]);

        cells[i] = mem_strdup(text ? text : "");
    }
    describe_table("Conditions", titles, countof(titles), cells, n);
    mem_free(cells);
}

static void describe_volumes(const struct describer *d)
{
    const json_t *volumes = doc_at(d->doc, "spec.volumes");

    if (json_array_size(volumes)) {
        puts("Volumes:");
        describe_tree(volumes, 2);
    }
}

void describe_pod(const struct describer *d)
{
    describe_line("Node", doc_text(d->doc, "spec.nodeName"));
    describe_time(d, "Start Time", doc_text(d->doc, "status.startTime"));
    describe_phase(d, "Status", doc_text(d->doc, "status.phase"));
    describe_line("Reason", doc_text(d->doc, "status.reason"));
    describe_line("Message", doc_text(d->doc, "status.message"));
    describe_line("IP", doc_text(d->doc, "status.podIP"));
    describe_line("Restart Policy", doc_text(d->doc, "spec.restartPolicy"));
    describe_containers(d, "Init Containers", "initContainers", "initContainerStatuses");
    describe_containers(d, "Containers", "containers", "containerStatuses");
    describe_conditions(d);
    describe_volumes(d);
}
