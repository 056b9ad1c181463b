/*
 * Admission of conditions and gangs: what needs to know who comes before whom.
 *
 * A condition speaks of steps that have ended by the time it is looked at: ancestors. The search
 * for them goes backwards from the step along targets and switches; a target named directly is
 * found at once. All searches of a flow share one allowance, so that no flow costs more than
 * admission may take.
 */
#include <string.h>

#include "api/types/checks.h"
#include "api/types/flowref.h"
#include "api/types/jobflow_control.h"
#include "base/mem.h"

/* ---- ancestors ---- */

enum found { FOUND, NOT_FOUND, TOO_FAR };

struct search {
    struct control_check *c;
    uint32_t wanted;
    uint32_t depth;
    bool through_probes; /* also along targets whose probes let a step start early */
    /** Told of everybody who is met, once; NULL: nobody. */
    void (*met)(struct search *s, uint32_t step);
};

static bool visit(struct search *s, uint32_t step)
{
    struct control_check *c = s->c;

    if (step == s->wanted)
        return true;
    if (c->marks[step] != c->mark) {
        c->marks[step] = c->mark;
        c->stack[s->depth++] = step;
        if (s->met)
            s->met(s, step);
    }
    return false;
}

static bool visit_targets(struct search *s, uint32_t at)
{
    struct control_check *c = s->c;
    const struct flow_depends *depends = c->spec->steps.items[at].depends;

    if (c->switch_of[at] && visit(s, c->switch_of[at] - 1))
        return true;
    if (!depends || (depends->probe && !s->through_probes))
        return false;
    for (size_t t = 0; t < depends->targets.count; t++) {
        uint32_t target = name_index_get(c->names, depends->targets.items[t]);

        if (target != NAME_NONE && visit(s, target))
            return true;
    }
    c->visits -= c->visits < depends->targets.count ? c->visits : depends->targets.count;
    return false;
}

/* From one step back, past those who are marked. */
static enum found go_back(struct search *s, uint32_t from)
{
    struct control_check *c = s->c;

    s->depth = 0;
    c->stack[s->depth++] = from;
    while (s->depth) {
        if (visit_targets(s, c->stack[--s->depth]))
            return FOUND;
        if (!c->visits)
            return TOO_FAR;
        c->visits--;
    }
    return NOT_FOUND;
}

static enum found search(struct control_check *c, uint32_t from, uint32_t wanted)
{
    struct search s = {.c = c, .wanted = wanted, .through_probes = true};

    c->mark++;
    return go_back(&s, from);
}

void jobflow_check_ancestor(struct control_check *c, const char *target, size_t step, bool self,
                            const char *path)
{
    uint32_t at = name_index_get(c->names, target);
    const struct flow_step *steps = c->spec->steps.items;

    if (at == NAME_NONE) {
        FINDING(c->errors, ("%s", path),
                "Invalid value: \"%.64s\": no step of this flow has that name", target);
        return;
    }
    if (self && at == step)
        return;
    if (flow_step_is_final(&steps[step]) && !flow_step_is_final(&steps[at]))
        return; /* the end comes after every other step */
    switch (search(c, (uint32_t)step, at)) {
    case FOUND:
        return;
    case NOT_FOUND:
        FINDING(c->errors, ("%s", path),
                "Invalid value: \"%.64s\": step %.64s does not wait for it, neither directly nor "
                "through others: name it in dependsOn.targets",
                target, steps[step].name);
        return;
    case TOO_FAR:
        FINDING(c->errors, ("%s", path),
                "Invalid value: \"%.64s\": is too far back to be found: name it in "
                "dependsOn.targets",
                target);
        return;
    }
}

/* ---- terms ---- */

void jobflow_check_exit_codes(const struct exit_code_rule *rule, const char *path,
                              struct error_list *errors)
{
    const json_t *value;
    size_t i;

    if (!json_array_size(rule->values)) {
        FINDING(errors, ("%s.values", path), "Required value: a list of exit codes");
        return;
    }
    json_array_foreach(rule->values, i, value)
    {
        if (!json_is_integer(value))
            FINDING(errors, ("%s.values[%zu]", path, i), "Invalid value: must be an integer");
    }
    if (rule->operator&& strlen(rule->operator) == 2 && strcmp(rule->operator, "In") != 0 &&
        json_array_size(rule->values) != 1)
        FINDING(errors, ("%s.values", path), "Invalid value: %s compares with exactly one value",
                rule->operator);
}

static void check_value(const struct term_value *value, const char *path, struct error_list *errors)
{
    const char *operator= value->operator? value->operator: "In";
    bool exists = strstr(operator, "Exist") != NULL, one = operator[1] == 't';

    if (exists && value->values.count)
        FINDING(errors, ("%s.values", path), "Forbidden: %s takes no values", operator);
    if (!exists && !value->values.count)
        FINDING(errors, ("%s.values", path), "Required value: what %s compares with", operator);
    if (one && value->values.count > 1)
        FINDING(errors, ("%s.values", path),
                "Invalid value: %s compares with exactly one value", operator);
}

static void check_term(struct control_check *c, const struct flow_term *term, size_t step,
                       bool until, const char *path)
{
    int kinds = (term->phases.count > 0) + !!term->task_status + !!term->exit_code +
                !!term->output + !!term->parameter;
    scoped(buf) struct buf at = {0};

    if (kinds != 1)
        FINDING(c->errors, ("%s", path),
                "Invalid value: give exactly one of phases, taskStatus, exitCode, output and "
                "parameter");
    buf_printf(&at, "%s.target", path);
    if (term->parameter && term->target)
        FINDING(c->errors, ("%s", at.data), "Forbidden: a parameter belongs to the flow");
    else if (!term->parameter && !term->target)
        FINDING(c->errors, ("%s", at.data), "Required value");
    else if (term->target)
        jobflow_check_ancestor(c, term->target, step, until, at.data);
    if (term->parameter && !jobflow_parameter(c->spec, term->parameter->key))
        FINDING(c->errors, ("%s.parameter.name", path),
                "Invalid value: \"%.64s\": the flow has no parameter of that name",
                term->parameter->key);
    buf_clear(&at);
    buf_printf(&at, "%s.%s", path,
               term->exit_code ? "exitCode"
               : term->output  ? "output"
                               : "parameter");
    if (term->exit_code)
        jobflow_check_exit_codes(term->exit_code, at.data, c->errors);
    if (term->output)
        check_value(term->output, at.data, c->errors);
    if (term->parameter)
        check_value(term->parameter, at.data, c->errors);
}

void jobflow_check_condition(struct control_check *c, const struct flow_condition *condition,
                             size_t step, bool until, const char *path)
{
    for (size_t t = 0; t < condition->terms.count; t++) {
        scoped(buf) struct buf term = {0};

        buf_printf(&term, "%s.terms[%zu]", path, t);
        check_term(c, &condition->terms.items[t], step, until, term.data);
    }
}

/* ---- gangs ---- */

static const char *no_member(const struct flow_step *step)
{
    if (step->choice)
        return "makes no job";
    if (step->loop)
        return "is a loop: give its jobs minAvailable of their own";
    if (flow_step_is_final(step))
        return "runs at the end of the flow";
    return NULL;
}

static void check_member(struct control_check *c, size_t g, size_t m, uint32_t *gang_of)
{
    const struct flow_gang *gang = &c->spec->gangs.items[g];
    uint32_t at = name_index_get(c->names, gang->steps.items[m]);
    const char *why = at == NAME_NONE ? "no step of this flow has that name"
                                      : no_member(&c->spec->steps.items[at]);

    if (!why && gang_of[at])
        why = "is in a gang already";
    if (why)
        FINDING(c->errors, ("spec.gangs[%zu].flows[%zu]", g, m), "Invalid value: \"%.64s\": %s",
                gang->steps.items[m], why);
    if (at != NAME_NONE)
        gang_of[at] = (uint32_t)g + 1;
}

/* What comes before the members of a gang, each step looked at once for all of them. */
struct gang_search {
    struct search search;
    const uint32_t *gang_of;
    size_t gang, member; /* from whom the search began */
    uint32_t from;
};

static void meet(struct search *search, uint32_t step)
{
    const struct gang_search *s = container_of(search, struct gang_search, search);
    const struct jobflow_spec *spec = search->c->spec;

    if (s->gang_of[step] != s->gang + 1 || step == s->from)
        return;
    FINDING(search->c->errors, ("spec.gangs[%zu].flows[%zu]", s->gang, s->member),
            "Invalid value: \"%.64s\": waits for %.64s to complete, which is in the same "
            "gang: they could never start together; a probe would let it start earlier",
            spec->steps.items[s->from].name, spec->steps.items[step].name);
}

static void check_gang_order(struct control_check *c, size_t g, const uint32_t *gang_of)
{
    const struct str_list *members = &c->spec->gangs.items[g].steps;
    struct gang_search s = {
        .search = {.c = c, .wanted = NAME_NONE, .met = meet}, .gang_of = gang_of, .gang = g};

    c->mark++;
    for (s.member = 0; s.member < members->count; s.member++) {
        s.from = name_index_get(c->names, members->items[s.member]);
        if (s.from == NAME_NONE || go_back(&s.search, s.from) != TOO_FAR)
            continue;
        FINDING(c->errors, ("spec.gangs[%zu].flows", g),
                "Too many: the gangs of this flow are too large to be checked");
        return;
    }
}

/* It starts when there is room for all that it needs. */
static void check_gang_fits(struct control_check *c, size_t g)
{
    const struct flow_gang *gang = &c->spec->gangs.items[g];
    const struct flow_scheduling *scheduling = c->spec->scheduling;
    size_t least = gang->min_available.set ? (size_t)gang->min_available.value : gang->steps.count;

    if (!scheduling || !scheduling->max_running || least <= (size_t)scheduling->max_running)
        return;
    FINDING(c->errors, ("spec.gangs[%zu]", g),
            "Invalid value: \"%.64s\": needs %zu jobs at once, and spec.scheduling.maxRunningJobs "
            "allows %d: raise that, or give the gang a smaller minAvailable",
            gang->name, least, scheduling->max_running);
}

static void check_gang_names(struct control_check *c)
{
    scoped(name_index) struct name_index names = {0};

    name_index_init(&names, c->spec->gangs.count);
    for (size_t g = 0; g < c->spec->gangs.count; g++) {
        const char *name = c->spec->gangs.items[g].name;

        if (name_index_put(&names, name, (uint32_t)g) != NAME_NONE)
            FINDING(c->errors, ("spec.gangs[%zu].name", g), "Duplicate value: \"%.64s\"", name);
    }
}

void jobflow_check_gangs(struct control_check *c)
{
    uint32_t *gang_of =
        c->spec->gangs.count ? mem_array(c->spec->steps.count + 1, sizeof *gang_of) : NULL;

    check_gang_names(c);
    for (size_t g = 0; g < c->spec->gangs.count; g++) {
        const struct flow_gang *gang = &c->spec->gangs.items[g];

        for (size_t m = 0; m < gang->steps.count; m++)
            check_member(c, g, m, gang_of);
        if (gang->min_available.set && (size_t)gang->min_available.value > gang->steps.count)
            FINDING(c->errors, ("spec.gangs[%zu].minAvailable", g),
                    "Invalid value: %d: the gang has %zu members", gang->min_available.value,
                    gang->steps.count);
        check_gang_order(c, g, gang_of);
        check_gang_fits(c, g);
    }
    mem_free(gang_of);
}
