#pragma once
/*
 * Manifest files: read, parsed, split into objects, each remembered with where it stands.
 *
 * Operands are files, directories (their *.yaml, *.yml and *.json in name order, as kubectl does)
 * or "-" for standard input. A `List` object is taken apart. Nothing is checked here beyond being
 * YAML with an apiVersion and a kind we know.
 */
#include "api/types/kind.h"
#include "api/types/text/yaml.h"

struct loop;

struct manifest {
    const char *file;           /* as the user wrote it */
    struct yaml_stream *stream; /* borrowed from the set */
    size_t document;            /* index in the stream */
    const char *path;           /* "" or "items[3]": the object's place inside a List */
    json_t *doc;                /* the object; borrowed from the stream */
    const struct kind *kind;
    bool unchanged; /* the store of the run holds it as it is here (preflight) */
};

struct manifests {
    struct manifest *items; /* [count] in reading order */
    size_t count, cap;
    struct manifest_file *files; /* private */
    size_t n_files, files_cap;
};

/** Read every operand. Each problem is printed as "error: FILE:LINE: …"; false when there was one.
 */
bool manifests_load(struct manifests *set, int n_operands, char *const *operands);
void manifests_release(struct manifests *set);
/** The same on the pool of `loop`: the trees of a large file take a while to free. The set is empty
 * at once. */
void manifests_release_aside(struct manifests *set, struct loop *loop);
SCOPED_DEFINE(manifests, struct manifests, manifests_release)

/** Line of a field of a manifest's object. */
size_t manifest_line(const struct manifest *manifest, const char *field);
/** Print the finding as "error: FILE:LINE: FIELD: message" (or warning:). */
void manifest_print(const struct manifest *manifest, const char *severity, const struct error *err);
