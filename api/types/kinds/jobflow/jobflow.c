/*
 * The kind JobFlow: texts of its enums, decoded spec, summary of the status, columns and constant.
 */
#include "api/types/kinds/jobflow/jobflow.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/types/decoded.h"
#include "api/types/kinds/jobflow/admission.h"
#include "api/types/kinds/jobflow/record.h"
#include "api/types/schema/enum_text.h"

static const char *const phase_texts[] = {FLOW_PHASES(ENUM_TEXT)};

const char *flow_phase_text(enum flow_phase phase)
{
    return phase_texts[phase];
}

bool flow_phase_parse(const char *text, enum flow_phase *out)
{
    int found;

    if (!enum_find(phase_texts, FLOW_PHASE_N, text, &found))
        return false;
    *out = (enum flow_phase)found;
    return true;
}

/* The lists of struct flow_probe have this form; only the type of their items differs. */
struct probe_list {
    const char *items;
    size_t count;
};

#define PROBE_ROW(name, member, type, field)                                                       \
    [PROBE_##name] = {offsetof(struct flow_probe, member), sizeof(struct type), field},
static const struct {
    size_t list, item_size;
    const char *field;
} probe_rows[PROBE_KIND_N] = {FLOW_PROBES(PROBE_ROW)};
#undef PROBE_ROW

#define TASK_FIRST(name, member, type, field)                                                      \
    static_assert(offsetof(struct type, task) == 0, #type " begins with its task");
FLOW_PROBES(TASK_FIRST)
#undef TASK_FIRST

static struct probe_list probe_list_of(const struct flow_probe *probe, enum probe_kind kind)
{
    struct probe_list list;

    memcpy(&list, (const char *)probe + probe_rows[kind].list, sizeof list);
    return list;
}

size_t flow_probe_count(const struct flow_probe *probe)
{
    size_t count = 0;

    for (enum probe_kind kind = 0; kind < PROBE_KIND_N; kind++)
        count += probe_list_of(probe, kind).count;
    return count;
}

struct flow_probe_entry flow_probe_at(const struct flow_probe *probe, size_t position)
{
    struct flow_probe_entry entry = {0};
    struct probe_list list = probe_list_of(probe, 0);

    while (position >= list.count) {
        position -= list.count;
        list = probe_list_of(probe, ++entry.kind);
    }
    entry.index = position;
    entry.field = probe_rows[entry.kind].field;
    entry.spec = list.items + position * probe_rows[entry.kind].item_size;
    entry.task = *(const char *const *)entry.spec;
    if (entry.task && !*entry.task)
        entry.task = NULL;
    return entry;
}

/* A decoded spec borrows patches and exit codes from its document. */
static bool spec_borrows(const void *decoded)
{
    const struct jobflow_spec *spec = decoded;

    for (size_t i = 0; i < spec->steps.count; i++) {
        const struct flow_step *step = &spec->steps.items[i];

        if (step->patch_job_spec || step->patch_spec || step->env || step->job_template ||
            step->condition || step->choice || step->approval || step->loop || step->retry)
            return true;
    }
    return spec->scheduling != NULL;
}

static int compare_parameters(const void *a, const void *b)
{
    const struct flow_parameter *const *left = a, *const *right = b;

    return strcmp((*left)->name, (*right)->name);
}

static void sort_parameters(void *decoded, const json_t *doc, struct arena *arena)
{
    struct jobflow_spec *spec = decoded;
    size_t n = spec->parameters.count;

    if (!n)
        return;
    spec->parameters_by_name = arena_array(arena, n, sizeof(struct flow_parameter *));
    for (size_t i = 0; i < n; i++)
        spec->parameters_by_name[i] = &spec->parameters.items[i];
    qsort(spec->parameters_by_name, n, sizeof(struct flow_parameter *), compare_parameters);
}

static const struct decoded_type spec_type = {
    .member = "spec",
    .schema = &jobflow_spec_schema,
    .keep_document = true,
    .borrows = spec_borrows,
    .finish = sort_parameters,
};

const struct jobflow_spec *jobflow_spec_of(const struct object *flow)
{
    return decoded_of(flow->body, &spec_type);
}

const json_t *jobflow_spec_document(const struct object *flow)
{
    return decoded_document(flow->body, &spec_type);
}

const struct flow_parameter *jobflow_find_parameter(const struct jobflow_spec *spec,
                                                    const char *name)
{
    const struct flow_parameter wanted = {.name = name}, *key = &wanted;
    const struct flow_parameter *const *found =
        spec->parameters.count ? bsearch(&key, spec->parameters_by_name, spec->parameters.count,
                                         sizeof(struct flow_parameter *), compare_parameters)
                               : NULL;

    return found ? *found : NULL;
}

const char *jobflow_parameter(const struct jobflow_spec *spec, const char *name)
{
    const struct flow_parameter *parameter = jobflow_find_parameter(spec, name);

    if (!parameter)
        return NULL;
    return parameter->value ? parameter->value : parameter->fallback;
}

static uint32_t range_length(const struct flow_range *range)
{
    __int128 step = range->step.set ? range->step.value : 1;
    __int128 distance = (__int128)range->end - range->start, length;

    if (!step || (distance < 0) != (step < 0))
        return 0;
    length = (distance + step + (step > 0 ? -1 : 1)) / step;
    return length > LOOP_ITERATIONS_MAX ? LOOP_ITERATIONS_MAX + 1 : (uint32_t)length;
}

uint32_t flow_loop_iterations(const struct flow_loop *loop)
{
    if (loop->items.count)
        return (uint32_t)loop->items.count;
    if (loop->range)
        return range_length(loop->range);
    return (uint32_t)loop->max_iterations;
}

static const char *const policy_texts[] = {FAILURE_POLICIES(ENUM_TEXT)};

bool failure_policy_parse(const char *text, enum failure_policy *out)
{
    int found;

    if (!enum_find(policy_texts, FAILURE_POLICY_N, text, &found))
        return false;
    *out = (enum failure_policy)found;
    return true;
}

enum failure_policy jobflow_failure_policy(const struct object *flow)
{
    enum failure_policy policy = jobflow_spec_of(flow)->failure_policy;

    failure_policy_parse(meta_annotation(flow->meta, ANNOTATION_FAILURE_POLICY), &policy);
    return policy;
}

static const struct field summary_rows[] = {{0}};
static const struct schema summary_schema = {"JobFlowStatus", summary_rows,
                                             sizeof(struct jobflow_summary)};

static const char *text_of(const json_t *value, struct arena *arena)
{
    return json_is_string(value) ? arena_strdup(arena, json_string_value(value)) : NULL;
}

/* Lists of jobs that have not ended are absent when they are empty. A job that is Completing or
 * Terminating is in the list of its end, so conditions tell. */
static bool has_unfinished_jobs(const json_t *doc)
{
    const char *job;
    json_t *condition;

    if (json_object_get(doc, "pendingJobs") || json_object_get(doc, "runningJobs") ||
        json_object_get(doc, "unKnowJobs"))
        return true;
    json_object_foreach(json_object_get(doc, "conditions"), job, condition)
    {
        enum job_phase phase;

        if (job_phase_parse(json_string_value(json_object_get(condition, "phase")), &phase) &&
            (phase == JOB_COMPLETING || phase == JOB_TERMINATING))
            return true;
    }
    return false;
}

static void finish_summary(void *decoded, const json_t *doc, struct arena *arena)
{
    struct jobflow_summary *summary = decoded;
    const json_t *state = json_object_get(doc, "state"),
                 *counts = json_object_get(doc, "stepCounts"), *with_loops;

    flow_phase_parse(json_string_value(json_object_get(state, "phase")), &summary->phase);
    summary->retry = text_of(json_object_get(doc, "observedRetry"), arena);
    summary->reason = text_of(json_object_get(state, "reason"), arena);
    summary->message = text_of(json_object_get(state, "message"), arena);
    with_loops = json_object_get(counts, "steps");
    summary->completed =
        json_integer_value(json_object_get(counts, with_loops ? "completedSteps" : "completed"));
    summary->steps = json_integer_value(with_loops ? with_loops : json_object_get(counts, "total"));
    summary->jobs_unfinished = has_unfinished_jobs(doc);
}

static const struct decoded_type summary_type = {.schema = &summary_schema,
                                                 .finish = finish_summary};

const struct jobflow_summary *jobflow_summary_of(const struct object *flow)
{
    return flow->status ? decoded_of(flow->status, &summary_type) : NULL;
}

enum flow_phase jobflow_phase_of(const struct object *flow)
{
    const struct jobflow_summary *summary = jobflow_summary_of(flow);

    return summary ? summary->phase : FLOW_NONE;
}

const char *jobflow_step_state(const char *phase, enum flow_phase flow)
{
    bool starts_no_more = flow_phase_finished(flow) || flow == FLOW_TERMINATING;

    return starts_no_more && strcmp(phase, "Waiting") == 0 ? "Not run" : phase;
}

unsigned jobflow_attempt_of(const struct object *job)
{
    const char *text = meta_annotation(job->meta, ANNOTATION_FLOW_ATTEMPT);
    unsigned long attempt = text ? strtoul(text, NULL, 10) : 1;

    return attempt >= 1 && attempt <= UINT16_MAX ? (unsigned)attempt : 1;
}

bool jobflow_aborted(const struct object *flow)
{
    const char *asked = meta_annotation(flow->meta, ANNOTATION_FLOW_ABORT);

    return asked && *asked;
}

static const char *names_in(const struct object *flow, const char *annotation)
{
    const char *names = meta_annotation(flow->meta, annotation);

    return names && *names ? names : NULL;
}

/* Returns the names of edited steps, if they were written for the present request. */
static const char *edited_in(const struct object *flow)
{
    const char *asked = meta_annotation(flow->meta, ANNOTATION_FLOW_RETRY);
    const char *edited = meta_annotation(flow->meta, ANNOTATION_FLOW_RETRY_EDITED);
    size_t len = asked ? strlen(asked) : 0;

    return asked && edited && strncmp(edited, asked, len) == 0 && edited[len] == '='
               ? edited + len + 1
               : NULL;
}

struct flow_rerun jobflow_rerun_of(const struct object *flow)
{
    return (struct flow_rerun){.from = names_in(flow, ANNOTATION_FLOW_RETRY_FROM),
                               .only = names_in(flow, ANNOTATION_FLOW_RETRY_ONLY),
                               .edited = edited_in(flow)};
}

bool flow_rerun_next_name(const char **at, const char **out_name, size_t *out_len)
{
    static const char blanks[] = ", \t\n";
    const char *name = *at + strspn(*at, blanks);

    *out_name = name;
    *out_len = strcspn(name, blanks);
    *at = name + *out_len;
    return *out_len > 0;
}

bool jobflow_wants_retry(const struct object *flow)
{
    const char *asked = meta_annotation(flow->meta, ANNOTATION_FLOW_RETRY);
    const struct jobflow_summary *summary = asked ? jobflow_summary_of(flow) : NULL;
    struct flow_rerun rerun;

    if (!summary || jobflow_is_record(flow) ||
        (summary->retry && strcmp(summary->retry, asked) == 0))
        return false;
    rerun = jobflow_rerun_of(flow);
    return summary->phase == FLOW_FAILED ||
           (summary->phase == FLOW_SUCCEED && flow_rerun_is_selective(&rerun));
}

enum { SUMMARY_ARENA_BYTES = 128 }; /* most summaries have no texts */

static const char *copy_of(const char *text, struct arena *arena)
{
    return text ? arena_strdup(arena, text) : NULL;
}

struct blob *jobflow_status_blob(struct buf *text, const struct jobflow_summary *summary)
{
    struct blob *blob = blob_from_buf(text);
    struct arena *arena = arena_new(SUMMARY_ARENA_BYTES);
    struct jobflow_summary *kept = arena_alloc(arena, sizeof *kept);

    *kept = *summary;
    kept->retry = copy_of(summary->retry, arena);
    kept->reason = copy_of(summary->reason, arena);
    kept->message = copy_of(summary->message, arena);
    decoded_attach(blob, &summary_type, arena, kept);
    return blob;
}

/* clang-format off */
static const struct field flow_fields[] = {
    {"spec",   FIELD_OBJECT, FIELD_PASS, &jobflow_spec_schema, .doc = "Steps of the flow and their dependencies."},
    {"status", FIELD_OBJECT, FIELD_PASS, &jobflow_status_schema, .doc = "State of the flow and of its steps."},
    {0},
};
static const struct schema flow_schema = {"JobFlow", flow_fields, .doc = "A graph of jobs. Each step runs a job made from a JobTemplate when its dependencies are satisfied."};

static const struct column columns[] = {
    {"Status", "string", "status.state.phase",         0, "Phase of the flow."},
    {"Age",    "date",   "metadata.creationTimestamp", 0, "Time since the flow was created."},
    {0},
};
/* clang-format on */

static const char *const short_names[] = {"jf", NULL};

const struct kind kind_job_flow = {
    .id = KIND_JOB_FLOW,
    .group = "flow.volcano.sh",
    .version = "v1alpha1",
    .name = "JobFlow",
    .plural = "jobflows",
    .singular = "jobflow",
    .short_names = short_names,
    .namespaced = true,
    .has_status = true,
    .few = true,
    .schema = &flow_schema,
    .validate = jobflow_validate,
    .validate_meta = jobflow_validate_meta,
    .validate_in_context = jobflow_validate_in_context,
    .columns = columns,
};
