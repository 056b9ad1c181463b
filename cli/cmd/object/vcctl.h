#pragma once
/*
 * Volcano's vcctl for flows and templates, for scripts written for it: upstream's verbs, flags and
 * texts. The verbs are aliases of `get`, `apply` and `delete`, which report through the functions
 * below when their options name a vcctl_alias. Ref: spec/jobflow.md 12.5; Volcano pkg/cli/jobflow,
 * pkg/cli/jobtemplate.
 */
#include <jansson.h>

#include "base/buf.h"
#include "cli/client/client.h"
#include "cli/command/command.h"

struct kind;
struct manifest;

/* What a command does as an alias of a vcctl verb. */
struct vcctl_alias {
    const struct kind *kind; /* the only kind that the verb takes from a file */
    const char *verb;        /* "create" or "delete", for messages */
    const char *format; /* "table", "yaml" or "json": how `get` prints the objects; unchecked */
};

/* One verb, such as `vcctl jobflow create`. */
struct vcctl_verb {
    const char *name, *summary;
    const struct flag *flags;
    int (*run)(const void *options, int n_operands, char **operands);
};
/** The verbs create, list, get, delete and describe; a zero row ends the table. */
extern const struct vcctl_verb vcctl_verbs[];

/* The options of the commands behind the verbs; `vcctl` is NULL unless they run as an alias. */
struct get_options {
    struct client_endpoint endpoint;
    const char *namespace, *labels, *fields, *output, *subresource, *raw;
    const char *job_set; /* only objects of the submitted job set; NULL: any */
    bool all_namespaces, watch, watch_only, no_headers, show_labels, ignore_not_found;
    const struct vcctl_alias *vcctl;
};

struct apply_options {
    struct client_endpoint endpoint;
    const char *namespace;
    struct flag_list files, parameters;
    bool dry_run;
    const struct vcctl_alias *vcctl; /* set for vcctl: objects are created, never merged; or NULL */
};

struct delete_options {
    struct client_endpoint endpoint;
    const char *namespace, *labels, *cascade;
    struct flag_list files;
    int64_t grace_s, timeout_ms;
    bool all, force, ignore_not_found, wait;
    const struct vcctl_alias *vcctl;
};

/** Prints what `get` has read. Returns false after an error about the format. */
bool vcctl_print(const struct vcctl_alias *alias, const json_t *items);
/** Prints that an object was created or deleted, or with `err` why it was not. Returns true without
 * `err`. */
bool vcctl_print_change(const struct vcctl_alias *alias, const char *ns, const char *name,
                        const struct error *err);
/** Prints why a manifest is not for the verb: its kind, or a missing name. Returns true when it
 * is. */
bool vcctl_accepts(const struct vcctl_alias *alias, const struct manifest *manifest);

/** Appends the table of `list` and `get`. Each column is four wider than its longest cell. */
void vcctl_write_table(const struct kind *kind, const json_t *items, int64_t now_ms,
                       struct buf *out);
/** Appends one object as `describe` prints it. Returns false for a format other than yaml or json.
 */
bool vcctl_write_object(const struct kind *kind, const json_t *object, const char *format,
                        struct buf *out);
