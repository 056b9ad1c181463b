#pragma once
/*
 * YAML (and JSON, which is a subset) into documents, with positions, within bounds (L-05…L-10).
 *
 * Plain scalars resolve as Kubernetes' YAML does: null, booleans true/false only in the YAML 1.2
 * spellings plus the 1.1 ones that sigs.k8s.io/yaml takes, integers, floats, everything else text.
 * Merge keys (<<) are honoured. Duplicate keys are an error. Aliases are expanded, counted, and a
 * cycle is an error.
 */
#include "base/buf.h"
#include "base/error.h"
#include "base/scoped.h"
#include <jansson.h>
#include <stddef.h>

struct yaml_stream;

struct yaml_limits {
    size_t max_bytes, max_documents, max_depth, max_anchors, max_aliases, max_values;
};
extern const struct yaml_limits yaml_limits_default; /* files */
extern const struct yaml_limits yaml_limits_flow;    /* raised for JobFlows of 10^6 steps (DC-05) */

/**
 * Parse a whole stream. Returns NULL with `err` set; its message begins with "line L, column C: ".
 * Empty documents are skipped.
 */
struct yaml_stream *yaml_parse(const char *text, size_t len, const struct yaml_limits *limits,
                               struct error *err);
void yaml_free(struct yaml_stream *stream);
SCOPED_DEFINE_PTR(yaml, struct yaml_stream *, yaml_free)

size_t yaml_count(const struct yaml_stream *stream);
json_t *yaml_document(struct yaml_stream *stream, size_t index); /* borrowed; may be changed */
size_t yaml_document_line(const struct yaml_stream *stream, size_t index); /* first line, from 1 */

/** The line of a JSON path ("spec.flows[2].name") in a document; of its nearest existing parent
 * when the member is missing. From 1. */
size_t yaml_line(const struct yaml_stream *stream, size_t index, const char *path);

/** Block-style YAML as kubectl prints it (keys in document order, lists not indented). */
void yaml_write(const json_t *doc, struct buf *out);
