#pragma once
/*
 * A backfill of a FlowTrigger as its record has it, and its form in the status. What it does is in
 * trigger_backfill.c.
 */
#include "api/types/kinds/schedule/flowtrigger.h"
#include "base/encoding/jsonw.h"

struct backfill {
    char *id; /* owned */
    int64_t from_s, to_s;
    int64_t next_s; /* the time that comes next; 0: each time has been looked at */
    int32_t parallelism;
    enum backfill_rerun rerun;
    bool reverse;
    enum backfill_state state;
    int64_t times, made, kept, failed;
    char **running; /* names of its flows that have not ended, [n_running]; owned */
    size_t n_running, running_cap;
};

/** Fills a zeroed backfill from a status. */
void backfill_load(struct backfill *backfill, const struct trigger_backfill *from);
/** Frees what a backfill holds, and makes it zero. */
void backfill_clear(struct backfill *backfill);
void backfills_free(struct backfill *items, size_t n);
/** Writes the member `backfills` of a status; nothing when there are none. */
void backfills_write(struct jsonw *w, const struct backfill *items, size_t n);

/** Notes that a flow of the backfill is active. A flow that is noted already is noted once. */
void backfill_add_running(struct backfill *backfill, const char *flow);
void backfill_drop_running(struct backfill *backfill, size_t i);
