/*
 * Describes a Job: its state and what it waits for, the phases it went through, what restarted it,
 * its tasks with counts of pods by phase, and its pods.
 */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "api/types/kinds/pod/pod.h"
#include "api/types/text/doc.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "cli/client/event_list.h"
#include "cli/inspect/describe.h"

static bool is_at_rest(const char *phase)
{
    static const char *const ends[] = {"Completed", "Failed", "Terminated", "Aborted"};

    for (size_t i = 0; phase && i < countof(ends); i++)
        if (strcmp(phase, ends[i]) == 0)
            return true;
    return false;
}

static void describe_history(const struct describer *d)
{
    enum { PHASE, SINCE, DURATION, COLUMNS };
    static const char *const titles[] = {"PHASE", "SINCE", "DURATION"};
    const json_t *conditions = doc_at(d->doc, "status.conditions");
    size_t n = json_array_size(conditions);
    char **cells = mem_array(n * COLUMNS + 1, sizeof *cells);

    for (size_t i = 0; i < n; i++) {
        const json_t *condition = json_array_get(conditions, i),
                     *next = json_array_get(conditions, i + 1);
        const char *phase = doc_text(condition, "status");
        const char *since = doc_text(condition, "lastTransitionTime");
        char **row = cells + i * COLUMNS;

        row[PHASE] = mem_strdup(phase ? phase : "");
        row[SINCE] = mem_strdup(since ? since : "");
        row[DURATION] = next ? describe_span(d, doc_time_ms(condition, "lastTransitionTime"),
                                             doc_time_ms(next, "lastTransitionTime"))
                        : is_at_rest(phase)
                            ? mem_strdup("")
                            : describe_span(d, doc_time_ms(condition, "lastTransitionTime"), 0);
    }
    describe_table("Phases", titles, COLUMNS, cells, n);
    mem_free(cells);
}

/* Prints the restarts and aborts of the job with their causes, from its events. */
static bool tells_of_restart(const struct event *event)
{
    static const char *const causes[] = {" after ", " by ", ": "};
    static const char *const actions[] = {"RestartJob",       "RestartTask", "RestartPod",
                                          "RestartPartition", "ResumeJob",   "restarted",
                                          "resumed"};
    size_t n = strcspn(event->message, " :");
    bool has_cause = false, is_restart = false;

    for (size_t i = 0; i < countof(causes); i++)
        has_cause |= strncmp(event->message + n, causes[i], strlen(causes[i])) == 0;
    for (size_t i = 0; i < countof(actions); i++)
        is_restart |= strlen(actions[i]) == n && strncmp(event->message, actions[i], n) == 0;
    return strcmp(event->reason, "ExecuteAction") == 0 && has_cause && is_restart;
}

static void describe_restarts(const struct describer *d)
{
    enum { AT, CAUSE, COLUMNS };
    static const char *const titles[] = {"AT", "RESTART"};
    scoped_str fields = event_selector(d->kind->name, d->name, doc_text(d->doc, "metadata.uid"));
    scoped(eventlist) struct eventlist list = {0};
    size_t n = 0;
    char **cells;

    if (json_integer_value(doc_at(d->doc, "status.retryCount")) == 0 ||
        !eventlist_get(d->client, d->ns, fields, &list, NULL))
        return;
    cells = mem_array(list.count * COLUMNS + 1, sizeof *cells);
    for (size_t i = 0; i < list.count; i++) {
        const struct event *event = &list.items[i];
        char at[TIME_TEXT_MAX];

        if (!tells_of_restart(event))
            continue;
        time_format(event->last_ms, at);
        cells[n * COLUMNS + AT] = mem_strdup(at);
        cells[n * COLUMNS + CAUSE] =
            event->count > 1 ? mem_printf("%s (%" PRId64 " times)", event->message, event->count)
                             : mem_strdup(event->message);
        n++;
    }
    if (n > 0)
        describe_table("Restarts", titles, COLUMNS, cells, n);
    mem_free(cells);
}

/* Names the tasks that a task without pods waits for. */
static char *waits_for(const struct describer *d, const json_t *task, const json_t *count)
{
    const json_t *names = doc_at(task, "dependsOn.name");
    const char *phase = doc_text(d->doc, "status.state.phase");
    const char *iteration = doc_text(task, "dependsOn.iteration");
    bool any = json_array_size(names) > 1 && iteration &&
               (strcasecmp(iteration, "any") == 0 || strcasecmp(iteration, "IterationAny") == 0);
    struct buf out = {0};

    if (json_object_size(count) > 0 || !phase ||
        (strcmp(phase, "Pending") != 0 && strcmp(phase, "Running") != 0))
        return buf_take(&out);
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));

        buf_printf(&out, "%s%s", i == 0 ? "" : any ? " or " : ", ", name ? name : "");
    }
    return buf_take(&out);
}

static bool any_waits(const struct describer *d, const json_t *tasks, const json_t *counts)
{
    for (size_t i = 0; i < json_array_size(tasks); i++) {
        const json_t *task = json_array_get(tasks, i);
        const char *name = doc_text(task, "name");
        scoped_str what =
            waits_for(d, task, name ? doc_at(json_object_get(counts, name), "phase") : NULL);

        if (*what)
            return true;
    }
    return false;
}

static void describe_tasks(const struct describer *d)
{
    static const char *const titles[] = {"TASK",      "REPLICAS", "MIN",     "PENDING",  "RUNNING",
                                         "SUCCEEDED", "FAILED",   "UNKNOWN", "WAITS FOR"};
    static const char *const phases[] = {"Pending", "Running", "Succeeded", "Failed", "Unknown"};
    enum { FIRST_PHASE = 3, WAITS = FIRST_PHASE + countof(phases) };
    const json_t *tasks = doc_at(d->doc, "spec.tasks");
    const json_t *counts = doc_at(d->doc, "status.taskStatusCount");
    size_t n = json_array_size(tasks), columns = any_waits(d, tasks, counts) ? WAITS + 1 : WAITS;
    char **cells = mem_array(n * columns + 1, sizeof *cells);

    for (size_t i = 0; i < n; i++) {
        const json_t *task = json_array_get(tasks, i);
        const char *name = doc_text(task, "name");
        const json_t *count = name ? doc_at(json_object_get(counts, name), "phase") : NULL;
        const json_t *least = json_object_get(task, "minAvailable");
        json_int_t replicas = json_integer_value(json_object_get(task, "replicas"));
        char **row = cells + i * columns;

        row[0] = mem_strdup(name ? name : "");
        row[1] = mem_printf("%" JSON_INTEGER_FORMAT, replicas);
        row[2] = mem_printf("%" JSON_INTEGER_FORMAT, least ? json_integer_value(least) : replicas);
        for (size_t j = 0; j < countof(phases); j++)
            row[FIRST_PHASE + j] = mem_printf(
                "%" JSON_INTEGER_FORMAT, json_integer_value(json_object_get(count, phases[j])));
        if (columns > WAITS)
            row[WAITS] = waits_for(d, task, count);
    }
    describe_table("Tasks", titles, columns, cells, n);
    mem_free(cells);
}

/* "2 of 3, 1 of them a resume": only restarts after failures use the budget up. */
static void describe_retries(const struct describer *d)
{
    json_int_t retries = json_integer_value(doc_at(d->doc, "status.retryCount"));
    const json_t *annotations = doc_at(d->doc, "metadata.annotations");
    const char *resumes =
        json_string_value(json_object_get(annotations, "volcano.sh/job-resume-count"));
    scoped_str text = mem_printf("%" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT "%s%s%s",
                                 retries, json_integer_value(doc_at(d->doc, "spec.maxRetry")),
                                 resumes ? ", " : "", resumes ? resumes : "",
                                 !resumes                    ? ""
                                 : strcmp(resumes, "1") == 0 ? " of them a resume"
                                                             : " of them resumes");

    describe_line("Retries", text);
}

/* Prints the scheduler's message: "Waits For: room in queue q". */
static void describe_wait(const char *message)
{
    static const char room[] = "waits for ", turn[] = "waits in ";
    scoped_str text = strncmp(message, room, strlen(room)) == 0 ? mem_strdup(message + strlen(room))
                      : strncmp(message, turn, strlen(turn)) == 0
                          ? mem_printf("its turn in %s", message + strlen(turn))
                          : mem_strdup(message);

    describe_line("Waits For", text);
}

/* The total time in phase Running. The status has the sum of the spans that have ended. */
static void describe_running(const struct describer *d)
{
    const char *phase = doc_text(d->doc, "status.state.phase");
    const char *before = doc_text(d->doc, "status.runningDuration");
    int64_t since_ms = doc_time_ms(d->doc, "status.state.lastTransitionTime"), ran_ns = 0;
    char text[TIME_TEXT_MAX];

    if (!phase || strcmp(phase, "Running") != 0) {
        describe_line("Running For", before);
        return;
    }
    if (before)
        duration_parse(before, &ran_ns, NULL);
    duration_human(ran_ns / 1000000 + d->now_ms - since_ms, text);
    describe_line("Running For", text);
}

/* The reason of an unfinished job says what it waits for. While its last pods end, the message
 * begins with the reason for the end: "REASON: text" (O-38). */
static void describe_state(const struct describer *d)
{
    const char *phase = doc_text(d->doc, "status.state.phase");
    const char *message = doc_text(d->doc, "status.state.message");
    const char *reason = doc_text(d->doc, "status.state.reason");
    const char *colon = message ? strstr(message, ": ") : NULL;
    bool waits = phase && strcmp(phase, "Pending") == 0 && message && *message &&
                 strncmp(message, "Restart", 7) != 0;
    scoped_str decided = NULL;

    describe_phase(d, "Status", phase);
    if (reason && strcmp(reason, "PodsReleasing") == 0 && colon) {
        describe_line("Waits For", "its last pods to end (PodsReleasing)");
        decided = mem_printf("%.*s", (int)(colon - message), message);
        reason = decided;
        message = colon + 2;
    }
    describe_line("Reason", reason);
    if (waits)
        describe_wait(message);
    else
        describe_line("Message", message);
    describe_running(d);
}

void describe_job(const struct describer *d)
{
    scoped_str labels = mem_printf("%s=%s", LABEL_JOB_NAME, d->name);

    describe_line("Queue", doc_text(d->doc, "spec.queue"));
    describe_line("Priority Class", doc_text(d->doc, "spec.priorityClassName"));
    describe_int("Min Available", json_integer_value(doc_at(d->doc, "spec.minAvailable")));
    describe_retries(d);
    describe_state(d);
    describe_history(d);
    describe_restarts(d);
    describe_due(d);
    describe_tasks(d);
    describe_pods(d, labels);
}
