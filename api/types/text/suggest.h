#pragma once
/*
 * The nearest known word to a mistyped one, for "did you mean".
 */
#include <stddef.h>

/* The search so far; start with zeros, offer every candidate, read `word`. */
struct nearest {
    const char *word; /* best candidate within reach, or NULL */
    size_t distance;
};

/** Offer a candidate. Letter case counts as nothing, a swap of neighbours as one edit; words that
 * differ in more than a third of their letters (at least one edit is allowed) are out of reach.
 * O(length²), words beyond 64 bytes are skipped. */
void nearest_offer(struct nearest *best, const char *typed, const char *candidate);
