/*
 * Errors into Status documents and back.
 */
#include "api/types/status.h"

#include <string.h>

#include "api/types/kinds.h"
#include "base/buf.h"
#include "base/mem.h"

/* How the texts of findings begin, and the reason of the cause. Ref: apimachinery
 * pkg/util/validation/field/errors.go */
/* clang-format off */
static const struct {
    const char *prefix, *reason;
} cause_reasons[] = {
    {"Required value",    "FieldValueRequired"},
    {"Unsupported value", "FieldValueNotSupported"},
    {"Duplicate value",   "FieldValueDuplicate"},
    {"Not found",         "FieldValueNotFound"},
    {"Forbidden",         "FieldValueForbidden"},
    {"Too long",          "FieldValueTooLong"},
    {"Too many",          "FieldValueTooMany"},
};
/* clang-format on */
static const char other_reason[] = "FieldValueInvalid";

static const char *cause_reason(const char *message)
{
    if (strstr(message, " in body must be of type "))
        return "FieldValueTypeInvalid";
    for (size_t i = 0; i < countof(cause_reasons); i++)
        if (!strncmp(message, cause_reasons[i].prefix, strlen(cause_reasons[i].prefix)))
            return cause_reasons[i].reason;
    return other_reason;
}

static bool is_unknown_field(const struct error *finding)
{
    return finding->code == ERR_BAD_REQUEST && !strncmp(finding->message, "unknown field ", 14);
}

/* Names and values come from anywhere; what is no UTF-8 is shown as '?'. */
static json_t *text_json(const char *text)
{
    json_t *value = json_string(text);

    if (value)
        return value;

    scoped_str ascii = mem_strdup(text);

    for (char *c = ascii; *c; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    return json_string(ascii);
}

/* "JobFlow.flow.volcano.sh"; core kinds have no group. */
static void add_kind(struct buf *out, const struct kind *kind)
{
    buf_printf(out, "%s%s%s", kind->name, *kind->group ? "." : "", kind->group);
}

static void add_findings(struct buf *out, const struct error_list *errors, bool with_fields)
{
    for (size_t i = 0; i < errors->count; i++) {
        const struct error *finding = &errors->items[i];

        buf_str(out, i ? ", " : "");
        if (with_fields && *finding->field && !is_unknown_field(finding))
            buf_printf(out, "%s: ", finding->field);
        buf_str(out, finding->message);
    }
    if (errors->dropped)
        buf_printf(out, ", and %zu more", errors->dropped);
}

/* What comes before the findings depends on what they are. */
static void write_message(struct buf *out, const struct error_list *errors, const struct kind *kind,
                          const char *name)
{
    const struct error *first = &errors->items[0];
    bool several = errors->count + errors->dropped > 1;

    if (first->code == ERR_INVALID && kind) {
        add_kind(out, kind);
        buf_printf(out, " \"%s\" is invalid: %s", name ? name : "", several ? "[" : "");
        add_findings(out, errors, true);
        buf_str(out, several ? "]" : "");
    } else if (is_unknown_field(first) && kind) {
        buf_printf(out, "%s in version \"%s\" cannot be handled as a %s: strict decoding error: ",
                   kind->name, kind->version, kind->name);
        add_findings(out, errors, true);
    } else {
        buf_str(out, first->code == ERR_INTERNAL ? "Internal error occurred: " : "");
        add_findings(out, errors, first->code == ERR_INVALID || several);
    }
}

static json_t *causes_of(const struct error_list *errors)
{
    json_t *causes = json_array();

    for (size_t i = 0; i < errors->count; i++) {
        const struct error *finding = &errors->items[i];

        json_array_append_new(causes,
                              json_pack("{s:s, s:s, s:s}", "reason", cause_reason(finding->message),
                                        "message", finding->message, "field", finding->field));
    }
    return causes;
}

static json_t *details_of(const struct error_list *errors, const struct kind *kind,
                          const char *name)
{
    json_t *details = json_object();
    enum error_code code = errors->items[0].code;

    if (name && *name)
        json_object_set_new(details, "name", text_json(name));
    if (kind && *kind->group)
        json_object_set_new(details, "group", json_string(kind->group));
    if (kind)
        json_object_set_new(details, "kind",
                            json_string(code == ERR_INVALID ? kind->name : kind->plural));
    if (code == ERR_INVALID)
        json_object_set_new(details, "causes", causes_of(errors));
    if (code == ERR_TOO_MANY || code == ERR_UNAVAILABLE)
        json_object_set_new(details, "retryAfterSeconds", json_integer(1));
    return details;
}

static json_t *status_new(const char *outcome)
{
    return json_pack("{s:s, s:s, s:{}, s:s}", "kind", "Status", "apiVersion", "v1", "metadata",
                     "status", outcome);
}

json_t *status_from_errors(const struct error_list *errors, const struct kind *kind,
                           const char *name)
{
    static const struct error none = {.code = ERR_INTERNAL, .message = "an error without a reason"};
    const struct error_list fallback = {(struct error *)&none, 1, 0};
    const struct error_list *list = errors->count ? errors : &fallback;
    enum error_code code = list->items[0].code;
    scoped(buf) struct buf message = {0};
    json_t *status = status_new("Failure");

    write_message(&message, list, kind, name);
    json_object_set_new(status, "message", text_json(message.data));
    json_object_set_new(status, "reason", json_string(error_reason(code)));
    json_object_set_new(status, "details", details_of(list, kind, name));
    json_object_set_new(status, "code", json_integer(error_http_status(code)));
    return status;
}

json_t *status_from_error(const struct error *err, const struct kind *kind, const char *name)
{
    const struct error_list one = {(struct error *)err, 1, 0};

    return status_from_errors(&one, kind, name);
}

json_t *status_deleted(const struct kind *kind, const char *name, const char *uid)
{
    json_t *status = status_new("Success");
    json_t *details = json_pack("{s:o}", "name", text_json(name));

    if (*kind->group)
        json_object_set_new(details, "group", json_string(kind->group));
    json_object_set_new(details, "kind", json_string(kind->plural));
    json_object_set_new(details, "uid", json_string(uid));
    json_object_set_new(status, "details", details);
    return status;
}

/* Reasons are unique except that several codes share a status; the status alone gives the first of
 * them. */
static enum error_code code_of(const char *reason, int http_status)
{
    for (int code = ERR_NONE + 1; reason && *reason && code < ERROR_CODE_N; code++)
        if (!strcmp(error_reason((enum error_code)code), reason))
            return (enum error_code)code;
    for (int code = ERR_NONE + 1; code < ERROR_CODE_N; code++)
        if (error_http_status((enum error_code)code) == http_status)
            return (enum error_code)code;
    return http_status >= 400 && http_status < 500 ? ERR_BAD_REQUEST : ERR_INTERNAL;
}

bool status_to_error(const json_t *status, int http_status, struct error *err)
{
    const json_t *details = json_object_get(status, "details");
    const json_t *cause = json_array_get(json_object_get(details, "causes"), 0);
    const char *message = json_string_value(json_object_get(status, "message"));
    const char *field = json_string_value(json_object_get(cause, "field"));
    const json_t *code = json_object_get(status, "code");
    const char *reason = json_string_value(json_object_get(status, "reason"));
    int http = json_is_integer(code) ? (int)json_integer_value(code) : http_status;

    if (message && *message)
        return error_set(err, code_of(reason, http), field ? field : "", "%s", message);
    return error_set(err, code_of(reason, http), "",
                     "the server answered with status %d and no message", http);
}
