/*
 * The list of decoded forms behind a blob's facet.
 */
#include "api/types/decoded.h"

#include "base/mem.h"

/* One form. It lives in its own arena, as does all it points to. */
struct form {
    struct form *next;
    const struct decoded_type *type;
    struct arena *arena;
    json_t *root;         /* owned; NULL when not kept */
    const json_t *member; /* within root */
    void *value;
};

static void forms_free(void *decoded)
{
    struct form *form = decoded;

    while (form) {
        struct form *next = form->next;

        json_decref(form->root);
        arena_free(form->arena);
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
                             struct arena *arena)
{
    struct form *first = blob_facet(blob, &forms_facet);
    struct form *form = arena_alloc(arena, sizeof *form);

    form->type = type;
    form->arena = arena;
    if (first) {
        form->next = first->next;
        first->next = form;
    } else {
        blob_set_facet(blob, &forms_facet, form);
    }
    return form;
}

static struct form *form_decode(const struct blob *blob, const struct decoded_type *type)
{
    struct arena *arena = arena_new(0);
    struct form *form = form_add(blob, type, arena);
    json_t *root = json_loadb(blob->text, blob->len, JSON_REJECT_DUPLICATES, NULL);
    const json_t *member = type->member ? json_object_get(root, type->member) : root;

    form->value = arena_alloc(arena, type->schema->size);
    if (!json_is_object(member) || !schema_decode(type->schema, member, arena, form->value, NULL)) {
        member = NULL;
        schema_decode(type->schema, NULL, arena, form->value, NULL);
    }
    if (type->finish)
        type->finish(form->value, member, arena);
    if (!type->keep_document || (type->borrows && !type->borrows(form->value))) {
        json_decref(root);
        return form;
    }
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
    return form_of(blob, type)->member;
}

void decoded_attach(const struct blob *blob, const struct decoded_type *type, struct arena *arena,
                    void *value)
{
    if (form_find(blob, type))
        arena_free(arena);
    else
        form_add(blob, type, arena)->value = value;
}
