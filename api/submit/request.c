/*
 * Checks every item, creates nothing until all are right, then creates everything in one turn of
 * the loop, which is one commit.
 */
#include "api/submit/request.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "api/submit/item.h"
#include "api/submit/node_fit.h"
#include "api/types/kinds/scheduling/queue.h"
#include "api/types/kinds/submission.h"
#include "base/collections/hash.h"
#include "base/mem.h"

/* An item of the request. */
struct entry {
    char id[SUBMIT_ID_LEN + 1]; /* id of its job, which is that of another item for a duplicate */
    char submission[SUBMISSION_NAME_MAX]; /* name of its Submission; "" without deduplication id */
    json_t *doc;                          /* its fields; owned */
    json_t *objects;                      /* what is created, the vcjob last; owned; or NULL */
    struct entry *like; /* an item before whose job has the same spec and namespace; or NULL */
    struct blob *body;  /* body of the created job, for items that are like this one; owned */
    bool duplicate;
    UT_hash_handle hh; /* by submission */
};

struct submitting {
    struct registry *registry;
    struct store *store;
    const struct submit_options *options;
    struct submit_problems *problems, warnings;
    struct submit_context ctx;
    json_t *request;       /* its fields; owned */
    struct entry *entries; /* [count] */
    struct entry *by_submission;
    struct entry *last_shape; /* the last item whose job was not like another */
    size_t count;
    struct object **created; /* what was created so far; references, [n_created] */
    size_t n_created, cap_created;
    struct submit_shape shape; /* owned */
    size_t metadata_bytes;
    struct submit_node_fit node_fit; /* what the nodes have, once it was read */
};

static const char *namespace_of(const json_t *item)
{
    const char *ns = submit_text_at(item, "namespace");

    return *ns ? ns : "default";
}

static void check_queue(struct submitting *s, const char *queue)
{
    const struct object *object = store_get(s->store, &kind_queue, "", queue);

    if (!*queue)
        submit_problem(s->problems, "Required", "queue", "is required");
    else if (!object)
        submit_problem(s->problems, "QueueNotFound", "queue", "the queue \"%s\" does not exist",
                       queue);
    else if (strcmp(queue_state_of(object), "Open") != 0)
        submit_problem(s->problems, "QueueClosed", "queue", "the queue \"%s\" is %s", queue,
                       queue_state_of(object));
}

static void check_head(struct submitting *s)
{
    const json_t *items = json_object_get(s->request, "jobRequestItems");
    size_t most = s->options->items_max ? s->options->items_max : (size_t)SUBMIT_ITEMS_MAX;

    s->ctx.queue = submit_text_at(s->request, "queue");
    s->ctx.job_set = submit_text_at(s->request, "jobSetId");
    check_queue(s, s->ctx.queue);
    if (!*s->ctx.job_set)
        submit_problem(s->problems, "Required", "jobSetId", "is required");
    else if (strlen(s->ctx.job_set) > SUBMIT_JOB_SET_MAX)
        submit_problem(s->problems, "JobSetIdTooLong", "jobSetId", "must have at most %d bytes",
                       SUBMIT_JOB_SET_MAX);
    job_set_hash(s->ctx.job_set, s->ctx.job_set_hash);
    s->count = json_array_size(items);
    if (s->count == 0)
        submit_problem(s->problems, "NoItems", "jobRequestItems", "at least one item is required");
    if (s->count > most) {
        submit_problem(s->problems, "TooManyItems", "jobRequestItems",
                       "at most %zu items are accepted in one request, and %zu were sent", most,
                       s->count);
        s->count = 0;
    }
}

/* Checks that the namespace exists and that the sender may create the item's kinds in it. Returns
 * false without that right: then the item is not looked at. */
static bool check_namespace(struct submitting *s, const json_t *doc, const char *path)
{
    static const struct kind *const kinds[] = {&kind_job, &kind_config_map, &kind_service};
    const char *ns = namespace_of(doc);
    size_t n = json_object_get(doc, "objects") ? countof(kinds) : 1;
    scoped_str field = mem_printf("%s.namespace", path);

    if (!store_get(s->store, &kind_namespace, "", ns)) {
        submit_problem(s->problems, "NamespaceNotFound", field,
                       "the namespace \"%s\" does not exist", ns);
        return true;
    }
    for (size_t i = 0; i < n; i++)
        if (s->options->may_create && !s->options->may_create(s->options->arg, kinds[i], ns)) {
            submit_problem(s->problems, "NamespacePermission", field,
                           "you may not create %s in namespace \"%s\"", kinds[i]->plural, ns);
            return false;
        }
    return true;
}

/* Looks the deduplication id up, in the store and among the items before. Returns whether the item
 * is a duplicate. */
static bool find_duplicate(struct submitting *s, struct entry *entry)
{
    const char *dedup = submit_text_at(entry->doc, "deduplicationId");
    const struct object *stored;
    struct entry *earlier = NULL;

    if (!*dedup)
        return false;
    submission_name(s->ctx.queue, dedup, entry->submission);
    HASH_FIND_STR(s->by_submission, entry->submission, earlier);
    stored = store_get(s->store, &kind_submission, "", entry->submission);
    if (stored)
        snprintf(entry->id, sizeof entry->id, "%s", submission_of(stored)->job_id);
    else if (earlier)
        memcpy(entry->id, earlier->id, sizeof entry->id);
    else
        HASH_ADD_STR(s->by_submission, submission, entry);
    entry->duplicate = stored || earlier;
    return entry->duplicate;
}

static void add_submission_note(json_t *objects, const char *submission)
{
    const json_t *job = json_array_get(objects, json_array_size(objects) - 1);
    json_t *annotations = json_object_get(json_object_get(job, "metadata"), "annotations");

    if (*submission)
        json_object_set_new(annotations, ANNOTATION_SUBMISSION, json_string(submission));
}

static const json_t *job_of(const struct entry *entry)
{
    return json_array_get(entry->objects, json_array_size(entry->objects) - 1);
}

/* The item's job is created from its own document, which admission changes: it gets a spec that it
 * does not share with another item. */
static void begin_shape(struct submitting *s, struct entry *entry)
{
    json_t *job = (json_t *)(uintptr_t)job_of(entry);
    const json_t *spec = json_object_get(job, "spec");

    if (s->last_shape && spec == json_object_get(job_of(s->last_shape), "spec"))
        json_object_set_new(job, "spec", json_deep_copy(spec));
    s->last_shape = entry;
}

/* Finds an item whose job differs by its metadata alone. The job is then created from the body that
 * was admitted for the other one. Long annotations are left to admission. */
static void find_shape(struct submitting *s, struct entry *entry)
{
    enum { META_MAX = 16 << 10 };
    const struct entry *last = s->last_shape;
    const json_t *metadata = json_object_get(job_of(entry), "metadata");

    if (json_array_size(entry->objects) == 1 && last &&
        json_dumpb(metadata, NULL, 0, JSON_COMPACT) < META_MAX &&
        strcmp(submit_text_at(entry->doc, "namespace"), submit_text_at(last->doc, "namespace")) ==
            0 &&
        json_equal(json_object_get(job_of(entry), "spec"), json_object_get(job_of(last), "spec")))
        entry->like = s->last_shape;
    else
        begin_shape(s, entry);
}

static void read_item(struct submitting *s, size_t i)
{
    const json_t *items = json_object_get(s->request, "jobRequestItems");
    struct entry *entry = &s->entries[i];
    char path[40];

    snprintf(path, sizeof path, "jobRequestItems[%zu]", i);
    s->problems->index = s->warnings.index = (int)i;
    entry->doc = submit_fields_read(json_array_get(items, i), submit_item_fields, path,
                                    s->options->unknown, s->problems, &s->warnings);
    if (!entry->doc)
        return;
    if (!check_namespace(s, entry->doc, path) || find_duplicate(s, entry))
        return;
    submit_id_next(s->options->ids, clock_wall_ms(s->options->clock), s->options->clock, entry->id);
    entry->objects = submit_item_build(&s->ctx, entry->doc, path, entry->id);
    if (!entry->objects)
        return;
    add_submission_note(entry->objects, entry->submission);
    find_shape(s, entry);
}

/* Returns the path in the request of a finding about an object of the item; owned. */
static char *path_of(const struct entry *entry, size_t item, size_t object, const char *field)
{
    static const char template[] = "spec.tasks[0].template.spec";
    bool is_job = object + 1 == json_array_size(entry->objects);
    bool is_pod = json_object_get(json_object_get(entry->doc, "mainObject"), "podSpec");

    if (!is_job)
        return mem_printf("jobRequestItems[%zu].objects[%zu]", item, object);
    if (is_pod && strncmp(field, template, strlen(template)) == 0)
        return mem_printf("jobRequestItems[%zu].mainObject.podSpec%s", item,
                          field + strlen(template));
    return mem_printf("jobRequestItems[%zu].mainObject (%s)", item, field);
}

static const char *reason_of(const struct error *err)
{
    if (err->code == ERR_EXISTS)
        return "ObjectExists";
    if (err->code == ERR_STORAGE || err->code == ERR_INTERNAL)
        return "NotReady";
    if (strncmp(err->message, "unknown field", strlen("unknown field")) == 0)
        return "UnknownField";
    return "PodSpecInvalid";
}

/* Adds a problem for each finding about object `o` of item `i`. Releases the findings. */
static void report(struct submitting *s, size_t i, size_t o, struct error_list *errors)
{
    for (size_t e = 0; e < errors->count; e++) {
        scoped_str path = path_of(&s->entries[i], i, o, errors->items[e].field);

        submit_problem(s->problems, reason_of(&errors->items[e]), path, "%s",
                       errors->items[e].message);
    }
    error_list_release(errors);
}

static void check_node_fit(struct submitting *s, size_t i)
{
    const json_t *spec = json_object_get(job_of(&s->entries[i]), "spec");
    scoped_str path = mem_printf("jobRequestItems[%zu].mainObject", i);

    submit_node_fit_read(&s->node_fit, s->store);
    submit_node_fit_check(&s->node_fit, json_object_get(spec, "tasks"), path, s->problems);
}

/* Admits the objects of an item without storing them. */
static void try_item(struct submitting *s, size_t i)
{
    const struct entry *entry = &s->entries[i];
    struct registry_write how = {.dry_run = REGISTRY_DRY_RUN,
                                 .unknown = s->options->unknown == SUBMIT_STRICT ? UNKNOWN_ERROR
                                                                                 : UNKNOWN_PRUNE};

    s->problems->index = (int)i;
    for (size_t o = 0; !entry->like && o < json_array_size(entry->objects); o++) {
        scoped(json) json_t *copy = json_deep_copy(json_array_get(entry->objects, o));
        struct error_list errors = {0};

        registry_create(s->registry, copy, &how, NULL, &errors);
        report(s, i, o, &errors);
    }
    if (entry->objects && !entry->like)
        check_node_fit(s, i);
}

static json_t *owner_of(const struct object *job)
{
    return json_pack("[{s:s, s:s, s:s, s:s}]", "apiVersion", kind_api_version(&kind_job), "kind",
                     "Job", "name", object_name(job), "uid", object_uid(job));
}

/* Notes an object that was created, so that it can be taken back. NULL is ignored. */
static const struct object *take_created(struct submitting *s, const struct object *object)
{
    if (object) {
        mem_grow(s->created, s->n_created, s->cap_created);
        s->created[s->n_created++] = object_ref(object);
    }
    return object;
}

/* Creates the job of item `i`, which is like that of another one. NULL with a problem. */
static const struct object *create_like(struct submitting *s, size_t i)
{
    const struct entry *entry = &s->entries[i];
    struct error_list errors = {0};
    const struct object *out = NULL;
    int64_t revision = 0;
    struct meta *meta =
        meta_from_json(&kind_job, json_object_get(job_of(entry), "metadata"), &revision, &errors);

    if (meta)
        registry_create_object(s->registry,
                               object_new(&kind_job, meta, blob_ref(entry->like->body), NULL), &out,
                               &errors);
    report(s, i, json_array_size(entry->objects) - 1, &errors);
    return take_created(s, out);
}

/* Deletes what was created of a request that failed in the middle, in the same commit. */
static void take_back(struct submitting *s)
{
    while (s->n_created > 0) {
        const struct object *object = s->created[--s->n_created];
        const struct registry_delete how = {
            .uid = object_uid(object), .grace_s = 0, .internal = true};
        struct error_list errors = {0};

        registry_delete(s->registry, registry_target_of(object), &how, NULL, &errors);
        error_list_release(&errors);
        object_unref(s->created[s->n_created]);
    }
}

static const struct object *create(struct submitting *s, json_t *doc, struct error_list *errors)
{
    const struct registry_write how = {.dry_run = REGISTRY_APPLY, .unknown = UNKNOWN_PRUNE};
    const struct object *out = NULL;

    registry_create(s->registry, doc, &how, &out, errors);
    return take_created(s, out);
}

/* Creates object `o` of item `i`. It was admitted before in the same turn; another item may have
 * made an object of its name since. NULL with a problem. */
static const struct object *create_object(struct submitting *s, size_t i, size_t o)
{
    struct error_list errors = {0};
    const struct object *out = create(s, json_array_get(s->entries[i].objects, o), &errors);

    report(s, i, o, &errors);
    return out;
}

static void create_submission(struct submitting *s, size_t i)
{
    const struct entry *entry = &s->entries[i];
    scoped(json) json_t *doc =
        json_pack("{s:s, s:s, s:{s:s}, s:{s:s, s:s, s:s, s:s}}", "apiVersion", "jobflow.dev/v1",
                  "kind", "Submission", "metadata", "name", entry->submission, "spec", "queue",
                  s->ctx.queue, "deduplicationId", submit_text_at(entry->doc, "deduplicationId"),
                  "jobId", entry->id, "namespace", namespace_of(entry->doc));
    scoped_str field = mem_printf("jobRequestItems[%zu].deduplicationId", i);
    struct error_list errors = {0};
    struct error err = {0};

    create(s, doc, &errors);
    if (!error_list_ok(&errors, &err))
        submit_problem(s->problems, reason_of(&err), field, "%s", err.message);
    error_list_release(&errors);
}

static void create_item(struct submitting *s, size_t i)
{
    struct entry *entry = &s->entries[i];
    size_t n = json_array_size(entry->objects);
    json_t *owner;
    const struct object *job;

    if (!entry->objects)
        return;
    s->problems->index = (int)i;
    if (*entry->submission)
        create_submission(s, i);
    job = entry->like && entry->like->body ? create_like(s, i) : create_object(s, i, n - 1);
    if (!job)
        return;
    entry->body = blob_ref(job->body);
    owner = owner_of(job);
    for (size_t o = 0; o + 1 < n; o++) {
        json_object_set(json_object_get(json_array_get(entry->objects, o), "metadata"),
                        "ownerReferences", owner);
        create_object(s, i, o);
    }
    json_decref(owner);
}

/* Asks once for each namespace whether jobs may be created there now. */
static void ask_before_create(struct submitting *s)
{
    scoped(json) json_t *asked = json_object();

    for (size_t i = 0; s->options->before_create && i < s->count; i++) {
        const struct entry *entry = &s->entries[i];
        const char *ns = namespace_of(entry->doc);
        struct error err = {0};

        if (!entry->objects || json_object_get(asked, ns))
            continue;
        json_object_set_new(asked, ns, json_true());
        if (!s->options->before_create(s->options->arg, ns, &err)) {
            scoped_str field = mem_printf("jobRequestItems[%zu].namespace", i);

            s->problems->index = (int)i;
            submit_problem(s->problems, "NamespacePermission", field, "%s", err.message);
        }
    }
}

/* Returns the texts of the warnings about an item. Owned. */
static json_t *warnings_of(const struct submitting *s, size_t item)
{
    json_t *out = json_array();

    for (size_t i = 0; i < s->warnings.count; i++)
        if (s->warnings.items[i].index == (int)item)
            json_array_append_new(out, json_sprintf("%s: %s", s->warnings.items[i].field,
                                                    s->warnings.items[i].message));
    return out;
}

static json_t *answer_of(const struct submitting *s)
{
    json_t *items = json_array();

    for (size_t i = 0; i < s->count; i++) {
        const struct entry *entry = &s->entries[i];
        json_t *item = json_pack("{s:s, s:b, s:o}", "jobId", entry->id, "duplicate",
                                 entry->duplicate, "warnings", warnings_of(s, i));

        if (s->options->dry_run == REGISTRY_DRY_RUN && entry->objects)
            json_object_set(item, "objects", entry->objects);
        json_array_append_new(items, item);
    }
    return json_pack("{s:o}", "jobResponseItems", items);
}

static bool class_exists(void *arg, const char *name)
{
    const struct submitting *s = arg;

    return store_get(s->store, &kind_priority_class, "", name) ||
           strncmp(name, "system-", strlen("system-")) == 0;
}

static void release(struct submitting *s)
{
    HASH_CLEAR(hh, s->by_submission);
    for (size_t i = 0; i < s->count; i++) {
        json_decref(s->entries[i].doc);
        json_decref(s->entries[i].objects);
        blob_unref(s->entries[i].body);
    }
    for (size_t i = 0; i < s->n_created; i++)
        object_unref(s->created[i]);
    mem_free(s->created);
    mem_free(s->entries);
    json_decref(s->request);
    submit_shape_release(&s->shape);
    submit_problems_release(&s->warnings);
}

json_t *submit_request(struct registry *registry, const json_t *request,
                       const struct submit_options *options, struct submit_problems *problems)
{
    struct submitting s = {.registry = registry,
                           .store = registry_store(registry),
                           .options = options,
                           .problems = problems};
    json_t *answer = NULL;

    problems->index = s.warnings.index = SUBMIT_NO_INDEX;
    s.ctx = (struct submit_context){.owner = options->owner,
                                    .class_exists = class_exists,
                                    .arg = &s,
                                    .problems = problems,
                                    .warnings = &s.warnings,
                                    .shape = &s.shape,
                                    .metadata_bytes = &s.metadata_bytes};
    s.request = submit_fields_read(request, submit_request_fields, "", options->unknown, problems,
                                   &s.warnings);
    if (s.request) {
        check_head(&s);
        s.entries = mem_array(s.count + 1, sizeof *s.entries);
        for (size_t i = 0; i < s.count; i++)
            read_item(&s, i);
        for (size_t i = 0; problems->count == 0 && i < s.count; i++)
            try_item(&s, i);
    }
    if (problems->count == 0 && options->dry_run == REGISTRY_APPLY)
        ask_before_create(&s);
    if (problems->count == 0) {
        for (size_t i = 0; options->dry_run == REGISTRY_APPLY && i < s.count; i++)
            create_item(&s, i);
        answer = problems->count == 0 ? answer_of(&s) : NULL;
        if (!answer)
            take_back(&s);
    }
    release(&s);
    return answer;
}
