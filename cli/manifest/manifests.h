#pragma once
/*
 * Reads manifest files and splits them into objects, each with its file and line.
 *
 * Operands are files, directories (their *.yaml, *.yml and *.json in name order, as in kubectl) or
 * "-" for standard input. A `List` object is split into its items. Loading checks only that the
 * text is valid YAML and that each object has an apiVersion and a known kind.
 */
#include "api/types/kind.h"
#include "api/types/text/yaml.h"

struct loop;

struct manifest {
    const char *file;           /* path as given by the user */
    struct yaml_stream *stream; /* document of the manifest; borrowed from the set */
    size_t document;            /* index in the stream */
    const char *path;           /* path of the object inside a List, such as "items[3]"; "" */
    json_t *doc;                /* the object; borrowed from the stream */
    const struct kind *kind;
    bool unchanged; /* the run's store already holds an equal object (set by preflight) */
};

struct manifests {
    struct manifest *items; /* the manifests in the order read, [count] */
    size_t count, cap;
    struct manifest_file *files; /* private to this module */
    size_t n_files, files_cap;
};

/** Reads every operand and prints each problem as "error: FILE:LINE: …". Returns false when there
 * was one. */
bool manifests_load(struct manifests *set, int n_operands, char *const *operands);
void manifests_release(struct manifests *set);
/** Empties the set at once and frees its documents on the thread pool of `loop`, because freeing
 * the trees of a large file takes long. */
void manifests_release_aside(struct manifests *set, struct loop *loop);
SCOPED_DEFINE(manifests, struct manifests, manifests_release)

/* Copies of the documents as they were written: checks set defaults and namespaces in the set. */
struct manifest_docs {
    json_t **items; /* documents in the order of the set, [count]; owned */
    size_t count;
};
void manifest_docs_copy(const struct manifests *set, struct manifest_docs *out);
void manifest_docs_release(struct manifest_docs *docs);
SCOPED_DEFINE(manifest_docs, struct manifest_docs, manifest_docs_release)

/** Returns the line of a field of the manifest's object. */
size_t manifest_line(const struct manifest *manifest, const char *field);
/** Prints a finding as "error: FILE:LINE: FIELD: message", with `severity` as its first word. */
void manifest_print(const struct manifest *manifest, const char *severity, const struct error *err);
