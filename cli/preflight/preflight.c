/*
 * The dry run behind `validate`, `run` and `apply`: orders the manifests, admits each in a scratch
 * store, then checks the flows again when all objects exist.
 */
#include "cli/preflight/preflight.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/command/command.h"
#include "cli/engine/engine.h"
#include "cli/manifest/apply.h"
#include "cli/preflight/internal.h"
#include "cli/preflight/steps.h"
#include "node/machine/sockaddr_rules.h"

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

/* Metadata that is missing is made, so that only the name is reported as missing. */
static void set_namespace(const struct manifest *manifest, const char *namespace)
{
    json_t *metadata = json_object_get(manifest->doc, "metadata");

    if (!metadata || json_is_null(metadata)) {
        metadata = json_object();
        json_object_set_new(manifest->doc, "metadata", metadata);
    }
    if (manifest->kind->namespaced && json_is_object(metadata) &&
        !json_object_get(metadata, "namespace"))
        json_object_set_new(metadata, "namespace", json_string(namespace));
}

const struct manifest *preflight_manifest_of(const struct preflight_run *run,
                                             const struct object *object)
{
    struct preflight_origin *origin = NULL;

    HASH_FIND_STR(run->origins, object_uid(object), origin);
    return origin ? origin->manifest : NULL;
}

/* Returns the first manifest with the kind, namespace and name of `manifest`. */
static const struct manifest *first_of_name(const struct preflight_run *run,
                                            const struct manifest *manifest)
{
    json_t *metadata = json_object_get(manifest->doc, "metadata");
    const char *ns = json_string_value(json_object_get(metadata, "namespace"));
    const char *name = json_string_value(json_object_get(metadata, "name"));
    const struct object *object =
        name ? store_get(engine_store(run->scratch), manifest->kind, ns ? ns : "", name) : NULL;

    return object ? preflight_manifest_of(run, object) : NULL;
}

static void remember(struct preflight_run *run, const struct object *object,
                     const struct manifest *manifest)
{
    size_t len = strlen(object_uid(object));
    struct preflight_origin *origin = mem_alloc(sizeof *origin + len + 1);

    origin->manifest = manifest;
    memcpy(origin->uid, object_uid(object), len + 1);
    HASH_ADD_KEYPTR(hh, run->origins, origin->uid, len, origin);
}

static void forget_origins(struct preflight_run *run)
{
    struct preflight_origin *origin, *next;

    HASH_ITER(hh, run->origins, origin, next)
    {
        HASH_DEL(run->origins, origin);
        mem_free(origin);
    }
}

/* Reports a second definition of a name. Returns false when the existing object comes from no file.
 */
static bool report_double(struct preflight_run *run, const struct manifest *manifest)
{
    const struct manifest *first = first_of_name(run, manifest);
    struct error err = {0};

    if (!first)
        return false;
    error_set(&err, ERR_EXISTS, "metadata.name",
              "a %s of this name is already defined at %s:%zu; rename one of the two",
              manifest->kind->name, first->file, manifest_line(first, "metadata.name"));
    preflight_error(run, manifest, &err);
    return true;
}

static bool check_room(struct preflight_run *run, const struct object *object,
                       const struct manifest *manifest, const struct fit *fit,
                       enum preflight_room room)
{
    struct error_list list = {0};
    struct error err = {0}, refusal = {0};

    if (!fit || fit_check(fit, engine_store(run->scratch), job_spec_of(object), "the job", &err))
        return true;
    if (room == ROOM_REQUIRED) {
        error_set(&refusal, err.code, err.field, "%s; " PREFLIGHT_WAIT_HINT, err.message);
        preflight_error(run, manifest, &refusal);
    } else {
        error_list_append(&list, &err);
        preflight_warn(run, manifest, &list);
        error_list_release(&list);
    }
    return false;
}

static void check_job(struct preflight_run *run, const struct object *object,
                      const struct manifest *manifest)
{
    const struct preflight_options *options = run->options;
    const struct owner_ref *owner = meta_controller(object->meta);
    struct error err = {0};

    if (manifest->kind != &kind_job)
        return;
    if (!options->runs)
        owner = NULL;
    /* The garbage collector would delete a dependent at once, because its owner has a new uid
     * here. */
    if (owner) {
        error_set(&err, ERR_INVALID, "metadata.ownerReferences",
                  "the job belongs to %s %s, which makes its jobs itself; leave it out, or delete "
                  "the reference to run it alone",
                  owner->kind, owner->name);
        preflight_error(run, manifest, &err);
    } else if (options->runs && preflight_never_ends(job_spec_of(object), &err)) {
        preflight_error(run, manifest, &err);
    } else if (!options->look && check_room(run, object, manifest, options->fit, options->room)) {
        check_room(run, object, manifest, options->simulated, ROOM_WARNED_OF);
    }
}

static const struct object *stored_of(const struct preflight_run *run, const struct object *made)
{
    return run->options->live ? store_get(run->options->live, made->kind, object_namespace(made),
                                          object_name(made))
                              : NULL;
}

static bool is_unchanged(const struct preflight_run *run, const struct manifest *manifest,
                         const struct object *made)
{
    const struct object *stored = stored_of(run, made);

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
            preflight_load_pinned(run, object);
            check_job(run, object, manifest);
            if (run->options->edits)
                edits_note(run->options->edits, object, stored_of(run, object));
            if (run->options->look)
                run->options->look->object(run->options->look->ctx, manifest, object,
                                           engine_store(run->scratch));
        } else {
            preflight_errors(run, manifest, &errors);
        }
    }
    preflight_warn(run, manifest, &warnings);
    error_list_release(&errors);
    error_list_release(&warnings);
}

static void check_templates(void *arg, const struct object *flow)
{
    preflight_check_templates(arg, flow);
}

static void check_steps(void *arg, const struct object *flow)
{
    preflight_check_steps(arg, flow);
}

bool preflight(struct manifests *set, const struct preflight_options *options,
               struct preflight_result *result)
{
    const struct engine_options scratch = {.sim = options->sim,
                                           .flow_steps = options->flow_steps,
                                           .no_low_ports =
                                               options->shared_network && sockaddr_low_ports_move(),
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
        preflight_load_live(&run);
        for (size_t i = 0; i < set->count; i++) {
            preflight_forget_version(set->items[i].doc);
            set_namespace(&set->items[i], options->namespace);
        }
        apply_namespaces(engine_registry(run.scratch), set);
        preflight_load_known(&run);
        for (size_t i = 0; i < set->count; i++)
            check_one(&run, &set->items[order[i]]);
        preflight_check_needs(&run);
        store_each(engine_store(run.scratch), &kind_job_flow, NULL, check_templates, &run);
        store_each(engine_store(run.scratch), &kind_job_flow, NULL, check_steps, &run);
        engine_stop(run.scratch);
    }
    preflight_print_warnings(&run);
    preflight_findings_release(&run);
    forget_origins(&run);
    mem_free(order);
    return result->errors == 0;
}
