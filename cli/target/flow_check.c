/*
 * Two tables name the members of a flow and of a step that Volcano lacks, and the values that mean
 * what Volcano does anyway. A member that neither Volcano nor a table knows is refused as well.
 */
#include "cli/target/flow_check.h"

#include <stdio.h>
#include <string.h>

#include "api/types/text/doc.h"
#include "base/mem.h"

/* The API server's limit with room for the status (spec/cluster.md 7.6). */
enum { SPEC_BYTES_MAX = 1300000, OBJECT_BYTES_MAX = 1572864 };

/* A member by its path. `same` is the text of a value that means what Volcano does anyway. */
struct lacking {
    const char *path;
    const char *same;
    const char *way_out;
    bool accepted; /* Volcano takes it and never looks at it */
};

/* clang-format off */
static const struct lacking flow_lacks[] = {
    {"maxRetry",                  "0",      "let the job restart: maxRetry and policies: [{event: PodFailed, action: RestartJob}] of the template"},
    {"failurePolicy",             "stop",   "there a failed job keeps all later steps from starting: leave it out"},
    {"templatePolicy",            "latest", "leave it out: jobs are made of the templates as they are then"},
    {"gangs",                     "[]",     "make one job of them, with a task for each"},
    {"scheduling.maxRunningJobs", NULL,     "let the jobs use a queue with a capability"},
    {"scheduling.order",          "list",   "leave it out: ready steps start in the order of the list"},
    {"suspend",                   "false",  "create the flow when it may start"},
    {"activeDeadlineSeconds",     NULL,     "delete the flow when its time is up"},
    {"ttlSecondsAfterFinished",   NULL,     "write it into the templates, for the jobs, and delete the flow"},
};
static const struct lacking step_lacks[] = {
    {"dependsOn.probe", "{}",   "let the program wait, or depend on a step that ends", .accepted = true},
    {"if",              NULL,   "decide in the program of the step, or make two flows"},
    {"switch",          NULL,   "decide in the programs of the steps, or make several flows"},
    {"approve",         NULL,   "make two flows, and create the second when it is approved"},
    {"until",           NULL,   "start the server in the program of the step that uses it"},
    {"retry",           NULL,   "let the job restart: maxRetry and policies: [{event: PodFailed, action: RestartJob}] of the template"},
    {"failurePolicy",   "fail", "let the program end with 0"},
    {"when",            NULL,   "run it when the flow is over, after kubectl wait"},
};
/* Members that are Volcano's own, that are written out, that matter only together with a member that
 * is refused (no failure is handled without `if`), or that only say what need not run again. */
static const char *const flow_known[] = {"flows", "jobRetainPolicy", "scheduling", "parameters", "handledFailures", NULL};
static const char *const step_known[] = {"name", "dependsOn", "patch", "jobTemplateName", "run", "image", "env", "jobTemplate", "for", "reads", "writes", "cache", NULL};
static const char *const flow_own[] = {"flows", "jobRetainPolicy", NULL};
static const char *const step_own[] = {"name", "dependsOn", NULL};
static const char *const depends_own[] = {"targets", "probe", NULL};
/* clang-format on */

static bool is_among(const char *const *names, const char *name)
{
    for (; *names; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

static bool starts_row(const struct lacking *rows, size_t n, const char *name)
{
    size_t len = strlen(name);

    for (size_t i = 0; i < n; i++)
        if (strncmp(rows[i].path, name, len) == 0 && strchr(".", rows[i].path[len]))
            return true;
    return false;
}

static bool means_the_same(const json_t *value, const char *same)
{
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    bool equal = same && text &&
                 (json_is_string(value) ? strcmp(json_string_value(value), same) == 0
                                        : strcmp(text, same) == 0);

    free(text);
    return equal;
}

static void lacks(struct error_list *errors, const char *field, const char *way_out)
{
    error_list_add(errors, ERR_INVALID, field, "Volcano's JobFlow has nothing like it%s%s",
                   *way_out ? ": " : "", way_out);
}

/* Checks an object at `path` against a table, and its members against those that are known. */
static void check_members(const json_t *object, const char *path, const struct lacking *rows,
                          size_t n, const char *const *known, struct error_list *errors)
{
    const char *name;
    json_t *member;

    for (size_t i = 0; i < n; i++) {
        const json_t *value = doc_at(object, rows[i].path);
        scoped_str field = mem_printf("%s.%s", path, rows[i].path);

        if (!value || json_is_null(value) || means_the_same(value, rows[i].same))
            continue;
        if (rows[i].accepted)
            error_list_add(errors, ERR_INVALID, field,
                           "Volcano accepts it and never looks at it: %s", rows[i].way_out);
        else
            lacks(errors, field, rows[i].way_out);
    }
    json_object_foreach((json_t *)(uintptr_t)object, name, member)
    {
        scoped_str field = mem_printf("%s.%s", path, name);

        if (!is_among(known, name) && !starts_row(rows, n, name))
            lacks(errors, field, "");
    }
}

bool target_loop_unrolls(const struct flow_loop *loop)
{
    return !flow_loop_is_open(loop) &&
           (loop->parallelism == 0 || (uint32_t)loop->parallelism >= flow_loop_iterations(loop));
}

static void check_loop(const struct flow_loop *loop, const char *path, struct error_list *errors)
{
    static const struct {
        const char *member, *way_out;
    } rows[] = {
        {"until", "repeat in the program of the step"},
        {"itemsFrom", "write the items, or split the work in the program of the step"},
        {"parallelism", "leave it out: all iterations run at once, or make the steps wait for one "
                        "another"},
        {"maxFailures", "leave it out, or let the programs that may fail end with 0"},
        {"failurePolicy", "leave it out: a failed iteration fails the flow"},
    };
    const bool there[] = {loop->until != NULL, loop->items_from != NULL,
                          !flow_loop_is_open(loop) && !target_loop_unrolls(loop),
                          loop->max_failures > 0, loop->failure_policy != LOOP_FAILURE_STOP};

    for (size_t i = 0; i < countof(rows); i++) {
        scoped_str field = mem_printf("%s.for.%s", path, rows[i].member);

        if (there[i])
            lacks(errors, field, rows[i].way_out);
    }
}

static void check_step(const json_t *doc, const struct flow_step *step, const char *path,
                       struct error_list *errors)
{
    check_members(doc, path, step_lacks, countof(step_lacks), step_known, errors);
    if (step->loop)
        check_loop(step->loop, path, errors);
    if (step->depends && step->depends->strategy == STRATEGY_ANY &&
        step->depends->targets.count > 1) {
        scoped_str field = mem_printf("%s.dependsOn.strategy", path);

        lacks(errors, field,
              "there a step waits for all of its targets: name the one that it needs");
    }
}

/* The annotation wins over the field, here only. */
static void check_annotations(const json_t *flow, struct error_list *errors)
{
    const char *policy = json_string_value(
        json_object_get(doc_at(flow, "metadata.annotations"), ANNOTATION_FAILURE_POLICY));

    if (policy && strcmp(policy, "stop") != 0)
        lacks(errors, "metadata.annotations[" ANNOTATION_FAILURE_POLICY "]",
              "there a failed job keeps all later steps from starting: leave it out");
}

void target_check_size(const struct target *target, const json_t *flow, struct error_list *errors)
{
    size_t bytes = json_dumpb(json_object_get(flow, "spec"), NULL, 0, JSON_COMPACT);

    if (bytes > SPEC_BYTES_MAX)
        error_list_add(errors, ERR_TOO_LARGE, "spec",
                       "Too long: %zu bytes; an object of the cluster holds %d with its status: "
                       "%ssplit the flow",
                       bytes, OBJECT_BYTES_MAX, target->cluster ? "use for: or " : "");
}

void target_check_flow(const struct target *target, const json_t *flow,
                       const struct jobflow_spec *spec, struct error_list *errors,
                       struct error_list *warnings)
{
    const json_t *doc = json_object_get(flow, "spec");
    const json_t *steps = json_object_get(doc, "flows");

    if (target->cluster) {
        if (spec->gangs.count)
            error_list_add(warnings, ERR_INVALID, "spec.gangs",
                           "in a cluster the jobs of a gang are created together, and which of "
                           "them start is decided for each job alone (GangNotEnforced)");
        return;
    }
    check_members(doc, "spec", flow_lacks, countof(flow_lacks), flow_known, errors);
    check_annotations(flow, errors);
    for (size_t i = 0; i < spec->steps.count; i++) {
        scoped_str path = mem_printf("spec.flows[%zu]", i);

        check_step(json_array_get(steps, i), &spec->steps.items[i], path, errors);
    }
}

static const char *first_foreign(const json_t *object, const char *const *own)
{
    const char *name;
    json_t *member;

    json_object_foreach((json_t *)(uintptr_t)object, name, member)
    {
        if (!is_among(own, name))
            return name;
    }
    return NULL;
}

bool target_flow_differs(const json_t *flow, char *out, size_t size)
{
    const json_t *spec = json_object_get(flow, "spec"), *step;
    const char *name;
    size_t i;

    json_array_foreach(json_object_get(spec, "flows"), i, step)
    {
        if ((name = first_foreign(step, step_own))) {
            snprintf(out, size, "spec.flows[%zu].%s", i, name);
            return true;
        }
        if ((name = first_foreign(json_object_get(step, "dependsOn"), depends_own))) {
            snprintf(out, size, "spec.flows[%zu].dependsOn.%s", i, name);
            return true;
        }
    }
    name = first_foreign(spec, flow_own);
    if (name)
        snprintf(out, size, "spec.%s", name);
    return name != NULL;
}
