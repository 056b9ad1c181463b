#pragma once
/*
 * Reads manifest files and splits them into objects, each with its file and line.
 *
 * Operands are files, directories (their *.yaml, *.yml and *.json in name order, as in kubectl) or
 * "-" for standard input. A `List` object is split into its items. Loading checks only that the
 * text is valid YAML and that each object has an apiVersion and a known kind.
 *
 * A submission (cli/manifest/submission.h) becomes the objects of its jobs where the command takes
 * submissions.
 */
#include "api/types/kind.h"
#include "api/types/text/yaml.h"

struct loop;

/* What an object was made of, which says where its fields are in the file. */
enum manifest_origin {
    MANIFEST_WRITTEN, /* its fields are those of the file, below `path` */
    MANIFEST_POD,     /* the vcjob of an item with a podSpec; `path` is that of the item */
    MANIFEST_GROUP,   /* the vcjob of an item with a podGroupSpec */
    MANIFEST_PART,    /* an auxiliary object, whose fields `path` does not have */
};

struct manifest {
    const char *file;           /* path as given by the user */
    struct yaml_stream *stream; /* document of the manifest; borrowed from the set */
    size_t document;            /* index in the stream */
    const char *path;           /* path of the object inside a List, such as "items[3]"; "" */
    enum manifest_origin origin;
    json_t *doc; /* the object; borrowed from the stream or the set */
    const struct kind *kind;
    bool unchanged; /* the run's store already holds an equal object (set by preflight) */
    bool differs;   /* it is known to differ from the stored object: null removes a member */
};

struct manifests {
    struct manifest *items; /* the manifests in the order read, [count] */
    size_t count, cap;
    struct manifest_file *files; /* private to this module */
    size_t n_files, files_cap;
    bool takes_submissions; /* set before the load; else a submission is an error */
    json_t *submitted;      /* ids of jobs that were made of submissions; private; owned, or NULL */
};

/** Reads every operand and prints each problem as "error: FILE:LINE: …". Returns false when there
 * was one. */
bool manifests_load(struct manifests *set, int n_operands, char *const *operands);
/** Adds the objects of a submission, document `document` of `stream`, which is borrowed until the
 * release and has the lines of findings. Prints each problem, and returns false when there was one.
 */
bool manifests_add_submission(struct manifests *set, const char *name, struct yaml_stream *stream,
                              size_t document, json_t *doc);
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
