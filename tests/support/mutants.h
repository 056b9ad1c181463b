#pragma once
/*
 * Documents with something missing, or of another shape than it should be: each member and each
 * entry of a list is taken away, and put in the place of everything else that JSON has.
 */
#include <jansson.h>
#include <stdbool.h>

struct mutants {
    json_t *whole; /* borrowed; mutated in place, and as it was in the end */
    /** Try what `whole` is now; `what` names the member that was mutated. */
    void (*try_it)(struct mutants *mutants, const char *what);
};

/** All mutants of what lies in `at`, a part of the whole or itself. Its kind and apiVersion stay.
 */
void mutants_walk(struct mutants *mutants, json_t *at);
