#pragma once
/*
 * What all readers of the progress of one flow share: the version of the flow that was read last,
 * and where its steps are.
 *
 * An index exists while it has readers. A change of the flow or of one of its jobs is looked at once
 * for each flow, however many readers there are; each reader then gets a bit for each vertex that
 * the change concerns. All indexes share two watches of the store, which exist while there is an
 * index: a change that concerns no watched flow costs one look-up.
 */
#include <sys/queue.h>

#include "api/server/rest/internal.h"
#include "api/types/kinds/jobflow/step_list.h"
#include "base/collections/bitset.h"
#include "base/collections/hash.h"
#include "base/collections/name_index.h"

enum { PROGRESS_PHASES_MAX = 64 }; /* different texts; a further one is shown as the first */

struct progress_reader;

struct progress_index {
    struct api *api;
    char *ns, *name;
    /* The version of the flow that was read last. */
    struct object *flow; /* reference; NULL: there is none */
    struct step_list *list;
    struct name_index names; /* numbers of the steps of the spec */
    uint32_t *first;         /* the vertex of each step, [steps + 1] */
    uint32_t *loops;         /* the steps that are loops, [n_loops], ascending */
    uint32_t steps, n_loops;
    char *phases[PROGRESS_PHASES_MAX];
    uint32_t n_phases;
    bool stale;    /* the flow has changed since it was read, or was never read */
    bool was_read; /* without a flow: it does not exist */
    bool is_shared;
    LIST_HEAD(, progress_reader) readers;
    char *key; /* namespace and name, of an index that is shared */
    UT_hash_handle hh;
};

/* One reader; a member of its stream. */
struct progress_reader {
    struct progress_index *index;
    struct bitset untold; /* the vertices that it has not told */
    bool tell_reset, tell_gone, tell_flow, tell_ready;
    uint32_t n_phases_told;
    void (*wake)(struct progress_reader *reader); /* there is something to tell */
    LIST_ENTRY(progress_reader) all;
};

/** Adds a reader of a flow, to which nothing has been told. One that follows hears of changes and
 * shares its index; another has an index to itself, which does not change after it was read. */
void progress_reader_open(struct progress_reader *reader, struct api *api, const char *ns,
                          const char *name, bool follows);
/** Removes the reader. The index is freed with the last one. No-op for one that is zeroed. */
void progress_reader_close(struct progress_reader *reader);

/** Reads the newest version of the flow if it has changed, and notes with every reader what that
 * changes for it. */
void progress_index_refresh(struct progress_index *index);
/** Returns the number of vertices of the flow that was read. */
uint32_t progress_index_count(const struct progress_index *index);
/** Returns the step whose vertex, or the vertex of whose iteration, this is. */
uint32_t progress_index_step(const struct progress_index *index, uint32_t vertex);
/** Returns the number of a phase among `phases`, which it joins if it is new. */
uint32_t progress_index_phase(struct progress_index *index, const char *phase);
