/*
 * Builds jansson documents from libyaml's events.
 *
 * Depth, anchors, aliases and values are counted on the events, before anything is built. An alias
 * becomes a copy of its anchor's value: containers are copied, scalars are shared because they
 * never change. The size of a copy is checked before it is made: all aliases together may add as
 * many values as the stream has written out, or max_expanded if that is more. A "billion laughs"
 * document therefore stays small.
 */
#include "api/types/text/yaml.h"

#include <stdint.h>
#include <string.h>
#include <yaml.h>

#include "api/types/text/yaml_anchor.h"
#include "api/types/text/yaml_leaf.h"
#include "api/types/text/yaml_problem.h"
#include "base/mem.h"

#define MIB ((size_t)1 << 20)
enum { TAG_DIRECTIVES_MAX = 1000 }; /* limit for one stream */

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
    size_t documents, written, expanded; /* counters of the stream so far; the last two are weighted
                                          * values */
    struct yaml_anchors anchors;         /* anchors of the current document */
    size_t line, offset;                 /* start of the current document */
    size_t seen_index, seen_byte;        /* characters counted so far, and the byte they end at */
    bool started, done;
    struct error_list *duplicates; /* duplicate keys are reported here; NULL: they are errors */
    struct error *err;
};

/* Long text weighs more than one value, because each copy of it is written out in full. */
static size_t weight_of_text(size_t len)
{
    return 1 + len / 64;
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
    if (parser->error == YAML_READER_ERROR) { /* has an offset, but no line */
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

static bool count_written(struct yaml_reader *r, const yaml_event_t *event, size_t weight)
{
    r->written += weight;
    if (r->written <= r->limits->max_values)
        return true;
    return yaml_fail(event, r->err, "the YAML text holds more than %zu values",
                     r->limits->max_values);
}

static bool check_depth(struct yaml_reader *r, const yaml_event_t *event, size_t depth)
{
    return depth <= r->limits->max_depth ||
           yaml_fail(event, r->err, "nested deeper than %zu levels", r->limits->max_depth);
}

/* Begins a node. Sets *out to the index of its anchor, SIZE_MAX if it has none. */
static bool open_anchor(struct yaml_reader *r, const yaml_event_t *event, const yaml_char_t *name,
                        size_t *out)
{
    *out = SIZE_MAX;
    if (!name)
        return true;
    if (r->anchors.count == r->limits->max_anchors)
        return yaml_fail(event, r->err, "more than %zu anchors in one document",
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
        yaml_fail(event, r->err, "the alias *%.64s has no anchor &%.64s before it", name, name);
        return NULL;
    }
    if (!anchor->value)
        ok = yaml_fail(event, r->err, "the alias *%.64s is inside the value it stands for", name);
    else if (++r->anchors.aliases > r->limits->max_aliases)
        ok = yaml_fail(event, r->err, "more than %zu aliases in one document",
                       r->limits->max_aliases);
    else if (anchor->weight > most - r->expanded)
        ok = yaml_fail(event, r->err, "the aliases of this text stand for more than %zu values",
                       most);
    else
        ok = check_depth(r, event, depth + anchor->height);
    if (!ok)
        return NULL;
    r->expanded += anchor->weight;
    *out_height = anchor->height;
    return yaml_anchor_copy(anchor);
}

static json_t *build_scalar(struct yaml_reader *r, const yaml_event_t *event)
{
    return count_written(r, event, weight_of_text(event->data.scalar.length))
               ? yaml_leaf(event, r->err)
               : NULL;
}

static json_t *build(struct yaml_reader *r, const yaml_event_t *event, size_t depth,
                     size_t *out_height);

/* Builds the node of `event` (consumed) inside a container and raises the container's height if
 * needed. */
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

static bool set_member(struct yaml_reader *r, json_t *object, const yaml_event_t *event,
                       const struct yaml_key *key, json_t *value)
{
    size_t before = json_object_size(object);

    json_object_setn_new_nocheck(object, key->text, key->len, value);
    if (json_object_size(object) > before)
        return true;
    if (!r->duplicates)
        return yaml_fail(event, r->err, "duplicate key \"%.128s\"", key->text);
    error_list_add(r->duplicates, ERR_BAD_REQUEST, key->text,
                   "duplicate field \"%.128s\" (line %zu)", key->text, event->start_mark.line + 1);
    return true;
}

/* Appends the mapping or mappings of `value` (consumed) to the list of merges. */
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
    return ok || yaml_fail(event, r->err, "<< merges a mapping or a list of mappings");
}

/* Adds merged members to a mapping. Its own members take precedence, then those of earlier merges.
 */
static void apply_merges(json_t *object, const json_t *merges)
{
    size_t i;
    json_t *source;

    json_array_foreach(merges, i, source) json_object_update_missing(object, source);
}

static bool build_member(struct yaml_reader *r, const yaml_event_t *event, json_t *object,
                         json_t **merges, size_t depth, size_t *height)
{
    struct yaml_key key = {0};
    yaml_event_t next;
    json_t *value;

    if (!yaml_key_read(event, &key, r->err) || !count_written(r, event, weight_of_text(key.len)) ||
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

/* Builds the value of a node whose first event has been read; returns NULL with an error. */
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

struct yaml_reader *yaml_reader_new(const char *text, size_t len, const struct yaml_limits *limits)
{
    struct yaml_reader *r = mem_alloc(sizeof *r);

    r->limits = limits;
    r->text = text;
    r->len = len;
    if (!yaml_parser_initialize(&r->parser))
        mem_fatal("out of memory");
    yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r->parser, (const unsigned char *)(text ? text : ""), len);
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

void yaml_reader_report_duplicates(struct yaml_reader *r, struct error_list *duplicates)
{
    r->duplicates = duplicates;
}

size_t yaml_reader_line(const struct yaml_reader *r)
{
    return r->line;
}

size_t yaml_reader_offset(const struct yaml_reader *r)
{
    return r->offset;
}

/* Converts a character index of libyaml into a byte offset. */
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

/* Returns whether the document is empty: no text, or only a comment between two separators. */
static bool is_empty_document(const yaml_event_t *event)
{
    return event->type == YAML_SCALAR_EVENT && !event->data.scalar.length &&
           event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && !event->data.scalar.tag &&
           !event->data.scalar.anchor;
}

/* Reads the document whose start event has been read. *out stays NULL for an empty one. */
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
        yaml_fail(&event, r->err, "more than %zu documents", r->limits->max_documents);
        yaml_event_delete(&event);
        return false;
    }
    *out = empty ? NULL : build_inner(r, &event, 0, &height);
    if (empty)
        yaml_event_delete(&event);
    yaml_anchors_clear(&r->anchors);
    if ((!empty && !*out) || !next_event(r, &event)) { /* this event is the end of the document */
        json_decref(*out);
        *out = NULL;
        return false;
    }
    yaml_event_delete(&event);
    return true;
}

/* Returns whether `c` is the last byte of a line break that libyaml knows: \n, \r, NEL, LS, PS. */
static bool ends_line(char c)
{
    return c && strchr("\n\r\x85\xA8\xA9", c);
}

/* Limits the number of %TAG directives. libyaml compares each with all before it and reads all of
 * them before its first event, so a body with 100,000 of them would block the loop for a minute. */
static bool check_directives(struct yaml_reader *r)
{
    static const char tag[] = "%TAG";
    const size_t len = sizeof tag - 1;
    const char *end = r->text + r->len;
    size_t found = 0;

    for (const char *at = r->text; at < end && (at = memchr(at, '%', (size_t)(end - at))); at++) {
        if ((size_t)(end - at) < len || memcmp(at, tag, len) != 0)
            continue;
        found += at == r->text || ends_line(at[-1]);
        if (found > TAG_DIRECTIVES_MAX)
            return error_set(r->err, ERR_TOO_LARGE, "",
                             "line 1, column 1: more than %d %%TAG directives", TAG_DIRECTIVES_MAX);
    }
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
    return check_directives(r);
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
