#pragma once
/*
 * Prints one object for `describe`: a head that all kinds share, a part that depends on the kind,
 * and events.
 */
#include "cli/client/lister.h"
#include "view/flow_view.h"
#include "view/table_print.h"

struct describer {
    struct client *client;
    const struct kind *kind;
    const json_t *doc;      /* the object; without spec.flows when there is a view */
    struct flow_view *view; /* view of a JobFlow whose steps are valid; else NULL */
    const char *ns, *name;
    struct term term;
    int64_t now_ms;
};

/** Prints everything about the object, with its events. When a related object cannot be read, the
 * error is printed and the description goes on. */
void describe(const struct describer *d);

/* Prints what only this kind has, after the head that all kinds have. */
void describe_flow(const struct describer *d);
void describe_job(const struct describer *d);
void describe_pod(const struct describer *d);
void describe_podgroup(const struct describer *d);
void describe_queue(const struct describer *d);
void describe_cronjob(const struct describer *d);
void describe_flowtrigger(const struct describer *d);
/** Appends to the state of a schedule that no process runs which would act on it, when that is so. */
void describe_idle_schedule(const struct client *client, struct buf *out);

/** Prints the delayed actions of a job that are pending, and when they are due. */
void describe_due(const struct describer *d);

/* The functions from here on are for the parts that depend on the kind. */

/** Prints "Key:       text", and nothing for NULL and "". */
void describe_line(const char *key, const char *text);
void describe_int(const char *key, int64_t value);
/** Prints a phase in its colour. */
void describe_phase(const struct describer *d, const char *key, const char *phase);
/** Prints a time with its age, such as "2026-01-02T03:04:05Z (5m ago)", and nothing for NULL. */
void describe_time(const struct describer *d, const char *key, const char *time);
/** Returns the time between two moments (owned), such as "45s" or "3m12s". It is "" when the first
 * moment is 0, and reaches to the present when the second is 0. */
char *describe_span(const struct describer *d, int64_t from_ms, int64_t to_ms);
/** Prints the members of a value as indented lines, with names split into words. */
void describe_tree(const json_t *value, int indent);
/** Prints a table below a heading; cells are [n_rows][n_columns] and are freed. */
void describe_table(const char *heading, const char *const *titles, size_t n_columns, char **cells,
                    size_t n_rows);
/** Prints the pods with these labels, as `get pods` does. */
void describe_pods(const struct describer *d, const char *labels);
