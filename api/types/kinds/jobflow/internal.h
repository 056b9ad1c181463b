#pragma once
/*
 * Private parts of the room: the field tables of control_schema.c and the checks of section 13,
 * which share one `struct control_check` per flow. Ref: spec/jobflow.md 13.
 */
#include "api/types/kinds/jobflow/admission.h"
#include "base/collections/name_index.h"

/* The texts of enums that more than one file needs; each list ends with NULL. */
extern const char *const flow_strategy_texts[];
extern const char *const code_operator_texts[], *const value_operator_texts[];

extern const struct schema flow_condition_schema, flow_switch_schema, flow_loop_schema,
    flow_retry_schema, flow_gang_schema, flow_scheduling_schema, flow_parameter_schema;

/* The question whether step `wanted` comes before `step`, which a short search left open. */
struct deferred_ancestor {
    uint32_t step, wanted;
    char *path; /* path of the field that names the wanted step; owned */
};

/* The state of one check of a flow. Steps are named by their position in spec.flows. */
struct control_check {
    const struct admission *adm;
    const struct jobflow_spec *spec;
    const struct name_index *names; /* names of the steps to their positions */
    struct error_list *errors;
    bool created;        /* the flow is new: what older programs accepted is refused */
    uint32_t *switch_of; /* [steps] position + 1 of the switch that lists the step; 0 = none */
    uint32_t *marks;     /* [steps] `mark` of the last search that reached the step */
    uint32_t *stack;     /* [steps] steps that the running search has still to expand */
    uint32_t mark;
    uint64_t visits;                    /* edges that searches may still follow */
    struct deferred_ancestor *deferred; /* questions put off by ancestor.c, [n_deferred] */
    size_t n_deferred, deferred_cap;
};

/* Defined in control_check.c. */

/** Checks everything of section 13 that the spec alone decides. O(steps + edges) without conditions
 * on distant ancestors; the search for those is bounded. */
void jobflow_check_control(const struct admission *adm, const struct jobflow_spec *spec,
                           bool created, struct error_list *errors);
/** Fills what the searches for ancestors need; jobflow_check_end releases it. */
void jobflow_check_begin(struct control_check *c, struct name_index *names);
void jobflow_check_end(struct control_check *c);

/* Defined in reference_check.c. */

/** Checks the references in the patch and in the items of a step. */
void jobflow_check_references(struct control_check *c, size_t step);
/** Checks the references in one text of a step, which stands in `field`. */
void jobflow_check_text_references(struct control_check *c, size_t step, const char *field,
                                   const char *text);

/* Defined in reuse_check.c. */

/** Checks reads, writes and cache of a step. */
void jobflow_check_reuse(struct control_check *c, size_t step);

/* Defined in reuse_warnings.c. */

/** Warns of files that steps read and write in no certain order. */
void jobflow_warn_of_files(struct control_check *c);

/* Defined in inline_check.c. */

/** Checks the inline template of a step, and that a step has at most one template. */
void jobflow_check_inline(const struct admission *adm, const struct object *flow, size_t step,
                          struct error_list *errors);

/* Defined in rerun_check.c. */

/** Checks the annotations that name the steps of a rerun. `old`: the flow before the write, or
 * NULL. */
void jobflow_check_rerun(const struct admission *adm, const struct object *old,
                         const struct object *flow, struct error_list *errors);

/* Defined in condition_check.c. */

/** Tells whose condition is checked: an `if` speaks of earlier steps, an `until` also of its
 * own. */
enum condition_use { CONDITION_OF_EARLIER, CONDITION_OF_SELF };
/** Checks one condition at `path`. Its targets must be ancestors of `step`, or, with
 * CONDITION_OF_SELF, the step itself. */
void jobflow_check_condition(struct control_check *c, const struct flow_condition *condition,
                             size_t step, enum condition_use use, const char *path);
void jobflow_check_exit_codes(const struct exit_code_rule *rule, const char *path,
                              struct error_list *errors);

/* Defined in gang_check.c. */

void jobflow_check_gangs(struct control_check *c);

/* ancestor.c: which step comes before which */

/** Checks that `target` names an ancestor of `step`; with CONDITION_OF_SELF it may also name the
 * step itself. Questions that a short search leaves open are put off. */
void jobflow_check_ancestor(struct control_check *c, const char *target, size_t step,
                            enum condition_use use, const char *path);
/** Answers the questions that jobflow_check_ancestor has put off. */
void jobflow_check_deferred_ancestors(struct control_check *c);

enum ancestor { ANCESTOR_FOUND, ANCESTOR_NOT_FOUND, ANCESTOR_TOO_FAR };

/* A search backwards along targets and switches. */
struct ancestor_search {
    struct control_check *c;
    uint32_t wanted; /* stops the search when it is reached; NAME_NONE = search everything */
    uint32_t depth;
    bool through_probes; /* follow also targets whose probes let a step start early */
    /** Called once for each step that is reached; may be NULL. */
    void (*reached)(struct ancestor_search *s, uint32_t step);
};

/** Searches backwards from one step, not past steps marked with c->mark, for at most `c->visits`
 * edges. */
enum ancestor ancestors_search(struct ancestor_search *s, uint32_t from);
