#pragma once
/*
 * References in the strings of a step's patch: $(item), $(index), $(attempt), $(params.NAME),
 * $(steps.NAME.outputs.KEY), $(flow.name), $(flow.phase).
 *
 * Other text stays unchanged, because $(VARIABLE) is expanded in the container. $$(item) is an
 * escaped reference and becomes $(item). Ref: spec/jobflow.md 13.3, 13.5, DC-17.
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
    FLOW_REF_PARAMETER,  /* params.NAME, parameters.NAME */
    FLOW_REF_OUTPUT,     /* steps.NAME.outputs.KEY, nodes.NAME.outputs.KEY */
    FLOW_REF_FLOW_NAME,  /* flow.name */
    FLOW_REF_FLOW_PHASE, /* flow.phase: the result of the flow, for its final steps */
    FLOW_REF_DOUBTFUL,   /* a text that begins like a reference but is none: steps.NAME.KEY */
};

/* Maximum total length of the values inserted into one document. A short text can refer to a long
 * value many times, and the result would exceed the size of any object (L-11). */
enum { FLOW_REFS_BYTES_MAX = 16 << 20 };

/* One reference. Its names point into the text. */
struct flow_ref {
    enum flow_ref_kind kind;
    const char *name, *key; /* texts without a terminator */
    size_t name_len, key_len;
};

/** Calls `visit` for every reference in the strings of `doc` (may be NULL), including doubtful
 * ones. */
void flow_refs_each(const json_t *doc, void (*visit)(void *arg, const struct flow_ref *ref),
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
 * consists of one reference is converted to that type.
 */
json_t *flow_refs_replace(const struct schema *schema, json_t *doc,
                          const struct flow_ref_values *values, struct error *err);
/** Replaces the references in one text and appends the result to `out`. */
bool flow_refs_replace_text(const char *text, const struct flow_ref_values *values, struct buf *out,
                            struct error *err);
/** Returns true if any string of the document contains "$(". */
bool flow_refs_any(const json_t *doc);

/** Tell whether a text contains a flow reference, and whether it consists of exactly one. */
bool flow_ref_in(const char *text);
bool flow_ref_is_all(const char *text);
