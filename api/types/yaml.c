/*
 * libyaml's events into jansson documents.
 *
 * Depth, anchors, aliases and values are counted here, on the events, before anything is built. An
 * alias is a copy of what its anchor holds (the containers; scalars are shared, for nobody changes
 * them), weighed before it is made: what aliases add to a stream may be as much as is written in it
 * or max_expanded, whichever is more, so a bomb stays as small as its text.
 */
#include "api/types/yaml.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "api/types/json_text.h"
#include "api/types/yaml_anchor.h"
#include "api/types/yaml_problem.h"
#include "api/types/yaml_scalar.h"
#include "base/mem.h"

#define MIB ((size_t)1 << 20)

/* clang-format off */
const struct yaml_limits yaml_limits_default = {
    .max_bytes = 512 * MIB, .max_documents = 1000000, .max_depth = 128, .max_anchors = 1000, .max_aliases = 1000,
    .max_values = 256000000, .max_expanded = 200000,
};
const struct yaml_limits yaml_limits_body = {
    .max_bytes = 3 * MIB, .max_documents = 1, .max_depth = 128, .max_anchors = 1000, .max_aliases = 1000,
    .max_values = 200000, .max_expanded = 200000,
};
const struct yaml_limits yaml_limits_flow = {
    .max_bytes = 64 * MIB, .max_documents = 1, .max_depth = 128, .max_anchors = 10000, .max_aliases = 10000,
    .max_values = 16000000, .max_expanded = 1000000,
};
/* clang-format on */

struct yaml_reader {
    yaml_parser_t parser;
    const struct yaml_limits *limits;
    const char *text;
    size_t len;
    size_t documents, written, expanded; /* weight so far, in the stream */
    struct yaml_anchors anchors;         /* of the document */
    size_t line, offset;                 /* of the document */
    size_t seen_index, seen_byte;        /* how far characters were counted to find byte offsets */
    bool started, done;
    struct error *err;
};

/* Long text weighs more, as its copies will when they are written out. */
static size_t weight_of_text(size_t len)
{
    return 1 + len / 64;
}

static bool fail_at(struct yaml_reader *r, const yaml_mark_t *mark, const char *format, ...)
    PRINTF_LIKE(3, 4);

static bool fail_at(struct yaml_reader *r, const yaml_mark_t *mark, const char *format, ...)
{
    va_list args;
    char text[512];

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return error_set(r->err, ERR_BAD_REQUEST, "", "line %zu, column %zu: %s", mark->line + 1,
                     mark->column + 1, text);
}

static bool fail_parser(struct yaml_reader *r)
{
    const yaml_parser_t *parser = &r->parser;
    struct yaml_problem problem = {
        .text = r->text,
        .len = r->len,
        .problem = parser->problem,
        .context = parser->context,
        .line = parser->problem_mark.line + 1,
        .column = parser->problem_mark.column + 1,
        .context_line = parser->context ? parser->context_mark.line + 1 : 0,
        .context_column = parser->context_mark.column + 1,
    };

    if (parser->error == YAML_MEMORY_ERROR)
        mem_fatal("out of memory");
    if (parser->error == YAML_READER_ERROR) { /* has a byte offset instead of a place */
        problem.line = problem.column = 1;
        for (size_t i = 0; i < parser->problem_offset && i < r->len; i++) {
            problem.column = r->text[i] == '\n' ? 1 : problem.column + 1;
            problem.line += r->text[i] == '\n';
        }
    }
    return yaml_explain(&problem, r->err);
}

static bool next_event(struct yaml_reader *r, yaml_event_t *event)
{
    return yaml_parser_parse(&r->parser, event) || fail_parser(r);
}

/* ---- bounds ---- */

static bool count_written(struct yaml_reader *r, const yaml_event_t *event, size_t weight)
{
    r->written += weight;
    if (r->written <= r->limits->max_values)
        return true;
    return fail_at(r, &event->start_mark, "the YAML text holds more than %zu values",
                   r->limits->max_values);
}

static bool check_depth(struct yaml_reader *r, const yaml_event_t *event, size_t depth)
{
    return depth <= r->limits->max_depth ||
           fail_at(r, &event->start_mark, "nested deeper than %zu levels", r->limits->max_depth);
}

/* ---- anchors ---- */

/* A node begins: the index of its anchor in *out, SIZE_MAX without one. */
static bool open_anchor(struct yaml_reader *r, const yaml_event_t *event, const yaml_char_t *name,
                        size_t *out)
{
    *out = SIZE_MAX;
    if (!name)
        return true;
    if (r->anchors.count == r->limits->max_anchors)
        return fail_at(r, &event->start_mark, "more than %zu anchors in one document",
                       r->limits->max_anchors);
    *out = yaml_anchor_open(&r->anchors, (const char *)name);
    return true;
}

static json_t *build_alias(struct yaml_reader *r, const yaml_event_t *event, size_t depth,
                           size_t *out_height)
{
    const char *name = (const char *)event->data.alias.anchor;
    const struct yaml_anchor *anchor = yaml_anchor_find(&r->anchors, name);
    size_t most = r->written > r->limits->max_expanded ? r->written : r->limits->max_expanded;
    bool ok;

    if (!anchor) {
        fail_at(r, &event->start_mark, "the alias *%.64s has no anchor &%.64s before it", name,
                name);
        return NULL;
    }
    if (!anchor->value)
        ok = fail_at(r, &event->start_mark, "the alias *%.64s is inside the value it stands for",
                     name);
    else if (++r->anchors.aliases > r->limits->max_aliases)
        ok = fail_at(r, &event->start_mark, "more than %zu aliases in one document",
                     r->limits->max_aliases);
    else if (anchor->weight > most - r->expanded)
        ok = fail_at(r, &event->start_mark,
                     "the aliases of this text stand for more than %zu values", most);
    else
        ok = check_depth(r, event, depth + anchor->height);
    if (!ok)
        return NULL;
    r->expanded += anchor->weight;
    *out_height = anchor->height;
    return yaml_anchor_copy(anchor);
}

/* ---- scalars ---- */

static json_t *text_value(struct yaml_reader *r, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t len = event->data.scalar.length;

    if (len && memchr(text, '\0', len)) {
        fail_at(r, &event->start_mark, "text cannot contain a NUL character");
        return NULL;
    }
    return json_stringn_nocheck(text, len);
}

static json_t *plain_value(struct yaml_reader *r, const yaml_event_t *event,
                           const struct yaml_scalar *scalar)
{
    const char *text = (const char *)event->data.scalar.value;

    switch (scalar->type) {
    case YAML_NULL:
        return json_null();
    case YAML_BOOL:
        return json_boolean(scalar->boolean);
    case YAML_INT:
        return json_integer(scalar->integer);
    case YAML_REAL:
        return json_real(scalar->real);
    case YAML_TOO_BIG:
        fail_at(r, &event->start_mark,
                "%.64s does not fit into a 64-bit integer: put quotes around it to make it text",
                text);
        return NULL;
    case YAML_NOT_FINITE:
        fail_at(r, &event->start_mark,
                "%.64s is no number JSON has: put quotes around it to make it text", text);
        return NULL;
    case YAML_TEXT:
    case YAML_MERGE:
        break;
    }
    return text_value(r, event);
}

/* The standard tags that ask for a type; others say nothing to us. */
static json_t *tagged_value(struct yaml_reader *r, const yaml_event_t *event, const char *tag)
{
    /* clang-format off */
    static const struct {
        const char *tag;
        enum yaml_scalar_type type;
    } typed[] = {
        {YAML_NULL_TAG,  YAML_NULL}, {YAML_BOOL_TAG, YAML_BOOL}, {YAML_INT_TAG, YAML_INT}, {YAML_FLOAT_TAG, YAML_REAL},
    };
    /* clang-format on */
    const char *text = (const char *)event->data.scalar.value;
    struct yaml_scalar scalar = yaml_resolve(text, event->data.scalar.length);

    for (size_t i = 0; i < countof(typed); i++) {
        if (strcmp(tag, typed[i].tag) != 0)
            continue;
        if (scalar.type == typed[i].type || (typed[i].type == YAML_REAL && scalar.type == YAML_INT))
            return plain_value(r, event, &scalar);
        fail_at(r, &event->start_mark, "\"%.64s\" is not what its tag !!%s says", text,
                tag + sizeof "tag:yaml.org,2002:" - 1);
        return NULL;
    }
    return text_value(r, event);
}

static json_t *build_scalar(struct yaml_reader *r, const yaml_event_t *event)
{
    const char *tag = (const char *)event->data.scalar.tag;

    if (!count_written(r, event, weight_of_text(event->data.scalar.length)))
        return NULL;
    if (tag)
        return tagged_value(r, event, tag);
    if (event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
        return text_value(r, event);

    struct yaml_scalar scalar =
        yaml_resolve((const char *)event->data.scalar.value, event->data.scalar.length);

    return plain_value(r, event, &scalar);
}

/* ---- containers ---- */

static json_t *build(struct yaml_reader *r, const yaml_event_t *event, size_t depth,
                     size_t *out_height);

/* The node of `event` (used up) inside a container, whose height so far it may raise. */
static json_t *build_inner(struct yaml_reader *r, yaml_event_t *event, size_t depth, size_t *height)
{
    size_t inner = 0;
    json_t *value = build(r, event, depth, &inner);

    yaml_event_delete(event);
    if (inner > *height)
        *height = inner;
    return value;
}

static json_t *build_list(struct yaml_reader *r, size_t depth, size_t *height)
{
    scoped(json) json_t *list = json_array();
    yaml_event_t event;
    json_t *entry;

    for (;;) {
        if (!next_event(r, &event))
            return NULL;
        if (event.type == YAML_SEQUENCE_END_EVENT) {
            yaml_event_delete(&event);
            return take(list);
        }
        entry = build_inner(r, &event, depth, height);
        if (!entry)
            return NULL;
        json_array_append_new(list, entry);
    }
}

/* A key as text: what JSON makes of a boolean or number. False when it is none. */
struct key {
    const char *text;
    size_t len;
    bool merge;
    char number[JSON_NUMBER_MAX];
};

static bool read_key(struct yaml_reader *r, const yaml_event_t *event, struct key *key)
{
    if (event->type != YAML_SCALAR_EVENT)
        return fail_at(r, &event->start_mark,
                       "a key must be a word, not an alias, a list or a mapping");
    key->text = (const char *)event->data.scalar.value;
    key->len = event->data.scalar.length;
    key->merge = false;
    if (key->len && memchr(key->text, '\0', key->len))
        return fail_at(r, &event->start_mark, "a key cannot contain a NUL character");
    if (event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE || event->data.scalar.tag)
        return true;

    struct yaml_scalar scalar = yaml_resolve(key->text, key->len);

    if (scalar.type == YAML_MERGE) {
        key->merge = true;
    } else if (scalar.type == YAML_BOOL) {
        key->text = scalar.boolean ? "true" : "false";
        key->len = strlen(key->text);
    } else if (scalar.type == YAML_NULL) {
        key->text = "null";
        key->len = 4;
    } else if (scalar.type == YAML_INT || scalar.type == YAML_REAL) {
        scoped(json) json_t *number =
            scalar.type == YAML_INT ? json_integer(scalar.integer) : json_real(scalar.real);

        json_number_text(number, key->number);
        key->text = key->number;
        key->len = strlen(key->number);
    }
    return true;
}

static bool set_member(struct yaml_reader *r, json_t *object, const yaml_event_t *event,
                       const struct key *key, json_t *value)
{
    size_t before = json_object_size(object);

    json_object_setn_new_nocheck(object, key->text, key->len, value);
    if (json_object_size(object) > before)
        return true;
    return fail_at(r, &event->start_mark, "duplicate key \"%.128s\"", key->text);
}

/* Put the mapping or mappings of `value` (consumed) behind those to be merged so far. */
static bool add_merge(struct yaml_reader *r, json_t **merges, const yaml_event_t *event,
                      json_t *value)
{
    bool ok = json_is_object(value) || json_is_array(value);
    size_t i;
    json_t *entry;

    if (!*merges)
        *merges = json_array();
    if (json_is_object(value))
        json_array_append(*merges, value);
    json_array_foreach(value, i, entry)
    {
        ok = ok && json_is_object(entry);
        json_array_append(*merges, entry);
    }
    json_decref(value);
    return ok || fail_at(r, &event->start_mark, "<< merges a mapping or a list of mappings");
}

/* What the mapping itself says wins over what it merges, the earlier merged over the later. */
static void apply_merges(json_t *object, const json_t *merges)
{
    size_t i;
    json_t *source;

    json_array_foreach(merges, i, source) json_object_update_missing(object, source);
}

static bool build_member(struct yaml_reader *r, const yaml_event_t *event, json_t *object,
                         json_t **merges, size_t depth, size_t *height)
{
    struct key key = {0};
    yaml_event_t next;
    json_t *value;

    if (!read_key(r, event, &key) || !count_written(r, event, weight_of_text(key.len)) ||
        !next_event(r, &next))
        return false;
    value = build_inner(r, &next, depth, height);
    if (!value)
        return false;
    return key.merge ? add_merge(r, merges, event, value)
                     : set_member(r, object, event, &key, value);
}

static json_t *build_mapping(struct yaml_reader *r, size_t depth, size_t *height)
{
    scoped(json) json_t *object = json_object();
    scoped(json) json_t *merges = NULL;
    yaml_event_t event;
    bool ok;

    for (;;) {
        if (!next_event(r, &event))
            return NULL;
        if (event.type == YAML_MAPPING_END_EVENT) {
            yaml_event_delete(&event);
            apply_merges(object, merges);
            return take(object);
        }
        ok = build_member(r, &event, object, &merges, depth, height);
        yaml_event_delete(&event);
        if (!ok)
            return NULL;
    }
}

static json_t *build_container(struct yaml_reader *r, const yaml_event_t *event, size_t depth,
                               size_t *out_height)
{
    size_t inner = 0;
    json_t *value = NULL;

    if (count_written(r, event, 1) && check_depth(r, event, depth + 1))
        value = event->type == YAML_MAPPING_START_EVENT ? build_mapping(r, depth + 1, &inner)
                                                        : build_list(r, depth + 1, &inner);
    *out_height = inner + 1;
    return value;
}

/* The value of a node whose first event is at hand; NULL with an error. */
static json_t *build(struct yaml_reader *r, const yaml_event_t *event, size_t depth,
                     size_t *out_height)
{
    size_t anchor, before = r->written + r->expanded;
    const yaml_char_t *name;
    json_t *value;

    if (event->type == YAML_ALIAS_EVENT)
        return build_alias(r, event, depth, out_height);
    name = event->type == YAML_SCALAR_EVENT           ? event->data.scalar.anchor
           : event->type == YAML_SEQUENCE_START_EVENT ? event->data.sequence_start.anchor
                                                      : event->data.mapping_start.anchor;
    if (!open_anchor(r, event, name, &anchor))
        return NULL;
    value = event->type == YAML_SCALAR_EVENT ? build_scalar(r, event)
                                             : build_container(r, event, depth, out_height);
    if (value && anchor != SIZE_MAX)
        yaml_anchor_close(&r->anchors, anchor, value, *out_height,
                          r->written + r->expanded - before);
    return value;
}

/* ---- the stream ---- */

struct yaml_reader *yaml_reader_new(const char *text, size_t len, const struct yaml_limits *limits)
{
    struct yaml_reader *r = mem_alloc(sizeof *r);

    r->limits = limits;
    r->text = text;
    r->len = len;
    if (!yaml_parser_initialize(&r->parser))
        mem_fatal("out of memory");
    yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r->parser, (const unsigned char *)text, len);
    return r;
}

void yaml_reader_free(struct yaml_reader *r)
{
    if (!r)
        return;
    yaml_anchors_release(&r->anchors);
    yaml_parser_delete(&r->parser);
    mem_free(r);
}

size_t yaml_reader_line(const struct yaml_reader *r)
{
    return r->line;
}

size_t yaml_reader_offset(const struct yaml_reader *r)
{
    return r->offset;
}

/* libyaml counts characters. */
static size_t byte_offset(struct yaml_reader *r, size_t index)
{
    while (r->seen_index < index && r->seen_byte < r->len) {
        r->seen_byte++;
        while (r->seen_byte < r->len && ((unsigned char)r->text[r->seen_byte] & 0xC0) == 0x80)
            r->seen_byte++;
        r->seen_index++;
    }
    return r->seen_byte;
}

/* "", or a comment between two separators. */
static bool is_empty_document(const yaml_event_t *event)
{
    return event->type == YAML_SCALAR_EVENT && !event->data.scalar.length &&
           event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && !event->data.scalar.tag &&
           !event->data.scalar.anchor;
}

/* The document whose start event is at hand: *out stays NULL for an empty one. */
static bool read_document(struct yaml_reader *r, const yaml_event_t *start, json_t **out)
{
    yaml_event_t event;
    size_t height = 0;
    bool empty;

    r->line = start->start_mark.line + 1;
    r->offset = byte_offset(r, start->start_mark.index);
    if (!next_event(r, &event))
        return false;
    empty = is_empty_document(&event);
    if (!empty && ++r->documents > r->limits->max_documents) {
        fail_at(r, &event.start_mark, "more than %zu documents", r->limits->max_documents);
        yaml_event_delete(&event);
        return false;
    }
    *out = empty ? NULL : build_inner(r, &event, 0, &height);
    if (empty)
        yaml_event_delete(&event);
    yaml_anchors_clear(&r->anchors);
    if ((!empty && !*out) || !next_event(r, &event)) { /* the second is the end of the document */
        json_decref(*out);
        *out = NULL;
        return false;
    }
    yaml_event_delete(&event);
    return true;
}

static bool check_input(struct yaml_reader *r)
{
    const unsigned char *bytes = (const unsigned char *)r->text;

    if (r->len > r->limits->max_bytes)
        return error_set(r->err, ERR_TOO_LARGE, "",
                         "line 1, column 1: %zu bytes of YAML text: the limit is %zu", r->len,
                         r->limits->max_bytes);
    if (r->len >= 2 &&
        ((bytes[0] == 0xFF && bytes[1] == 0xFE) || (bytes[0] == 0xFE && bytes[1] == 0xFF)))
        return error_set(r->err, ERR_BAD_REQUEST, "",
                         "line 1, column 1: the text is UTF-16: save it as UTF-8");
    return true;
}

bool yaml_reader_next(struct yaml_reader *r, json_t **out, struct error *err)
{
    bool ok = true;

    *out = NULL;
    r->err = err;
    if (!r->started) {
        r->started = true;
        ok = check_input(r);
    }
    while (ok && !*out && !r->done) {
        yaml_event_t event;

        ok = next_event(r, &event);
        if (!ok)
            break;
        if (event.type == YAML_DOCUMENT_START_EVENT)
            ok = read_document(r, &event, out);
        r->done = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    r->done |= !ok;
    return ok;
}
