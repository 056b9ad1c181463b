#pragma once
/*
 * Finds the steps that an edit of the files changes: those whose entry in spec.flows differs from the
 * stored one, whose template differs, or that refer to a parameter whose value differs. New steps
 * count, too. Documents are compared as admitted, so order and defaults mean nothing. Settings of the
 * whole flow, such as scheduling, are no edit of a step.
 */
#include "api/types/object.h"
#include "base/buf.h"

struct edits;

struct edits *edits_new(void);
void edits_free(struct edits *edits); /* NULL is ignored */
SCOPED_DEFINE_PTR(edits, struct edits *, edits_free)

/** Notes a JobTemplate or JobFlow as admitted and as it is stored, or NULL; keeps references to
 * flows. Other kinds are ignored. */
void edits_note(struct edits *edits, const struct object *now, const struct object *stored);
/** Finds the flow of that name among those noted that are stored. Appends the names of its steps that
 * differ, separated by commas. Returns the flow as admitted, borrowed, or NULL. Called once all
 * templates are noted; a flow is compared once. */
const struct object *edits_of(struct edits *edits, const char *ns, const char *name,
                              struct buf *out);
