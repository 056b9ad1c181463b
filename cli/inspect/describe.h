#pragma once
/*
 * Describing one object for people: what `describe` prints, kind by kind.
 */
#include "cli/client/lister.h"
#include "view/flow_view.h"
#include "view/table_print.h"

struct describer {
    struct client *client;
    const struct kind *kind;
    const json_t *doc;      /* the object; of a flow with a view without its steps */
    struct flow_view *view; /* of a flow whose steps have names; or NULL */
    const char *ns, *name;
    struct term term;
    int64_t now_ms;
};

/** Everything about the object, with its events. Problems with what belongs to it are printed and
 * passed over. */
void describe(const struct describer *d);

/* The parts of kinds with a form of their own, after the common head. */
void describe_flow(const struct describer *d);
void describe_job(const struct describer *d);
void describe_pod(const struct describer *d);
void describe_podgroup(const struct describer *d);
void describe_queue(const struct describer *d);

/** Delayed actions of a job that are armed, and when they are due. */
void describe_due(const struct describer *d);

/* ---- pieces ---- */

/** "Key:       text"; nothing for NULL and "". */
void describe_line(const char *key, const char *text);
void describe_int(const char *key, int64_t value);
/** A phase in its colour. */
void describe_phase(const struct describer *d, const char *key, const char *phase);
/** "2026-01-02T03:04:05Z (5m ago)"; nothing for NULL. */
void describe_time(const struct describer *d, const char *key, const char *time);
/** Between two moments, for people: "1.5s", "3m12s"; "" when the first is not known, up to now when
 * the second is not. Owned. */
char *describe_span(const struct describer *d, int64_t from_ms, int64_t to_ms);
/** Members of any value as indented lines, names as words. */
void describe_tree(const json_t *value, int indent);
/** A table below a heading; cells are [n_rows][n_columns], owned, freed. */
void describe_table(const char *heading, const char *const *titles, size_t n_columns, char **cells,
                    size_t n_rows);
/** The pods with these labels, as `get pods` shows them. */
void describe_pods(const struct describer *d, const char *labels);
