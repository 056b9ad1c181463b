/*
 * The commands `jobflow cancel` and `jobflow reprioritize`: changes of submitted jobs, named by
 * their ids or by their set.
 */
#include <stdio.h>

#include "base/mem.h"
#include "cli/client/client.h"
#include "cli/cmd/commands.h"
#include "cli/cmd/object/submit_call.h"

struct change_options {
    struct client_endpoint endpoint;
    const char *queue, *job_set, *reason;
    struct flag_list states;
    int64_t priority;
};

#define CHANGE(member) offsetof(struct change_options, member)
/* clang-format off */
static const struct flag cancel_flags[] = {
    {FLAG_STR,  "job-set", 0,   "NAME", "all jobs of this set that have not ended", CHANGE(job_set), .check = submit_check_text},
    {FLAG_STR,  "queue",   'q', "NAME", "queue of the set; default: default", CHANGE(queue), .check = submit_check_text},
    {FLAG_LIST, "state",   0,   "STATE", "of a set: only jobs in this state (QUEUED, PENDING, RUNNING); may be given several times", CHANGE(states), .check = submit_check_text},
    {FLAG_STR,  "reason",  0,   "TEXT", "why, for the message of the jobs", CHANGE(reason), .check = submit_check_text},
    CLIENT_ENDPOINT_FLAGS(CHANGE(endpoint)),
    {0},
};
static const struct flag reprioritize_flags[] = {
    {FLAG_INT,  "priority", 0,  "N",    "new number of the jobs in their queue, smaller first", CHANGE(priority)},
    {FLAG_STR,  "job-set", 0,   "NAME", "all jobs of this set that have not ended", CHANGE(job_set), .check = submit_check_text},
    {FLAG_STR,  "queue",   'q', "NAME", "queue of the set; default: default", CHANGE(queue), .check = submit_check_text},
    CLIENT_ENDPOINT_FLAGS(CHANGE(endpoint)),
    {0},
};
/* clang-format on */

static const struct change_options defaults = {.endpoint = CLIENT_ENDPOINT_USUAL, .priority = -1};

/* Returns the members of a request that name the jobs; owned. NULL with the error printed. */
static json_t *request_for(const struct change_options *options, int n_ids, char **ids)
{
    json_t *request, *list;

    if (!submit_words_are_text(n_ids, ids))
        return NULL;
    if ((n_ids > 0) == (options->job_set != NULL)) {
        cli_errorf("name the jobs by their ids or with --job-set");
        return NULL;
    }
    request = json_object();
    if (options->job_set) {
        json_object_set_new(request, "jobSetId", json_string(options->job_set));
        json_object_set_new(request, "queue",
                            json_string(options->queue ? options->queue : "default"));
        return request;
    }
    list = json_array();
    for (int i = 0; i < n_ids; i++)
        json_array_append_new(list, json_string(ids[i]));
    json_object_set_new(request, "jobIds", list);
    return request;
}

/* Prints how many jobs are in each list of the answer. Returns whether all could be changed. */
static bool print_counts(const json_t *answer, const char *done, const char *word)
{
    static const struct {
        const char *member, *text;
    } others[] = {
        {"alreadyTerminal", "had ended before"}, {"notFound", "not found"}, {"refused", "refused"}};
    size_t refused = json_array_size(json_object_get(answer, "refused")) +
                     json_array_size(json_object_get(answer, "notFound"));

    printf("%zu %s", json_array_size(json_object_get(answer, done)), word);
    for (size_t i = 0; i < countof(others); i++) {
        size_t n = json_array_size(json_object_get(answer, others[i].member));

        if (n > 0)
            printf(", %zu %s", n, others[i].text);
    }
    putchar('\n');
    return refused == 0;
}

static int change(const struct change_options *options, const char *path, const json_t *request,
                  const char *done, const char *word)
{
    int code, status = 0;
    scoped(client) struct client *client = submit_open(&options->endpoint, &code);
    scoped(json) json_t *answer = NULL;
    struct error err = {0};

    if (!client)
        return code;
    answer = submit_post(client, path, request, &status, &err);
    if (!answer) {
        cli_error(&err);
        return EXIT_INTERNAL;
    }
    if (status != 200) {
        submit_print_problems(answer);
        return EXIT_REFUSED;
    }
    return print_counts(answer, done, word) ? EXIT_OK : EXIT_FAILED;
}

static int cancel(const void *opaque, int n_operands, char **operands)
{
    const struct change_options *options = opaque;
    scoped(json) json_t *request = request_for(options, n_operands, operands);
    json_t *states;

    if (!request)
        return EXIT_REFUSED;
    if (options->reason)
        json_object_set_new(request, "reason", json_string(options->reason));
    if (!options->job_set && options->states.count > 0) {
        cli_errorf("--state selects jobs of a set: use it with --job-set");
        return EXIT_REFUSED;
    }
    if (options->states.count > 0) {
        states = json_array();
        for (size_t i = 0; i < options->states.count; i++)
            json_array_append_new(states, json_string(options->states.items[i]));
        json_object_set_new(request, "filter", json_pack("{s:o}", "states", states));
    }
    return change(options, options->job_set ? "/v1/jobset/cancel" : "/v1/job/cancel", request,
                  "cancelledIds", "cancelled");
}

static int reprioritize(const void *opaque, int n_operands, char **operands)
{
    const struct change_options *options = opaque;
    scoped(json) json_t *request = request_for(options, n_operands, operands);

    if (!request)
        return EXIT_REFUSED;
    if (options->priority < 0) {
        cli_errorf("--priority is needed");
        return EXIT_REFUSED;
    }
    json_object_set_new(request, "newPriority", json_integer(options->priority));
    return change(options, "/v1/job/reprioritize", request, "reprioritizedIds", "reprioritized");
}

const struct command cmd_cancel = {
    .name = "cancel",
    .operands = "JOBID… | --job-set NAME",
    .summary = "Cancel submitted jobs",
    .details = "Jobs that wait are cancelled at once; jobs that run are stopped first.",
    .examples = "  jobflow cancel 01jdb2c9qk3v8x6m4n5p7r9s0t\n"
                "  jobflow cancel --job-set nightly --state QUEUED",
    .flags = cancel_flags,
    .options_size = sizeof(struct change_options),
    .defaults = &defaults,
    .max_operands = -1,
    .run = cancel,
};

const struct command cmd_reprioritize = {
    .name = "reprioritize",
    .operands = "JOBID… | --job-set NAME",
    .summary = "Change the order of submitted jobs in their queue",
    .details = "Smaller numbers go first. Jobs that run already go on.",
    .examples = "  jobflow reprioritize --job-set nightly --priority 9",
    .flags = reprioritize_flags,
    .options_size = sizeof(struct change_options),
    .defaults = &defaults,
    .max_operands = -1,
    .run = reprioritize,
};
