#pragma once
/*
 * The tables that say how each member of a JobSpec is merged. Private to the room: the merge and the
 * split, which is its opposite, follow them.
 */
#include <stdbool.h>
#include <stddef.h>

enum merge_how {
    MERGE_REPLACE,   /* replaces the value; also used for members without a row */
    MERGE_BY_KEY,    /* an object whose members are replaced one by one */
    MERGE_RECURSE,   /* an object that is merged by the rows of `of` */
    MERGE_LIST,      /* a list whose elements are matched by `keys` and replaced */
    MERGE_LIST_DEEP, /* a list whose elements are matched by `keys` and merged by the rows of `of` */
};

/* A member that two elements of a list must have in common to match, and the value that stands for
 * an absent member. An element without the first key has no name, unless that key has such a
 * value. */
struct merge_key {
    const char *member, *absent;
};

struct merge_row { /* NOLINT(clang-analyzer-optin.performance.Padding): in reading order */
    const char *member;
    enum merge_how how;
    struct merge_key keys[3];
    const char *instead;        /* key of patch elements that lack the first key (volumeMounts) */
    bool first_key_is_enough;   /* a patch element may name the first key alone (tolerations) */
    const struct merge_row *of; /* rows of the object or the elements; ends with {0} */
};

/* The rows of a JobSpec. */
extern const struct merge_row merge_job_rows[];

/** Returns the row of a member; one that says MERGE_REPLACE when the table (NULL: none) has no such
 * row. */
const struct merge_row *merge_row_of(const struct merge_row *rows, const char *member);
