/*
 * The vcjob of an item: metadata, spec, and what holds for all its objects.
 */
#include "api/submit/item.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "api/types/kinds/job/lifecycle.h"
#include "api/types/labels.h"
#include "base/digest/sha256.h"
#include "base/mem.h"

enum { DEDUP_MAX = 100 };

void job_set_hash(const char *job_set, char out[JOB_SET_HASH_MAX])
{
    char text[SHA256_TEXT_MAX];
    struct sha256 digest;

    sha256_of(job_set, strlen(job_set), &digest);
    sha256_format(&digest, text);
    snprintf(out, JOB_SET_HASH_MAX, "%.16s", text);
}

void submit_item_problem(const struct submit_item *item, const char *reason, const char *field,
                         const char *format, ...)
{
    scoped_str path = mem_printf("%s%s%s", item->path, *field ? "." : "", field);
    char text[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    submit_problem(item->ctx->problems, reason, path, "%s", text);
}

bool submit_number(const json_t *object, const char *key, int64_t least, int64_t most, int64_t *out)
{
    const json_t *value = json_object_get(object, key);
    double real = json_number_value(value);

    if (!value)
        return true;
    if (!json_is_number(value) || real != floor(real) || real < (double)least ||
        real > (double)most)
        return false;
    *out = json_is_integer(value) ? json_integer_value(value) : (int64_t)real;
    return true;
}

/* Returns the text with every {JobId} replaced; owned. */
static json_t *with_job_id(const char *text, const char *id)
{
    static const char mark[] = "{JobId}";
    scoped(buf) struct buf out = {0};
    const char *found;

    for (; (found = strstr(text, mark)); text = found + strlen(mark)) {
        buf_add(&out, text, (size_t)(found - text));
        buf_str(&out, id);
    }
    buf_str(&out, text);
    return json_string(out.data ? out.data : "");
}

/* Copies a map of labels or annotations into `out`, checks its keys. */
static void add_map(const struct submit_item *item, const json_t *from, const char *field,
                    bool labels, json_t *out)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)from, key, value)
    {
        json_t *text = with_job_id(json_string_value(value), item->id);
        struct error err = {0};

        if (strncmp(key, SUBMIT_PREFIX, strlen(SUBMIT_PREFIX)) == 0)
            submit_item_problem(item, "ReservedKey", field, "the key \"%s\" is reserved", key);
        else if (!label_key_valid(key, &err))
            submit_item_problem(item, "BadLabel", field, "\"%s\": %s", key, err.message);
        else if (labels && !label_value_valid(json_string_value(text), &err))
            submit_item_problem(item, "BadLabel", field, "\"%s\": %s", json_string_value(text),
                                err.message);
        json_object_set_new(out, key, text);
    }
}

json_t *submit_item_metadata(const struct submit_item *item, const json_t *own, const char *field,
                             const char *name)
{
    json_t *labels = json_object(), *annotations = json_object();
    scoped_str own_labels = mem_printf("%s.labels", field);
    scoped_str own_annotations = mem_printf("%s.annotations", field);

    add_map(item, json_object_get(item->doc, "labels"), "labels", true, labels);
    add_map(item, json_object_get(item->doc, "annotations"), "annotations", false, annotations);
    add_map(item, json_object_get(own, "labels"), own_labels, true, labels);
    add_map(item, json_object_get(own, "annotations"), own_annotations, false, annotations);
    json_object_set_new(labels, LABEL_JOB_ID, json_string(item->id));
    return json_pack("{s:s, s:s, s:o, s:o}", "name", name, "namespace", item->ns, "labels", labels,
                     "annotations", annotations);
}

static void check_numbers(const struct submit_item *item, json_t *annotations)
{
    int64_t priority = 0, lifetime = 0;

    if (!submit_number(item->doc, "priority", 0, UINT32_MAX, &priority))
        submit_item_problem(item, "PriorityRange", "priority",
                            "must be a whole number from 0 to 4294967295");
    if (!submit_number(item->doc, "lifetime", 0, 1000000000, &lifetime))
        submit_item_problem(item, "LifetimeRange", "lifetime",
                            "must be a whole number of seconds from 0 to 1000000000");
    json_object_set_new(annotations, ANNOTATION_PRIORITY,
                        json_sprintf("%lld", (long long)priority));
    if (lifetime > 0)
        json_object_set_new(annotations, ANNOTATION_LIFETIME,
                            json_sprintf("%lld", (long long)lifetime));
}

static void check_once(const struct submit_item *item, json_t *annotations)
{
    bool once = json_is_true(json_object_get(item->doc, "atMostOnce"));
    const char *preempt = submit_text_at(item->doc, "onPreempt");

    if (*preempt && strcmp(preempt, "requeue") != 0 && strcmp(preempt, "fail") != 0)
        submit_item_problem(item, "OneOf", "onPreempt", "must be requeue or fail");
    if (once && strcmp(preempt, "requeue") == 0)
        submit_item_problem(item, "AtMostOnceConflict", "onPreempt",
                            "a preempted job that runs at most once cannot run again");
    if (once && json_array_size(item->companions) > 0)
        submit_item_problem(item, "AtMostOnceConflict", "atMostOnce",
                            "a subset that is kept alive is started again");
    if (once)
        json_object_set_new(annotations, ANNOTATION_AT_MOST_ONCE, json_string("true"));
    if (*preempt)
        json_object_set_new(annotations, ANNOTATION_ON_PREEMPT, json_string(preempt));
    if (json_is_true(json_object_get(item->doc, "preemptible")))
        json_object_set_new(annotations, "volcano.sh/preemptable", json_string("true"));
}

static void add_companions(const struct submit_item *item, json_t *annotations)
{
    scoped(buf) struct buf list = {0};
    json_t *name;
    size_t i;

    json_array_foreach(item->companions, i, name)
        buf_printf(&list, "%s%s", i ? "," : "", json_string_value(name));
    if (list.len > 0)
        json_object_set_new(annotations, ANNOTATION_KEEP_ALIVE, json_string(list.data));
}

static json_t *job_metadata(const struct submit_item *item)
{
    const json_t *main = json_object_get(item->doc, "mainObject");
    json_t *metadata = submit_item_metadata(item, main, "mainObject", item->name);
    json_t *labels = json_object_get(metadata, "labels");
    json_t *annotations = json_object_get(metadata, "annotations");

    json_object_set_new(labels, LABEL_SUBMIT_QUEUE, json_string(item->ctx->queue));
    json_object_set_new(labels, LABEL_JOB_SET_HASH, json_string(item->ctx->job_set_hash));
    json_object_set_new(annotations, ANNOTATION_JOB_SET, json_string(item->ctx->job_set));
    if (item->ctx->owner)
        json_object_set_new(annotations, ANNOTATION_OWNER, json_string(item->ctx->owner));
    check_numbers(item, annotations);
    check_once(item, annotations);
    add_companions(item, annotations);
    if (json_object_get(main, "podGroupSpec"))
        json_object_set_new(annotations, ANNOTATION_BELOW_MIN, json_string("fail"));
    return metadata;
}

/* Returns the one priority class of all templates, or NULL. */
static const char *class_of(const struct submit_item *item)
{
    const char *found = NULL;
    json_t *task;
    size_t i;

    json_array_foreach(item->tasks, i, task)
    {
        const json_t *spec = json_object_get(json_object_get(task, "template"), "spec");
        const char *class = json_string_value(json_object_get(spec, "priorityClassName"));

        if (!class || !*class)
            continue;
        if (found && strcmp(found, class) != 0)
            submit_item_problem(item, "PriorityClassConflict", "mainObject",
                                "the templates name the priority classes %s and %s", found, class);
        else if (!found && item->ctx->class_exists &&
                 !item->ctx->class_exists(item->ctx->arg, class))
            submit_item_problem(item, "PriorityClassUnknown", "mainObject",
                                "the priority class %s does not exist", class);
        found = class;
    }
    return found;
}

static json_t *job_spec(const struct submit_item *item)
{
    const char *class = class_of(item);
    json_t *spec = json_pack("{s:s, s:O}", "queue", item->ctx->queue, "tasks", item->tasks);
    int64_t minimum = 0, ttl = -1;
    json_t *task;
    size_t i;

    json_array_foreach(item->tasks, i, task) minimum +=
        json_integer_value(json_object_get(task, "minAvailable"));
    json_object_set_new(spec, "minAvailable", json_integer(minimum));
    if (class)
        json_object_set_new(spec, "priorityClassName", json_string(class));
    if (!submit_number(item->doc, "ttlSecondsAfterFinished", 0, INT32_MAX, &ttl))
        submit_item_problem(item, "LifetimeRange", "ttlSecondsAfterFinished",
                            "must be a whole number of seconds");
    else if (ttl >= 0)
        json_object_set_new(spec, "ttlSecondsAfterFinished", json_integer(ttl));
    if (json_array_size(item->tasks) > 1 || minimum > 1) /* pods that must find each other */
        json_object_set_new(spec, "plugins", json_pack("{s:[], s:[]}", "env", "svc"));
    return spec;
}

void submit_shape_release(struct submit_shape *shape)
{
    json_decref(shape->doc);
    json_decref(shape->spec);
    json_decref(shape->companions);
    *shape = (struct submit_shape){0};
}

static bool same_member(const json_t *a, const json_t *b, const char *key)
{
    const json_t *left = json_object_get(a, key), *right = json_object_get(b, key);

    return left == right || json_equal(left, right);
}

/* Returns whether the spec of the item's job follows from the item alone, so that it may stand for
 * others: it has no objects, which containers are told about, and no field of which a warning
 * tells. */
static bool may_be_shape(const struct submit_item *item)
{
    const json_t *main = json_object_get(item->doc, "mainObject");

    return item->ctx->shape && json_array_size(json_object_get(item->doc, "objects")) == 0 &&
           !json_object_get(json_object_get(main, "podGroupSpec"), "scheduleTimeoutSeconds");
}

static const struct submit_shape *shape_of(const struct submit_item *item)
{
    const struct submit_shape *shape = item->ctx->shape;
    const json_t *main = json_object_get(item->doc, "mainObject"), *other;

    if (!may_be_shape(item) || !shape->doc)
        return NULL;
    other = json_object_get(shape->doc, "mainObject");
    return same_member(main, other, "podSpec") && same_member(main, other, "podGroupSpec") &&
                   same_member(item->doc, shape->doc, "atMostOnce") &&
                   same_member(item->doc, shape->doc, "ttlSecondsAfterFinished")
               ? shape
               : NULL;
}

static void keep_shape(const struct submit_item *item, const json_t *job)
{
    struct submit_shape *shape = item->ctx->shape;

    if (!may_be_shape(item))
        return;
    submit_shape_release(shape);
    *shape = (struct submit_shape){json_incref((json_t *)(uintptr_t)item->doc),
                                   json_incref(json_object_get(job, "spec")),
                                   json_incref(item->companions)};
}

/* Returns the item's objects, the vcjob last; owned. */
static json_t *build(struct submit_item *item)
{
    const struct submit_shape *like = shape_of(item);
    json_t *out = json_array(), *job;

    if (strlen(submit_text_at(item->doc, "deduplicationId")) > DEDUP_MAX)
        submit_item_problem(item, "DedupIdTooLong", "deduplicationId", "must have at most %d bytes",
                            DEDUP_MAX);
    if (!json_object_get(item->doc, "mainObject"))
        submit_item_problem(item, "Required", "mainObject", "is required");
    else if (!like)
        submit_item_tasks(item);
    if (like) {
        json_decref(item->companions);
        item->companions = json_incref(like->companions);
    }
    submit_item_objects(item, out);
    job = json_pack("{s:s, s:s, s:o, s:o}", "apiVersion", "batch.volcano.sh/v1alpha1", "kind",
                    "Job", "metadata", job_metadata(item), "spec",
                    like ? json_incref(like->spec) : job_spec(item));
    json_array_append_new(out, job);
    return out;
}

json_t *submit_item_build(const struct submit_context *ctx, const json_t *doc, const char *path,
                          const char *id)
{
    const char *ns = submit_text_at(doc, "namespace");
    struct submit_item item = {.ctx = ctx,
                               .doc = doc,
                               .path = path,
                               .id = id,
                               .ns = *ns ? ns : "default",
                               .name = mem_printf(SUBMIT_JOB_NAME_PREFIX "%s", id),
                               .tasks = json_array(),
                               .companions = json_array()};
    size_t before = ctx->problems->count + ctx->problems->dropped;
    json_t *out = submit_item_within_limits(&item) ? build(&item) : NULL;
    bool ok = ctx->problems->count + ctx->problems->dropped == before;

    if (ok && out)
        keep_shape(&item, json_array_get(out, json_array_size(out) - 1));
    mem_free(item.name);
    json_decref(item.tasks);
    json_decref(item.companions);
    if (ok)
        return out;
    json_decref(out);
    return NULL;
}
