/*
 * Admission of conditions: each term says exactly one thing, about a step that has ended by the
 * time the condition is evaluated or about a parameter of the flow.
 */
#include <stdlib.h>
#include <string.h>

#include "api/types/checks.h"
#include "api/types/kinds/jobflow/internal.h"
#include "api/types/kinds/jobflow/step_names.h"
#include "base/mem.h"

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
                       enum condition_use use, const char *path)
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
        jobflow_check_ancestor(c, term->target, step, use, at.data);
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
                             size_t step, enum condition_use use, const char *path)
{
    for (size_t t = 0; t < condition->terms.count; t++) {
        scoped(buf) struct buf term = {0};

        buf_printf(&term, "%s.terms[%zu]", path, t);
        check_term(c, &condition->terms.items[t], step, use, term.data);
    }
}
