#pragma once
/*
 * Tables and checks of what controls a flow beyond targets: conditions, switches, loops, retries,
 * gangs, scheduling, parameters. Ref: spec/jobflow.md 13.
 */
#include "api/types/kinds/jobflow/admission.h"
#include "base/name_index.h"

/* The texts of enums that more than one file needs; each list ends with NULL. */
extern const char *const flow_strategy_texts[];
extern const char *const code_operator_texts[], *const value_operator_texts[];

extern const struct schema flow_condition_schema, flow_switch_schema, flow_loop_schema,
    flow_retry_schema, flow_gang_schema, flow_scheduling_schema, flow_parameter_schema;

/* A question whether a step comes before another which a short search has left open. */
struct far_ancestor {
    uint32_t step, wanted;
    char *path; /* owned: of the field that asks */
};

/* The flow being checked; the steps' names to their positions. */
struct control_check {
    const struct admission *adm;
    const struct jobflow_spec *spec;
    const struct name_index *names;
    struct error_list *errors;
    uint32_t *switch_of; /* [steps] the switch that lists a step + 1; 0 = none */
    uint32_t *marks;     /* [steps] of the search for ancestors */
    uint32_t *stack;     /* [steps] */
    uint32_t mark;
    uint64_t visits;          /* left for that search */
    struct far_ancestor *far; /* [n_far] put off: ancestor.c */
    size_t n_far, far_cap;
};

/** Everything of section 13 that the spec alone decides. O(steps + edges) without conditions on
 * distant ancestors; the search for those is bounded. */
void jobflow_check_control(const struct admission *adm, const struct jobflow_spec *spec,
                           struct error_list *errors);

/** One condition at `path`; its targets must be ancestors of `step`, or, for an until, the step
 * itself. */
void jobflow_check_condition(struct control_check *c, const struct flow_condition *condition,
                             size_t step, bool until, const char *path);
/** A step that `step` speaks of must come before it (`self`: or be it). */
void jobflow_check_ancestor(struct control_check *c, const char *target, size_t step, bool self,
                            const char *path);
void jobflow_check_exit_codes(const struct exit_code_rule *rule, const char *path,
                              struct error_list *errors);
void jobflow_check_gangs(struct control_check *c);
