#pragma once
/*
 * Submission files: documents with queue, jobSetId and jobs, without apiVersion and kind. `jobflow
 * submit` sends them to a daemon. Here they become the objects that the daemon would make of them.
 * Ref: armada-submit.md B.8.
 */
#include <jansson.h>
#include <stddef.h>

#include "api/submit/problems.h"

/** Returns whether a document of a file is a submission. */
bool submission_is(const json_t *doc);

/** Sets queue and job set where the document names none: `queue` and `job_set` when they are given,
 * else "default" and the name of the file without folders and ending. */
void submission_set_defaults(json_t *doc, const char *file, const char *queue, const char *job_set);

/** Returns the items of a submission (borrowed), and their key in it; NULL: none. */
json_t *submission_items(const json_t *doc, const char **out_key);

/* The objects of one item. */
struct submission_objects {
    json_t *docs;    /* list, the vcjob last; owned */
    bool is_group;   /* the item has a podGroupSpec */
    bool one_by_one; /* docs[i] is made of objects[i] of the item */
};

/* Where an item stands. */
struct submission_place {
    const char *file;      /* as the command line names it; "-": the standard input */
    size_t document, item; /* numbers in the file and in the document */
};

/** Makes the objects of an item. Returns false with problems, whose fields are paths in the document.
 * `out->docs` is NULL for an item whose deduplication id an earlier one has; `seen`, an object, has
 * the ids of all jobs so far. The id of a job follows from its deduplication id, or from its job set,
 * the name of the file without folders, and its place there, so that the same file always makes the
 * same objects. Where another file has given that id, a number makes it another one. */
bool submission_make(const json_t *doc, const struct submission_place *place, json_t *seen,
                     struct submission_objects *out, struct submit_problems *problems,
                     struct submit_problems *warnings);

/** Reads the members of the document beside its items. Returns false with problems. */
bool submission_check_head(const json_t *doc, struct submit_problems *problems);
