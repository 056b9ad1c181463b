/*
 * The list of decoded forms that a blob's facet holds.
 */
#include "api/types/decoded.h"

#include <assert.h>
#include <sys/queue.h>

#include "api/types/arenacopy.h"
#include "base/buf.h"

/* One decoded form. It and everything it points to are in its own arena. */
struct form {
    struct form *next;
    const struct blob *blob;
    const struct decoded_type *type;
    struct arena *arena;
    json_t *root;         /* parsed text, owned; NULL until something asks for it */
    const json_t *member; /* a member of root */
    void *value;
    bool ended;
    TAILQ_ENTRY(form) age; /* links the forms in `ended_forms` */
};

/* The forms that decoded_trim may free, oldest first. */
static TAILQ_HEAD(forms, form) ended_forms = TAILQ_HEAD_INITIALIZER(ended_forms);
static size_t n_passing;

static void form_free(struct form *form)
{
    if (form->ended) {
        TAILQ_REMOVE(&ended_forms, form, age);
        n_passing--;
    }
    json_decref(form->root);
    arena_free(form->arena);
}

static void forms_free(void *decoded)
{
    struct form *form = decoded;

    while (form) {
        struct form *next = form->next;

        form_free(form);
        form = next;
    }
}

static const struct facet_type forms_facet = {"decoded forms", forms_free};

static struct form *form_find(const struct blob *blob, const struct decoded_type *type)
{
    struct form *form = blob_facet(blob, &forms_facet);

    while (form && form->type != type)
        form = form->next;
    return form;
}

static struct form *form_add(const struct blob *blob, const struct decoded_type *type,
                             struct arena *arena, void *value)
{
    struct form *first = blob_facet(blob, &forms_facet);
    struct form *form = arena_alloc(arena, sizeof *form);

    form->blob = blob;
    form->type = type;
    form->arena = arena;
    form->value = value;
    form->ended = type->ended && type->ended(value);
    if (form->ended) {
        TAILQ_INSERT_TAIL(&ended_forms, form, age);
        n_passing++;
    }
    if (first) {
        form->next = first->next;
        first->next = form;
    } else {
        blob_set_facet(blob, &forms_facet, form);
    }
    return form;
}

static void form_drop(struct form *form)
{
    struct form *first = blob_facet(form->blob, &forms_facet), *at = first;

    if (first == form) {
        blob_replace_facet(form->blob, form->next);
    } else {
        while (at->next != form)
            at = at->next;
        at->next = form->next;
    }
    form_free(form);
}

void decoded_trim(size_t keep)
{
    while (n_passing > keep)
        form_drop(TAILQ_FIRST(&ended_forms));
}

/* The blob whose document is lent by decoded_lend at present. */
static const struct blob *lent_blob;
static const json_t *lent_document;

static const json_t *member_of(const json_t *root, const struct decoded_type *type)
{
    return type->member ? json_object_get(root, type->member) : root;
}

static json_t *parse(const struct blob *blob)
{
    return json_read(blob->text, blob->len);
}

/* Decodes the document `root` into an arena of its own. *out_member is the part it was decoded
 * from, or NULL when that part is not a valid document of the type. */
static struct arena *decode(const struct decoded_type *type, const json_t *root, void **out_value,
                            const json_t **out_member)
{
    struct arena *arena = arena_new(0);
    const json_t *member = member_of(root, type);
    void *value = arena_alloc(arena, type->schema->size);

    if (!json_is_object(member) || !schema_decode(type->schema, member, arena, value, NULL)) {
        member = NULL;
        schema_decode(type->schema, NULL, arena, value, NULL);
    }
    if (type->finish)
        type->finish(value, member, arena);
    *out_value = value;
    *out_member = member;
    return arena;
}

static bool borrows(const struct decoded_type *type, const void *value)
{
    return type->keep_document && (!type->borrows || type->borrows(value));
}

static bool always_borrows(const struct decoded_type *type)
{
    return type->keep_document && !type->borrows;
}

static struct form *form_decode(const struct blob *blob, const struct decoded_type *type)
{
    struct arena *arena = NULL;
    json_t *root = NULL;
    const json_t *member;
    struct form *form;
    void *value;

    if (blob == lent_blob && !always_borrows(type)) { /* a lent document cannot be kept */
        arena = decode(type, lent_document, &value, &member);
        if (borrows(type, value))
            arena_free(take(arena));
        member = NULL;
    }
    if (!arena) {
        root = parse(blob);
        arena = decode(type, root, &value, &member);
        if (!borrows(type, value)) {
            json_decref(take(root));
            member = NULL;
        }
    }
    form = form_add(blob, type, arena, value);
    form->root = root;
    form->member = member;
    return form;
}

static struct form *form_of(const struct blob *blob, const struct decoded_type *type)
{
    struct form *form = form_find(blob, type);

    return form ? form : form_decode(blob, type);
}

const void *decoded_of(const struct blob *blob, const struct decoded_type *type)
{
    return form_of(blob, type)->value;
}

const json_t *decoded_document(const struct blob *blob, const struct decoded_type *type)
{
    struct form *form;

    if (blob == lent_blob)
        return member_of(lent_document, type);
    form = form_of(blob, type);
    if (!form->root) {
        form->root = parse(blob);
        form->member = member_of(form->root, type);
    }
    return form->member;
}

json_t *decoded_root(const struct blob *blob)
{
    json_t *root =
        blob == lent_blob ? json_incref((json_t *)(uintptr_t)lent_document) : parse(blob);

    return root ? root : json_object();
}

void decoded_lend(const struct blob *blob, const json_t *document)
{
    assert(!lent_blob);
    lent_blob = blob;
    lent_document = document;
}

void decoded_return(void)
{
    lent_blob = NULL;
    lent_document = NULL;
}

void decoded_attach(const struct blob *blob, const struct decoded_type *type, struct arena *arena,
                    void *value)
{
    if (form_find(blob, type))
        arena_free(arena);
    else
        form_add(blob, type, arena, value);
}

struct blob *decoded_write(const struct decoded_type *type, const void *value,
                           void (*write)(struct jsonw *w, const void *value),
                           void *(*copy)(struct arena *arena, const void *value))
{
    scoped(buf) struct buf text = {0};
    struct jsonw w = jsonw_to(&text);
    struct arena *arena = arena_new(STATUS_ARENA_BYTES);
    struct blob *blob;

    write(&w, value);
    blob = blob_from_buf(&text);
    decoded_attach(blob, type, arena, copy(arena, value));
    return blob;
}
