#pragma once
/*
 * YAML (and JSON, which is a subset) into documents, with positions, within bounds (L-05…L-10).
 *
 * Plain scalars resolve as kubectl's YAML does (yaml_scalar.h): null, booleans in the spellings of
 * YAML 1.1 (yes, off, …), integers, floats, everything else text. Merge keys (<<) are honoured.
 * Duplicate keys are an error. Aliases are expanded, counted, and a cycle is an error.
 */
#include <jansson.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/scoped.h"

struct yaml_stream;

struct yaml_limits {
    size_t max_bytes, max_documents; /* of the stream */
    size_t max_depth;                /* of a document, aliases expanded */
    size_t max_anchors, max_aliases; /* of a document */
    size_t max_values;               /* written in the stream */
    size_t max_expanded; /* values that aliases add, in the stream; or as many as are written, if
                            those are more */
};
extern const struct yaml_limits yaml_limits_default; /* files: up to 10^6 documents */
extern const struct yaml_limits yaml_limits_body;    /* one request body: 3 MiB, one document */
extern const struct yaml_limits yaml_limits_flow; /* a body with a JobFlow of 10^6 steps (DC-05) */

/**
 * Parse a whole stream. Returns NULL with `err` set (BAD_REQUEST or TOO_LARGE); its message begins
 * with "line L, column C: ". Empty documents are skipped. The text is copied.
 */
struct yaml_stream *yaml_parse(const char *text, size_t len, const struct yaml_limits *limits,
                               struct error *err);
void yaml_stream_free(struct yaml_stream *stream); /* yaml_free is a function of libyaml */
SCOPED_DEFINE_PTR(yaml, struct yaml_stream *, yaml_stream_free)

size_t yaml_count(const struct yaml_stream *stream);
json_t *yaml_document(struct yaml_stream *stream, size_t index); /* borrowed; may be changed */

/**
 * One document after the other, for streams that are too long to hold as documents. `text` is
 * borrowed until the reader is freed; NULL is fine when `len` is 0.
 */
struct yaml_reader;
struct yaml_reader *yaml_reader_new(const char *text, size_t len, const struct yaml_limits *limits);
void yaml_reader_free(struct yaml_reader *reader);
SCOPED_DEFINE_PTR(yaml_reader, struct yaml_reader *, yaml_reader_free)
/** From now on, of keys given twice in one mapping the last holds; each is noted as BAD_REQUEST
 * with the message `duplicate field "KEY" (line L)`. */
void yaml_reader_take_twice(struct yaml_reader *reader, struct error_list *twice);
/** The next document (owned), NULL after the last. False with an error as yaml_parse gives it; then
 * the reader is done. */
bool yaml_reader_next(struct yaml_reader *reader, json_t **out, struct error *err);
size_t yaml_reader_line(const struct yaml_reader *reader);   /* of the document, from 1 */
size_t yaml_reader_offset(const struct yaml_reader *reader); /* its first byte in the text */

/** The line of a JSON path ("spec.flows[2].name") in a document; of its nearest existing parent
 * when the member is missing. From 1. */
size_t yaml_line(const struct yaml_stream *stream, size_t index, const char *path);

/** Block-style YAML as kubectl prints it (keys in document order, lists not indented). */
void yaml_write(const json_t *doc, struct buf *out);
