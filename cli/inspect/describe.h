#pragma once
/*
 * The output of `describe` for one object: a head that all kinds share, a part by kind, events.
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

/** Print everything about the object, with its events. An error with a related object is printed,
 * and the description goes on. */
void describe(const struct describer *d);

/* The parts by kind, after the common head. */
void describe_flow(const struct describer *d);
void describe_job(const struct describer *d);
void describe_pod(const struct describer *d);
void describe_podgroup(const struct describer *d);
void describe_queue(const struct describer *d);

/** Print the delayed actions of a job that are pending, and when they are due. */
void describe_due(const struct describer *d);

/* The functions from here on are helpers of the parts. */

/** Print "Key:       text"; nothing for NULL and "". */
void describe_line(const char *key, const char *text);
void describe_int(const char *key, int64_t value);
/** Print a phase in its colour. */
void describe_phase(const struct describer *d, const char *key, const char *phase);
/** Print "2026-01-02T03:04:05Z (5m ago)"; nothing for NULL. */
void describe_time(const struct describer *d, const char *key, const char *time);
/** The time between two moments: "45s", "3m12s". "" when the first is 0; up to now when the second
 * is 0. Owned. */
char *describe_span(const struct describer *d, int64_t from_ms, int64_t to_ms);
/** Print the members of a value as indented lines, with names split into words. */
void describe_tree(const json_t *value, int indent);
/** Print a table below a heading; cells are [n_rows][n_columns] and are freed. */
void describe_table(const char *heading, const char *const *titles, size_t n_columns, char **cells,
                    size_t n_rows);
/** Print the pods with these labels, as `get pods` does. */
void describe_pods(const struct describer *d, const char *labels);
