#pragma once
/*
 * The verbs of Volcano's vcctl for flows and templates, for scripts written for it: same verbs,
 * flags and tables. Ref: spec/jobflow.md 12.5; Volcano pkg/cli/jobflow, pkg/cli/jobtemplate.
 */
#include "api/types/text/json_text.h"
#include "cli/command/command.h"

struct kind;

/* One verb, such as `vcctl jobflow create`. */
struct vcctl_verb {
    const char *name, *summary;
    const struct flag *flags;
    int (*run)(const void *options, int n_operands, char **operands);
};
/** create, list, get, delete, describe; ends with {0}. */
extern const struct vcctl_verb vcctl_verbs[];

/** Runs a verb for JobFlows or JobTemplates; argv[0] is the verb. Returns the exit code. */
int vcctl_run(const struct vcctl_verb *verb, const struct kind *kind, int argc, char **argv);

/** Appends the table of `list` and `get`. Each column is four wider than its longest cell. */
void vcctl_write_table(const struct kind *kind, const json_t *items, int64_t now_ms,
                       struct buf *out);
/** Appends one object as `describe` prints it. Returns false for a format other than yaml or json.
 */
bool vcctl_write_object(const struct kind *kind, const json_t *object, const char *format,
                        struct buf *out);
