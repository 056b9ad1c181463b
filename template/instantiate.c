/*
 * Makes the body of a job from a template and a patch: the cache of merged bodies, the merge of up
 * to two patches, and minAvailable, which follows patched replicas.
 */
#include "template/instantiate.h"

#include <stdio.h>
#include <string.h>

#include "api/types/kinds/jobflow/inline_template.h"
#include "api/types/kinds/jobflow/patch_names.h"
#include "base/collections/hash.h"
#include "template/internal.h"
#include "template/merge.h"
#include "template/overlay.h"

enum { CACHED_BODIES = 1024, KNOWN_TEMPLATES = 256 };
#define EVERY_STEP                                                                                 \
    UINT64_MAX /* stands for steps without a patch of their own: only the flow's scheduling changes
                * them */

/* Identifies a merged body. Blobs are compared by address. */
struct cache_key {
    const struct blob *template;
    const struct blob *owner;
    uint64_t step;
};

struct cached_body {
    struct cache_key key;
    struct blob *template, *owner; /* references, so that the addresses stay in use */
    struct blob *body;
    UT_hash_handle hh;
};

struct template_cache {
    struct cached_body *bodies; /* oldest first: uthash keeps the order of insertion */
    struct blob *last;          /* template body that `last_doc` was parsed from */
    json_t *last_doc;
    struct object *inline_made;                   /* what template_inline made last, or NULL */
    struct blob *inline_owner;                    /* body of the flow that it was made from */
    struct known_template known[KNOWN_TEMPLATES]; /* indexed by a hash of the address */
};

struct template_cache *template_cache_new(void)
{
    return mem_alloc(sizeof(struct template_cache));
}

static void drop(struct template_cache *cache, struct cached_body *entry)
{
    HASH_DEL(cache->bodies, entry);
    blob_unref(entry->template);
    blob_unref(entry->owner);
    blob_unref(entry->body);
    mem_free(entry);
}

void template_cache_free(struct template_cache *cache)
{
    struct cached_body *entry, *next;

    if (!cache)
        return;
    HASH_ITER(hh, cache->bodies, entry, next) drop(cache, entry);
    for (size_t i = 0; i < KNOWN_TEMPLATES; i++)
        blob_unref(cache->known[i].body);
    blob_unref(cache->last);
    json_decref(cache->last_doc);
    object_unref(cache->inline_made);
    blob_unref(cache->inline_owner);
    mem_free(cache);
}

/* Whether the object is the inline template FLOW-STEP. */
static bool is_inline_of(const struct object *made, const struct object *flow, const char *step)
{
    const char *name = object_name(made), *of_flow = object_name(flow);
    size_t len = strlen(of_flow);

    return strcmp(object_namespace(made), object_namespace(flow)) == 0 &&
           strncmp(name, of_flow, len) == 0 && name[len] == '-' &&
           strcmp(name + len + 1, step) == 0;
}

const struct object *template_inline(struct template_cache *cache, const struct object *flow,
                                     const struct flow_step *step)
{
    if (cache->inline_made && cache->inline_owner == flow->body &&
        is_inline_of(cache->inline_made, flow, step->name))
        return cache->inline_made;
    object_unref(cache->inline_made);
    blob_unref(cache->inline_owner);
    cache->inline_owner = blob_ref(flow->body);
    cache->inline_made = jobflow_inline_template(flow, step);
    return cache->inline_made;
}

static struct cached_body *find(const struct template_cache *cache, const struct cache_key *key)
{
    struct cached_body *entry;

    HASH_FIND(hh, cache->bodies, key, sizeof *key, entry);
    return entry;
}

static void remember(struct template_cache *cache, const struct cache_key *key, struct blob *body)
{
    struct cached_body *entry = mem_alloc(sizeof *entry);

    if (HASH_COUNT(cache->bodies) >= CACHED_BODIES)
        drop(cache, cache->bodies);
    entry->key = *key;
    entry->template = blob_ref(key->template);
    entry->owner = blob_ref(key->owner);
    entry->body = blob_ref(body);
    HASH_ADD(hh, cache->bodies, key, sizeof entry->key, entry);
}

json_t *template_document(struct template_cache *cache, const struct object *template)
{
    if (cache->last != template->body) {
        blob_unref(cache->last);
        json_decref(cache->last_doc);
        cache->last = blob_ref(template->body);
        cache->last_doc = object_body_json(template);
    }
    return cache->last_doc;
}

struct known_template *template_known(struct template_cache *cache, const struct blob *body)
{
    return &cache->known[hash_bytes(&body, sizeof body) % KNOWN_TEMPLATES];
}

static int64_t number(const json_t *object, const char *member)
{
    return json_integer_value(json_object_get(object, member));
}

static int64_t default_minimum(const json_t *task)
{
    return json_object_get(task, "minAvailable") ? number(task, "minAvailable")
                                                 : number(task, "replicas");
}

static int64_t sum_of_minimums(const json_t *spec)
{
    const json_t *task;
    int64_t sum = 0;
    size_t i;

    json_array_foreach(json_object_get(spec, "tasks"), i, task) sum += default_minimum(task);
    return sum;
}

static bool patch_names_minimum(const json_t *patch)
{
    const json_t *task;
    size_t i;

    if (json_is_integer(json_object_get(patch, "minAvailable")))
        return true;
    json_array_foreach(json_object_get(patch, "tasks"), i, task)
    {
        if (json_is_integer(json_object_get(task, "minAvailable")))
            return true;
    }
    return false;
}

static const json_t *task_named(const json_t *spec, const json_t *task, size_t at)
{
    const char *name = json_string_value(json_object_get(task, "name"));
    const json_t *other;
    size_t i;

    if (!name)
        return json_array_get(json_object_get(spec, "tasks"), at);
    json_array_foreach(json_object_get(spec, "tasks"), i, other)
    {
        const char *other_name = json_string_value(json_object_get(other, "name"));

        if (other_name && strcmp(name, other_name) == 0)
            return other;
    }
    return NULL;
}

/* Returns the tasks of `merged`, owned. A task whose minAvailable equalled its replicas in `before`
 * gets a minAvailable equal to its new replicas. */
static json_t *tasks_following(const json_t *before, const json_t *merged)
{
    json_t *out = json_array();
    json_t *task;
    size_t i;

    json_array_foreach(json_object_get(merged, "tasks"), i, task)
    {
        const json_t *old = task_named(before, task, i);
        bool followed = json_object_get(old, "minAvailable") &&
                        number(old, "minAvailable") == number(old, "replicas");

        if (followed && number(task, "replicas") != number(old, "replicas")) {
            json_t *own = json_copy(task);

            json_object_set_new(own, "minAvailable", json_integer(number(task, "replicas")));
            json_array_append_new(out, own);
        } else {
            json_array_append(out, task);
        }
    }
    return out;
}

/* Adapts minAvailable of the job to patched replicas. A template whose minAvailable equals the sum
 * of its replicas means "all pods". After a patch that changes replicas and does not set
 * minAvailable it still means all pods. `merged` is consumed; the result is owned. */
static json_t *follow_replicas(const json_t *before, json_t *merged, const json_t *patch)
{
    bool job_followed =
        number(before, "minAvailable") && number(before, "minAvailable") == sum_of_minimums(before);
    json_t *out;

    if (!json_is_array(json_object_get(patch, "tasks")) || patch_names_minimum(patch))
        return merged;
    out = json_copy(merged);
    json_decref(merged);
    json_object_set_new(out, "tasks", tasks_following(before, out));
    if (job_followed)
        json_object_set_new(out, "minAvailable", json_integer(sum_of_minimums(out)));
    return out;
}

/* The names in the patches are those of the template, or new ones. */
static bool check_names(const struct object *template, const struct template_patch *patch,
                        struct error *err)
{
    scoped(arena) struct arena *arena = NULL;
    const struct job_spec *spec = NULL;
    struct job_spec replaced;
    struct error_list errors = {0};
    char path[64];
    bool ok;

    if (!patch->job_spec && !patch->spec)
        return true;
    if (patch->template_spec) { /* a number may have been a reference, so the template has none */
        arena = arena_new(0);
        if (!schema_decode(&job_spec_schema, patch->template_spec, arena, &replaced, err))
            return false;
        spec = &replaced;
    } else {
        spec = job_spec_of(template);
    }
    snprintf(path, sizeof path, "spec.flows[%u].patch.jobSpec", patch->step);
    jobflow_check_patch_names(spec, patch->job_spec, NULL, path, &errors);
    snprintf(path, sizeof path, "spec.flows[%u].patch.spec", patch->step);
    jobflow_check_patch_names(spec, patch->spec, patch->job_spec, path, &errors);
    ok = error_list_ok(&errors, err);
    error_list_release(&errors);
    return ok;
}

static json_t *apply(json_t *spec, const json_t *patch, uint32_t step, const char *member,
                     struct error *err)
{
    scoped(json) json_t *before = spec;
    char path[64];
    json_t *merged;

    snprintf(path, sizeof path, "spec.flows[%u].patch.%s", step, member);
    merged = template_merge(before, patch, path, err);
    return merged ? follow_replicas(before, merged, patch) : NULL;
}

struct blob *template_instantiate(struct template_cache *cache, const struct object *template,
                                  const struct template_patch *patch, struct error *err)
{
    struct cache_key key = {0};
    struct cached_body *known;
    struct blob *body;
    json_t *doc, *spec;

    if (!patch || (!patch->template_spec && !patch->job_spec && !patch->spec &&
                   !patch->scheduling && !patch->item))
        return blob_ref(template->body);
    key.template = template->body;
    key.owner = patch->owner;
    key.step = patch->job_spec || patch->spec ? patch->step : EVERY_STEP;
    known = patch->owner ? find(cache, &key) : NULL;
    if (known)
        return blob_ref(known->body);

    if (!check_names(template, patch, err))
        return NULL;
    doc = template_document(cache, template);
    spec = json_incref(patch->template_spec ? (json_t *)patch->template_spec
                                            : json_object_get(doc, "spec"));
    if (patch->scheduling)
        spec = overlay_scheduling(spec, patch->scheduling);
    spec = apply(spec, patch->job_spec, patch->step, "jobSpec", err);
    if (spec)
        spec = apply(spec, patch->spec, patch->step, "spec", err);
    if (spec && patch->item)
        spec = overlay_iteration(spec, patch->item, patch->index);
    if (!spec)
        return NULL;
    {
        scoped(json) json_t *members = json_copy(doc);

        json_object_set_new_nocheck(members, "spec", spec);
        body = object_body_from_json(members);
    }
    if (patch->owner)
        remember(cache, &key, body);
    return body;
}
