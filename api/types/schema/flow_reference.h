#pragma once
/*
 * References in the strings of a step's patch: $(item), $(index), $(attempt), $(params.NAME),
 * $(steps.NAME.outputs.KEY), $(flow.name), $(flow.phase).
 *
 * What is no reference of ours stays as it is, for $(VARIABLE) belongs to the container; $$(item)
 * says that no reference is meant and becomes $(item). Ref: spec/jobflow.md 13.3, 13.5, DC-17.
 */
#include <jansson.h>
#include <stdbool.h>

#include "api/types/schema/schema.h"
#include "base/buf.h"
#include "base/error.h"

enum flow_ref_kind {
    FLOW_REF_ITEM,
    FLOW_REF_INDEX,
    FLOW_REF_ATTEMPT,    /* attempt: of the step, from 1 */
    FLOW_REF_PARAMETER,  /* params.NAME, parameters.NAME */
    FLOW_REF_OUTPUT,     /* steps.NAME.outputs.KEY, nodes.NAME.outputs.KEY */
    FLOW_REF_FLOW_NAME,  /* flow.name */
    FLOW_REF_FLOW_PHASE, /* flow.phase: how the flow ends, for its final steps */
    FLOW_REF_DOUBTFUL,   /* looks like one and is none, as steps.NAME.KEY; `name` is all of it */
};

/* What all references of one document may stand for: a text may name a long value as often as it is
 * long itself, and what that makes is larger than any object could be (L-11). */
enum { FLOW_REFS_BYTES_MAX = 16 << 20 };

/* Names point into the text. */
struct flow_ref {
    enum flow_ref_kind kind;
    const char *name, *key; /* not terminated */
    size_t name_len, key_len;
};

/** Visit every reference in the strings of `doc`, which may be NULL, and what is doubtful. */
void flow_refs_each(const json_t *doc, void (*visit)(void *arg, const struct flow_ref *ref),
                    void *arg);

/* What references stand for: `value` appends it. False with `err` when it cannot be known;
 * *out_leave = true leaves the reference as it is written. */
struct flow_ref_values {
    bool (*value)(void *ctx, const struct flow_ref *ref, struct buf *out, bool *out_leave,
                  struct error *err);
    void *ctx;
};

/**
 * A copy of `doc` with every reference replaced (owned), or NULL with `err`: that of `value`, or
 * TOO_LARGE beyond FLOW_REFS_BYTES_MAX. Strings without any
 * are shared with `doc`. `schema` is the table of `doc`, or NULL: where it asks for a number or a
 * truth value, a string that is one reference becomes one.
 */
json_t *flow_refs_replace(const struct schema *schema, json_t *doc,
                          const struct flow_ref_values *values, struct error *err);
/** The same for one text, appended to `out`. */
bool flow_refs_replace_text(const char *text, const struct flow_ref_values *values, struct buf *out,
                            struct error *err);
/** Whether any string of the document has "$(" in it. */
bool flow_refs_any(const json_t *doc);

/** Whether a text has a reference of ours in it, or is one and nothing else. */
bool flow_ref_in(const char *text);
bool flow_ref_is_all(const char *text);
