/*
 * A term is a subject, what it is, a sign and what it is compared with. One function for each kind
 * of term finds out what the subject is; the rest is the same for all.
 */
#include "view/condition_text.h"

#include <string.h>

#include "api/types/schema/flow_reference.h"
#include "api/types/text/doc.h"
#include "base/mem.h"
#include "flow/model/condition.h"

enum { TERMS_MAX = 4, VALUE_MAX = 60 };

/* What a term compares. */
struct comparison {
    struct buf subject;
    struct buf value; /* value of the target; meaningless unless `found` */
    bool found;
    const char *operator_text; /* operator as it stands in the document */
    const json_t *with;        /* list of texts or integers */
};

static void comparison_release(struct comparison *comparison)
{
    buf_release(&comparison->subject);
    buf_release(&comparison->value);
}

static const struct sign {
    const char *text;
    enum value_operator op;
    bool negated;
    const char *one, *several; /* beside one value, and beside a list of them */
} signs[] = {
    {"In", VALUE_IN, false, "=", "in"},
    {"NotIn", VALUE_IN, true, "!=", "not in"},
    {"Gt", VALUE_GT, false, ">", ">"},
    {"Lt", VALUE_LT, false, "<", "<"},
    {"Exists", VALUE_EXISTS, false, "exists", "exists"},
    {"DoesNotExist", VALUE_EXISTS, true, "does not exist", "does not exist"},
    {">=", VALUE_GT, false, ">=", ">="}, /* operator of counts */
};

static const struct sign *sign_of(const struct comparison *comparison)
{
    for (size_t i = 0; comparison->operator_text && i < countof(signs); i++)
        if (strcmp(signs[i].text, comparison->operator_text) == 0)
            return &signs[i];
    return &signs[0];
}

/* The values of references in a condition: parameters and outputs. */
static const json_t *newest_node(const struct flow_view *view, const char *target);

static const char *parameter_of(const struct flow_view *view, const char *name)
{
    size_t i;
    json_t *parameter;

    json_array_foreach(doc_at(view->doc, "spec.parameters"), i, parameter)
    {
        const char *its = doc_text(parameter, "name"), *value = doc_text(parameter, "value");

        if (its && strcmp(its, name) == 0)
            return value ? value : doc_text(parameter, "default");
    }
    return NULL;
}

static const char *output_of(const struct flow_view *view, const char *target, const char *key)
{
    const json_t *node = target ? newest_node(view, target) : NULL;

    return json_string_value(json_object_get(json_object_get(node, "outputs"), key));
}

static bool reference_value(void *ctx, const struct flow_ref *ref, struct buf *out, bool *out_leave,
                            struct error *err)
{
    scoped_str name = mem_printf("%.*s", (int)ref->name_len, ref->name);
    scoped_str key = mem_printf("%.*s", (int)ref->key_len, ref->key);
    const char *value = ref->kind == FLOW_REF_PARAMETER               ? parameter_of(ctx, name)
                        : ref->kind == FLOW_REF_OUTPUT && !ref->every ? output_of(ctx, name, key)
                                                                      : NULL;

    *out_leave = value == NULL;
    buf_str(out, value ? value : "");
    return true;
}

/* Appends a value to compare with, its references replaced. */
static void write_with(const struct flow_view *view, const json_t *value, struct buf *out)
{
    const struct flow_ref_values values = {reference_value, (void *)(size_t)view};

    if (json_is_integer(value))
        buf_int(out, json_integer_value(value));
    else if (json_is_string(value))
        flow_refs_replace_text(json_string_value(value), &values, out, NULL);
}

/* Returns the entry of the status with the results of a step; of a loop that of its last iteration
 * with any. */
static const json_t *newest_node(const struct flow_view *view, const char *target)
{
    uint32_t at = flow_view_find(view, target);
    const json_t *found = at == UINT32_MAX ? NULL : view->steps[at].node;
    size_t i;
    json_t *node;

    json_array_foreach(
        at != UINT32_MAX && view->steps[at].loops ? json_object_get(view->status, "nodes") : NULL,
        i, node)
    {
        const char *loop = doc_text(node, "step");

        if (loop && strcmp(loop, target) == 0 && json_object_get(node, "attempts"))
            found = node;
    }
    return found;
}

static void compare_output(const struct flow_view *view, const json_t *term, const char *target,
                           struct comparison *out)
{
    const json_t *output = json_object_get(term, "output");
    const char *key = doc_text(output, "key"), *value = key ? output_of(view, target, key) : NULL;

    buf_str(&out->subject, key ? key : "");
    out->found = value != NULL;
    buf_str(&out->value, value ? value : "");
    out->operator_text = doc_text(output, "operator");
    out->with = json_object_get(output, "values");
}

static void compare_parameter(const struct flow_view *view, const json_t *term, const char *target,
                              struct comparison *out)
{
    const json_t *parameter = json_object_get(term, "parameter");
    const char *name = doc_text(parameter, "name");
    const char *value = name ? parameter_of(view, name) : NULL;

    buf_printf(&out->subject, "parameter %s", name ? name : "");
    out->found = value != NULL;
    buf_str(&out->value, value ? value : "");
    out->operator_text = doc_text(parameter, "operator");
    out->with = json_object_get(parameter, "values");
}

static void compare_phase(const struct flow_view *view, const json_t *term, const char *target,
                          struct comparison *out)
{
    uint32_t at = flow_view_find(view, target);

    buf_printf(&out->subject, "phase of %s", target);
    out->found = at != UINT32_MAX && flow_view_step_over(&view->steps[at]);
    if (out->found)
        buf_str(&out->value, view_state_text((enum view_state)view->steps[at].state));
    out->with = json_object_get(term, "phases");
}

/* The exit code of pod 0 of a task, of the first task when none is named. */
static void compare_exit_code(const struct flow_view *view, const json_t *term, const char *target,
                              struct comparison *out)
{
    const json_t *rule = json_object_get(term, "exitCode"), *node = newest_node(view, target);
    const json_t *attempts = json_object_get(node, "attempts");
    size_t n = json_array_size(attempts);
    json_t *codes = json_object_get(json_array_get(attempts, n - (n > 0)), "exitCodes");
    const char *task = doc_text(rule, "taskName"), *name;
    json_t *list;

    buf_printf(&out->subject, "exit code of %s%s%s", target, task ? "/" : "", task ? task : "");
    json_object_foreach(codes, name, list)
    {
        if (out->found || (task && strcmp(task, name) != 0))
            continue;
        out->found = json_array_size(list) > 0;
        buf_int(&out->value, json_integer_value(json_array_get(list, 0)));
    }
    out->operator_text = doc_text(rule, "operator");
    out->with = json_object_get(rule, "values");
}

static void compare_task_status(const struct flow_view *view, const json_t *term,
                                const char *target, struct comparison *out)
{
    const json_t *rule = json_object_get(term, "taskStatus"), *node = newest_node(view, target);
    const char *task = doc_text(rule, "taskName"), *phase = doc_text(rule, "phase");
    const char *job = json_string_value(json_array_get(json_object_get(node, "jobs"), 0));
    const json_t *conditions = json_object_get(view->status, "conditions");
    const json_t *tasks =
        job ? json_object_get(json_object_get(conditions, job), "taskStatusCount") : NULL;
    const json_t *phases = task ? json_object_get(json_object_get(tasks, task), "phase") : NULL;
    bool completed = phase && strcmp(phase, "Completed") == 0;

    buf_printf(&out->subject, "%s pods of %s/%s", phase ? phase : "", target, task ? task : "");
    out->found = tasks != NULL;
    buf_int(&out->value, json_integer_value(json_object_get(phases, completed ? "Succeeded"
                                                                    : phase   ? phase
                                                                              : "")));
    out->operator_text = ">=";
}

static const struct {
    const char *member;
    void (*compare)(const struct flow_view *view, const json_t *term, const char *target,
                    struct comparison *out);
} kinds[] = {
    {"output", compare_output},      {"parameter", compare_parameter},    {"phases", compare_phase},
    {"exitCode", compare_exit_code}, {"taskStatus", compare_task_status},
};

/* Returns how many pods a term about a task asks for. */
static json_int_t least_pods(const json_t *term)
{
    const json_t *given = doc_at(term, "taskStatus.minCount");

    return given ? json_integer_value(given) : 1;
}

static bool holds(const struct flow_view *view, const json_t *term,
                  const struct comparison *comparison, const struct sign *sign)
{
    const char *value = comparison->value.data ? comparison->value.data : "";
    bool matches = false;
    size_t i;
    json_t *with;

    if (sign->op == VALUE_EXISTS)
        return comparison->found != sign->negated;
    if (json_object_get(term, "taskStatus"))
        return comparison->found && strtoll(value, NULL, 10) >= least_pods(term);
    if (!comparison->found && !json_object_get(term, "output") &&
        !json_object_get(term, "parameter"))
        return false;
    json_array_foreach(comparison->with, i, with)
    {
        scoped(buf) struct buf text = {0};

        write_with(view, with, &text);
        matches |=
            comparison->found && flow_values_compare(sign->op, value, text.data ? text.data : "");
    }
    return matches != sign->negated;
}

static void write_comparison(const struct flow_view *view, const json_t *term,
                             const struct comparison *comparison, const struct sign *sign,
                             struct buf *out)
{
    bool several = json_array_size(comparison->with) > 1;
    size_t i;
    json_t *with;

    buf_add(out, comparison->subject.data, comparison->subject.len);
    if (comparison->found && sign->op != VALUE_EXISTS) {
        buf_char(out, ' ');
        buf_str_short(out, comparison->value.data ? comparison->value.data : "", VALUE_MAX);
    } else if (sign->op != VALUE_EXISTS) {
        buf_str(out, " (none)");
    }
    buf_printf(out, " %s", several ? sign->several : sign->one);
    if (json_object_get(term, "taskStatus"))
        buf_printf(out, " %lld", (long long)least_pods(term));
    if (several)
        buf_str(out, " (");
    json_array_foreach(comparison->with, i, with)
    {
        scoped(buf) struct buf text = {0};

        write_with(view, with, &text);
        buf_str(out, i ? ", " : several ? "" : " ");
        buf_str_short(out, text.data ? text.data : "", VALUE_MAX);
    }
    if (several)
        buf_char(out, ')');
}

/* Appends a term with its value; returns whether it holds. */
static bool write_term(const struct flow_view *view, const json_t *term, struct buf *out)
{
    const char *target = doc_text(term, "target");
    bool negate = json_is_true(json_object_get(term, "not"));
    struct comparison comparison = {0};
    const struct sign *sign;
    bool is_true;

    for (size_t i = 0; i < countof(kinds); i++)
        if (json_object_get(term, kinds[i].member)) {
            kinds[i].compare(view, term, target ? target : "", &comparison);
            break;
        }
    sign = sign_of(&comparison);
    is_true = holds(view, term, &comparison, sign) != negate;
    buf_str(out, negate ? "not (" : "");
    write_comparison(view, term, &comparison, sign, out);
    buf_printf(out, "%s is %s", negate ? ")" : "", is_true ? "true" : "false");
    comparison_release(&comparison);
    return is_true;
}

void condition_write(const struct flow_view *view, const json_t *condition, bool false_only,
                     struct buf *out)
{
    size_t i, before = out->len, shown = 0, more = 0;
    json_t *term;

    json_array_foreach(json_object_get(condition, "terms"), i, term)
    {
        scoped(buf) struct buf text = {0};
        bool is_true = write_term(view, term, &text);

        if (is_true && false_only)
            continue;
        if (shown == TERMS_MAX) {
            more++;
            continue;
        }
        shown++;
        buf_printf(out, "%s%s", out->len > before ? "; " : "", text.data);
    }
    if (more)
        buf_printf(out, "; %zu more", more);
    if (!shown && false_only)
        condition_write(view, condition, false, out);
}
