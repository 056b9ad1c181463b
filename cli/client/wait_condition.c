/*
 * Parses a condition of `wait` and evaluates it against an object.
 */
#include "cli/client/wait_condition.h"

#include <string.h>
#include <strings.h>

#include "api/types/kinds/jobflow/jobflow.h"
#include "api/types/text/jsonpath.h"
#include "base/mem.h"

static bool refuse(const char *text, struct error *err)
{
    return error_set(err, ERR_BAD_REQUEST, "",
                     "unrecognized condition: \"%s\"; write delete, condition=NAME, phase=NAME or "
                     "jsonpath='{.path}'=VALUE",
                     text);
}

/* Splits a condition NAME[=VALUE]. */
static bool split(const char *text, struct condition *out)
{
    const char *equals = strchr(text, '=');

    out->name = equals ? mem_printf("%.*s", (int)(equals - text), text) : mem_strdup(text);
    out->value = equals ? mem_strdup(equals + 1) : NULL;
    return *out->name != '\0';
}

/* Splits a condition {PATH}[=VALUE]. */
static bool split_path(const char *text, struct condition *out)
{
    const char *end = *text == '{' ? strchr(text, '}') : text + strcspn(text, "=");

    if (!end || end == text)
        return false;
    end += *end == '}';
    if (*end && *end != '=')
        return false;
    out->name = mem_printf("%.*s", (int)(end - text), text);
    out->value = *end ? mem_strdup(end + 1) : NULL;
    return true;
}

bool condition_parse(const char *text, struct condition *out, struct error *err)
{
    static const struct {
        const char *prefix;
        enum condition_kind kind;
        bool (*split)(const char *text, struct condition *out);
    } forms[] = {
        {"condition=", CONDITION_STATUS, split},
        {"phase=", CONDITION_PHASE, split},
        {"jsonpath=", CONDITION_PATH, split_path},
    };

    *out = (struct condition){.kind = CONDITION_END};
    if (!text)
        return true;
    if (strcmp(text, "delete") == 0) {
        out->kind = CONDITION_DELETE;
        return true;
    }
    for (size_t i = 0; i < countof(forms); i++) {
        size_t n = strlen(forms[i].prefix);

        if (strncmp(text, forms[i].prefix, n) != 0)
            continue;
        out->kind = forms[i].kind;
        if (forms[i].split(text + n, out))
            return true;
        condition_release(out);
    }
    return refuse(text, err);
}

void condition_release(struct condition *condition)
{
    mem_free(condition->name);
    mem_free(condition->value);
    *condition = (struct condition){0};
}

const char *condition_phase(const json_t *object)
{
    const json_t *status = json_object_get(object, "status");
    const json_t *state = json_object_get(status, "state");
    const char *phase = json_string_value(json_object_get(state, "phase"));

    if (!phase)
        phase = json_string_value(json_object_get(status, "phase"));
    if (!phase)
        phase = json_string_value(state);
    return phase ? phase : "";
}

/* The final phases of each kind. */
static const struct {
    const char *kind, *phase;
    bool well;
} ends[] = {
    /* clang-format off */
    {"JobFlow", "Succeed",    true},
    {"JobFlow", "Failed",     false},
    {"Job",     "Completed",  true},
    {"Job",     "Failed",     false},
    {"Job",     "Terminated", false},
    {"Job",     "Aborted",    false},
    {"Pod",     "Succeeded",  true},
    {"Pod",     "Failed",     false},
    /* clang-format on */
};

/* Returns whether an ended flow was asked to run again and has not begun: its next end is waited
 * for. */
static bool runs_again(const json_t *object)
{
    const json_t *annotations = json_object_get(json_object_get(object, "metadata"), "annotations");
    const json_t *asked = json_object_get(annotations, ANNOTATION_FLOW_RETRY);
    const json_t *seen = json_object_get(json_object_get(object, "status"), "observedRetry");

    return asked && !json_equal(asked, seen) &&
           (strcmp(condition_phase(object), flow_phase_text(FLOW_FAILED)) == 0 ||
            json_object_get(annotations, ANNOTATION_FLOW_RETRY_FROM) ||
            json_object_get(annotations, ANNOTATION_FLOW_RETRY_ONLY));
}

static enum condition_verdict evaluate_end(const json_t *object)
{
    const char *kind = json_string_value(json_object_get(object, "kind"));
    const char *phase = condition_phase(object);

    if (kind && strcmp(kind, kind_job_flow.name) == 0 && runs_again(object))
        return CONDITION_NOT_YET;
    for (size_t i = 0; kind && i < countof(ends); i++)
        if (strcmp(ends[i].kind, kind) == 0 && strcmp(ends[i].phase, phase) == 0)
            return ends[i].well ? CONDITION_MET : CONDITION_NEVER;
    return CONDITION_NOT_YET;
}

/* Returns NEVER when the object is in a final phase, where an unmet condition stays unmet; else
 * NOT_YET. */
static enum condition_verdict not_yet(const json_t *object)
{
    return evaluate_end(object) == CONDITION_NOT_YET ? CONDITION_NOT_YET : CONDITION_NEVER;
}

static enum condition_verdict evaluate_phase(const char *phase, const json_t *object)
{
    return strcasecmp(condition_phase(object), phase) == 0 ? CONDITION_MET : not_yet(object);
}

static enum condition_verdict evaluate_status(const struct condition *condition,
                                              const json_t *object)
{
    const json_t *conditions = json_object_get(json_object_get(object, "status"), "conditions");
    const char *wanted = condition->value ? condition->value : "True";
    size_t i;
    json_t *each;

    json_array_foreach(conditions, i, each)
    {
        const char *type = json_string_value(json_object_get(each, "type"));
        const char *status = json_string_value(json_object_get(each, "status"));

        if (type && status && strcasecmp(type, condition->name) == 0)
            return strcasecmp(status, wanted) == 0 ? CONDITION_MET : not_yet(object);
    }
    return condition->value ? not_yet(object) : evaluate_phase(condition->name, object);
}

static enum condition_verdict evaluate_path(const struct condition *condition, const json_t *object,
                                            struct error *err)
{
    scoped(buf) struct buf text = {0};

    if (!jsonpath_print(object, condition->name, &text, err))
        return CONDITION_NOT_YET;
    if (condition->value ? strcmp(text.data ? text.data : "", condition->value) == 0 : text.len > 0)
        return CONDITION_MET;
    return CONDITION_NOT_YET;
}

enum condition_verdict condition_evaluate(const struct condition *condition, const json_t *object,
                                          struct error *err)
{
    if (condition->kind == CONDITION_DELETE)
        return object ? CONDITION_NOT_YET : CONDITION_MET;
    if (!object)
        return CONDITION_NOT_YET;
    switch (condition->kind) {
    case CONDITION_STATUS:
        return evaluate_status(condition, object);
    case CONDITION_PHASE:
        return evaluate_phase(condition->name, object);
    case CONDITION_PATH:
        return evaluate_path(condition, object, err);
    case CONDITION_END:
    case CONDITION_DELETE:
        break;
    }
    return evaluate_end(object);
}
