/*
 * The command `jobflow submit`: sends the jobs of a file, or one program, to a daemon, and may
 * follow them to their ends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/submit/item.h"
#include "api/types/text/yaml.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cli/client/client.h"
#include "cli/cmd/commands.h"
#include "cli/cmd/object/submit_call.h"
#include "cli/cmd/object/submit_form.h"
#include "cli/manifest/submission.h"
#include "cli/preflight/preflight.h"

/* A lost connection is opened again for as long as a daemon may take to start. */
#define VCJOBS "/apis/batch.volcano.sh/v1alpha1"

enum { AGAIN_MS = 200, AGAIN_TIMES = 150, POLL_MS = 100 };

struct submit_options {
    struct client_endpoint endpoint;
    struct submit_flags flags;
    bool wait, watch;
    const char *dry_run; /* client, server, or NULL */
    const char *output;
    int64_t timeout_ms;
};

#define SUBMIT(member) offsetof(struct submit_options, member)
/* clang-format off */
static const char *const outputs[] = {"table", "json", "yaml", "name", NULL};
static const char *const dry_runs[] = {"server", "client", NULL};
static const struct flag flags[] = {
    {FLAG_STR,  "queue",     'q', "NAME", "queue of the jobs; default: that of the file, or default", SUBMIT(flags.queue), .check = submit_check_text},
    {FLAG_STR,  "job-set",   0,   "NAME", "job set of the jobs; default: that of the file, or the file's name", SUBMIT(flags.job_set), .check = submit_check_text},
    {FLAG_STR,  "namespace", 'n', "NAME", "namespace of the jobs", SUBMIT(flags.namespace), .check = submit_check_text},
    {FLAG_CHOICE, "dry-run", 0,   "WHERE", "check and create nothing: on the server, which the flag alone means, too, or here without one", SUBMIT(dry_run), dry_runs, .bare = "server"},
    {FLAG_BOOL, "wait",      0,   NULL,   "wait until all jobs have ended", SUBMIT(wait)},
    {FLAG_BOOL, "watch",     0,   NULL,   "as --wait, and print each change of a job's state", SUBMIT(watch)},
    {FLAG_DURATION, "timeout", 0, "TIME", "longest wait; default: no limit", SUBMIT(timeout_ms)},
    {FLAG_CHOICE, "output",  'o', "FORM", "table (default), json, yaml, or name: the ids alone", SUBMIT(output), outputs},
    {FLAG_STR,  "cpu",       0,   "N",    "of a program: CPUs that it needs", SUBMIT(flags.cpu), .check = submit_check_text},
    {FLAG_STR,  "memory",    0,   "SIZE", "of a program: memory that it needs", SUBMIT(flags.memory), .check = submit_check_text},
    {FLAG_INT,  "priority",  0,   "N",    "of a program: its number in the queue, smaller first", SUBMIT(flags.priority)},
    {FLAG_DURATION, "lifetime", 0, "TIME", "of a program: time after which it is stopped", SUBMIT(flags.lifetime_ms)},
    {FLAG_STR,  "dedup",     0,   "ID",   "of a program: deduplication id; the same id is the same job", SUBMIT(flags.dedup), .check = submit_check_text},
    {FLAG_BOOL, "at-most-once", 0, NULL,  "of a program: never start it a second time", SUBMIT(flags.at_most_once)},
    {FLAG_STR,  "name",      0,   "NAME", "of a program: name of its container", SUBMIT(flags.role), .check = submit_check_text},
    CLIENT_ENDPOINT_FLAGS(SUBMIT(endpoint)),
    {0},
};
/* clang-format on */

static const struct submit_options defaults = {.endpoint = CLIENT_ENDPOINT_USUAL, .timeout_ms = -1};

/* One call of the command. */
struct submission_run {
    const struct submit_options *options;
    struct client *client;
    struct submit_form form;
    json_t *jobs;       /* items of all answers; owned */
    json_t *namespaces; /* namespaces of the items, in the same order; owned */
};

static void pause_ms(int64_t ms)
{
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&time, NULL);
}

/* Sends a request, again and again while no answer comes: the deduplication ids make one job of all
 * attempts. */
static json_t *send_until_answered(struct submission_run *run, const json_t *request, int *status,
                                   struct error *err)
{
    const char *path = run->options->dry_run ? "/v1/job/submit?dryRun=All" : "/v1/job/submit";

    for (int i = 0;; i++) {
        json_t *answer = run->client ? submit_post(run->client, path, request, status, err) : NULL;

        if (answer || (run->client && *status != 0) || i == AGAIN_TIMES)
            return answer;
        pause_ms(AGAIN_MS);
        client_close(run->client);
        run->client = client_open_at(&run->options->endpoint, CLIENT_LOOK, NULL);
        if (run->client && !client_is_daemon(run->client)) {
            client_close(run->client);
            run->client = NULL;
        }
    }
}

static void note_namespaces(struct submission_run *run, const json_t *request)
{
    json_t *items = submission_items(request, NULL), *item;
    size_t i;

    json_array_foreach(items, i, item)
    {
        const char *ns = json_string_value(json_object_get(item, "namespace"));

        json_array_append_new(run->namespaces, json_string(ns && *ns ? ns : "default"));
    }
}

static int send_all(struct submission_run *run)
{
    json_t *request;
    size_t i;

    json_array_foreach(run->form.requests, i, request)
    {
        struct error err = {0};
        int status = 0;
        scoped(json) json_t *answer = send_until_answered(run, request, &status, &err);

        if (!answer) {
            cli_errorf("no answer: %s", err.message);
            return EXIT_INTERNAL;
        }
        if (status != 200) {
            submit_form_print(&run->form, i, answer);
            return status >= 500 ? EXIT_INTERNAL : EXIT_REFUSED;
        }
        json_array_extend(run->jobs, json_object_get(answer, "jobResponseItems"));
        note_namespaces(run, request);
    }
    return EXIT_OK;
}

static const char *id_of(const json_t *job)
{
    const char *id = json_string_value(json_object_get(job, "jobId"));

    return id ? id : "";
}

static void print_warnings(const struct submission_run *run)
{
    json_t *job, *warning;
    size_t i, k;

    json_array_foreach(run->jobs, i, job)
    {
        json_array_foreach(json_object_get(job, "warnings"), k, warning)
            cli_warnf("%s", json_string_value(warning));
    }
}

static void print_jobs(const struct submission_run *run)
{
    const char *output = run->options->output ? run->options->output : "table";
    scoped(buf) struct buf text = {0};
    json_t *job;
    size_t i;

    if (strcmp(output, "json") == 0) {
        json_dumpf(run->jobs, stdout, JSON_INDENT(2));
        putchar('\n');
        return;
    }
    if (strcmp(output, "yaml") == 0) {
        yaml_write(run->jobs, &text);
        fputs(text.data ? text.data : "", stdout);
        return;
    }
    json_array_foreach(run->jobs, i, job)
    {
        bool again = json_is_true(json_object_get(job, "duplicate"));

        printf("%s%s\n", id_of(job),
               strcmp(output, "name") == 0 ? ""
               : run->options->dry_run     ? "  would be submitted"
               : again                     ? "  duplicate: it was submitted before"
                                           : "  submitted");
    }
}

static bool has_ended(const char *state)
{
    static const char *const ends[] = {"SUCCEEDED", "FAILED", "CANCELLED", "PREEMPTED", "UNKNOWN"};

    for (size_t i = 0; i < countof(ends); i++)
        if (strcmp(ends[i], state) == 0)
            return true;
    return false;
}

/* Returns the vcjob of an answer's item, or NULL; owned. That of a duplicate may be in another
 * namespace than the item. */
static json_t *job_of(struct submission_run *run, size_t i, const char *id)
{
    const char *ns = json_string_value(json_array_get(run->namespaces, i));
    scoped_str path = mem_printf(VCJOBS "/namespaces/%s/jobs/aj-%s", ns ? ns : "default", id);
    scoped_str anywhere = mem_printf(VCJOBS "/jobs?labelSelector=" LABEL_JOB_ID "%%3D%s", id);
    json_t *job = client_get(run->client, path, NULL);
    scoped(json) json_t *list = job ? NULL : client_get(run->client, anywhere, NULL);

    return job ? job : json_incref(json_array_get(json_object_get(list, "items"), 0));
}

/* Says why job `i` has not succeeded. */
static void explain(struct submission_run *run, size_t i, const char *id, const char *state)
{
    scoped(json) json_t *job = job_of(run, i, id);
    const json_t *at = json_object_get(json_object_get(job, "status"), "state");
    const char *message = json_string_value(json_object_get(at, "message"));

    cli_errorf("%s %s%s%s", id, state, message ? ": " : "", message ? message : "");
}

/* Takes over the states; prints those that are new. Returns how many jobs have not ended. */
static size_t take_states(struct submission_run *run, const json_t *states)
{
    size_t open = 0, i;
    json_t *job;

    json_array_foreach(run->jobs, i, job)
    {
        const char *now = json_string_value(json_object_get(states, id_of(job)));
        const char *before = json_string_value(json_object_get(job, "state"));

        if (!now)
            now = before ? before : "UNKNOWN";
        if (run->options->watch && (!before || strcmp(before, now) != 0)) {
            printf("%s  %s\n", id_of(job), now);
            fflush(stdout);
        }
        open += !has_ended(now);
        json_object_set_new(job, "state", json_string(now));
    }
    return open;
}

/* Returns the ids of all jobs as a request; owned. */
static json_t *ask_for_states(const struct submission_run *run)
{
    json_t *ids = json_array(), *job;
    size_t i;

    json_array_foreach(run->jobs, i, job) json_array_append(ids, json_object_get(job, "jobId"));
    return json_pack("{s:o}", "jobIds", ids);
}

static int result_of(struct submission_run *run)
{
    int code = EXIT_OK;
    json_t *job;
    size_t i;

    json_array_foreach(run->jobs, i, job)
    {
        const char *state = json_string_value(json_object_get(job, "state"));

        if (strcmp(state, "SUCCEEDED") == 0)
            continue;
        explain(run, i, id_of(job), state);
        code = EXIT_FAILED;
    }
    return code;
}

static int follow(struct submission_run *run)
{
    scoped(json) json_t *request = ask_for_states(run);
    int64_t began_ms = clock_mono_ns(clock_real()) / 1000000;

    for (;;) {
        struct error err = {0};
        int status = 0;
        scoped(json) json_t *answer =
            submit_post(run->client, "/v1/job/status", request, &status, &err);
        int64_t now_ms = clock_mono_ns(clock_real()) / 1000000;

        if (!answer || status != 200) {
            cli_errorf("the jobs go on, but the server does not answer: %s", err.message);
            return EXIT_INTERNAL;
        }
        if (take_states(run, json_object_get(answer, "jobStates")) == 0)
            return result_of(run);
        if (run->options->timeout_ms >= 0 && now_ms - began_ms >= run->options->timeout_ms) {
            cli_errorf("the time is up; the jobs go on");
            return EXIT_TIMED_OUT;
        }
        pause_ms(POLL_MS);
    }
}

static int submit_all(struct submission_run *run)
{
    int code;

    run->client = submit_open(&run->options->endpoint, &code);
    if (!run->client)
        return code;
    run->jobs = json_array();
    run->namespaces = json_array();
    code = send_all(run);
    if (code == EXIT_OK) {
        print_warnings(run);
        print_jobs(run);
        fflush(stdout);
        if ((run->options->wait || run->options->watch) && !run->options->dry_run)
            code = follow(run);
    }
    json_decref(run->jobs);
    json_decref(run->namespaces);
    return code;
}

static bool add_requests(struct submission_run *run, struct manifests *set)
{
    json_t *request;
    size_t i;
    bool ok = true;

    json_array_foreach(run->form.requests, i, request)
    {
        ok &= manifests_add_submission(set, run->form.name, run->form.lines, i, request);
    }
    return ok;
}

static size_t count_jobs(const struct manifests *set)
{
    size_t count = 0;

    for (size_t i = 0; i < set->count; i++)
        count += set->items[i].kind == &kind_job;
    return count;
}

/* Checks the requests as a daemon would, as far as that is possible without one. */
static int check_here(struct submission_run *run)
{
    const struct submit_options *options = run->options;
    const struct preflight_options how = {
        .namespace = options->flags.namespace ? options->flags.namespace : "default",
        .needs = NEEDS_IGNORED};
    scoped(manifests) struct manifests set = {0};
    struct preflight_result result = {0};
    bool ok = add_requests(run, &set) && preflight(&set, &how, &result);

    if (ok)
        printf("%zu job%s would be submitted\n", count_jobs(&set),
               count_jobs(&set) == 1 ? "" : "s");
    manifests_release(&set);
    return ok ? EXIT_OK : EXIT_REFUSED;
}

static int run(const void *opaque, int n_operands, char **operands)
{
    struct submission_run run = {.options = opaque};
    int code = EXIT_REFUSED;

    if (!submit_words_are_text(n_operands, operands))
        return EXIT_REFUSED;
    if (command_follows_dashes(operands))
        submit_form_of_program(&run.form, n_operands, operands, &run.options->flags);
    else if (n_operands > 1)
        cli_errorf("submit takes one file, or -- and a program with its arguments");
    if (run.form.requests ||
        (n_operands == 1 && submit_form_read(&run.form, operands[0], &run.options->flags)))
        code = run.options->dry_run && strcmp(run.options->dry_run, "client") == 0
                   ? check_here(&run)
                   : submit_all(&run);
    submit_form_release(&run.form);
    client_close(run.client);
    return code;
}

const struct command cmd_submit = {
    .name = "submit",
    .operands = "FILE|- | -- PROGRAM ARG…",
    .summary = "Submit the jobs of a file, or one program, to a daemon",
    .details =
        "The file has queue, jobSetId and a list of jobs; several documents are several requests.\n"
        "A request is taken whole or not at all. The jobs go on when this command ends.\n"
        "With --wait it exits with 0 when all succeeded, 1 when one did not; 2: refused, nothing "
        "was started; 3: no server; 4: the time was up.",
    .examples = "  jobflow submit jobs.yaml --wait\n"
                "  jobflow submit --cpu 2 --dedup night-7 -- ./train --rate 0.1",
    .flags = flags,
    .options_size = sizeof(struct submit_options),
    .defaults = &defaults,
    .min_operands = 1,
    .max_operands = -1,
    .operand_kind = "file",
    .run = run,
};
