/*
 * Describes a CronJob or a FlowTrigger: its schedule with the next times, what it makes, and what is
 * active.
 */
#include <string.h>

#include "api/types/text/doc.h"
#include "base/mem.h"
#include "cli/command/command.h"
#include "cli/inspect/describe.h"
#include "cli/inspect/schedule_text.h"

static void describe_number(const struct describer *d, const char *key, const char *path)
{
    const json_t *value = doc_at(d->doc, path);

    if (value)
        describe_int(key, json_integer_value(value));
}

static void describe_active(const struct describer *d)
{
    scoped(buf) struct buf names = {0};
    size_t i;
    json_t *one;

    json_array_foreach(doc_at(d->doc, "status.active"), i, one)
        buf_printf(&names, "%s%s", names.len ? ", " : "", doc_text(one, "name"));
    describe_line("Active", names.data ? names.data : "<none>");
}

void describe_idle_schedule(const struct client *client, struct buf *out)
{
    scoped_str reason = client_is_live(client) ? NULL : client_not_live_reason(client);

    if (reason)
        buf_printf(out, "; %s: only '%s serve' makes anything of it", reason, cli_program);
}

static void describe_times(const struct describer *d)
{
    scoped(schedule_text) struct schedule_text schedule = {0};
    scoped(buf) struct buf text = {0};
    struct error err = {0};

    if (!schedule_text_init(d->doc, &schedule, &err)) {
        describe_line("State", err.message);
        return;
    }
    schedule_text_why(&schedule, d->doc, d->now_ms, &text);
    describe_idle_schedule(d->client, &text);
    describe_line("State", text.data);
    buf_clear(&text);
    schedule_text_times(&schedule, "  ", d->now_ms, &text);
    if (text.len)
        printf("Next Times:\n%s", text.data);
}

void describe_cronjob(const struct describer *d)
{
    const char *zone = doc_text(d->doc, "spec.timeZone");

    describe_line("Schedule", doc_text(d->doc, "spec.schedule"));
    describe_line("Time Zone", zone ? zone : "that of the machine");
    describe_line("Concurrency Policy", doc_text(d->doc, "spec.concurrencyPolicy"));
    describe_number(d, "Starting Deadline", "spec.startingDeadlineSeconds");
    describe_number(d, "Successful Kept", "spec.successfulJobsHistoryLimit");
    describe_number(d, "Failed Kept", "spec.failedJobsHistoryLimit");
    describe_time(d, "Last Schedule", doc_text(d->doc, "status.lastScheduleTime"));
    describe_time(d, "Last Successful", doc_text(d->doc, "status.lastSuccessfulTime"));
    describe_active(d);
    describe_times(d);
    puts("Job Template:");
    describe_tree(doc_at(d->doc, "spec.jobTemplate"), 2);
}

static json_int_t number_of(const json_t *one, const char *key)
{
    return json_integer_value(json_object_get(one, key));
}

static void describe_backfills(const struct describer *d)
{
    static const char *const titles[] = {"ID",   "STATE",  "TIMES", "MADE",
                                         "KEPT", "FAILED", "FROM",  "NEXT"};
    const json_t *backfills = doc_at(d->doc, "status.backfills"), *one;
    size_t n = json_array_size(backfills), i;
    char **cells = n ? mem_array(n * countof(titles), sizeof *cells) : NULL, **row = cells;

    if (!n)
        return;
    json_array_foreach(backfills, i, one)
    {
        const char *id = doc_text(one, "id"), *state = doc_text(one, "state");
        const char *from = doc_text(one, "from"), *next = doc_text(one, "next");

        *row++ = mem_strdup(id ? id : "");
        *row++ = mem_strdup(state ? state : "");
        *row++ = mem_printf("%" JSON_INTEGER_FORMAT, number_of(one, "times"));
        *row++ = mem_printf("%" JSON_INTEGER_FORMAT, number_of(one, "made"));
        *row++ = mem_printf("%" JSON_INTEGER_FORMAT, number_of(one, "kept"));
        *row++ = mem_printf("%" JSON_INTEGER_FORMAT, number_of(one, "failed"));
        *row++ = mem_strdup(from ? from : "");
        *row++ = mem_strdup(next ? next : "-");
    }
    describe_table("Backfills", titles, countof(titles), cells, n);
    mem_free(cells);
}

void describe_flowtrigger(const struct describer *d)
{
    describe_line("Flow", doc_text(d->doc, "spec.flowName"));
    describe_line("Cron", doc_text(d->doc, "spec.schedule.cron"));
    describe_line("Time Zone", doc_text(d->doc, "spec.schedule.timeZone"));
    describe_line("Catch Up", doc_text(d->doc, "spec.schedule.catchUp"));
    describe_line("Concurrency Policy", doc_text(d->doc, "spec.concurrencyPolicy"));
    describe_number(d, "Max Active", "spec.maxActive");
    describe_time(d, "Last Schedule", doc_text(d->doc, "status.lastScheduleTime"));
    describe_time(d, "Last Fired", doc_text(d->doc, "status.lastFiredTime"));
    describe_number(d, "Fired", "status.fired");
    describe_number(d, "Skipped", "status.skipped");
    describe_number(d, "Missed", "status.missed");
    describe_number(d, "Pending", "status.pending");
    describe_active(d);
    describe_times(d);
    describe_backfills(d);
    if (doc_at(d->doc, "spec.parameters")) {
        puts("Parameters:");
        describe_tree(doc_at(d->doc, "spec.parameters"), 2);
    }
    if (doc_at(d->doc, "spec.flows")) {
        puts("After Flows:");
        describe_tree(doc_at(d->doc, "spec.flows"), 2);
    }
    if (doc_at(d->doc, "spec.flowTemplate")) {
        puts("Flow Template:");
        describe_tree(doc_at(d->doc, "spec.flowTemplate"), 2);
    }
}
