/*
 * Admission of one write: schema check with defaults, mutation, validation of the body, validation
 * of the metadata, checks in context.
 *
 *   document ──► input body ─┬─ new ─────────────► check, mutate, validate ───┬─► metadata, context
 *                            └─ admitted before ─► admitted body of that time ┘
 *
 * The outcome for a body is remembered, so ten thousand objects with equal bodies pay for one
 * validation. This is sound because the schema, `mutate` and `validate` read the body alone (a kind
 * whose `mutate` reads more says so, see kind.h): equal input gives an equal outcome. Two outcomes
 * are not remembered: one with warnings that the client receives, because each client must see
 * them, and one of a large body, because its input would stay in memory beside it.
 */
#include "api/types/admission.h"

#include <string.h>

#include "api/types/admission_meta.h"
#include "api/types/checks.h"
#include "api/types/decoded.h"
#include "api/types/lives_with.h"

enum { REMEMBERED_BYTES_MAX = 64 << 10 };

/* One write during admission. */
struct write {
    const struct admission *adm; /* `warnings` in it is never NULL */
    const struct kind *kind;
    const struct object *old; /* object before the update; NULL on create */
    struct error_list *errors;
    bool shows_warnings; /* the client receives the warnings */
};

static size_t findings(const struct error_list *list)
{
    return list->count + list->dropped;
}

/* Makes the blob of an input body. It is interned when its outcome may be remembered. */
static struct blob *input_blob(const json_t *members)
{
    scoped(buf) struct buf text = {0};

    json_text(members, &text);
    if (text.len <= REMEMBERED_BYTES_MAX)
        return blob_intern(text.data, text.len);
    return blob_from_buf(&text);
}

/* Returns whether `mutate` depends on more of this draft than its body. */
static bool mutates_in_context(const struct write *write, const struct object *draft)
{
    return write->kind->mutates_in_context && write->kind->mutates_in_context(write->adm, draft);
}

/* Returns the admitted body of an earlier write with an equal input body (owned), or NULL. */
static struct blob *known_body(const struct write *write, const struct object *draft)
{
    const struct blob *input = draft->body;

    if (!write->old)
        return mutates_in_context(write, draft) ? NULL : blob_output(input, write->kind);
    if (input == write->old->body || input->admitted_as == write->kind)
        return blob_ref(input);
    return NULL;
}

/* Checks, defaults, normalizes and mutates `members` in place. Returns the resulting body (owned),
 * or NULL when the findings are such that the kind's rules cannot run on it. */
static struct blob *make_body(const struct write *write, json_t *members,
                              const struct object *draft, enum schema_unknown unknown)
{
    bool unreadable = false;
    const struct schema_options options = {unknown, .defaults = true, .drop_null = true,
                                           .pruned = write->adm->warnings,
                                           .unreadable = &unreadable};

    if (write->kind->schema)
        schema_check(write->kind->schema, members, "", &options, write->errors);
    if (unreadable)
        return NULL;
    if (write->kind->normalize)
        write->kind->normalize(members);
    if (!write->old && write->kind->mutate)
        write->kind->mutate(write->adm, members, draft);
    return object_body_from_json(members);
}

/* Returns an object with the draft's metadata and status and with `body` (consumed). */
static struct object *with_body(struct object *draft, struct blob *body)
{
    struct object *object;

    if (draft->body == body) {
        blob_unref(body);
        return draft;
    }
    object = object_with_body(draft, body);
    object_unref(draft);
    return object;
}

/* Returns whether the schema check has already reported `field` or a parent of it. */
static bool is_reported(const struct error_list *list, size_t from, const char *field)
{
    for (size_t i = from; i < list->count; i++) {
        size_t len = strlen(list->items[i].field);

        if (strncmp(list->items[i].field, field, len) == 0 &&
            (!field[len] || field[len] == '.' || field[len] == '['))
            return true;
    }
    return false;
}

/* Runs the kind's own rules. When the schema check has found errors already, the rules run all the
 * same and add what it did not report, so that the client sees every error at once. */
static void ask_rules(const struct write *write, struct object *object, size_t errors_before)
{
    const struct kind *kind = write->kind;
    struct error_list found = {0};

    if (!kind->validate)
        return;
    if (findings(write->errors) == errors_before) {
        kind->validate(write->adm, write->old, object, write->errors);
        return;
    }
    kind->validate(write->adm, write->old, object, &found);
    for (size_t i = 0; i < found.count; i++)
        if (!is_reported(write->errors, errors_before, found.items[i].field))
            error_list_append(write->errors, &found.items[i]);
    error_list_release(&found);
}

/* Validates a body that was not admitted before and marks it as admitted when it passes. */
static void validate_body(const struct write *write, struct object *object,
                          const struct blob *input, size_t errors_before, size_t warnings_before)
{
    const struct kind *kind = write->kind;

    ask_rules(write, object, errors_before);
    if (findings(write->errors) > errors_before ||
        (write->shows_warnings && findings(write->adm->warnings) > warnings_before))
        return;
    /* An update does not mutate, so its outcome is not that of a create. */
    if (write->old && kind->mutate)
        return;
    object->body->admitted_as = kind;
    if (input->interned && !mutates_in_context(write, object))
        blob_link_output(input, object->body);
}

/* Validates metadata by the rules for all objects, then by those of the kind. */
static void check_meta(const struct write *write, const struct meta *meta)
{
    admission_check_meta(write->kind, meta, limits_of(write->adm), write->errors);
    lives_with_check(write->kind, meta, write->errors);
    if (write->kind->validate_meta)
        write->kind->validate_meta(write->adm, write->old ? write->old->meta : NULL, meta,
                                   write->errors);
}

/* Validates the metadata, unless it is the stored one itself, and runs the checks in context, which
 * run on every write. Frees the object when it fails. */
static struct object *finish(const struct write *write, struct object *object, size_t errors_before)
{
    const struct kind *kind = write->kind;
    struct meta *meta = !write->old && kind->mutate_meta ? kind->mutate_meta(object->meta) : NULL;

    if (meta) {
        struct object *before = object;

        object = object_with_meta(before, meta);
        object_unref(before);
    }
    if (!write->old || object->meta != write->old->meta)
        check_meta(write, object->meta);
    if ((findings(write->errors) == errors_before || kind->context_always) &&
        kind->validate_in_context)
        kind->validate_in_context(write->adm, write->old, object, write->errors);
    if (findings(write->errors) == errors_before)
        return object;
    object_unref(object);
    return NULL;
}

/* Admits a body that was not seen before. `draft` (consumed) carries the input body; `members` is
 * the same body as a document. */
static struct object *admit_new_body(const struct write *write, struct object *draft,
                                     json_t *members, enum schema_unknown unknown)
{
    size_t errors_before = findings(write->errors);
    size_t warnings_before = findings(write->adm->warnings);
    scoped(blob) struct blob *input = blob_ref(draft->body);
    struct blob *body = make_body(write, members, draft, unknown);

    if (!body) {
        check_meta(write, draft->meta);
        object_unref(draft);
        return NULL;
    }

    struct object *object = with_body(draft, body);

    decoded_lend(object->body, members);
    if (object->body->admitted_as != write->kind)
        validate_body(write, object, input, errors_before, warnings_before);
    object = finish(write, object, errors_before);
    decoded_return();
    if (object && write->adm->out_body)
        *write->adm->out_body = json_incref(members);
    return object;
}

/* Checks the status by the schema of its row. A kind without such a row accepts any object. */
static struct blob *admit_status(const struct write *write, json_t *status,
                                 enum schema_unknown unknown)
{
    const struct field *row =
        write->kind->schema ? schema_find(write->kind->schema, "status") : NULL;
    const struct schema_options options = {unknown, .defaults = true, .drop_null = true,
                                           .pruned = write->adm->warnings};
    scoped(buf) struct buf text = {0};

    if (!status || json_is_null(status))
        return NULL;
    if (row && row->of)
        schema_check(row->of, status, "status", &options, write->errors);
    else if (!json_is_object(status))
        error_list_add(write->errors, ERR_INVALID, "status",
                       "Invalid value: status in body must be of type object");
    json_text(status, &text);
    return blob_from_buf(&text);
}

static struct meta *admit_meta(const struct write *write, json_t *doc, enum schema_unknown unknown,
                               int64_t *out_revision)
{
    const struct schema_options options = {unknown, .drop_null = true,
                                           .pruned = write->adm->warnings};
    json_t *metadata = json_object_get(doc, "metadata");
    size_t before = findings(write->errors);

    if (!metadata) {
        metadata = json_object();
        json_object_set_new_nocheck(doc, "metadata", metadata);
    }
    schema_check(&metadata_schema, metadata, "metadata", &options, write->errors);
    if (findings(write->errors) > before)
        return NULL;
    return meta_from_json(write->kind, metadata, out_revision, write->errors);
}

/* Returns the members of the body. They share their values with the document, so that defaults show
 * in both. */
static json_t *body_members(const json_t *doc)
{
    json_t *members = json_object();
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)doc, key, value)
    {
        if (object_is_body_member(key) && !json_is_null(value))
            json_object_set_nocheck(members, key, value);
    }
    return members;
}

static struct object *admit_document(const struct write *write, json_t *doc,
                                     enum schema_unknown unknown)
{
    size_t before = findings(write->errors);
    int64_t revision = 0;
    scoped(json) json_t *members = body_members(doc);
    struct meta *meta = admit_meta(write, doc, unknown, &revision);
    struct blob *status = admit_status(write, json_object_get(doc, "status"), unknown);
    struct blob *input = input_blob(members);

    if (!meta) { /* the findings of the body are reported as well */
        const struct schema_options options = {unknown, .defaults = true, .drop_null = true};

        if (write->kind->schema)
            schema_check(write->kind->schema, members, "", &options, write->errors);
        blob_unref(input);
        blob_unref(status);
        return NULL;
    }

    struct object *object = object_new(write->kind, meta, input, status);
    struct blob *known = known_body(write, object);

    object->revision = revision;
    object = known ? finish(write, with_body(object, known), before)
                   : admit_new_body(write, object, members, unknown);
    if (!object || findings(write->errors) == before)
        return object;
    object_unref(object); /* the metadata or the status had errors before */
    return NULL;
}

struct object *admission_admit(const struct admission *adm, json_t *doc, const struct object *old,
                               enum schema_unknown unknown, struct error_list *errors)
{
    struct error_list warnings = {0};
    struct admission with_warnings = *adm;
    struct write write = {&with_warnings, object_kind_from_json(doc, errors), old, errors,
                          adm->warnings != NULL};
    struct object *object;

    if (!write.kind)
        return NULL;
    if (!with_warnings.warnings)
        with_warnings.warnings = &warnings;
    object = admit_document(&write, doc, unknown);
    error_list_release(&warnings);
    return object;
}

struct object *admission_admit_object(const struct admission *adm, struct object *draft,
                                      const struct object *old, struct error_list *errors)
{
    struct error_list warnings = {0};
    struct admission with_warnings = *adm;
    struct write write = {&with_warnings, draft->kind, old, errors, adm->warnings != NULL};
    struct object *object;
    struct blob *known;

    if (!with_warnings.warnings)
        with_warnings.warnings = &warnings;
    known = known_body(&write, draft);
    if (known) {
        object = finish(&write, with_body(draft, known), findings(errors));
    } else {
        scoped(json) json_t *members = object_body_json(draft);

        object = admit_new_body(&write, draft, members, UNKNOWN_PRUNE);
    }
    error_list_release(&warnings);
    return object;
}
