/*
 * The pending delayed actions of a job's policies (a timeout after an event), read from the
 * annotations that job/delayed_annotations.c writes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/types/text/doc.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "cli/inspect/describe.h"

enum { ROWS_MAX = 20, AT = 0, ACTION, CAUSE, COLUMNS };

struct due {
    const struct describer *d;
    char *cells[ROWS_MAX * COLUMNS];
    size_t n, more;
};

static const json_t *task_of(const struct describer *d, const char *name)
{
    const json_t *tasks = doc_at(d->doc, "spec.tasks");

    for (size_t i = 0; i < json_array_size(tasks); i++) {
        const char *own = doc_text(json_array_get(tasks, i), "name");

        if (own && strcmp(own, name) == 0)
            return json_array_get(tasks, i);
    }
    return NULL;
}

/* Adds a delayed action, and frees `cause`. */
static void add(struct due *due, const json_t *policy, int64_t since_ms, char *cause)
{
    const char *action = doc_text(policy, "action"), *timeout = doc_text(policy, "timeout");
    char **row = due->cells + due->n * COLUMNS, at[TIME_TEXT_MAX];
    int64_t delay_ns;

    if (!action || !timeout || !duration_parse(timeout, &delay_ns, NULL)) {
        mem_free(cause);
        return;
    }
    if (due->n == ROWS_MAX) {
        due->more++;
        mem_free(cause);
        return;
    }
    time_format(since_ms + delay_ns / 1000000, at);
    row[AT] = mem_strdup(at);
    row[ACTION] = mem_strdup(action);
    row[CAUSE] = cause;
    due->n++;
}

/* Pods whose action is due at the same moment share a line. Owned. */
static char *cause_of(const struct describer *d, const char *event, const char *task,
                      const char *pods)
{
    if (!*task)
        return mem_strdup(event);
    if (strchr(pods, '-'))
        return mem_printf("%s of pods %s of task %s", event, pods, task);
    return mem_printf("%s of pod %s-%s-%s", event, d->name, task, pods);
}

/* Adds the action that a note stands for: EVENT/task[1]/TASK/FROM-TO@MS or EVENT/job[0]@MS. */
static void add_noted(struct due *due, const char *note)
{
    char event[32], source[8], task[64] = "", pods[32] = "";
    const json_t *policies;
    unsigned position;
    int64_t since_ms;

    /* NOLINTBEGIN(cert-err34-c): a text of this program, whose numbers are no larger than what
     * they are read into */
    if (sscanf(note, "%31[^/]/%7[^[][%u]/%63[^/]/%31[^@]@%" SCNd64, event, source, &position, task,
               pods, &since_ms) != 6 &&
        sscanf(note, "%31[^/]/%7[^[][%u]@%" SCNd64, event, source, &position, &since_ms) != 4)
        return;
    /* NOLINTEND(cert-err34-c) */
    policies = strcmp(source, "job") == 0 ? doc_at(due->d->doc, "spec.policies")
                                          : doc_at(task_of(due->d, task), "policies");
    add(due, json_array_get(policies, position), since_ms, cause_of(due->d, event, task, pods));
}

void describe_due(const struct describer *d)
{
    static const char *const titles[] = {"AT", "ACTION", "UNLESS IT IS OVER BY THEN"};
    const json_t *made = doc_at(d->doc, "status.controlledResources");
    const char *noted = json_string_value(json_object_get(made, "delayed-actions"));
    scoped_str notes = mem_strdup(noted ? noted : "");
    struct due due = {.d = d};
    char *rest = NULL;

    for (char *note = strtok_r(notes, ",", &rest); note; note = strtok_r(NULL, ",", &rest))
        add_noted(&due, note);
    if (due.n > 0)
        describe_table("Due", titles, COLUMNS, due.cells, due.n);
    if (due.more > 0)
        printf("  and %zu more\n", due.more);
}
