#pragma once
/*
 * The known word most similar to a mistyped one, for "did you mean" in error texts.
 */
#include <stddef.h>

/* State of a search. Start with zeros, offer every candidate, then read `word`. */
struct suggest {
    const char *word; /* best candidate that is similar enough, or NULL */
    size_t distance;
};

/** Compares `candidate` with the word typed and keeps it if it is the best so far. Letter case is
 * ignored and a swap of neighbours counts as one edit. Words that differ in more than a third of
 * their letters (one edit is always allowed) are not similar. O(length²); words longer than 64
 * bytes are skipped. */
void suggest_offer(struct suggest *best, const char *typed, const char *candidate);
