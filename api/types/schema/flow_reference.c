/*
 * Finds and replaces references. The recursion is bounded: the schemas of templates and patches limit
 * the depth of documents, the parser's limit that of free-form members.
 */
#include "api/types/schema/flow_reference.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/types/schema/rows.h"
#include "api/types/text/json_text.h"
#include "base/compiler.h"
#include "base/scoped.h"

struct piece {
    const char *text;
    size_t len;
};

static bool is(struct piece piece, const char *word)
{
    return strlen(word) == piece.len && memcmp(piece.text, word, piece.len) == 0;
}

static bool take_prefix(struct piece *piece, const char *word)
{
    size_t len = strlen(word);

    if (piece->len <= len || memcmp(piece->text, word, len) != 0)
        return false;
    piece->text += len;
    piece->len -= len;
    return true;
}

/* Parses NAME.outputs.KEY and NAME.*.outputs.KEY. No step name contains ".outputs." or an asterisk. */
static bool read_output(struct piece inner, struct flow_ref *out)
{
    static const char middle[] = ".outputs.", every[] = ".*";
    const char *at = memmem(inner.text, inner.len, middle, strlen(middle));
    size_t len = at ? (size_t)(at - inner.text) : 0;
    bool is_every = len > strlen(every) && memcmp(at - strlen(every), every, strlen(every)) == 0;

    if (!len || at + strlen(middle) == inner.text + inner.len)
        return false;
    *out = (struct flow_ref){
        .kind = FLOW_REF_OUTPUT,
        .every = is_every,
        .name = inner.text,
        .name_len = len - (is_every ? strlen(every) : 0),
        .key = at + strlen(middle),
        .key_len = inner.len - len - strlen(middle),
    };
    return true;
}

/* The references that are one word. */
static const struct {
    const char *word;
    enum flow_ref_kind kind;
} plain_words[] = {{"item", FLOW_REF_ITEM},
                   {"index", FLOW_REF_INDEX},
                   {"attempt", FLOW_REF_ATTEMPT},
                   {"flow.name", FLOW_REF_FLOW_NAME},
                   {"flow.phase", FLOW_REF_FLOW_PHASE}};

/* Parses the text between "$(" and ")". */
static bool read_inner(struct piece inner, struct flow_ref *out)
{
    for (size_t i = 0; i < countof(plain_words); i++)
        if (is(inner, plain_words[i].word)) {
            *out = (struct flow_ref){.kind = plain_words[i].kind};
            return true;
        }
    if (take_prefix(&inner, "params.") || take_prefix(&inner, "parameters.")) {
        *out = (struct flow_ref){
            .kind = FLOW_REF_PARAMETER, .name = inner.text, .name_len = inner.len};
        return true;
    }
    return (take_prefix(&inner, "steps.") || take_prefix(&inner, "nodes.")) &&
           read_output(inner, out);
}

/*
 * Returns the first "$(" at or after `text`, NULL if there is none. It does not use strstr, and
 * closing() does not use strchr: called at each of a million positions, a library function that
 * scans to the end of the text (as those checked by a sanitizer do) takes quadratic time.
 */
static const char *opening(const char *text)
{
    for (; *text; text++)
        if (text[0] == '$' && text[1] == '(')
            return text;
    return NULL;
}

/* Returns the ")" that ends the reference whose "$(" is at `at`, or NULL. The search stops at "$",
 * because no name contains one; so every character is read once, whatever the text. */
static const char *closing(const char *at)
{
    const char *end = at + 2;

    while (*end && *end != ')' && *end != '$')
        end++;
    return *end == ')' ? end : NULL;
}

/* Finds the next reference at or after `text`. It begins with the "$" or "$$" at `*out_begin` and
 * ends before `*out_end`. */
static bool next_ref(const char *text, struct flow_ref *out, const char **out_begin,
                     const char **out_end, bool *out_escaped)
{
    for (const char *at = opening(text); at; at = opening(at + 2)) {
        const char *end = closing(at);

        if (!end || !read_inner((struct piece){at + 2, (size_t)(end - at - 2)}, out))
            continue;
        *out_escaped = at > text && at[-1] == '$';
        *out_begin = *out_escaped ? at - 1 : at;
        *out_end = end + 1;
        return true;
    }
    return false;
}

/* Returns whether the text is the name of a program, as a shell runs it in $(task.sh). */
static bool names_program(struct piece inner)
{
    static const char *const endings[] = {".sh", ".py", ".js", ".pl"};

    for (size_t i = 0; i < countof(endings); i++) {
        size_t len = strlen(endings[i]);

        if (inner.len > len && memcmp(inner.text + inner.len - len, endings[i], len) == 0)
            return true;
    }
    return false;
}

/* Returns whether the text begins like a flow reference, or like one of a system that people come
 * from, but is not a valid one. Such a text is left unchanged. */
static bool is_doubtful(struct piece inner)
{
    static const char *const words[] = {"params.", "parameters.", "steps.", "nodes.", "flow.",
                                        "param.",  "parameter.",  "step.",  "node.",  "flows.",
                                        "loop.",   "item.",       "items.", "index.", "iteration.",
                                        "inputs.", "outputs.",    "tasks.", "task.",  "workflow."};
    struct flow_ref ref;

    if (read_inner(inner, &ref) || names_program(inner))
        return false;
    for (size_t i = 0; i < countof(words); i++)
        if (take_prefix(&inner, words[i]))
            return true;
    return false;
}

static void visit_doubtful(const char *text, void (*visit)(void *arg, const struct flow_ref *ref),
                           void *arg)
{
    for (const char *at = opening(text); at; at = opening(at + 2)) {
        const char *end = closing(at);
        struct flow_ref whole = {.kind = FLOW_REF_DOUBTFUL, .name = at};

        if (!end || (at > text && at[-1] == '$') ||
            !is_doubtful((struct piece){at + 2, (size_t)(end - at - 2)}))
            continue;
        whole.name_len = (size_t)(end + 1 - at);
        visit(arg, &whole);
    }
}

void flow_ref_each(const char *text, void (*visit)(void *arg, const struct flow_ref *ref),
                   void *arg)
{
    struct flow_ref ref;
    const char *begin, *end;
    bool escaped;

    visit_doubtful(text, visit, arg);
    for (; next_ref(text, &ref, &begin, &end, &escaped); text = end)
        if (!escaped)
            visit(arg, &ref);
}

void flow_refs_each(const json_t *doc, void (*visit)(void *arg, const struct flow_ref *ref),
                    void *arg)
{
    const char *key;
    json_t *member;
    const json_t *element;
    size_t i;

    if (json_is_string(doc))
        flow_ref_each(json_string_value(doc), visit, arg);
    json_array_foreach(doc, i, element) flow_refs_each(element, visit, arg);
    json_object_foreach((json_t *)doc, key, member) flow_refs_each(member, visit, arg);
}

static bool has_reference(const char *text)
{
    struct flow_ref ref;
    const char *begin, *end;
    bool escaped;

    return next_ref(text, &ref, &begin, &end, &escaped);
}

bool flow_refs_in(const json_t *doc)
{
    const char *key;
    json_t *member;
    const json_t *element;
    size_t i;

    if (json_is_string(doc))
        return has_reference(json_string_value(doc));
    json_array_foreach(doc, i, element)
    {
        if (flow_refs_in(element))
            return true;
    }
    json_object_foreach((json_t *)doc, key, member)
    {
        if (flow_refs_in(member))
            return true;
    }
    return false;
}

void flow_ref_quote(const char *text, size_t len, struct buf *out)
{
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '$')
            buf_char(out, '$');
        buf_char(out, text[i]);
    }
}

/* The state of one replacement run over a document. */
struct replacing {
    const struct flow_ref_values *values;
    size_t bytes; /* total length of the values inserted so far */
    bool quoted;  /* the container expands the present text */
    struct error *err;
};

/* Appends the value of a reference, or leaves it as it is. */
static bool add_text_of(struct replacing *run, const struct flow_ref *ref, const char *begin,
                        const char *end, struct buf *out)
{
    scoped(buf) struct buf value = {0};
    bool leave = false;

    if (!run->values->value(run->values->ctx, ref, &value, &leave, run->err))
        return false;
    if (leave)
        buf_add(out, begin, (size_t)(end - begin));
    else if (run->quoted)
        flow_ref_quote(value.data, value.len, out);
    else if (value.len)
        buf_add(out, value.data, value.len);
    return true;
}

static bool add_value(struct replacing *run, const struct flow_ref *ref, const char *begin,
                      const char *end, struct buf *out)
{
    size_t before = out->len;

    if (!add_text_of(run, ref, begin, end, out))
        return false;
    run->bytes += out->len - before;
    return run->bytes <= FLOW_REFS_BYTES_MAX ||
           error_set(run->err, ERR_TOO_LARGE, "",
                     "references stand for more than %d bytes together", FLOW_REFS_BYTES_MAX);
}

static bool replace_text(struct replacing *run, const char *text, struct buf *out)
{
    struct flow_ref ref;
    const char *begin, *end;
    bool escaped;

    for (; next_ref(text, &ref, &begin, &end, &escaped); text = end) {
        buf_add(out, text, (size_t)(begin - text));
        if (escaped && run->quoted)
            buf_add(out, begin, (size_t)(end - begin)); /* the container takes the second $ away */
        else if (escaped)
            buf_add(out, begin + 1, (size_t)(end - begin - 1));
        else if (!add_value(run, &ref, begin, end, out))
            return false;
    }
    buf_str(out, text);
    return true;
}

bool flow_refs_replace_text(const char *text, const struct flow_ref_values *values, struct buf *out,
                            struct error *err)
{
    return replace_text(&(struct replacing){.values = values, .err = err}, text, out);
}

void flow_ref_write(const struct flow_ref *ref, struct buf *out)
{
    if (ref->kind == FLOW_REF_PARAMETER)
        buf_printf(out, "$(params.%.*s)", (int)ref->name_len, ref->name);
    else if (ref->kind == FLOW_REF_OUTPUT)
        buf_printf(out, "$(steps.%.*s%s.outputs.%.*s)", (int)ref->name_len, ref->name,
                   ref->every ? ".*" : "", (int)ref->key_len, ref->key);
    else if (ref->kind == FLOW_REF_DOUBTFUL)
        buf_add(out, ref->name, ref->name_len);
    for (size_t i = 0; i < countof(plain_words); i++)
        if (plain_words[i].kind == ref->kind)
            buf_printf(out, "$(%s)", plain_words[i].word);
}

bool flow_ref_in(const char *text)
{
    struct flow_ref ref;
    const char *begin, *end;
    bool escaped;

    for (; next_ref(text, &ref, &begin, &end, &escaped); text = end)
        if (!escaped)
            return true;
    return false;
}

const char *flow_ref_hint(const char *text)
{
    return text && flow_ref_in(text)
               ? "; a reference may stand here only in the patch of a step, and alone"
               : "";
}

bool flow_ref_is_all(const char *text)
{
    struct flow_ref ref;
    const char *begin, *end;
    bool escaped;

    return next_ref(text, &ref, &begin, &end, &escaped) && !escaped && begin == text && !*end;
}

/* Converts the replaced text to the type that the member's row requires. `written` is the text
 * before the replacement. */
static json_t *typed(const struct field *field, const char *written, const struct buf *text,
                     struct error *err)
{
    const char *value = text->data ? text->data : "";
    enum field_type type = field ? field->type : FIELD_STR;
    bool number = type == FIELD_I32 || type == FIELD_OPT_I32 || type == FIELD_I64 ||
                  type == FIELD_OPT_I64 || type == FIELD_INT_OR_STR;
    char *end;

    if (number) {
        long long parsed;

        errno = 0;
        parsed = strtoll(value, &end, 10);
        if (*value && !*end && !errno)
            return json_integer(parsed);
        if (type != FIELD_INT_OR_STR) {
            error_set(err, ERR_INVALID, field->name,
                      "\"%.64s\", which %s stands for, is no integer", value, written);
            return NULL;
        }
    }
    if (type == FIELD_BOOL || type == FIELD_OPT_BOOL) {
        if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0)
            return json_boolean(*value == 't');
        error_set(err, ERR_INVALID, field->name,
                  "\"%.64s\", which %s stands for, is neither true nor false", value, written);
        return NULL;
    }
    return json_stringn(value, text->len);
}

static json_t *replace_string(const struct field *field, json_t *doc, struct replacing *run)
{
    const char *written = json_string_value(doc);
    scoped(buf) struct buf text = {0};

    if (!strstr(written, "$("))
        return json_incref(doc);
    run->quoted = field && field->expands;
    if (!replace_text(run, written, &text))
        return NULL;
    /* A reference that was left is no number yet. */
    if (text.len == json_string_length(doc) && strcmp(text.data, written) == 0)
        return json_incref(doc);
    return typed(flow_ref_is_all(written) ? field : NULL, written, &text, run->err);
}

static json_t *replace(const struct field *field, const struct schema_level *level, json_t *doc,
                       struct replacing *run);

/* The container expands the entries of a list as it does the value of one string. */
static json_t *replace_list(const struct field *field, const struct schema_level *level,
                            json_t *doc, struct replacing *run)
{
    const struct field *entries = field && field->expands ? field : NULL;
    scoped(json) json_t *out = json_array();
    json_t *element;
    size_t i;

    json_array_foreach(doc, i, element)
    {
        json_t *replaced = replace(entries, level, element, run);

        if (!replaced)
            return NULL;
        json_array_append_new(out, replaced);
    }
    return take(out);
}

static json_t *replace_object(const struct schema_level *level, json_t *doc, struct replacing *run)
{
    scoped(json) json_t *out = json_object();
    const char *key;
    json_t *member;

    json_object_foreach(doc, key, member)
    {
        struct schema_member row = {0};
        struct schema_level below;
        const struct schema_level *next = NULL;
        json_t *replaced;

        if (level)
            row = schema_member(level, key, strlen(key));
        if (row.nested) {
            next = &row.level;
        } else if (row.field && row.field->of && row.field->type != FIELD_MAP) {
            below = schema_level(row.field->of, true);
            next = &below;
        }
        replaced = replace(row.field, next, member, run);
        if (!replaced)
            return NULL;
        json_object_set_new_nocheck(out, key, replaced);
    }
    return take(out);
}

static json_t *replace(const struct field *field, const struct schema_level *level, json_t *doc,
                       struct replacing *run)
{
    if (json_is_string(doc))
        return replace_string(field, doc, run);
    if (json_is_array(doc))
        return replace_list(field, level, doc, run);
    if (json_is_object(doc))
        return replace_object(level, doc, run);
    return json_incref(doc);
}

json_t *flow_refs_replace(const struct schema *schema, json_t *doc,
                          const struct flow_ref_values *values, struct error *err)
{
    struct replacing run = {.values = values, .err = err};
    struct schema_level level;

    if (schema)
        level = schema_level(schema, true);
    return replace(NULL, schema ? &level : NULL, doc, &run);
}
