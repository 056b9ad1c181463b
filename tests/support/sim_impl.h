#pragma once
/*
 * The state of a simulation, for tests/support/sim*.c only.
 */
#include "api/types/kinds/job/job.h"
#include "api/types/kinds/jobflow/jobflow.h"
#include "base/collections/hash.h"
#include "cli/engine/engine.h"
#include "tests/support/dice.h"
#include "tests/support/flow_gen.h"
#include "tests/support/sim.h"

/* Time of the wall clock at the beginning of a simulation. */
#define SIM_START_MS INT64_C(1700000000000)

enum { SIM_FLOWS = 3, SIM_JOBS = 3, SIM_UID = 40, SIM_NAME = 64 };

/* An object that is durable, or was. */
struct sim_object {
    UT_hash_handle hh; /* entry of sim.objects, keyed by uid */
    char uid[SIM_UID];
    const struct object *object; /* the durable version; NULL: deleted */
    const struct kind *kind;
    int64_t finished_ns; /* when the end of the flow or job was accepted; 0: it has not ended */
    int64_t aborted_ns;  /* when the abort of the flow was accepted; 0: it is not aborted */
    bool was_asked;      /* a client asked for its deletion, or for that of its owner */
    bool resumed;        /* a client resumed the job, which counts as a retry */
    bool intent;         /* the start intent of the pod is durable */
};

/* An accepted change that is not durable yet. */
struct sim_change {
    int64_t revision, at_ns;
    char uid[SIM_UID];
    const struct object *object; /* the accepted version, owned; NULL: deleted */
};

/* A flow of a client, by the number in its name. */
struct sim_flow {
    struct gen_flow gen;
    uint64_t seed;
    bool made;
    bool disturbed; /* a client or a lost pod may have changed its result */
    int retries;
};

struct sim_pod;

/* A watch of all objects of a kind, and the changes that it must tell next. */
struct sim_watch {
    struct sim *sim;
    struct store_watch *watch;
    int64_t *told; /* revisions of the changes to be told, [n] */
    size_t n, capacity, at;
};
enum { SIM_WATCHES = 3 };

struct sim {
    uint64_t seed;
    struct dice dice; /* random choices of the present event */
    const struct sim_options *options;
    char *violation;
    uint64_t hash;

    struct clock *clock; /* clock of the machine; it outlives the simulated process */
    int64_t began_ns;    /* monotonic time of the machine at the beginning */
    struct engine *engine;
    struct loop *loop; /* NULL: no process runs */
    bool dead;         /* the process is killed; what is left of it has no effect any more */
    bool opened;       /* the store of the machine is open */
    int cut_at_start;  /* the disk operation at which the next start is killed; 0 = none */
    bool power;        /* the next end is a failure of the power */
    int turns_left;    /* the process is killed at the end of this turn; 0 = it is not */
    struct turn_hook turn_end;
    int turns_now;   /* turns since time last passed */
    int64_t turn_ns; /* monotonic time at the end of the last turn */
    bool keeps_pods; /* in this run no fault loses pods */
    bool gentle;     /* in this run clients do nothing that changes the result of a flow */
    int slow_ms;     /* the longest duration of a commit */
    int pods_max;

    /* Used by sim_store.c. */
    struct sim_object *objects;
    uint64_t fingerprint; /* hash of all durable objects and their revisions */
    struct sim_change *pending;
    size_t n_pending, cap_pending;
    int64_t change_ns;       /* time at which the change that becomes durable now was accepted */
    int64_t durable, newest; /* revisions: the last durable one, the largest ever assigned */
    struct sim_watch watches[SIM_WATCHES];
    struct committer *committer;

    /* Used by sim_machine.c. */
    struct sim_pod *pods;
    struct runtime *runtime;
    int boots, running;
    int boot_seen; /* the boot in which the runtime ran last, which it notes; 0 = none */

    /* Used by sim_client.c. */
    struct sim_flow flows[SIM_FLOWS];
    bool pods_lost;   /* pods were lost, so no result is certain any more */
    bool jumped;      /* the wall clock was set */
    int64_t stale[4]; /* revisions that a client read some time ago */
    int commands;
    struct sim_answer *answers;

    struct sim_counts counts;
};

extern struct sim *sim_now; /* the simulation that runs; NULL: none */

void PRINTF_LIKE(2, 3) sim_violated(struct sim *sim, const char *format, ...);
void PRINTF_LIKE(2, 3) sim_tell(struct sim *sim, const char *format, ...);
bool sim_is_over(const struct sim *sim); /* an invariant was violated */
/** The process ends at once: nothing it does from now on has an effect. */
void sim_kill(struct sim *sim);

/* Defined in sim_store.c. */
void sim_store_watch(struct sim *sim);
/** Closes the watches. `complete`: every durable change must have been told. */
void sim_store_unwatch(struct sim *sim, bool complete);
void sim_store_end(struct sim *sim);
struct sim_object *sim_find(struct sim *sim, const char *uid);
/** Returns the durable object of a kind and name in namespace default, or NULL. */
struct sim_object *sim_named(struct sim *sim, const struct kind *kind, const char *name);

/* Defined in sim_machine.c. */
void sim_machine_end(struct sim *sim);
void sim_machine_cut(struct sim *sim); /* the power failed: every pod is gone */
/** Loses a running pod as if its supervisor was killed. */
void sim_machine_lose(struct sim *sim);
/** Returns whether the machine knows how the pod ended; `out` gets its exit code. */
bool sim_machine_ended(struct sim *sim, const char *uid, int *out);
bool sim_machine_lost(struct sim *sim, const char *uid);

/* Defined in sim_client.c. */
void sim_client_begin(struct sim *sim); /* creates the templates and the first flow */
void sim_client_event(struct sim *sim);
void sim_client_calm(
    struct sim *sim); /* undoes suspensions and the like, so that every flow can end */
void sim_client_end(struct sim *sim);
/** The process is gone: requests without an answer get none. */
void sim_client_left(struct sim *sim);
/** Returns how the pod of that job ends, if it belongs to a flow of a client. */
bool sim_client_end_of(struct sim *sim, const struct object *job, struct gen_end *out);

/* Defined in sim_check.c. */
void sim_check_change(struct sim *sim, struct sim_object *known, const struct object *object);
void sim_check_calm(struct sim *sim); /* what must hold when everything has ended */

/* Defined in sim_model.c. */
enum sim_result { SIM_UNKNOWN, SIM_SUCCEEDS, SIM_FAILS };
/** Returns how the flow ends if no client and no fault changes its course; SIM_UNKNOWN when that
 * depends on timing. */
enum sim_result sim_model(const struct gen_flow *flow, uint64_t seed, const char *name);
