#pragma once
/*
 * Reads YAML (and JSON, which is a subset) into documents, with line numbers and within limits
 * (L-05…L-10). Writes documents as YAML.
 *
 * Plain scalars resolve as in kubectl (see yaml_scalar.h): null, booleans in the spellings of YAML
 * 1.1 (yes, off, …), integers, floats, everything else text. Merge keys (<<) are supported.
 * Duplicate keys are an error. Aliases are expanded and counted; a cycle is an error.
 */
#include <jansson.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/scoped.h"

struct yaml_stream;

struct yaml_limits {
    size_t max_bytes, max_documents; /* limits of the stream */
    size_t max_depth;                /* depth of a document with its aliases expanded */
    size_t max_anchors, max_aliases; /* limits of a document */
    size_t max_values;               /* written out in the stream */
    /* Values that aliases may add in the stream. They may always add as many as are written out. */
    size_t max_expanded;
};
extern const struct yaml_limits yaml_limits_default; /* limits of files: up to 10^6 documents */
/* The limits of a request body: 3 MiB, one document. */
extern const struct yaml_limits yaml_limits_body;
extern const struct yaml_limits yaml_limits_flow; /* limits of a JobFlow of 10^6 steps (DC-05) */

/**
 * Parses a whole stream. Returns NULL with `err` set (BAD_REQUEST or TOO_LARGE); the message begins
 * with "line L, column C: ". Empty documents are skipped. The text is copied.
 */
struct yaml_stream *yaml_parse(const char *text, size_t len, const struct yaml_limits *limits,
                               struct error *err);
/** Reads a file of at most `max_bytes` and parses it as yaml_parse does. The errors, which may also be
 * those of file_read, name the file. */
struct yaml_stream *yaml_read_file(const char *path, size_t max_bytes,
                                   const struct yaml_limits *limits, struct error *err);
void yaml_stream_free(struct yaml_stream *stream); /* yaml_free belongs to libyaml */
SCOPED_DEFINE_PTR(yaml, struct yaml_stream *, yaml_stream_free)

size_t yaml_count(const struct yaml_stream *stream);
/** Borrowed; the caller may change it. */
json_t *yaml_document(struct yaml_stream *stream, size_t index);

/**
 * Reads one document after the other, for streams too long to hold all documents in memory. `text`
 * is borrowed until the reader is freed; it may be NULL when `len` is 0.
 */
struct yaml_reader;
struct yaml_reader *yaml_reader_new(const char *text, size_t len, const struct yaml_limits *limits);
void yaml_reader_free(struct yaml_reader *reader);
SCOPED_DEFINE_PTR(yaml_reader, struct yaml_reader *, yaml_reader_free)
/** After this call the last of duplicate keys in a mapping counts. Each is added to `duplicates` as
 * BAD_REQUEST with the message `duplicate field "KEY" (line L)`. */
void yaml_reader_report_duplicates(struct yaml_reader *reader, struct error_list *duplicates);
/** Reads the next document (owned), NULL after the last. Returns false with an error as yaml_parse
 * does; the reader then gives no more documents. */
bool yaml_reader_next(struct yaml_reader *reader, json_t **out, struct error *err);
size_t yaml_reader_line(const struct yaml_reader *reader); /* line of the document, from 1 */
/* Returns the position of the document's first byte in the text. */
size_t yaml_reader_offset(const struct yaml_reader *reader);

/** Returns the line, from 1, of a JSON path ("spec.flows[2].name") in a document. If the member is
 * absent it is the line of its nearest existing parent. A NULL stream, of a document that was not
 * read from a text, has one line. */
size_t yaml_line(const struct yaml_stream *stream, size_t index, const char *path);

/** Appends block-style YAML as kubectl prints it: keys in document order, lists not indented. */
void yaml_write(const json_t *doc, struct buf *out);
