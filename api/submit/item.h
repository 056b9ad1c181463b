#pragma once
/*
 * From an item of a request to the objects that are created for it: ConfigMaps and Services, and
 * last the vcjob. Pure: what is built follows from the item and its context. Ref:
 * armada-submit.md B.3, B.4.
 */
#include "api/submit/fields.h"

#define LABEL_JOB_ID           "submit.flow.volcano.sh/job-id"
#define LABEL_SUBMIT_QUEUE     "submit.flow.volcano.sh/queue"
#define LABEL_JOB_SET_HASH     "submit.flow.volcano.sh/job-set-hash"
#define ANNOTATION_JOB_SET     "submit.flow.volcano.sh/job-set"
#define ANNOTATION_OWNER       "submit.flow.volcano.sh/owner"
#define ANNOTATION_OUTCOME     "submit.flow.volcano.sh/outcome"
#define ANNOTATION_SUBMISSION  "submit.flow.volcano.sh/submission" /* name of the Submission */
#define SUBMIT_JOB_NAME_PREFIX "aj-"

enum { JOB_SET_HASH_MAX = 17 };

/* The last item without auxiliary objects, and what its job is made of. An item of the same shape
 * gets the same spec without building it again. A zeroed struct has none. */
struct submit_shape {
    json_t *doc;               /* fields of that item; owned */
    json_t *spec, *companions; /* owned */
};
void submit_shape_release(struct submit_shape *shape);

/* What all items of a request share. Borrowed. */
struct submit_context {
    const char *queue, *job_set;
    char job_set_hash[JOB_SET_HASH_MAX];
    const char *owner; /* name of the user, or NULL */
    bool (*class_exists)(void *arg, const char *priority_class);
    void *arg;
    struct submit_problems *problems, *warnings;
    struct submit_shape *shape; /* NULL: every spec is built */
    size_t *metadata_bytes; /* labels and annotations of all objects so far; NULL: not counted */
};

void job_set_hash(const char *job_set, char out[JOB_SET_HASH_MAX]);

/* An item while it is checked. */
struct submit_item {
    const struct submit_context *ctx;
    const json_t *doc; /* its fields as submit_fields_read gives them */
    const char *path;  /* jobRequestItems[3] */
    const char *id;    /* id of its job */
    const char *ns;
    char *name;         /* name of the vcjob; owned */
    json_t *tasks;      /* tasks of the vcjob */
    json_t *companions; /* names of the companions */
    const char *coordinator;
};

/**
 * Checks the item and returns its objects as documents, the vcjob last (an owned list), or NULL
 * with every problem in the context's list. The spec of the vcjob may be that of an item before.
 */
json_t *submit_item_build(const struct submit_context *ctx, const json_t *doc, const char *path,
                          const char *id);

/* limits.c */

/** Reports what is more than an item may have. Returns whether nothing is. */
bool submit_item_within_limits(const struct submit_item *item);

/* group.c */

/** Fills in the tasks from mainObject.podSpec or podGroupSpec. */
void submit_item_tasks(struct submit_item *item);

/* objects.c */

/** Appends the documents of the item's auxiliary objects to `out`. */
void submit_item_objects(struct submit_item *item, json_t *out);

/* item.c */

/** Adds a problem at a field of the item: the format gives the rest of the path. */
void submit_item_problem(const struct submit_item *item, const char *reason, const char *field,
                         const char *format, ...) PRINTF_LIKE(4, 5);
/** Returns the metadata of an object of the item: its labels and annotations over those of the
 * item, with {JobId} replaced, and what the system adds. Owned. */
json_t *submit_item_metadata(const struct submit_item *item, const json_t *own, const char *field,
                             const char *name);
/** Reads a whole number of `object`; `*out` stays when it is absent. False when it is given and is
 * not one from `least` to `most`. */
bool submit_number(const json_t *object, const char *key, int64_t least, int64_t most,
                   int64_t *out);
