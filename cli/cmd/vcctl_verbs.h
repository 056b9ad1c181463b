#pragma once
/*
 * Volcano's own command line for flows and templates, for scripts written for it: the same words,
 * flags and tables. Ref: spec/jobflow.md 12.5; Volcano pkg/cli/jobflow, pkg/cli/jobtemplate.
 */
#include "api/types/text/json_text.h"
#include "cli/command/command.h"

struct kind;

/* What is known of a verb: `vcctl jobflow create`. */
struct vcctl_verb {
    const char *name, *summary;
    const struct flag *flags;
    int (*run)(const void *options, int n_operands, char **operands);
};
/** create, list, get, delete, describe; ends with {0}. */
extern const struct vcctl_verb vcctl_verbs[];

/** Run a verb about JobFlows or JobTemplates; argv[0] is the verb. */
int vcctl_run(const struct vcctl_verb *verb, const struct kind *kind, int argc, char **argv);

/** The table of `list` and `get`: each column as wide as its longest cell and four more. */
void vcctl_write_table(const struct kind *kind, const json_t *items, int64_t now_ms,
                       struct buf *out);
/** One object as `describe` prints it; false for a format that is neither yaml nor json. */
bool vcctl_write_object(const struct kind *kind, const json_t *object, const char *format,
                        struct buf *out);
