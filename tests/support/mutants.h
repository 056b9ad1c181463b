#pragma once
/*
 * Generates malformed variants of a JSON document: each member and each list element is removed,
 * and is replaced with a value of every other JSON type.
 */
#include <jansson.h>

struct mutants {
    json_t *whole; /* borrowed; mutated in place and restored at the end */
    /** Called for each variant, which is in `whole`; `what` names the member that was changed. */
    void (*try_it)(struct mutants *mutants, const char *what);
};

/** Generates all variants of `at`, which is `whole` or a part of it. Its kind and apiVersion stay.
 */
void mutants_walk(struct mutants *mutants, json_t *at);
