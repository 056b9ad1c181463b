/*
 * Holds all documents of a YAML stream and finds the lines of their parts.
 *
 * Only error messages need lines, so the parser does not keep them. The first query about a
 * document parses its text again and stores its nodes in one table, in the order of the text. A
 * node knows where its subtree ends, so skipping a sibling takes one step. The table of the
 * document queried last is kept.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "api/types/text/yaml.h"
#include "base/mem.h"

struct document {
    json_t *value;
    size_t line, offset;
};

struct node {
    uint32_t line; /* line of its key, if it has one */
    uint32_t end;  /* index of the node after its subtree */
    size_t key;    /* offset in `keys`; 0 = none */
};

struct lines {
    size_t document; /* document of the table; SIZE_MAX = no table yet */
    struct node *nodes;
    size_t count, cap;
    struct buf keys; /* the keys of mappings, each ended by a NUL; offset 0 is unused */
};

struct yaml_stream {
    char *text;
    size_t len;
    struct document *documents;
    size_t count, cap;
    struct lines lines;
};

/* Returns the length of a byte order mark at the start of the text. It is skipped, because libyaml
 * would count it as a column. */
static size_t mark_of_order(const char *text, size_t len)
{
    static const char mark[] = "\xef\xbb\xbf";
    size_t n = sizeof mark - 1;

    return len >= n && memcmp(text, mark, n) == 0 ? n : 0;
}

struct yaml_stream *yaml_parse(const char *whole, size_t whole_len,
                               const struct yaml_limits *limits, struct error *err)
{
    scoped(yaml) struct yaml_stream *stream = mem_alloc(sizeof *stream);
    size_t mark = mark_of_order(whole, whole_len), len = whole_len - mark;
    const char *text = mark ? whole + mark : whole;
    scoped(yaml_reader) struct yaml_reader *reader = yaml_reader_new(text, len, limits);
    json_t *value;

    stream->lines.document = SIZE_MAX;
    for (;;) {
        if (!yaml_reader_next(reader, &value, err))
            return NULL;
        if (!value)
            break;
        mem_grow(stream->documents, stream->count, stream->cap);
        stream->documents[stream->count++] =
            (struct document){value, yaml_reader_line(reader), yaml_reader_offset(reader)};
    }
    stream->text = mem_alloc(len + 1);
    stream->len = len;
    if (len)
        memcpy(stream->text, text, len);
    return take(stream);
}

void yaml_stream_free(struct yaml_stream *stream)
{
    if (!stream)
        return;
    for (size_t i = 0; i < stream->count; i++)
        json_decref(stream->documents[i].value);
    mem_free(stream->documents);
    mem_free(stream->lines.nodes);
    buf_release(&stream->lines.keys);
    mem_free(stream->text);
    mem_free(stream);
}

size_t yaml_count(const struct yaml_stream *stream)
{
    return stream->count;
}

json_t *yaml_document(struct yaml_stream *stream, size_t index)
{
    return index < stream->count ? stream->documents[index].value : NULL;
}

/* One open container around the current node. The stack of them is as deep as the parser's limits
 * allow. */
struct open {
    size_t node;
    bool mapping, has_key; /* has_key: the next event is a value */
};

static size_t add_node(struct lines *lines, size_t line, size_t key)
{
    mem_grow(lines->nodes, lines->count, lines->cap);
    lines->nodes[lines->count] =
        (struct node){.line = (uint32_t)line, .end = (uint32_t)lines->count + 1, .key = key};
    return lines->count++;
}

static size_t add_key(struct lines *lines, const char *text, size_t len)
{
    size_t at;

    if (!lines->keys.len)
        buf_char(&lines->keys, '\0');
    at = lines->keys.len;
    buf_add(&lines->keys, text, len);
    buf_char(&lines->keys, '\0');
    return at;
}

struct layout {
    struct lines *lines;
    struct open *open;
    size_t depth, cap;
    size_t key, key_line; /* position of the next value and its line */
    size_t first_line;    /* added to the lines of the parser */
};

/* Adds a scalar, an alias or the start of a container to the table. */
static void record_node(struct layout *at, const yaml_event_t *event)
{
    struct open *top = at->depth ? &at->open[at->depth - 1] : NULL;
    size_t line = at->first_line + event->start_mark.line;
    size_t node;

    if (top && top->mapping && !top->has_key && event->type == YAML_SCALAR_EVENT) {
        at->key =
            add_key(at->lines, (const char *)event->data.scalar.value, event->data.scalar.length);
        at->key_line = line;
        top->has_key = true;
        return;
    }
    if (top && top->mapping) {
        node = add_node(at->lines, at->key_line, at->key);
        top->has_key = false;
    } else {
        node = add_node(at->lines, line, 0);
    }
    if (event->type != YAML_MAPPING_START_EVENT && event->type != YAML_SEQUENCE_START_EVENT)
        return;
    mem_grow(at->open, at->depth, at->cap);
    at->open[at->depth++] = (struct open){node, event->type == YAML_MAPPING_START_EVENT, false};
}

/* Handles one event. Returns false at the end of the document. */
static bool record_event(struct layout *at, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
    case YAML_ALIAS_EVENT:
    case YAML_MAPPING_START_EVENT:
    case YAML_SEQUENCE_START_EVENT:
        record_node(at, event);
        return true;
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        assert(at->depth && at->lines->nodes);
        at->lines->nodes[at->open[--at->depth].node].end = (uint32_t)at->lines->count;
        return true;
    case YAML_STREAM_START_EVENT:
    case YAML_DOCUMENT_START_EVENT:
        return true;
    case YAML_NO_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        break;
    }
    return false;
}

static void lay_out(struct yaml_stream *stream, size_t index)
{
    const struct document *document = &stream->documents[index];
    struct layout at = {.lines = &stream->lines, .first_line = document->line};
    yaml_parser_t parser;
    yaml_event_t event;
    bool more = true;

    stream->lines.document = index;
    stream->lines.count = 0;
    buf_clear(&stream->lines.keys);
    if (!yaml_parser_initialize(&parser))
        mem_fatal("out of memory");
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)stream->text + document->offset,
                                 stream->len - document->offset);
    while (more && yaml_parser_parse(&parser, &event)) {
        more = record_event(&at, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    mem_free(at.open);
}

/* Returns the child of `parent` with this key, or the n-th child; SIZE_MAX when there is none. */
static size_t child(const struct lines *lines, size_t parent, const char *key, size_t key_len,
                    size_t position)
{
    for (size_t i = parent + 1; i < lines->nodes[parent].end; i = lines->nodes[i].end) {
        const char *own = lines->nodes[i].key ? lines->keys.data + lines->nodes[i].key : NULL;

        if (own && strlen(own) == key_len && strncmp(own, key, key_len) == 0)
            return i;
        if (!own && !position--)
            return i;
    }
    return SIZE_MAX;
}

/* Follows one step of a path: "name", "[3]" or "[key]". */
static size_t step(const struct lines *lines, size_t at, const char **path)
{
    const char *text = *path;
    size_t len, position = SIZE_MAX;
    char *end;

    if (*text == '[') {
        len = strcspn(++text, "]");
        *path = text + len + (text[len] == ']');
        if (*text >= '0' && *text <= '9') {
            position = strtoul(text, &end, 10);
            if (end != text + len)
                position = SIZE_MAX;
        }
    } else {
        text += *text == '.';
        len = strcspn(text, ".[");
        *path = text + len;
        if (!len && !**path) /* the end of the path */
            return SIZE_MAX;
    }
    return child(lines, at, text, len, position);
}

size_t yaml_line(const struct yaml_stream *stream, size_t index, const char *path)
{
    /* Not const, because the cache changes. */
    struct yaml_stream *cache = (struct yaml_stream *)stream;
    size_t at = 0;

    if (!stream || index >= stream->count)
        return 1;
    if (stream->lines.document != index)
        lay_out(cache, index);
    if (!stream->lines.count)
        return stream->documents[index].line;
    while (*path) {
        size_t next = step(&stream->lines, at, &path);

        if (next == SIZE_MAX)
            break;
        at = next;
    }
    return stream->lines.nodes[at].line;
}
