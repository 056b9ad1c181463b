/*
 * Checks a flow after all objects are loaded: its templates, the jobs of its steps, its gangs, and
 * whether each step can be reached.
 */
#include <string.h>

#include "api/types/text/suggest.h"
#include "base/mem.h"
#include "cli/preflight/awaited_failures.h"
#include "cli/preflight/gang_fit.h"
#include "cli/preflight/internal.h"
#include "cli/preflight/reach.h"
#include "cli/preflight/steps.h"

static const char *manifest_name(const struct manifest *manifest)
{
    const char *name =
        json_string_value(json_object_get(json_object_get(manifest->doc, "metadata"), "name"));

    return name ? name : "";
}

/* Returns a template of that name in the files that is in another namespace or was refused, or
 * NULL. */
static const struct manifest *template_in_files(const struct preflight_run *run, const char *name)
{
    for (size_t i = 0; i < run->set->count; i++) {
        const struct manifest *manifest = &run->set->items[i];

        if (manifest->kind == &kind_job_template && strcmp(manifest_name(manifest), name) == 0)
            return manifest;
    }
    return NULL;
}

/* Missing templates, and how many steps use each. */
struct missing {
    const char *name;
    char field[64]; /* field of the first such step */
    size_t steps;
};

/* Returns whether stored objects count as known. */
static bool uses_store(const struct preflight_run *run)
{
    return run->options->live || run->options->known;
}

static void report_template(struct preflight_run *run, const struct manifest *manifest,
                            const struct object *flow, const struct missing *missing)
{
    const char *field = missing->field, *name = missing->name;
    scoped_str others =
        missing->steps > 1 ? mem_printf(" (%zu steps name it)", missing->steps) : mem_strdup("");
    const struct manifest *elsewhere = template_in_files(run, name);
    const char *ns = elsewhere ? json_string_value(json_object_get(
                                     json_object_get(elsewhere->doc, "metadata"), "namespace"))
                               : NULL;
    struct suggest near = {0};
    struct error err = {0};

    if (ns && strcmp(ns, object_namespace(flow)) == 0)
        return; /* the template was refused, which has been reported */
    for (size_t i = 0; !elsewhere && i < run->set->count; i++)
        if (run->set->items[i].kind == &kind_job_template)
            suggest_offer(&near, name, manifest_name(&run->set->items[i]));
    if (ns)
        error_set(
            &err, ERR_NOT_FOUND, field,
            "JobTemplate \"%s\" at %s:%zu is in namespace %s, the flow in %s: put both into one",
            name, elsewhere->file, manifest_line(elsewhere, "metadata"), ns,
            object_namespace(flow));
    else
        error_set(&err, ERR_NOT_FOUND, field,
                  "JobTemplate \"%s\" is not defined in these files%s%s%s%s%s", name,
                  uses_store(run) ? " or in the store" : "", others,
                  near.word ? "; did you mean \""
                            : "; add it, or name an existing one with jobTemplateName",
                  near.word ? near.word : "", near.word ? "\"?" : "");
    preflight_error(run, manifest, &err);
}

static void note_missing(struct missing *all, size_t *count, size_t *dropped, const char *name,
                         const char *field)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp(all[i].name, name) == 0) {
            all[i].steps++;
            return;
        }
    if (*count == ERROR_LIST_MAX) {
        ++*dropped;
        return;
    }
    all[*count].name = name;
    all[*count].steps = 1;
    snprintf(all[(*count)++].field, sizeof all->field, "%s", field);
}

void preflight_check_templates(struct preflight_run *run, const struct object *flow)
{
    const struct jobflow_spec *spec = jobflow_spec_of(flow);
    const struct manifest *manifest = preflight_manifest_of(run, flow);
    struct missing all[ERROR_LIST_MAX];
    size_t missing = 0, dropped = 0;

    if (!manifest)
        return;
    for (size_t i = 0; i < spec->steps.count; i++) {
        const struct flow_step *step = &spec->steps.items[i];
        const char *name = step->template_name ? step->template_name : step->name;
        char field[64];

        if (!flow_step_has_named_template(step) ||
            preflight_template(engine_store(run->scratch), flow, step))
            continue;
        snprintf(field, sizeof field, "spec.flows[%zu].%s", i,
                 step->template_name ? "jobTemplateName" : "name");
        note_missing(all, &missing, &dropped, name, field);
    }
    for (size_t i = 0; i < missing; i++)
        report_template(run, manifest, flow, &all[i]);
    preflight_errors_dropped(manifest, dropped);
    run->result->errors += dropped;
}

struct steps_found {
    struct preflight_run *run;
    const struct manifest *manifest;
    const struct object *flow;
    size_t count; /* number of findings that are errors */
};

static void on_step_warning(void *ctx, const struct error *err)
{
    struct steps_found *found = ctx;
    struct error_list one = {0};

    error_list_append(&one, err);
    preflight_warn(found->run, found->manifest, &one);
    error_list_release(&one);
}

static void on_step_job(void *ctx, size_t step, const struct object *job)
{
    struct steps_found *found = ctx;
    const struct preflight_look *look = found->run->options->look;

    look->job(look->ctx, found->flow, step, job, engine_store(found->run->scratch));
}

static void step_found(void *ctx, const struct error *err)
{
    struct steps_found *found = ctx;

    if (found->count++ < ERROR_LIST_MAX)
        preflight_error(found->run, found->manifest, err);
    else
        found->run->result->errors++;
}

/* Returns whether the run continues a stored, unfinished flow with an unchanged manifest. Its steps
 * with unchanged templates were checked when it started and are not checked again. */
static bool flow_continues(const struct preflight_run *run, const struct object *flow)
{
    const struct manifest *manifest = preflight_manifest_of(run, flow);
    const struct object *stored =
        manifest && manifest->unchanged && !run->options->look
            ? store_get(run->options->live, flow->kind, object_namespace(flow), object_name(flow))
            : NULL;

    return stored && !flow_phase_finished(jobflow_phase_of(stored));
}

static bool template_known_before(void *ctx, const struct object *template)
{
    const struct steps_found *found = ctx;
    const struct manifest *manifest = preflight_manifest_of(found->run, template);

    return !manifest || manifest->unchanged;
}

static void gang_planned(void *ctx, const struct error *problem)
{
    struct steps_found *found = ctx;
    const struct preflight_look *look = found->run->options->look;

    look->gang(look->ctx, found->flow, problem);
}

/* A run that is to start all the same says so by its flag. */
static void room_missing(void *ctx, const struct error *err)
{
    struct error refusal = {0};

    error_set(&refusal, err->code, err->field, "%s; " PREFLIGHT_WAIT_HINT, err->message);
    step_found(ctx, &refusal);
}

/* Receives what can never run for want of room. */
static void (*room_reporter(const struct preflight_options *options))(void *, const struct error *)
{
    return options->room == ROOM_REQUIRED ? room_missing : on_step_warning;
}

/* Reports gangs that can never start. */
static void check_gangs(struct steps_found *found, const struct step_need *needs)
{
    const struct preflight_options *options = found->run->options;
    const struct gangfit gangs = {.spec = jobflow_spec_of(found->flow),
                                  .needs = needs,
                                  .fit = options->fit,
                                  .queues = engine_store(found->run->scratch)};

    gangfit_check(&gangs, options->look ? gang_planned : room_reporter(options), found);
}

void preflight_check_steps(struct preflight_run *run, const struct object *flow)
{
    struct steps_found found = {
        .run = run, .manifest = preflight_manifest_of(run, flow), .flow = flow};
    const struct preflight_steps check = {
        .registry = engine_registry(run->scratch),
        .runs = run->options->runs,
        .fit = run->options->fit,
        .simulated = run->options->simulated,
        .found = step_found,
        .no_room = run->options->look ? NULL : room_reporter(run->options),
        .warned = on_step_warning,
        .made = run->options->look ? on_step_job : NULL,
        .known = flow_continues(run, flow) ? template_known_before : NULL,
        .ctx = &found,
    };

    const struct jobflow_spec *spec = jobflow_spec_of(flow);
    struct step_need *needs = NULL;

    if (!found.manifest)
        return;
    if (spec->gangs.count && run->options->fit)
        needs = mem_array(spec->steps.count + 1, sizeof *needs);
    preflight_steps(&check, flow, needs);
    if (needs)
        check_gangs(&found, needs);
    step_needs_free(needs, spec->steps.count);
    if (found.count > ERROR_LIST_MAX)
        preflight_errors_dropped(found.manifest, found.count - ERROR_LIST_MAX);
    reach_check(flow, engine_store(run->scratch), on_step_warning, &found);
    awaited_failures_check(flow, on_step_warning, &found);
}
