/*
 * Finds submitted jobs by id or set and changes them in one commit. A cancelled job is marked and
 * gets a Command, so that it ends as by any other Command.
 */
#include "api/submit/change.h"

#include <stdint.h>
#include <string.h>

#include "api/submit/annotate.h"
#include "api/submit/fields.h"
#include "api/submit/item.h"
#include "api/submit/request.h"
#include "api/types/kinds/job/job.h"
#include "api/types/kinds/job/lifecycle.h"
#include "api/types/kinds/scheduling/podgroup.h"
#include "api/types/kinds/submission.h"
#include "base/mem.h"

enum { REASON_MAX = 512, STATES_MAX = 16 };

static bool is_text(const char *text, const char *wanted)
{
    return text && strcmp(text, wanted) == 0;
}

static bool is_outcome(const struct object *job, const char *outcome)
{
    return is_text(meta_annotation(job->meta, ANNOTATION_OUTCOME), outcome);
}

/* A job that has lost pods which it needs, for example by preemption, waits for its turn again. */
static const char *waiting_state(const struct registry *registry, const struct object *job)
{
    scoped_str name = mem_printf("%s-%s", object_name(job), object_uid(job));
    const struct object *group =
        store_get(registry_store(registry), &kind_pod_group, object_namespace(job), name);
    enum podgroup_phase phase = group ? podgroup_status_of(group)->phase : PODGROUP_NONE;

    if (phase == PODGROUP_NONE || phase == PODGROUP_PENDING ||
        is_text(job_status_of(job)->reason, "MinAvailableLost"))
        return "QUEUED";
    return "PENDING";
}

const char *submit_state_of(const struct registry *registry, const struct object *job)
{
    static const char *const states[JOB_PHASE_N] = {
        [JOB_RESTARTING] = "QUEUED",   [JOB_ABORTING] = "QUEUED",    [JOB_ABORTED] = "QUEUED",
        [JOB_RUNNING] = "RUNNING",     [JOB_COMPLETING] = "RUNNING", [JOB_TERMINATING] = "RUNNING",
        [JOB_COMPLETED] = "SUCCEEDED", [JOB_FAILED] = "FAILED",      [JOB_TERMINATED] = "FAILED",
    };
    const struct job_status *status = job_status_of(job);

    if (status->phase == JOB_TERMINATED && is_outcome(job, "cancelled"))
        return "CANCELLED";
    if (status->phase == JOB_TERMINATED && is_text(status->reason, "Preempted"))
        return "PREEMPTED";
    return states[status->phase] ? states[status->phase] : waiting_state(registry, job);
}

static bool may_in(const struct submit_sender *sender, const char *verb, const char *ns)
{
    return !sender->may || sender->may(sender->arg, verb, ns);
}

static bool may(const struct submit_sender *sender, const char *verb, const struct object *job)
{
    return may_in(sender, verb, object_namespace(job));
}

/* Returns whether the sender may change the job now. */
static bool may_change(const struct submit_sender *sender, const struct object *job)
{
    return may(sender, "update", job) &&
           (!sender->before_change || sender->before_change(sender->arg, object_namespace(job)));
}

/* The search for a job in all namespaces that the sender may read. */
struct search {
    const struct store *store;
    const struct submit_sender *sender;
    const char *id, *name;
    const struct object *found;
};

/* A job of that name in another namespace may belong to another user. */
static void look_in(void *arg, const struct object *ns)
{
    struct search *search = arg;
    const struct object *job =
        search->found ? NULL : store_get(search->store, &kind_job, object_name(ns), search->name);

    if (job && is_text(meta_label(job->meta, LABEL_JOB_ID), search->id) &&
        may(search->sender, "get", job))
        search->found = job;
}

/* Returns the job of the id, or NULL when there is none that the sender may read. */
static const struct object *job_by_id(const struct registry *registry,
                                      const struct submit_sender *sender, const char *id)
{
    scoped_str name = mem_printf(SUBMIT_JOB_NAME_PREFIX "%s", id);
    struct search search = {registry_store(registry), sender, id, name, NULL};

    store_each(search.store, &kind_namespace, NULL, look_in, &search);
    return search.found;
}

/* One change of many jobs. */
struct change {
    struct registry *registry;
    const struct submit_sender *sender;
    struct submit_problems *problems;
    json_t *request;                          /* its fields; owned */
    json_t *done, *ended, *unknown, *refused; /* ids; owned */
    const char *queue, *job_set;              /* "": any */
    char hash[JOB_SET_HASH_MAX];
    struct object **jobs; /* jobs of the set; owned references, [count] */
    size_t count, cap;
};

static void check_limits(const struct change *change)
{
    const json_t *filter = json_object_get(change->request, "filter");

    if (strlen(submit_text_at(change->request, "reason")) > REASON_MAX)
        submit_problem(change->problems, "WrongType", "reason", "must have at most %d bytes",
                       REASON_MAX);
    if (json_array_size(json_object_get(change->request, "jobIds")) > SUBMIT_ITEMS_MAX)
        submit_problem(change->problems, "TooManyItems", "jobIds", "must have at most %d entries",
                       SUBMIT_ITEMS_MAX);
    if (json_array_size(json_object_get(filter, "states")) > STATES_MAX)
        submit_problem(change->problems, "TooMany", "filter.states", "must have at most %d entries",
                       STATES_MAX);
}

static bool change_begin(struct change *change, struct registry *registry, const json_t *request,
                         const struct submit_field *fields, const struct submit_sender *sender,
                         struct submit_problems *problems)
{
    *change = (struct change){.registry = registry, .sender = sender, .problems = problems};
    problems->index = SUBMIT_NO_INDEX;
    change->request = submit_fields_read(request, fields, "", SUBMIT_STRICT, problems, NULL);
    if (!change->request)
        return false;
    change->done = json_array();
    change->ended = json_array();
    change->unknown = json_array();
    change->refused = json_array();
    change->queue = submit_text_at(change->request, "queue");
    change->job_set = submit_text_at(change->request, "jobSetId");
    job_set_hash(change->job_set, change->hash);
    check_limits(change);
    return problems->count == 0;
}

static void change_end(struct change *change)
{
    for (size_t i = 0; i < change->count; i++)
        object_unref(change->jobs[i]);
    mem_free(change->jobs);
    json_decref(change->request);
    json_decref(change->done);
    json_decref(change->ended);
    json_decref(change->unknown);
    json_decref(change->refused);
}

static bool fits(const struct change *change, const struct object *job)
{
    return (!*change->queue || is_text(meta_label(job->meta, LABEL_SUBMIT_QUEUE), change->queue)) &&
           (!*change->job_set || is_text(meta_label(job->meta, LABEL_JOB_SET_HASH), change->hash));
}

static void collect_job(void *arg, const struct object *job)
{
    struct change *change = arg;

    if (!meta_label(job->meta, LABEL_JOB_ID) || !fits(change, job) ||
        !may(change->sender, "get", job))
        return;
    mem_grow(change->jobs, change->count, change->cap);
    change->jobs[change->count++] = object_ref(job);
}

/* Takes the jobs of the set; both its queue and its name are required. */
static bool collect_set(struct change *change)
{
    if (!*change->queue)
        submit_problem(change->problems, "Required", "queue", "is required");
    if (!*change->job_set)
        submit_problem(change->problems, "Required", "jobSetId", "is required");
    if (change->problems->count > 0)
        return false;
    store_each(registry_store(change->registry), &kind_job, NULL, collect_job, change);
    return true;
}

/* Takes the jobs of the ids, each once; the others are noted. */
static void collect_ids(struct change *change)
{
    scoped(json) json_t *seen = json_object();
    json_t *id;
    size_t i;

    json_array_foreach(json_object_get(change->request, "jobIds"), i, id)
    {
        const char *text = json_string_value(id);
        const struct object *job;

        if (json_object_get(seen, text))
            continue;
        json_object_set_new(seen, text, json_true());
        job = job_by_id(change->registry, change->sender, text);
        if (job && fits(change, job))
            collect_job(change, job);
        else
            json_array_append(change->unknown, id);
    }
}

static void note(json_t *list, const struct object *job)
{
    json_array_append_new(list, json_string(meta_label(job->meta, LABEL_JOB_ID)));
}

static bool command(struct change *change, const struct object *job)
{
    const char *reason = submit_text_at(change->request, "reason");
    scoped(json) json_t *doc = json_pack(
        "{s:s, s:s, s:{s:s, s:s}, s:s, s:{s:s, s:s, s:s, s:s}, s:s}", "apiVersion",
        "bus.volcano.sh/v1alpha1", "kind", "Command", "metadata", "generateName", "cancel-",
        "namespace", object_namespace(job), "action", "TerminateJob", "target", "apiVersion",
        "batch.volcano.sh/v1alpha1", "kind", "Job", "name", object_name(job), "uid",
        object_uid(job), "message", *reason ? reason : "cancelled");
    const struct registry_write how = {.unknown = UNKNOWN_PRUNE};
    struct error_list errors = {0};
    bool ok = registry_create(change->registry, doc, &how, NULL, &errors);

    error_list_release(&errors);
    return ok;
}

static void cancel(struct change *change, const struct object *job)
{
    if (job_phase_finished(job_status_of(job)->phase))
        note(change->ended, job);
    else if (!may_change(change->sender, job))
        note(change->refused, job);
    else if (submit_annotate(change->registry, job, ANNOTATION_OUTCOME, "cancelled") &&
             command(change, job))
        note(change->done, job);
    else
        note(change->refused, job);
}

static json_t *cancel_answer(const struct change *change)
{
    return json_pack("{s:O, s:O, s:O, s:O}", "cancelledIds", change->done, "alreadyTerminal",
                     change->ended, "notFound", change->unknown, "refused", change->refused);
}

json_t *submit_cancel(struct registry *registry, const json_t *request,
                      const struct submit_sender *sender, struct submit_problems *problems)
{
    struct change change;
    json_t *answer = NULL;

    if (change_begin(&change, registry, request, submit_cancel_fields, sender, problems)) {
        collect_ids(&change);
        for (size_t i = 0; i < change.count; i++)
            cancel(&change, change.jobs[i]);
        answer = cancel_answer(&change);
    }
    change_end(&change);
    return answer;
}

static bool is_wanted(const struct change *change, const struct object *job)
{
    const json_t *states = json_object_get(json_object_get(change->request, "filter"), "states");
    const char *state = submit_state_of(change->registry, job);
    json_t *wanted;
    size_t i;

    if (json_array_size(states) == 0)
        return !job_phase_finished(job_status_of(job)->phase);
    json_array_foreach(states, i, wanted)
    {
        if (strcmp(json_string_value(wanted), state) == 0)
            return true;
    }
    return false;
}

json_t *submit_cancel_set(struct registry *registry, const json_t *request,
                          const struct submit_sender *sender, struct submit_problems *problems)
{
    struct change change;
    json_t *answer = NULL;

    if (change_begin(&change, registry, request, submit_set_cancel_fields, sender, problems) &&
        collect_set(&change)) {
        for (size_t i = 0; i < change.count; i++)
            if (is_wanted(&change, change.jobs[i]))
                cancel(&change, change.jobs[i]);
        answer = cancel_answer(&change);
    }
    change_end(&change);
    return answer;
}

json_t *submit_reprioritize(struct registry *registry, const json_t *request,
                            const struct submit_sender *sender, struct submit_problems *problems)
{
    struct change change;
    json_t *answer = NULL;
    int64_t priority = -1;

    if (change_begin(&change, registry, request, submit_reprioritize_fields, sender, problems)) {
        if (!submit_number(change.request, "newPriority", 0, UINT32_MAX, &priority) || priority < 0)
            submit_problem(problems, "PriorityRange", "newPriority",
                           "must be a whole number from 0 to 4294967295");
        else if (json_object_get(change.request, "jobIds"))
            collect_ids(&change);
        else
            collect_set(&change);
    }
    if (problems->count == 0) {
        scoped_str text = mem_printf("%lld", (long long)priority);

        for (size_t i = 0; i < change.count; i++) {
            const struct object *job = change.jobs[i];

            if (job_phase_finished(job_status_of(job)->phase))
                note(change.ended, job);
            else
                note(may_change(sender, job) &&
                             submit_annotate(registry, job, ANNOTATION_PRIORITY, text)
                         ? change.done
                         : change.refused,
                     job);
        }
        answer =
            json_pack("{s:O, s:O, s:O, s:O}", "reprioritizedIds", change.done, "alreadyTerminal",
                      change.ended, "notFound", change.unknown, "refused", change.refused);
    }
    change_end(&change);
    return answer;
}

/* The states of jobs by their ids, and the ids of jobs that are gone. */
struct memory {
    const struct submit_sender *sender;
    json_t *states, *gone;
};

/* Takes the state of a job that is gone from its Submission. */
static void look_at_submission(void *arg, const struct object *object)
{
    const struct memory *memory = arg;
    const struct submission *submission = submission_of(object);
    const char *state = submission_end_of(object)->state;

    if (state && json_object_get(memory->gone, submission->job_id) &&
        may_in(memory->sender, "get", submission->ns))
        json_object_set_new(memory->states, submission->job_id, json_string(state));
}

/* Returns the states of jobs by their ids; owned. A job that does not exist, or that the sender may
 * not read, is UNKNOWN. When jobs are gone, all Submissions are looked at once. */
static json_t *states_of(const struct change *change, const json_t *ids)
{
    const struct memory memory = {change->sender, json_object(), json_object()};
    json_t *id;
    size_t i;

    json_array_foreach(ids, i, id)
    {
        const char *text = json_string_value(id);
        const struct object *job;

        if (json_object_get(memory.states, text))
            continue;
        job = job_by_id(change->registry, change->sender, text);
        json_object_set_new(memory.states, text,
                            json_string(job ? submit_state_of(change->registry, job) : "UNKNOWN"));
        if (!job)
            json_object_set_new(memory.gone, text, json_true());
    }
    if (json_object_size(memory.gone) > 0)
        store_each(registry_store(change->registry), &kind_submission, NULL, look_at_submission,
                   (void *)(uintptr_t)&memory);
    json_decref(memory.gone);
    return memory.states;
}

json_t *submit_status(struct registry *registry, const json_t *request,
                      const struct submit_sender *sender, struct submit_problems *problems)
{
    struct change change;
    json_t *answer = NULL;

    if (change_begin(&change, registry, request, submit_status_fields, sender, problems))
        answer = json_pack("{s:o}", "jobStates",
                           states_of(&change, json_object_get(change.request, "jobIds")));
    change_end(&change);
    return answer;
}
