#pragma once
/*
 * References in the strings of templates and of steps' patches: $(item), $(index), $(attempt),
 * $(params.NAME), $(steps.NAME.outputs.KEY), $(flow.name), $(flow.phase).
 * $(steps.NAME.*.outputs.KEY) stands for the outputs of all iterations of a loop, as a JSON list.
 *
 * Other text stays unchanged, because $(VARIABLE) is expanded in the container. What a reference
 * stands for is text and stays text: where the container expands, each $ of it is doubled. $$(item)
 * is an escaped reference, the text $(item). Ref: spec/everyday.md 3.2, spec/jobflow.md 13.3, 13.5,
 * DC-17, DC-26.
 */
#include <jansson.h>
#include <stdbool.h>

#include "api/types/schema/schema.h"
#include "base/buf.h"
#include "base/error.h"

enum flow_ref_kind {
    FLOW_REF_ITEM,
    FLOW_REF_INDEX,
    FLOW_REF_ATTEMPT,    /* attempt: number of the step's attempt, from 1 */
    FLOW_REF_PARAMETER,  /* $(params.NAME), $(parameters.NAME) */
    FLOW_REF_OUTPUT,     /* $(steps.NAME.outputs.KEY), $(nodes.NAME.outputs.KEY) */
    FLOW_REF_FLOW_NAME,  /* $(flow.name) */
    FLOW_REF_FLOW_PHASE, /* flow.phase: the result of the flow, for its final steps */
    FLOW_REF_DOUBTFUL,   /* a text that begins like a reference but is none: steps.NAME.KEY */
};

/* Maximum total length of the values inserted into one document. A short text can refer to a long
 * value many times, and the result would exceed the size of any object (L-11). */
enum { FLOW_REFS_BYTES_MAX = 16 << 20 };

/* One reference. Its names point into the text. */
struct flow_ref {
    enum flow_ref_kind kind;
    bool every;             /* of an output: those of all iterations of a loop */
    const char *name, *key; /* texts without a terminator */
    size_t name_len, key_len;
};

/** Calls `visit` for every reference in the strings of `doc` (may be NULL), including doubtful
 * ones. */
void flow_refs_each(const json_t *doc, void (*visit)(void *arg, const struct flow_ref *ref),
                    void *arg);
/** Visits the references of one text, as flow_refs_each does for a document. */
void flow_ref_each(const char *text, void (*visit)(void *arg, const struct flow_ref *ref),
                   void *arg);

/* Gives the values of references: `value` appends the value of one. It returns false with `err` if
 * the value cannot be known; *out_leave = true leaves the reference as it is. */
struct flow_ref_values {
    bool (*value)(void *ctx, const struct flow_ref *ref, struct buf *out, bool *out_leave,
                  struct error *err);
    void *ctx;
};

/**
 * Returns a copy of `doc` with every reference replaced (owned), or NULL with the error of `value`
 * or TOO_LARGE beyond FLOW_REFS_BYTES_MAX. Strings without references are shared with `doc`.
 * `schema` is the table of `doc`, or NULL: where it requires a number or a boolean, a string that
 * consists of one reference is converted to that type; where it says that the container expands,
 * values are quoted.
 */
json_t *flow_refs_replace(const struct schema *schema, json_t *doc,
                          const struct flow_ref_values *values, struct error *err);
/** Replaces the references in one text and appends the result to `out`. */
bool flow_refs_replace_text(const char *text, const struct flow_ref_values *values, struct buf *out,
                            struct error *err);
/** Returns true if any string of the document (may be NULL) contains a reference, also an escaped
 * one. */
bool flow_refs_in(const json_t *doc);
/** Appends text to a value that a container expands, so that it stays as it is: each $ doubled. */
void flow_ref_quote(const char *text, size_t len, struct buf *out);

/** What a finding about the value of a field adds: where a reference may stand for such a value, if the
 * text has one; else "". */
const char *flow_ref_hint(const char *text);
/** Appends a reference as it is written: $(params.NAME). */
void flow_ref_write(const struct flow_ref *ref, struct buf *out);

/** Returns whether a text contains a flow reference. The function below returns whether it consists
 * of exactly one. */
bool flow_ref_in(const char *text);
bool flow_ref_is_all(const char *text);
