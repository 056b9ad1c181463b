#pragma once
/*
 * The states of all steps of a flow, as …/jobflows/NAME/progress tells them: 15 bytes for each, and
 * for each reader one bit that says whether it has the newest value.
 */
#include "base/buf.h"
#include "base/collections/bitset.h"

enum { STEP_TABLE_MAX = 8 << 20 }; /* vertices of a table */

/* One vertex. Times are in units of 10 ms since the base that the table's owner knows; 0: not yet,
 * or not known. */
struct step_values {
    uint8_t phase; /* index into a list of the owner's */
    uint16_t attempt;
    uint32_t made, run, end;
};

struct step_table {
    uint32_t count;
    uint8_t *phase;
    uint16_t *attempt;
    uint32_t *made, *run, *end;
    struct bitset known; /* the vertices that have been set */
};

/** Makes a table in which nothing is known; what was in it is dropped. */
void step_table_init(struct step_table *table, uint32_t count);
void step_table_release(struct step_table *table);
/** Sets a vertex below `count`. Returns whether that changes something. */
bool step_table_set(struct step_table *table, uint32_t vertex, const struct step_values *values);
/** Makes the set of a reader that has read nothing. */
void step_table_rewind(const struct step_table *table, struct bitset *unread);
/** Appends members of a line with the values of vertices that are unread, and takes these out of the
 * set: `,"i":[…],"phase":[…],…`, or "from" for neighbouring ones. Stops after about `most` bytes.
 * Returns whether more is left. */
bool step_table_write(const struct step_table *table, struct bitset *unread, size_t most,
                      struct buf *out);
