#pragma once
/*
 * The base key of a step: a hash of the work that its job would do. Equal keys are equal work, apart
 * from the files that the work reads. Ref: spec/everyday.md 4.2.
 *
 * The key is made from the namespace, the job's specification without its incidental fields
 * (schema.h), the member `key` of the step's cache, and the contents of the ConfigMaps and Secrets
 * that the specification refers to. The order of members of an object does not matter.
 */
#include <jansson.h>

#include "base/buf.h"
#include "base/digest/sha256.h"

/* A ConfigMap or Secret that a job refers to. */
struct reuse_source {
    bool secret;
    char *name;
    char *key; /* the key of the object that the job uses; NULL: the whole object */
};

struct reuse_sources {
    struct reuse_source *items;
    size_t count, cap;
};

/** Adds what the specification of a job refers to, in the order of the text; duplicates, too. */
void reuse_sources_find(const json_t *spec, struct reuse_sources *out);
void reuse_sources_release(struct reuse_sources *sources);

/** Appends the canonical text of the specification in the body of a job ({"spec": …}): compact, members sorted, without
 * incidental fields. */
void reuse_canonical(const json_t *body, struct buf *out);

/** Appends which member of two canonical specifications differs, named by itself: "command changed".
 * Returns false if none does. */
bool reuse_difference(const json_t *before, const json_t *after, struct buf *out);

struct reuse_key_parts {
    const char *namespace;
    /* The work as text: {"job": reuse_canonical, "reads": […], "writes": […]}. */
    const char *canonical;
    const char *key;             /* cache.key, or NULL */
    const struct sha256 *source; /* digests of the sources, [n_sources], in order */
    size_t n_sources;
};
void reuse_key(const struct reuse_key_parts *parts, struct sha256 *out);
