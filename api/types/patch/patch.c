/*
 * JSON Patch and JSON Merge Patch, applied to a copy of the document.
 *
 * A JSON Patch can cause much work with little text, so its cost is limited: each value walked and
 * each list entry moved counts against a budget. A result may not nest deeper than documents may.
 */
#include "api/types/patch/patch.h"

#include <string.h>

#include "base/mem.h"

enum {
    OPERATIONS_MAX = 10000,
    COPIED_BYTES_MAX = 3 << 20,
    DEPTH_MAX = 128,
    POINTER_MAX = DEPTH_MAX, /* parts of a pointer */
};
static const size_t work_max = 5000000; /* takes about 0.1 s */

struct patching {
    json_t *root;  /* document that is changed; owned */
    size_t copied; /* number of bytes copied so far */
    size_t work;   /* values walked so far */
    size_t index;  /* index of the current operation */
    const char *op, *path;
    struct error *err;
};

static bool refuse(struct patching *p, enum error_code code, const char *why)
{
    return error_set(p->err, code, "", "operation %zu (%s %.128s): %s", p->index, p->op, p->path,
                     why);
}

/* Counts the values and the depth of `value` and charges them to the budget. */
static bool walk(struct patching *p, const json_t *value, size_t depth)
{
    const char *key;
    json_t *member;
    size_t i;

    if (depth > DEPTH_MAX)
        return refuse(p, ERR_INVALID, "the result would be nested too deeply");
    if (++p->work > work_max)
        return refuse(p, ERR_TOO_LARGE, "the patch moves too much around");
    json_object_foreach((json_t *)value, key, member)
    {
        if (!walk(p, member, depth + 1))
            return false;
    }
    json_array_foreach(value, i, member)
    {
        if (!walk(p, member, depth + 1))
            return false;
    }
    return true;
}

/* A JSON pointer (RFC 6901), split into its parts. */

struct pointer {
    char *text; /* copy of the pointer, owned; the parts point into it */
    char *parts[POINTER_MAX];
    size_t count;
};

static void pointer_release(struct pointer *pointer)
{
    mem_free(pointer->text);
}
SCOPED_DEFINE(pointer, struct pointer, pointer_release)

static bool unescape(char *part)
{
    char *to = part;

    for (const char *from = part; *from; from++) {
        if (*from != '~') {
            *to++ = *from;
        } else if (from[1] == '0' || from[1] == '1') {
            *to++ = *++from == '0' ? '~' : '/';
        } else {
            return false;
        }
    }
    *to = '\0';
    return true;
}

static bool pointer_parse(struct patching *p, const char *text, struct pointer *out)
{
    out->text = mem_strdup(text);
    if (!*text)
        return true;
    if (*text != '/')
        return refuse(p, ERR_BAD_REQUEST, "a path is empty or begins with '/'");
    for (char *at = out->text; at;) {
        char *part = at + 1;

        at = strchr(part, '/');
        if (at)
            *at = '\0';
        if (out->count == POINTER_MAX)
            return refuse(p, ERR_INVALID, "the path is too long");
        if (!unescape(part))
            return refuse(p, ERR_BAD_REQUEST, "'~' in a path is followed by 0 or 1");
        out->parts[out->count++] = part;
    }
    return true;
}

/* Parses the list index in a pointer part. The index `size`, or "-" for it, is valid only for
 * adding. */
static bool list_index(const char *part, size_t size, bool adding, size_t *out)
{
    size_t value = 0;

    if (adding && strcmp(part, "-") == 0) {
        *out = size;
        return true;
    }
    if (!*part || (*part == '0' && part[1]))
        return false;
    for (; *part; part++) {
        if (*part < '0' || *part > '9' || value > size)
            return false;
        value = value * 10 + (size_t)(*part - '0');
    }
    *out = value;
    return value < size + adding;
}

static json_t *child(json_t *parent, const char *part)
{
    size_t index;

    if (json_is_object(parent))
        return json_object_get(parent, part);
    if (json_is_array(parent) && list_index(part, json_array_size(parent), false, &index))
        return json_array_get(parent, index);
    return NULL;
}

/* Returns the value that the first `count` parts point to, or NULL. */
static json_t *find(const struct patching *p, const struct pointer *pointer, size_t count)
{
    json_t *value = p->root;

    for (size_t i = 0; value && i < count; i++)
        value = child(value, pointer->parts[i]);
    return value;
}

/* Puts `value` (consumed) where the pointer says. */
static bool put(struct patching *p, const struct pointer *to, json_t *value)
{
    scoped(json) json_t *owned = value;
    json_t *parent = to->count ? find(p, to, to->count - 1) : NULL;
    const char *last = to->count ? to->parts[to->count - 1] : NULL;
    size_t index;

    if (!walk(p, value, to->count + 1))
        return false;
    if (!to->count) {
        json_decref(p->root);
        p->root = take(owned);
        return true;
    }
    if (json_is_object(parent)) {
        json_object_set_new(parent, last, take(owned));
        return true;
    }
    if (!json_is_array(parent))
        return refuse(p, ERR_INVALID, "there is nothing to add to at the path's parent");
    if (!list_index(last, json_array_size(parent), true, &index))
        return refuse(p, ERR_INVALID, "the list has no such index");
    p->work += (json_array_size(parent) - index) / 8;
    json_array_insert_new(parent, index, take(owned));
    return true;
}

/* Removes and returns the value (owned); NULL with an error. */
static json_t *take_out(struct patching *p, const struct pointer *from)
{
    json_t *value = find(p, from, from->count);
    json_t *parent = from->count ? find(p, from, from->count - 1) : NULL;
    size_t index;

    if (!value) {
        refuse(p, ERR_INVALID, "there is no such member");
        return NULL;
    }
    json_incref(value);
    if (!parent) {
        json_decref(p->root);
        p->root = json_null();
    } else if (json_is_object(parent)) {
        json_object_del(parent, from->parts[from->count - 1]);
    } else if (list_index(from->parts[from->count - 1], json_array_size(parent), false, &index)) {
        p->work += (json_array_size(parent) - index) / 8;
        json_array_remove(parent, index);
    }
    return value;
}

struct operation {
    struct pointer path, from;
    const json_t *value;
};

static bool do_add(struct patching *p, const struct operation *op)
{
    return put(p, &op->path, json_deep_copy(op->value));
}

static bool do_remove(struct patching *p, const struct operation *op)
{
    scoped(json) json_t *gone = take_out(p, &op->path);

    return gone != NULL;
}

static bool do_replace(struct patching *p, const struct operation *op)
{
    return do_remove(p, op) && do_add(p, op);
}

static bool do_move(struct patching *p, const struct operation *op)
{
    bool prefix = op->from.count < op->path.count;

    for (size_t i = 0; prefix && i < op->from.count; i++)
        prefix = strcmp(op->from.parts[i], op->path.parts[i]) == 0;
    if (prefix)
        return refuse(p, ERR_INVALID, "a value cannot be moved into itself");

    json_t *value = take_out(p, &op->from);

    return value && put(p, &op->path, value);
}

static bool do_copy(struct patching *p, const struct operation *op)
{
    const json_t *value = find(p, &op->from, op->from.count);
    scoped(buf) struct buf text = {0};

    if (!value)
        return refuse(p, ERR_INVALID, "there is no member at \"from\"");
    if (!walk(p, value, op->path.count + 1))
        return false;
    json_text(value, &text);
    p->copied += text.len;
    if (p->copied > COPIED_BYTES_MAX)
        return refuse(p, ERR_TOO_LARGE, "the copies of this patch exceed 3 MiB");
    return put(p, &op->path, json_deep_copy(value));
}

static bool do_test(struct patching *p, const struct operation *op)
{
    const json_t *value = find(p, &op->path, op->path.count);

    if (value && !walk(p, op->value, 1))
        return false;
    return (value && json_equal(value, op->value)) || refuse(p, ERR_INVALID, "the test failed");
}

/* clang-format off */
static const struct op_row {
    const char *name;
    bool needs_value, needs_from;
    bool (*run)(struct patching *p, const struct operation *op);
} ops[] = {
    {"add",     true,  false, do_add},
    {"remove",  false, false, do_remove},
    {"replace", true,  false, do_replace},
    {"move",    false, true,  do_move},
    {"copy",    false, true,  do_copy},
    {"test",    true,  false, do_test},
};
/* clang-format on */

static const struct op_row *find_op(const char *name)
{
    for (size_t i = 0; i < countof(ops); i++)
        if (strcmp(ops[i].name, name) == 0)
            return &ops[i];
    return NULL;
}

static bool run(struct patching *p, const json_t *operation)
{
    const char *name = json_string_value(json_object_get(operation, "op"));
    const char *path = json_string_value(json_object_get(operation, "path"));
    const char *from = json_string_value(json_object_get(operation, "from"));
    const struct op_row *row = name ? find_op(name) : NULL;
    scoped(pointer) struct pointer to = {0}, source = {0};
    struct operation op = {.value = json_object_get(operation, "value")};

    p->op = row ? row->name : "?";
    p->path = path ? path : "";
    if (!json_is_object(operation))
        return refuse(p, ERR_BAD_REQUEST, "an operation is an object");
    if (!row)
        return refuse(p, ERR_INVALID, "op is one of add, remove, replace, move, copy, test");
    if (!path)
        return refuse(p, ERR_INVALID, "a path is required");
    if (row->needs_value && !op.value)
        return refuse(p, ERR_INVALID, "a value is required");
    if (row->needs_from && !from)
        return refuse(p, ERR_INVALID, "\"from\" is required");
    if (!pointer_parse(p, path, &to) || (row->needs_from && !pointer_parse(p, from, &source)))
        return false;
    op.path = to;
    op.from = source;
    return row->run(p, &op);
}

json_t *patch_json(const json_t *doc, const json_t *operations, struct error *err)
{
    struct patching p = {.err = err};
    json_t *operation;

    if (!json_is_array(operations)) {
        error_set(
            err, ERR_BAD_REQUEST, "",
            "json: cannot unmarshal object into Go value of type jsonpatch.Patch: a JSON patch is "
            "a list of operations");
        return NULL;
    }
    if (json_array_size(operations) > OPERATIONS_MAX) {
        error_set(err, ERR_TOO_LARGE, "",
                  "the allowed maximum operations in a JSON patch is %d, got %zu", OPERATIONS_MAX,
                  json_array_size(operations));
        return NULL;
    }
    p.root = json_deep_copy(doc);
    json_array_foreach(operations, p.index, operation)
    {
        if (!run(&p, operation)) {
            json_decref(p.root);
            return NULL;
        }
    }
    return p.root;
}

static json_t *merged(json_t *target, const json_t *patch);

/* Merges the members of `patch` into `target`, in place. */
static void merge_members(json_t *target, const json_t *patch)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)patch, key, value)
    {
        if (json_is_null(value))
            json_object_del(target, key);
        else
            json_object_set_new_nocheck(target, key, merged(json_object_get(target, key), value));
    }
}

/* Returns the merged value of a member (owned). An object is merged in place. */
static json_t *merged(json_t *target, const json_t *patch)
{
    json_t *result;

    if (!json_is_object(patch))
        return json_deep_copy(patch);
    result = json_is_object(target) ? json_incref(target) : json_object();
    merge_members(result, patch);
    return result;
}

json_t *patch_merge(const json_t *doc, const json_t *patch, struct error *err)
{
    json_t *result;

    if (!json_is_object(patch)) {
        error_set(
            err, ERR_BAD_REQUEST, "",
            "error decoding patch: a merge patch is an object; a list is sent as a JSON patch");
        return NULL;
    }
    result = json_deep_copy(doc);
    merge_members(result, patch);
    return result;
}
