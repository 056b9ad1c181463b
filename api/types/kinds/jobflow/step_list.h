#pragma once
/*
 * The steps of a stored flow one by one, as the subresource …/jobflows/NAME/steps lists them.
 *
 * The status of a large flow describes only some of its steps (DC-05). Here every step has an entry
 * as in status.nodes, put together from the flow and its jobs. Iterations that do not exist yet and
 * may never exist (until, itemsFrom) are left out. A server makes the list of its store; a client
 * makes it of objects when its server does not have the subresource.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/types/object.h"
#include "base/encoding/jsonw.h"

struct step_list;

struct step_list_options {
    /** Returns the stored Job of this name in the namespace of the flow; borrowed; NULL: there is
     * none. It may belong to another owner. */
    const struct object *(*find_job)(void *ctx, const char *name);
    void *ctx;
    int64_t now_ms; /* wall clock, for ages in a Table */
    bool as_table;  /* rows of a Table instead of items of a JobFlowStepList */
};

/** Prepares the list of a flow, which is borrowed until step_list_free. */
struct step_list *step_list_new(const struct object *flow, const struct step_list_options *options);
void step_list_free(struct step_list *list); /* NULL is fine */
SCOPED_DEFINE_PTR(step_list, struct step_list *, step_list_free)

/** Returns the number of steps and iterations. A position in the list is below it. */
uint32_t step_list_count(const struct step_list *list);
/** Writes the members of the list but for its metadata: kind, version, columns of a Table, and at
 * most `limit` entries from position `from` on. Returns the position of the next entry; 0 after the
 * last one. */
uint32_t step_list_write(struct step_list *list, uint32_t from, int64_t limit, struct jsonw *w);

/* The state of one step or iteration. Texts are borrowed from the list's flow. */
struct step_state {
    const char *phase;            /* as the list shows it; "Cached" for a step that was reused */
    const char *reason, *message; /* NULL: none */
    uint32_t attempts, restarts;  /* `restarts`: of the newest job */
    int64_t made_ms, run_ms, ended_ms; /* of the newest job: creation, since when or from when it
                                        * was Running, end; of a loop those of its first and last
                                        * job; 0: not yet or not known */
};

/** Returns how many iterations a step of the spec has; 0 for a step that is no loop. */
uint32_t step_list_iterations(const struct step_list *list, uint32_t step);
/** Reads the state of a step (`iteration` UINT32_MAX), or of an iteration of a loop. `vertex` is its
 * position in the list. False for an iteration that may never exist. */
bool step_list_state(const struct step_list *list, uint32_t vertex, uint32_t step,
                     uint32_t iteration, struct step_state *out);
/** Names what two versions of one flow tell differently, which have equal numbers of iterations:
 * `named` gets names of steps and iterations, `at` positions; some may be given twice, and a
 * position may lie behind the last. The jobs are not compared. */
void step_list_compare(const struct step_list *old, const struct step_list *now,
                       void (*named)(void *ctx, const char *name),
                       void (*at)(void *ctx, uint32_t vertex), void *ctx);
