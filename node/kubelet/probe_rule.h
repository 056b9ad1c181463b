#pragma once
/*
 * Timing and thresholds of a container's probe; no I/O.
 *
 *   started ── initial delay ── try ── period ── try ── …
 *
 * `passes` successful tries in a row make the probe good, `failures` failed tries in a row make it
 * bad; until then it keeps its state. Ref: Kubernetes pkg/kubelet/prober/worker.go.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct probe_rule {
    int64_t initial_ms, period_ms, timeout_ms;
    int32_t passes, failures; /* number of consecutive tries that change the state */
    int64_t grace_s; /* grace period for ending the container after a failure; -1 = the pod's */
};

struct probe_rule probe_rule_of(const json_t *probe);

struct probe_streak {
    bool good;   /* the probe is good; false: it is bad */
    bool passed; /* the result of the last `length` tries */
    int32_t length;
};

/** Counts a try. Returns true when the state becomes good, or when a threshold of failures is
 * reached, also if the state is bad already. */
bool probe_streak_count(struct probe_streak *streak, const struct probe_rule *rule, bool passed);

/** Returns the milliseconds until the first try, for a container that has run for `ran_ms`. */
int64_t probe_first_ms(const struct probe_rule *rule, int64_t ran_ms);
