#pragma once
/*
 * When a container's probe is made, and what its tries amount to; pure.
 *
 *   started ── initial delay ── try ── period ── try ── …
 *
 * So many passes in a row turn it good, so many failures bad; between them it stays as it is.
 * Ref: Kubernetes pkg/kubelet/prober/worker.go.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct probe_rule {
    int64_t initial_ms, period_ms, timeout_ms;
    int32_t passes, failures; /* in a row, to turn */
    int64_t grace_s;          /* of the container, when it fails; -1 = the pod's */
};

struct probe_rule probe_rule_of(const json_t *probe);

struct probe_streak {
    bool good;   /* what it is */
    bool passed; /* the tries counted */
    int32_t length;
};

/** Count a try. True when it turned, good or bad; a bad turn is told again each time it would have
 * turned. */
bool probe_streak_count(struct probe_streak *streak, const struct probe_rule *rule, bool passed);

/** Milliseconds from now to the first try, of a container that has run for `ran_ms`. */
int64_t probe_first_ms(const struct probe_rule *rule, int64_t ran_ms);
