/*
 * Reads the body of a failed response: a metav1.Status if there is one, else the HTTP status and
 * the beginning of the text.
 */
#include "api/client/answer.h"

#include <string.h>

#include "api/types/text/json_text.h"

static json_t *document(const struct buf *text)
{
    return json_loadb(text->data ? text->data : "", text->len, 0, NULL);
}

/* Maps the reason to an error code. A response without a known reason, such as that of a proxy, is
 * mapped by its HTTP status. */
static enum error_code code_of(const char *reason, int status)
{
    for (int code = ERR_NONE + 1; reason && code < ERROR_CODE_N; code++)
        if (strcmp(error_reason((enum error_code)code), reason) == 0)
            return (enum error_code)code;
    for (int code = ERR_NONE + 1; code < ERROR_CODE_N; code++)
        if (error_http_status((enum error_code)code) == status)
            return (enum error_code)code;
    return status >= 500 ? ERR_INTERNAL : ERR_BAD_REQUEST;
}

bool answer_ok(int status, const struct buf *text, struct error *err)
{
    scoped(json) json_t *doc = NULL;
    const char *message, *reason;

    if (status < 300)
        return true;
    doc = document(text);
    message = json_string_value(json_object_get(doc, "message"));
    reason = json_string_value(json_object_get(doc, "reason"));
    if (message && *message)
        return error_set(err, code_of(reason, status), "", "%s", message);
    if (status == 404)
        return error_set(err, ERR_NOT_FOUND, "", "the server has nothing at this path");
    return error_set(err, code_of(reason, status), "",
                     "the answer has status %d and says nothing about what went wrong", status);
}

void answer_findings(int status, const struct buf *text, struct error_list *errors)
{
    scoped(json) json_t *doc = document(text);
    json_t *causes = json_object_get(json_object_get(doc, "details"), "causes"), *cause;
    struct error err = {0};
    size_t i;

    json_array_foreach(causes, i, cause)
    {
        const char *field = json_string_value(json_object_get(cause, "field"));
        const char *message = json_string_value(json_object_get(cause, "message"));

        error_list_add(errors, ERR_INVALID, field ? field : "", "%s",
                       message ? message : "is refused");
    }
    if (i == 0 && !answer_ok(status, text, &err))
        error_list_append(errors, &err);
}
