/*
 * Admission of conditions and gangs: what needs to know who comes before whom.
 */
#include <stdlib.h>
#include <string.h>

#include "api/types/checks.h"
#include "api/types/kinds/jobflow/ancestor.h"
#include "api/types/kinds/jobflow/names.h"
#include "api/types/schema/flow_reference.h"
#include "base/mem.h"

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
    if ((rule->op == CODE_GT || rule->op == CODE_LT) && json_array_size(rule->values) != 1)
        FINDING(errors, ("%s.values", path), "Invalid value: %s compares with exactly one value",
                code_operator_texts[rule->op]);
}

static bool is_number(const char *text)
{
    char *end;

    strtod(text, &end);
    return *text && !*end;
}

static void check_value(struct control_check *c, const struct term_value *value, const char *path)
{
    struct error_list *errors = c->errors;
    const char *op = value_operator_texts[value->op];
    bool exists = value->op == VALUE_EXISTS || value->op == VALUE_DOES_NOT_EXIST;
    bool one = value->op == VALUE_GT || value->op == VALUE_LT;

    if (exists && value->values.count)
        FINDING(errors, ("%s.values", path), "Forbidden: %s takes no values", op);
    if (!exists && !value->values.count)
        FINDING(errors, ("%s.values", path), "Required value: what %s compares with", op);
    if (one && value->values.count > 1)
        FINDING(errors, ("%s.values", path), "Invalid value: %s compares with exactly one value",
                op);
    if (one && value->values.count == 1 && !is_number(value->values.items[0]) &&
        !strstr(value->values.items[0], "$("))
        WARNING(c->adm, ("%s.values[0]", path),
                "%s compares numbers, and \"%.64s\" is none: never true", op,
                value->values.items[0]);
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
    if (term->parameter && !jobflow_find_parameter(c->spec, term->parameter->key)) {
        scoped_str near = jobflow_near_parameter(c->spec, term->parameter->key, c->errors);

        FINDING(c->errors, ("%s.parameter.name", path),
                "Invalid value: \"%.64s\": the flow has no parameter of that name%s",
                term->parameter->key, near);
    }
    buf_clear(&at);
    buf_printf(&at, "%s.%s", path,
               term->exit_code ? "exitCode"
               : term->output  ? "output"
                               : "parameter");
    if (term->exit_code)
        jobflow_check_exit_codes(term->exit_code, at.data, c->errors);
    if (term->output)
        check_value(c, term->output, at.data);
    if (term->parameter)
        check_value(c, term->parameter, at.data);
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
    scoped_str near =
        at == NAME_NONE ? jobflow_near_step(c->spec, gang->steps.items[m], c->errors) : NULL;
    const char *why = at == NAME_NONE ? "no step of this flow has that name"
                                      : no_member(&c->spec->steps.items[at]);

    if (!why && gang_of[at])
        why = "is in a gang already";
    if (why)
        FINDING(c->errors, ("spec.gangs[%zu].flows[%zu]", g, m), "Invalid value: \"%.64s\": %s%s",
                gang->steps.items[m], why, near ? near : "");
    if (at != NAME_NONE)
        gang_of[at] = (uint32_t)g + 1;
}

/* What comes before the members of a gang, each step looked at once for all of them. */
struct gang_search {
    struct ancestor_search search;
    const uint32_t *gang_of;
    size_t gang, member; /* from whom the search began */
    uint32_t from;
};

static void meet(struct ancestor_search *search, uint32_t step)
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
        if (s.from == NAME_NONE || ancestors_go_back(&s.search, s.from) != ANCESTOR_TOO_FAR)
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
