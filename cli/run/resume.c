/*
 * Compares each manifest with the stored object of its name, decides whether the run starts,
 * resumes, retries or keeps it, applies the manifest, and adds the result to the tracker.
 */
#include "cli/run/resume.h"

#include <string.h>

#include "api/types/kinds/job/job.h"
#include "api/types/kinds/jobflow/jobflow.h"
#include "api/types/kinds/schedule/flowtrigger.h"
#include "api/types/text/doc.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cli/command/command.h"
#include "cli/preflight/preflight.h"
#include "cli/run/run_again.h"

static bool is_followed(const struct kind *kind)
{
    return kind == &kind_job_flow || kind == &kind_job;
}

static bool is_over(const struct object *object)
{
    if (object->kind == &kind_job_flow)
        return flow_phase_finished(jobflow_phase_of(object)) && !jobflow_wants_retry(object);
    return job_phase_finished(job_status_of(object)->phase);
}

static bool has_succeeded(const struct object *object)
{
    return object->kind == &kind_job_flow ? jobflow_phase_of(object) == FLOW_SUCCEED
                                          : job_status_of(object)->phase == JOB_COMPLETED;
}

bool resume_is_pattern(const struct manifests *set, const struct manifest *manifest)
{
    const char *name = doc_text(manifest->doc, "metadata.name");

    if (manifest->kind != &kind_job_flow || !name ||
        !json_is_true(doc_at(manifest->doc, "spec.suspend")))
        return false;
    for (size_t i = 0; i < set->count; i++) {
        const char *flow = set->items[i].kind == &kind_flow_trigger
                               ? doc_text(set->items[i].doc, "spec.flowName")
                               : NULL;

        if (flow && strcmp(flow, name) == 0)
            return true;
    }
    return false;
}

/* The search for a FlowTrigger of the store whose pattern a flow is. */
struct pattern {
    const struct object *flow;
    bool found;
};

static void compare_pattern(void *arg, const struct object *trigger)
{
    struct pattern *pattern = arg;
    const char *name = trigger_spec_of(trigger)->flow_name;

    pattern->found |= name && strcmp(name, object_name(pattern->flow)) == 0 &&
                      strcmp(object_namespace(trigger), object_namespace(pattern->flow)) == 0;
}

/* Tells whether a stored object is the pattern of a stored FlowTrigger. */
static bool is_stored_pattern(const struct store *store, const struct object *object)
{
    struct pattern pattern = {.flow = object};

    if (object->kind == &kind_job_flow && jobflow_spec_of(object)->suspend)
        store_each(store, &kind_flow_trigger, NULL, compare_pattern, &pattern);
    return pattern.found;
}

/* What to do with the object that an earlier run left under the name of a manifest. */
enum earlier {
    EARLIER_NONE,   /* there is none, or it is forgotten */
    EARLIER_RESUME, /* the flow is unfinished */
    EARLIER_RETRY,  /* the flow failed and starts again */
    EARLIER_RERUN,  /* named or edited steps of the flow run again */
    EARLIER_KEEP    /* the flow or job is over and does not run again */
};

static enum earlier judge(const struct resume_request *request, const struct object *stored)
{
    if (!stored || !is_followed(stored->kind) || request->fresh)
        return EARLIER_NONE;
    if (!is_over(stored))
        return EARLIER_RESUME;
    if (flow_rerun_is_selective(&request->rerun))
        return stored->kind == &kind_job_flow ? EARLIER_RERUN : EARLIER_KEEP;
    if (!request->retry_failed)
        return EARLIER_NONE;
    if (has_succeeded(stored))
        return run_again_is_edited(request, stored) ? EARLIER_RERUN : EARLIER_KEEP;
    return stored->kind == &kind_job_flow ? EARLIER_RETRY : EARLIER_NONE;
}

static struct store *store_of(const struct resume_request *request)
{
    return request->backend->store;
}

/* Follows an earlier flow or job and prints a note about it. */
static void resume(const struct resume_request *request, enum earlier earlier,
                   const struct object *object, const char *remark)
{
    const char *verb = earlier == EARLIER_RETRY ? "retrying" : "resuming";
    const struct flow_view *flow;
    scoped_str text = NULL;

    flow_tracker_add(request->tracker, object);
    flow = flow_tracker_find(request->tracker, object_uid(object));
    if (earlier == EARLIER_RERUN)
        return; /* its note is printed before the flow is changed */
    if (earlier == EARLIER_KEEP)
        text = mem_printf("%s %s before and is not run again", object_name(object),
                          has_succeeded(object) ? "succeeded" : "ended");
    else if (object->kind == &kind_job_flow)
        text = mem_printf("%s %s: %u of %u step%s completed before%s", verb, object_name(object),
                          flow_view_count(flow).completed, flow->n_steps,
                          flow->n_steps == 1 ? "" : "s", remark);
    else
        text = mem_printf("resuming job %s%s", object_name(object), remark);
    request->note(request->ctx, text);
}

/* A flow that is over stays as the record of an earlier run, unless it is to be forgotten. */
static void forget(const struct resume_request *request, const struct object *object)
{
    request->backend->ops->forget(request->backend, object, !request->fresh && is_over(object));
}

static const char *metadata_text(const struct manifest *manifest, const char *key)
{
    const json_t *metadata = json_object_get(manifest->doc, "metadata");

    return json_string_value(json_object_get(metadata, key));
}

static const struct object *stored_object(const struct resume_request *request,
                                          const struct manifest *manifest)
{
    const char *ns = metadata_text(manifest, "namespace");
    const char *name = metadata_text(manifest, "name");

    return name ? store_get(store_of(request), manifest->kind, ns ? ns : "", name) : NULL;
}

static void print_refusal(const struct manifest *manifest, const struct error_list *errors)
{
    for (size_t i = 0; i < errors->count; i++)
        manifest_print(manifest, "error", &errors->items[i]);
}

static json_t *member_copy(json_t *object, const char *key)
{
    json_t *copy = json_copy(json_object_get(object, key));

    if (!json_is_object(copy)) {
        json_decref(copy);
        copy = json_object();
    }
    json_object_set_new(object, key, copy);
    return copy;
}

/* Returns the manifest's document, with annotations for --keep-going and for what runs again.
 * Owned. */
static json_t *flagged_document(const struct resume_request *request, enum earlier earlier,
                                const struct manifest *manifest, const struct object *stored)
{
    bool again = earlier == EARLIER_RETRY || earlier == EARLIER_RERUN;
    bool keeps_going = request->keep_going && earlier != EARLIER_KEEP;
    bool reuses = request->reuse && earlier != EARLIER_KEEP;
    json_t *doc, *annotations;

    if (manifest->kind != &kind_job_flow || (!again && !keeps_going && !reuses))
        return json_incref(manifest->doc);
    doc = json_copy(manifest->doc);
    annotations = member_copy(member_copy(doc, "metadata"), "annotations");
    if (keeps_going)
        json_object_set_new(annotations, ANNOTATION_FAILURE_POLICY, json_string("continue"));
    if (reuses)
        json_object_set_new(annotations, ANNOTATION_FLOW_REUSE, json_string(request->reuse));
    if (again)
        run_again_annotate(request, stored, earlier == EARLIER_RERUN, annotations);
    return doc;
}

/* An unfinished flow or job must not differ from its manifest. A flow that runs again may. */
static bool check_difference(const struct resume_request *request, enum earlier earlier,
                             const struct manifest *manifest, const struct object *stored)
{
    scoped(json) json_t *doc = flagged_document(request, earlier, manifest, stored);
    struct manifest flagged = *manifest;
    struct error_list errors = {0};
    struct error err = {0};
    bool ok;

    flagged.doc = doc;
    flagged.unchanged &= doc == manifest->doc;
    flagged.differs = doc != manifest->doc;
    ok = request->backend->ops->possible(request->backend, &flagged, &errors);
    if (!ok && earlier == EARLIER_RESUME) {
        error_set(
            &err, ERR_CONFLICT, "spec",
            "differs from the unfinished run of %s \"%s\" in %s; finish that one with its old "
            "file, or forget it with --fresh",
            manifest->kind->name, object_name(stored), request->data_dir);
        manifest_print(manifest, "error", &err);
    } else if (!ok) {
        print_refusal(manifest, &errors);
    }
    error_list_release(&errors);
    return ok;
}

/* Checks one manifest beside what is stored, and tells what runs again. */
static bool check_one(const struct resume_request *request, const struct manifest *manifest)
{
    const struct object *stored = stored_object(request, manifest);
    enum earlier earlier = judge(request, stored);
    bool again = earlier == EARLIER_RETRY || earlier == EARLIER_RERUN;
    scoped(foresight) struct foresight foresight = {0};
    struct error err = {0};
    bool ok = true;

    if (manifest->kind == &kind_job_flow && flow_rerun_is_selective(&request->rerun))
        ok = run_again_may_begin(metadata_text(manifest, "name"), stored, &err);
    if (ok && again)
        ok = run_again_foresee(request, stored, earlier == EARLIER_RERUN, &foresight, &err);
    if (!ok)
        manifest_print(manifest, "error", &err);
    else if (earlier != EARLIER_NONE)
        ok = check_difference(request, earlier, manifest, stored);
    if (ok && again)
        run_again_tell(request, stored, earlier == EARLIER_RERUN, &foresight);
    return ok;
}

/* Checks all manifests before the first write. */
static bool check_all(const struct resume_request *request, const struct manifests *set)
{
    bool ok = true;

    for (size_t i = 0; i < set->count; i++)
        ok &= check_one(request, &set->items[i]);
    return ok;
}

/* Does the object have the manifest's generateName, and no step or earlier manifest is its cause?
 */
static bool is_generated_by(const struct resume_request *request, const struct manifest *manifest,
                            const struct object *object)
{
    const char *prefix = metadata_text(manifest, "generateName");
    const char *ns = metadata_text(manifest, "namespace");

    return prefix && !metadata_text(manifest, "name") && object->kind == manifest->kind &&
           object->meta->generate_name && strcmp(object->meta->generate_name, prefix) == 0 &&
           strcmp(object_namespace(object), ns ? ns : "") == 0 && !object->meta->deleted_at_ms &&
           !meta_controller(object->meta) &&
           !flow_tracker_find(request->tracker, object_uid(object));
}

/* The search for the object that an earlier run made of a manifest with a generateName. */
struct generated {
    const struct resume_request *request;
    const struct manifest *manifest;
    const struct object *newest; /* borrowed */
};

static void take_newest(void *arg, const struct object *object)
{
    struct generated *generated = arg;
    const struct object *newest = generated->newest;

    if (!is_generated_by(generated->request, generated->manifest, object) ||
        judge(generated->request, object) == EARLIER_NONE)
        return;
    if (!newest || (is_over(newest) && !is_over(object)) ||
        (is_over(newest) == is_over(object) &&
         object->meta->created_at_ms >= newest->meta->created_at_ms))
        generated->newest = object;
}

/*
 * A manifest with a generateName names no object. When an earlier run made one of it that is to go
 * on, returns the manifest with the name of that object: an unfinished one rather than one that is
 * over, and the newest of several. Owned; NULL: a new object is made. Flows that a daemon has under
 * such a name may be those of other commands, and a flow that the manifest would change is another
 * flow.
 */
static json_t *document_of_generated(const struct resume_request *request,
                                     const struct manifest *manifest)
{
    struct generated generated = {request, manifest, NULL};
    struct manifest named = *manifest;
    struct error_list errors = {0};
    scoped(json) json_t *doc = NULL;
    bool possible;

    if (request->backend->shared || !is_followed(manifest->kind))
        return NULL;
    store_each(store_of(request), manifest->kind, NULL, take_newest, &generated);
    if (!generated.newest)
        return NULL;
    doc = json_copy(manifest->doc);
    json_object_set_new(member_copy(doc, "metadata"), "name",
                        json_string(object_name(generated.newest)));
    named.doc = doc;
    named.unchanged = false;
    possible = request->backend->ops->possible(request->backend, &named, &errors);
    error_list_release(&errors);
    return possible ? take(doc) : NULL;
}

static void tell_pattern(const struct resume_request *request, const struct object *flow)
{
    scoped_str text = mem_printf("%s is the pattern of a FlowTrigger and does not run by itself",
                                 object_name(flow));

    request->note(request->ctx, text);
}

static bool take_up_named(const struct resume_request *request, const struct manifest *manifest,
                          bool pattern)
{
    const struct object *stored = stored_object(request, manifest), *object = NULL;
    enum earlier earlier = judge(request, stored);
    scoped(json) json_t *doc = flagged_document(request, earlier, manifest, stored);
    struct manifest flagged = *manifest;
    struct error_list errors = {0};
    bool ok;

    flagged.doc = doc;
    flagged.unchanged &= doc == manifest->doc;
    flagged.differs = doc != manifest->doc;
    if (stored && is_followed(manifest->kind) && earlier == EARLIER_NONE)
        forget(request, stored);
    object = request->backend->ops->apply(request->backend, &flagged, &errors);
    ok = object != NULL;
    if (!ok)
        print_refusal(manifest, &errors);
    else if (pattern)
        tell_pattern(request, object);
    else if (earlier != EARLIER_NONE)
        resume(request, earlier, object, "");
    else if (is_followed(manifest->kind))
        flow_tracker_add(request->tracker, object);
    error_list_release(&errors);
    return ok;
}

static bool take_up_one(const struct resume_request *request, const struct manifest *manifest,
                        bool pattern)
{
    scoped(json) json_t *doc = document_of_generated(request, manifest);
    struct manifest named = *manifest;

    if (doc) {
        named.doc = doc;
        named.unchanged = false;
    }
    return take_up_named(request, &named, pattern);
}

/* Unfinished flows and jobs of the store that no manifest names. */
struct left_over {
    const struct resume_request *request;
    const struct object **items; /* objects of earlier runs, [count] references */
    size_t count, cap;
};

static void collect_left_over(void *arg, const struct object *object)
{
    struct left_over *left = arg;
    bool is_step = object->kind == &kind_job && meta_controller(object->meta);

    if (is_step || is_over(object) || object->meta->deleted_at_ms ||
        is_stored_pattern(store_of(left->request), object) ||
        flow_tracker_find(left->request->tracker, object_uid(object)))
        return;
    mem_grow(left->items, left->count, left->cap);
    left->items[left->count++] = object_ref(object);
}

/* Why a flow goes on that no manifest names. */
static const char *remark_on(const struct manifests *set, const struct object *object)
{
    for (size_t i = 0; i < set->count; i++)
        if (object->meta->generate_name && set->items[i].kind == object->kind &&
            metadata_text(&set->items[i], "generateName") &&
            strcmp(metadata_text(&set->items[i], "generateName"), object->meta->generate_name) == 0)
            return "; it goes on beside a new one, because its file has changed since, --fresh "
                   "would forget it";
    return "; it is in no file given, --fresh would forget it";
}

static void take_up_left_over(const struct resume_request *request, const struct manifests *set)
{
    struct left_over left = {.request = request};

    store_each(store_of(request), &kind_job_flow, NULL, collect_left_over, &left);
    store_each(store_of(request), &kind_job, NULL, collect_left_over, &left);
    for (size_t i = 0; i < left.count; i++) {
        if (request->fresh)
            forget(request, left.items[i]);
        else
            resume(request, EARLIER_RESUME, left.items[i], remark_on(set, left.items[i]));
        object_unref((struct object *)(size_t)left.items[i]);
    }
    mem_free(left.items);
}

bool resume_all(const struct resume_request *request, const struct manifests *set)
{
    size_t *order;
    bool ok = check_all(request, set);

    if (!ok)
        return false;
    request->backend->ops->namespaces(request->backend, set);
    order = preflight_order(set);
    for (size_t i = 0; i < set->count && ok; i++)
        ok = take_up_one(request, &set->items[order[i]],
                         resume_is_pattern(set, &set->items[order[i]]));
    mem_free(order);
    if (ok && !request->backend->shared)
        take_up_left_over(request, set);
    return ok;
}
