/*
 * Checks required fields, one function for each kind of member. The first that is missing ends the
 * check.
 */
#include "flow/model/required_fields.h"

#include <stdio.h>

static bool is_there(const void *member, const char *list, size_t at, const char *name,
                     struct error *err)
{
    char field[96];

    if (member)
        return true;
    snprintf(field, sizeof field, "spec.%s[%zu].%s", list, at, name);
    return error_set(err, ERR_INVALID, field, "Required value");
}

/* A required text that is absent was decoded as empty (schema_decode). */
static bool has_text(const char *text, const char *list, size_t at, const char *name,
                     struct error *err)
{
    return is_there(text && *text ? text : NULL, list, at, name, err);
}

static bool check_condition(const struct flow_condition *condition, size_t step, struct error *err)
{
    for (size_t i = 0; condition && i < condition->terms.count; i++) {
        const struct flow_term *term = &condition->terms.items[i];
        const struct term_task_status *status = term->task_status;
        bool whole = (!status || (*status->task && *status->phase)) &&
                     (!term->output || *term->output->key) &&
                     (!term->parameter || *term->parameter->key);

        if (!is_there(whole ? term : NULL, "flows", step, "terms", err))
            return false;
    }
    return true;
}

static bool check_switch(const struct flow_switch *choice, size_t step, struct error *err)
{
    for (size_t i = 0; choice && i < choice->cases.count; i++) {
        const struct flow_case *one = &choice->cases.items[i];

        if (!has_text(one->name, "flows", step, "switch.cases.name", err) ||
            !is_there(one->condition, "flows", step, "switch.cases.if", err) ||
            !check_condition(one->condition, step, err))
            return false;
    }
    return true;
}

static bool check_items_from(const struct flow_items_from *from, size_t step, struct error *err)
{
    return !from || (has_text(from->target, "flows", step, "for.itemsFrom.target", err) &&
                     has_text(from->key, "flows", step, "for.itemsFrom.key", err));
}

static bool check_step(const struct flow_step *step, size_t at, struct error *err)
{
    return has_text(step->name, "flows", at, "name", err) &&
           check_condition(step->condition, at, err) && check_switch(step->choice, at, err) &&
           (!step->loop || (check_condition(step->loop->until, at, err) &&
                            check_items_from(step->loop->items_from, at, err)));
}

bool flow_check_required_fields(const struct jobflow_spec *spec, struct error *err)
{
    bool whole = true;

    for (size_t i = 0; whole && i < spec->steps.count; i++)
        whole = check_step(&spec->steps.items[i], i, err);
    for (size_t i = 0; whole && i < spec->gangs.count; i++)
        whole = has_text(spec->gangs.items[i].name, "gangs", i, "name", err);
    for (size_t i = 0; whole && i < spec->parameters.count; i++)
        whole = has_text(spec->parameters.items[i].name, "parameters", i, "name", err);
    return whole;
}
