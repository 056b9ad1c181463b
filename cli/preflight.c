/*
 * The dry run behind `validate`, `run` and `apply`.
 */
#include "cli/preflight.h"
#include "api/types/jobflow_pin.h"
#include "api/types/nearest.h"
#include "base/hash.h"
#include "base/mem.h"
#include "cli/apply.h"
#include "cli/command.h"
#include "cli/gangfit.h"
#include "cli/preflight_steps.h"
#include "cli/reach.h"
#include "template/pinned.h"
#include <stdlib.h>
#include <string.h>

struct warning {
    const struct manifest *manifest;
    struct error text;
};

struct preflight_run {
    struct manifests *set;
    const struct preflight_options *options;
    struct preflight_result *result;
    struct engine *scratch;
    struct warning *warnings; /* [n_warnings]: worth a word only when all is well */
    size_t n_warnings, warnings_cap;
    struct origin *origins; /* by uid */
};

/* The manifest behind a scratch object. */
struct origin {
    UT_hash_handle hh;
    const struct manifest *manifest;
    char uid[];
};

static void print_dropped(const struct manifest *manifest, size_t dropped)
{
    if (dropped)
        cli_errorf("%s: %zu more findings not shown", manifest->file, dropped);
}

static void print_errors(struct preflight_run *run, const struct manifest *manifest,
                         const struct error_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        manifest_print(manifest, "error", &list->items[i]);
    print_dropped(manifest, list->dropped);
    run->result->errors += list->count + list->dropped;
}

static void keep_warnings(struct preflight_run *run, const struct manifest *manifest,
                          const struct error_list *list)
{
    enum { KEPT_MAX = 1000 };

    run->result->warnings += list->dropped;
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].code == ERR_NOT_FOUND)
            continue; /* check_templates looks when all is there */
        run->result->warnings++;
        if (run->n_warnings == KEPT_MAX)
            continue;
        mem_grow(run->warnings, run->n_warnings, run->warnings_cap);
        run->warnings[run->n_warnings++] = (struct warning){manifest, list->items[i]};
    }
}

/* Some of them say in advance what an error then says in full. */
static void print_warnings(const struct preflight_run *run)
{
    for (size_t i = 0; i < run->n_warnings && run->result->errors == 0; i++)
        manifest_print(run->warnings[i].manifest, "warning", &run->warnings[i].text);
}

static int compare_order(const void *a, const void *b, void *arg)
{
    const struct manifests *set = arg;
    size_t i = *(const size_t *)a, j = *(const size_t *)b;
    int by_kind = (int)set->items[i].kind->id - (int)set->items[j].kind->id;

    return by_kind ? by_kind : (i > j) - (i < j);
}

size_t *preflight_order(const struct manifests *set)
{
    size_t *order = mem_array(set->count ? set->count : 1, sizeof *order);

    for (size_t i = 0; i < set->count; i++)
        order[i] = i;
    qsort_r(order, set->count, sizeof *order, compare_order, (void *)(size_t)set);
    return order;
}

static void set_namespace(const struct manifest *manifest, const char *namespace_)
{
    json_t *metadata = json_object_get(manifest->doc, "metadata");

    if (manifest->kind->namespaced && json_is_object(metadata) &&
        !json_object_get(metadata, "namespace"))
        json_object_set_new(metadata, "namespace", json_string(namespace_));
}

static const struct manifest *manifest_of(const struct preflight_run *run,
                                          const struct object *object)
{
    struct origin *origin = NULL;

    HASH_FIND_STR(run->origins, object_uid(object), origin);
    return origin ? origin->manifest : NULL;
}

/* The first manifest with the kind, namespace and name of `manifest`. */
static const struct manifest *first_of_name(const struct preflight_run *run,
                                            const struct manifest *manifest)
{
    json_t *metadata = json_object_get(manifest->doc, "metadata");
    const char *ns = json_string_value(json_object_get(metadata, "namespace"));
    const char *name = json_string_value(json_object_get(metadata, "name"));
    const struct object *object =
        name ? store_get(engine_store(run->scratch), manifest->kind, ns ? ns : "", name) : NULL;

    return object ? manifest_of(run, object) : NULL;
}

static void remember(struct preflight_run *run, const struct object *object,
                     const struct manifest *manifest)
{
    size_t len = strlen(object_uid(object));
    struct origin *origin = mem_alloc(sizeof *origin + len + 1);

    origin->manifest = manifest;
    memcpy(origin->uid, object_uid(object), len + 1);
    HASH_ADD_KEYPTR(hh, run->origins, origin->uid, len, origin);
}

static void forget_origins(struct preflight_run *run)
{
    struct origin *origin, *next;

    HASH_ITER(hh, run->origins, origin, next)
    {
        HASH_DEL(run->origins, origin);
        mem_free(origin);
    }
}

static void count_error(struct preflight_run *run, const struct manifest *manifest,
                        const struct error *err)
{
    manifest_print(manifest, "error", err);
    run->result->errors++;
}

/* A second definition of a name; false when the object in the way is none of the files'. */
static bool report_double(struct preflight_run *run, const struct manifest *manifest)
{
    const struct manifest *first = first_of_name(run, manifest);
    struct error err = {0};

    if (!first)
        return false;
    error_set(&err, ERR_EXISTS, "metadata.name",
              "a %s of this name is already defined at %s:%zu; rename one of the two",
              manifest->kind->name, first->file, manifest_line(first, "metadata.name"));
    count_error(run, manifest, &err);
    return true;
}

static void check_job(struct preflight_run *run, const struct object *object,
                      const struct manifest *manifest)
{
    struct error err = {0};

    if (manifest->kind == &kind_job &&
        preflight_never_ends(job_spec_of(object), run->options->max_pods, &err))
        count_error(run, manifest, &err);
}

/* ---- pinned templates (jobflow_pin.h) ---- */

struct copies {
    struct preflight_run *run;
    const struct object *flow;
    const struct object **items; /* [count] */
    size_t count, cap;
};

static bool is_copy_for(const struct object *template_, const struct object *flow)
{
    return jobflow_pin_origin(template_) &&
           strcmp(meta_controller(template_->meta)->name, object_name(flow)) == 0;
}

static void collect_copy(void *arg, const struct object *template_)
{
    struct copies *copies = arg;

    if (!is_copy_for(template_, copies->flow))
        return;
    mem_grow(copies->items, copies->count, copies->cap);
    copies->items[copies->count++] = template_;
}

/* The flow of the files has a uid of its own here: what the flow of its name keeps is kept for it.
 */
static void bring_copies(struct preflight_run *run, const struct object *flow)
{
    struct copies copies = {.run = run, .flow = flow};

    if (flow->kind != &kind_job_flow || !jobflow_pins(flow))
        return;
    store_each(engine_store(run->scratch), &kind_job_template, object_namespace(flow), collect_copy,
               &copies);
    for (size_t i = 0; i < copies.count; i++) {
        const struct object *copy = copies.items[i];
        struct error_list errors = {0};

        registry_create_object(
            engine_registry(run->scratch),
            template_pinned(flow, jobflow_pin_origin(copy), copy->body, copy->revision), NULL,
            &errors);
        error_list_release(&errors); /* what is refused is reported as missing */
    }
    mem_free(copies.items);
}

static bool is_unchanged(const struct preflight_run *run, const struct manifest *manifest,
                         const struct object *made)
{
    const struct object *stored =
        run->options->live
            ? store_get(run->options->live, made->kind, object_namespace(made), object_name(made))
            : NULL;

    return stored && registry_says_nothing_new(stored, made, manifest->doc);
}

static void check_one(struct preflight_run *run, struct manifest *manifest)
{
    struct error_list errors = {0}, warnings = {0};
    const struct object *object = NULL;

    if (!report_double(run, manifest)) {
        if (apply_manifest(engine_registry(run->scratch), manifest, &warnings, &object, &errors) !=
            APPLY_FAILED) {
            remember(run, object, manifest);
            manifest->unchanged = is_unchanged(run, manifest, object);
            bring_copies(run, object);
            check_job(run, object, manifest);
            if (run->options->look)
                run->options->look->object(run->options->look->ctx, manifest, object);
        } else {
            print_errors(run, manifest, &errors);
        }
    }
    keep_warnings(run, manifest, &warnings);
    error_list_release(&errors);
    error_list_release(&warnings);
}

static const char *manifest_name(const struct manifest *manifest)
{
    const char *name =
        json_string_value(json_object_get(json_object_get(manifest->doc, "metadata"), "name"));

    return name ? name : "";
}

/* A template of that name in the files which is not in the flow's namespace, or was refused. */
static const struct manifest *template_in_files(const struct preflight_run *run, const char *name)
{
    for (size_t i = 0; i < run->set->count; i++) {
        const struct manifest *manifest = &run->set->items[i];

        if (manifest->kind == &kind_job_template && strcmp(manifest_name(manifest), name) == 0)
            return manifest;
    }
    return NULL;
}

static void report_template(struct preflight_run *run, const struct manifest *manifest,
                            const struct object *flow, const char *field, const char *name)
{
    const struct manifest *elsewhere = template_in_files(run, name);
    const char *ns = elsewhere ? json_string_value(json_object_get(
                                     json_object_get(elsewhere->doc, "metadata"), "namespace"))
                               : NULL;
    struct nearest near = {0};
    struct error err = {0};

    if (ns && strcmp(ns, object_namespace(flow)) == 0)
        return; /* it was refused, which has been said */
    for (size_t i = 0; !elsewhere && i < run->set->count; i++)
        if (run->set->items[i].kind == &kind_job_template)
            nearest_offer(&near, name, manifest_name(&run->set->items[i]));
    if (ns)
        error_set(
            &err, ERR_NOT_FOUND, field,
            "JobTemplate \"%s\" at %s:%zu is in namespace %s, the flow in %s: put both into one",
            name, elsewhere->file, manifest_line(elsewhere, "metadata"), ns,
            object_namespace(flow));
    else
        error_set(&err, ERR_NOT_FOUND, field,
                  "JobTemplate \"%s\" is not defined in these files or in the store%s%s%s", name,
                  near.word ? "; did you mean \""
                            : "; add it, or name an existing one with jobTemplateName",
                  near.word ? near.word : "", near.word ? "\"?" : "");
    count_error(run, manifest, &err);
}

static void check_templates(void *arg, const struct object *flow)
{
    struct preflight_run *run = arg;
    const struct jobflow_spec *spec = jobflow_spec_of(flow);
    const struct manifest *manifest = manifest_of(run, flow);
    size_t missing = 0, dropped = 0;

    if (!manifest)
        return;
    for (size_t i = 0; i < spec->steps.count; i++) {
        const struct flow_step *step = &spec->steps.items[i];
        const char *name = step->template_name ? step->template_name : step->name;
        char field[64];

        if (flow_step_is_switch(step) || preflight_template(engine_store(run->scratch), flow, step))
            continue;
        if (missing++ >= ERROR_LIST_MAX) {
            dropped++;
            continue;
        }
        snprintf(field, sizeof field, "spec.flows[%zu].%s", i,
                 step->template_name ? "jobTemplateName" : "name");
        report_template(run, manifest, flow, field, name);
    }
    print_dropped(manifest, dropped);
    run->result->errors += dropped;
}

struct steps_found {
    struct preflight_run *run;
    const struct manifest *manifest;
    const struct object *flow;
    size_t count; /* findings that are errors */
};

static void step_doubted(void *ctx, const struct error *err)
{
    struct steps_found *found = ctx;
    struct error_list one = {0};

    error_list_append(&one, err);
    keep_warnings(found->run, found->manifest, &one);
    error_list_release(&one);
}

static void step_made(void *ctx, size_t step, const struct object *job)
{
    struct steps_found *found = ctx;
    const struct preflight_look *look = found->run->options->look;

    look->job(look->ctx, found->flow, step, job);
}

static void step_found(void *ctx, const struct error *err)
{
    struct steps_found *found = ctx;

    if (found->count++ < ERROR_LIST_MAX)
        count_error(found->run, found->manifest, err);
    else
        found->run->result->errors++;
}

/* Of a flow that goes on as it was, the steps whose templates are as they were have been looked at
 * when it began. */
static bool goes_on(const struct preflight_run *run, const struct object *flow)
{
    const struct manifest *manifest = manifest_of(run, flow);
    const struct object *stored =
        manifest && manifest->unchanged && !run->options->look
            ? store_get(run->options->live, flow->kind, object_namespace(flow), object_name(flow))
            : NULL;

    return stored && !flow_phase_finished(jobflow_phase_of(stored));
}

static bool template_known_before(void *ctx, const struct object *template_)
{
    const struct steps_found *found = ctx;
    const struct manifest *manifest = manifest_of(found->run, template_);

    return !manifest || manifest->unchanged;
}

static void gang_planned(void *ctx, const struct error *problem)
{
    struct steps_found *found = ctx;
    const struct preflight_look *look = found->run->options->look;

    look->gang(look->ctx, found->flow, problem);
}

/* To a run it is a mistake, to others something to know. */
static void check_gangs(struct steps_found *found, const struct amount *needs)
{
    const struct preflight_options *options = found->run->options;
    const struct preflight_look *look = options->look;
    const struct gangfit gangs = {
        .spec = jobflow_spec_of(found->flow),
        .needs = needs,
        .max_pods = look ? look->max_pods : options->max_pods,
        .sim = options->sim,
    };

    if (look)
        gangfit_check(&gangs, gang_planned, found);
    else if (options->max_pods)
        gangfit_check(&gangs, step_found, found);
    else if (options->warn_of_room)
        gangfit_check(&gangs, step_doubted, found);
}

static void check_steps(void *arg, const struct object *flow)
{
    struct preflight_run *run = arg;
    struct steps_found found = {.run = run, .manifest = manifest_of(run, flow), .flow = flow};
    const struct preflight_steps check = {
        .registry = engine_registry(run->scratch),
        .max_pods = run->options->max_pods,
        .found = step_found,
        .made = run->options->look ? step_made : NULL,
        .doubted = run->options->warn_of_room ? step_doubted : NULL,
        .known = goes_on(run, flow) ? template_known_before : NULL,
        .ctx = &found,
    };

    const struct jobflow_spec *spec = jobflow_spec_of(flow);
    struct amount *needs = NULL;

    if (!found.manifest)
        return;
    if (spec->gangs.count)
        needs = mem_array(spec->steps.count + 1, sizeof *needs);
    preflight_steps(&check, flow, needs);
    check_gangs(&found, needs);
    mem_free(needs);
    if (found.count > ERROR_LIST_MAX)
        print_dropped(found.manifest, found.count - ERROR_LIST_MAX);
    reach_check(flow, engine_store(run->scratch), step_doubted, &found);
}

/* A flow that begins anew pins anew. */
static bool is_copy_of_old(const struct preflight_run *run, const struct object *object)
{
    const struct owner_ref *owner = object->kind == &kind_job_template && jobflow_pin_origin(object)
                                        ? meta_controller(object->meta)
                                        : NULL;
    const struct object *flow =
        owner ? store_get(run->options->live, &kind_job_flow, object_namespace(object), owner->name)
              : NULL;

    return owner && (!flow || run->options->fresh ||
                     (!run->options->retry_failed && flow_phase_finished(jobflow_phase_of(flow)) &&
                      !jobflow_wants_retry(flow)));
}

static void copy_object(void *arg, const struct object *object)
{
    struct preflight_run *run = arg;
    struct store *store = engine_store(run->scratch);

    if (!is_copy_of_old(run, object) &&
        !store_get(store, object->kind, object_namespace(object), object_name(object)))
        store_put(store, object_with_meta(object, meta_ref(object->meta)));
}

/* What the files may refer to without defining it. */
static void copy_live(struct preflight_run *run)
{
    static const struct kind *const kinds[] = {&kind_namespace, &kind_priority_class, &kind_queue,
                                               &kind_job_template};

    for (size_t i = 0; run->options->live && i < countof(kinds); i++)
        store_each(run->options->live, kinds[i], NULL, copy_object, run);
}

/* Of what the files define themselves, theirs holds. */
static void create_known(struct preflight_run *run)
{
    const struct registry_write how = {.unknown = UNKNOWN_PRUNE};
    size_t i;
    json_t *doc;

    json_array_foreach(run->options->known, i, doc)
    {
        scoped(json) json_t *copy = json_deep_copy(doc);
        struct error_list errors = {0};
        const struct object *object;
        json_t *metadata = json_object_get(copy, "metadata");

        json_object_del(metadata, "uid");
        json_object_del(metadata, "resourceVersion");
        registry_create(engine_registry(run->scratch), copy, &how, &object, &errors);
        error_list_release(&errors); /* then it is not known */
    }
}

bool preflight(struct manifests *set, const struct preflight_options *options,
               struct preflight_result *result)
{
    const struct engine_options scratch = {.sim = options->sim,
                                           .flow_steps = options->flow_steps,
                                           .compat_upstream = options->compat_upstream};
    struct preflight_run run = {.set = set, .options = options, .result = result};
    size_t *order = preflight_order(set);
    struct error err = {0};

    *result = (struct preflight_result){0};
    run.scratch = engine_start(&scratch, &err);
    if (!run.scratch) {
        cli_error(&err);
        result->errors++;
    } else {
        copy_live(&run);
        for (size_t i = 0; i < set->count; i++)
            set_namespace(&set->items[i], options->namespace_);
        apply_namespaces(engine_registry(run.scratch), set);
        create_known(&run);
        for (size_t i = 0; i < set->count; i++)
            check_one(&run, &set->items[order[i]]);
        store_each(engine_store(run.scratch), &kind_job_flow, NULL, check_templates, &run);
        store_each(engine_store(run.scratch), &kind_job_flow, NULL, check_steps, &run);
        engine_stop(run.scratch);
    }
    print_warnings(&run);
    mem_free(run.warnings);
    forget_origins(&run);
    mem_free(order);
    return result->errors == 0;
}
