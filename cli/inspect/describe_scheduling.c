/*
 * Describes a PodGroup (what must be placed together, whether it has been, and what it waits for)
 * and a Queue (its limits, how much of them is used, and how many PodGroups it has).
 */
#include <string.h>

#include "api/types/kinds/pod/pod.h"
#include "api/types/text/doc.h"
#include "base/mem.h"
#include "cli/inspect/describe.h"

/* Returns the message of the condition Unschedulable; NULL. */
static const char *waits_for(const json_t *doc)
{
    const json_t *conditions = doc_at(doc, "status.conditions");
    const json_t *last = json_array_get(conditions, json_array_size(conditions) - 1);
    const char *type = doc_text(last, "type");

    return type && strcmp(type, "Unschedulable") == 0 ? doc_text(last, "message") : NULL;
}

static void describe_amounts(const char *key, const json_t *amounts)
{
    const char *name;
    json_t *value;
    struct buf text = {0};

    json_object_foreach((json_t *)(uintptr_t)amounts, name, value)
    {
        char *figure = json_is_string(value) ? mem_strdup(json_string_value(value))
                                             : json_dumps(value, JSON_ENCODE_ANY);

        buf_printf(&text, "%s%s=%s", text.len ? ", " : "", name, figure ? figure : "");
        mem_free(figure);
    }
    describe_line(key, text.data);
    buf_release(&text);
}

static void describe_count(const struct describer *d, const char *key, const char *path)
{
    const json_t *value = doc_at(d->doc, path);

    if (value)
        describe_int(key, json_integer_value(value));
}

void describe_podgroup(const struct describer *d)
{
    describe_line("Queue", doc_text(d->doc, "spec.queue"));
    describe_line("Priority Class", doc_text(d->doc, "spec.priorityClassName"));
    describe_count(d, "Min Member", "spec.minMember");
    describe_amounts("Min Task Member", doc_at(d->doc, "spec.minTaskMember"));
    describe_amounts("Min Resources", doc_at(d->doc, "spec.minResources"));
    describe_phase(d, "Status", doc_text(d->doc, "status.phase"));
    describe_line("Waits For", waits_for(d->doc));
    describe_count(d, "Running", "status.running");
    describe_count(d, "Succeeded", "status.succeeded");
    describe_count(d, "Failed", "status.failed");
}

void describe_queue(const struct describer *d)
{
    static const struct {
        const char *key, *path;
    } amounts[] = {{"Capability", "spec.capability"},
                   {"Deserved", "spec.deserved"},
                   {"Guarantee", "spec.guarantee.resource"},
                   {"Allocated", "status.allocated"}},
      counts[] = {{"Pending", "status.pending"},
                  {"Inqueue", "status.inqueue"},
                  {"Running", "status.running"},
                  {"Unknown", "status.unknown"},
                  {"Completed", "status.completed"}};

    describe_phase(d, "State", doc_text(d->doc, "status.state"));
    describe_line("Parent", doc_text(d->doc, "spec.parent"));
    describe_count(d, "Weight", "spec.weight");
    describe_count(d, "Priority", "spec.priority");
    describe_line("Strategy", doc_text(d->doc, "spec.dequeueStrategy"));
    if (json_is_false(doc_at(d->doc, "spec.reclaimable")))
        describe_line("Reclaimable", "no");
    for (size_t i = 0; i < countof(amounts); i++)
        describe_amounts(amounts[i].key, doc_at(d->doc, amounts[i].path));
    for (size_t i = 0; i < countof(counts); i++)
        describe_count(d, counts[i].key, counts[i].path);
}
