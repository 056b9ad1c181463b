#pragma once
/*
 * The kinds of probe that a step can have: one row a kind in a table of constants.
 *
 * A row says how an entry of the step's spec is read and how one attempt at a pod begins and is
 * cancelled. A kind without attempts is decided by the phases of pods. ARCHITECTURE.md has the
 * recipe for a new kind. Ref: spec/jobflow.md 6.2.
 */
#include "api/types/kinds/jobflow/jobflow.h"
#include "api/types/kinds/pod/pod.h"
#include "probes/attempt.h"

/* One entry after reading: what all kinds have in common. Texts are borrowed from the flow. */
struct probe_entry {
    enum probe_kind kind;
    uint32_t index;   /* within the list of its kind */
    const void *spec; /* the decoded entry: struct probe_http, probe_tcp or probe_task_status */
    const char *task; /* task whose pods are probed; NULL = every task */
    int32_t port;
    int32_t period_s;       /* pause between two attempts; 0 = default */
    unsigned phases;        /* bit per pod phase: pods in these pass without an attempt */
    bool one_pod_suffices;  /* one pod is enough, whatever the task's minimum */
    bool met_by_completion; /* every job that completes has fulfilled the entry before */
    bool awaits_failure;    /* the entry waits for the failure of a pod of the task */
    bool ready;             /* pods in the phases pass only while they are ready */
};

/* What attempts need. The first attempt that needs the HTTP client makes it. */
struct probe_io {
    struct loop *loop;
    struct probe_http_client *http;
};

struct probe_kind_row {
    const char *name; /* name of the kind in metrics */
    /** Fills in what the kind's entry says. Kind, index, spec and task are already set; the other
     * members are zero. */
    void (*read)(const void *spec, struct probe_entry *out);
    /** Begins an attempt, as probe_http_start does. NULL: pods pass by their phase. */
    bool (*start)(struct probe_io *io, struct probe_attempt *attempt, const void *spec,
                  const struct probe_address *address);
    void (*cancel)(struct probe_attempt *attempt);
};

extern const struct probe_kind_row probe_kinds[PROBE_KIND_N];

/** Reads the entry at a position counted over all kinds (flow_probe_count). */
struct probe_entry probe_entry_at(const struct flow_probe *probe, size_t position);
/** Returns whether a pod with this status passes without an attempt. */
bool probe_entry_passes(const struct probe_entry *entry, const struct pod_status *status);
