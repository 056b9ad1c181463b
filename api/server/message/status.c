/*
 * Builds a Status from an error or a list of errors. Reason, details and causes have the words of
 * kube-apiserver, which clients and kubectl match.
 */
#include "api/server/message/status.h"

#include <stdlib.h>
#include <string.h>

#include "base/encoding/jsonw.h"

#define IN_BODY " in body must be of type " /* part of every message about a wrong JSON type */

/* The reason of a cause follows from how its message begins; the first row that fits counts. */
static const struct {
    const char *begins, *reason;
} cause_reasons[] = {
    /* clang-format off */
    {"Required value",    "FieldValueRequired"},
    {"Duplicate value",   "FieldValueDuplicate"},
    {"Unsupported value", "FieldValueNotSupported"},
    {"Forbidden",         "FieldValueForbidden"},
    {"Not found",         "FieldValueNotFound"},
    {"Too long",          "FieldValueTooLong"},
    {"Too many",          "FieldValueTooMany"},
    {"",                  "FieldValueInvalid"},
    /* clang-format on */
};

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* Returns true for a conflict of server-side apply. The error's field is the path of a field that
 * another manager owns; errors of one manager are adjacent. */
static bool is_apply_conflict(const struct error *err)
{
    return err->code == ERR_CONFLICT && err->field[0] == '.';
}

static bool is_wrong_type(const struct error *err)
{
    return err->code == ERR_INVALID && strstr(err->message, IN_BODY);
}

static const char *cause_reason(const struct error *err)
{
    if (err->code == ERR_FORBIDDEN)
        return "NamespaceTerminating";
    if (is_apply_conflict(err))
        return "FieldManagerConflict";
    if (err->code == ERR_TIMEOUT)
        return "ResourceVersionTooLarge";
    if (is_wrong_type(err))
        return "FieldValueTypeInvalid";
    for (size_t i = 0; i < countof(cause_reasons); i++)
        if (begins_with(err->message, cause_reasons[i].begins))
            return cause_reasons[i].reason;
    return NULL;
}

int status_retry_after_s(enum error_code code)
{
    return code == ERR_TOO_MANY || code == ERR_TIMEOUT || code == ERR_UNAVAILABLE;
}

const char *status_http_phrase(int http_status)
{
    static const struct {
        int status;
        const char *phrase;
    } rows[] = {
        /* clang-format off */
        {200, "OK"},
        {201, "Created"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {406, "Not Acceptable"},
        {408, "Request Timeout"},
        {409, "Conflict"},
        {410, "Gone"},
        {413, "Content Too Large"},
        {414, "URI Too Long"},
        {415, "Unsupported Media Type"},
        {422, "Unprocessable Content"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {503, "Service Unavailable"},
        {504, "Gateway Timeout"},
        {507, "Insufficient Storage"},
        /* clang-format on */
    };

    for (size_t i = 0; i < countof(rows); i++)
        if (rows[i].status == http_status)
            return rows[i].phrase;
    return "";
}

static void add_finding(const struct error *err, struct buf *out)
{
    if (err->field[0])
        buf_printf(out, "%s: ", err->field);
    buf_str(out, err->message);
}

/* PodLogOptions belong to the pod's own group; all other options to meta.k8s.io. */
static bool options_of_object(const struct status_subject *about)
{
    return about->options && strcmp(about->options, "PodLogOptions") == 0;
}

static void add_invalid(const struct error_list *errors, const struct status_subject *about,
                        struct buf *out)
{
    bool of_object = options_of_object(about);
    const char *group = of_object        ? ""
                        : about->options ? "meta.k8s.io"
                        : about->kind    ? about->kind->group
                                         : "";

    if (about->options || about->kind)
        buf_printf(out, "%s%s%s \"%s\" is invalid: ",
                   about->options ? about->options : about->kind->name, *group ? "." : "", group,
                   about->name && (!about->options || of_object) ? about->name : "");
    if (errors->count > 1)
        buf_char(out, '[');
    for (size_t i = 0; i < errors->count; i++) {
        buf_str(out, i ? ", " : "");
        add_finding(&errors->items[i], out);
    }
    if (errors->dropped)
        buf_printf(out, ", and %zu more", errors->dropped);
    if (errors->count > 1)
        buf_char(out, ']');
}

static void add_unhandled(const struct status_subject *about, struct buf *out)
{
    if (about->kind)
        buf_printf(out, "%s in version \"%s\" cannot be handled as a %s: ", about->kind->name,
                   about->kind->version, about->kind->name);
}

static int by_text(const void *a, const void *b)
{
    const struct error *const *one = a, *const *other = b;

    return strcmp((*one)->message, (*other)->message);
}

bool status_is_strict(const struct error *err)
{
    return err->code == ERR_BAD_REQUEST && err->field[0] &&
           (begins_with(err->message, "unknown field") ||
            begins_with(err->message, "duplicate field"));
}

/* Strict errors decide the whole Status, because kube-apiserver finds them while decoding. */
static bool any_strict(const struct error_list *errors)
{
    for (size_t i = 0; i < errors->count; i++)
        if (status_is_strict(&errors->items[i]))
            return true;
    return false;
}

/* Lists the unknown and duplicate fields, whose messages name the field themselves. Other errors
 * appear only among the causes. */
static void add_strict(const struct error_list *errors, const struct status_subject *about,
                       struct buf *out)
{
    const struct error *sorted[ERROR_LIST_MAX];
    size_t n = 0;

    for (size_t i = 0; i < errors->count; i++)
        if (status_is_strict(&errors->items[i]))
            sorted[n++] = &errors->items[i];
    qsort(sorted, n, sizeof *sorted, by_text);
    add_unhandled(about, out);
    buf_str(out, "strict decoding error: ");
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "%s%s", i ? ", " : "", sorted[i]->message);
    if (errors->dropped)
        buf_printf(out, ", and %zu more", errors->dropped);
}

static void add_conflicts(const struct error_list *errors, struct buf *out)
{
    const char *manager = "";

    buf_printf(out, "Apply failed with %zu conflict%s: ", errors->count,
               errors->count == 1 ? "" : "s");
    if (errors->count == 1) {
        buf_printf(out, "%s: %s", errors->items[0].message, errors->items[0].field);
        return;
    }
    for (size_t i = 0; i < errors->count; i++) {
        const char *with = errors->items[i].message + strlen("conflict");

        if (strcmp(with, manager) != 0)
            buf_printf(out, "%sconflicts%s:", i ? "\n" : "", with);
        buf_printf(out, "\n- %s", errors->items[i].field);
        manager = with;
    }
}

/* Messages about values that kube-apiserver parses while decoding, and its words for them. */
static const struct {
    const char *in_finding, *says;
} read_values[] = {
    {"quantities must match", "quantities must match the regular expression "
                              "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
    {"must be base64 text", "illegal base64 data"},
};

static const char *unreadable(const struct error *err)
{
    for (size_t i = 0; err->code == ERR_INVALID && i < countof(read_values); i++)
        if (strstr(err->message, read_values[i].in_finding))
            return read_values[i].says;
    return NULL;
}

bool status_is_undecodable(const struct error *err, const struct kind *kind)
{
    return !kind_is_custom(kind) && (is_wrong_type(err) || unreadable(err));
}

static bool is_undecodable(const struct error_list *errors, const struct status_subject *about)
{
    return about->kind && !about->options && status_is_undecodable(&errors->items[0], about->kind);
}

/* Adds the message of Go's JSON decoder, which names "spec.containers[0].name" without the index:
 * "spec.containers.name". */
static void add_undecodable(const struct error *err, const struct status_subject *about,
                            struct buf *out)
{
    const char *type, *value;
    bool number;

    add_unhandled(about, out);
    if (unreadable(err)) {
        buf_str(out, unreadable(err));
        return;
    }
    type = strstr(err->message, IN_BODY) + sizeof IN_BODY - 1;
    value = strchr(err->message, '"') + 1;
    number = strncmp(value, "integer", 7) == 0;
    buf_printf(out, "json: cannot unmarshal %.*s into Go struct field %s.",
               number ? 6 : (int)strcspn(value, "\""), number ? "number" : value,
               about->kind->name);
    for (const char *c = err->field; *c; c += *c == '[' ? strcspn(c, "]") + 1 : 1)
        if (*c != '[')
            buf_char(out, *c);
    buf_printf(out, " of type %.*s", (int)strcspn(type, ":"), type);
}

enum error_code status_code(const struct error_list *errors, const struct status_subject *about)
{
    return is_undecodable(errors, about) || any_strict(errors) ? ERR_BAD_REQUEST
                                                               : errors->items[0].code;
}

static void add_message(const struct error_list *errors, const struct status_subject *about,
                        struct buf *out)
{
    if (is_undecodable(errors, about))
        add_undecodable(&errors->items[0], about, out);
    else if (any_strict(errors))
        add_strict(errors, about, out);
    else if (errors->items[0].code == ERR_INVALID)
        add_invalid(errors, about, out);
    else if (is_apply_conflict(&errors->items[0]))
        add_conflicts(errors, out);
    else if (errors->items[0].code == ERR_INTERNAL)
        buf_printf(out, "Internal error occurred: %s", errors->items[0].message);
    else
        buf_str(out, errors->items[0].message);
}

static void write_head(struct jsonw *w, const char *outcome, const struct status_subject *about)
{
    jsonw_open(w);
    jsonw_member_str(w, "kind", "Status");
    jsonw_member_str(w, "apiVersion", "v1");
    jsonw_member_open(w, "metadata");
    jsonw_member_str_opt(w, "continue", about->continue_token);
    jsonw_close(w);
    jsonw_member_str(w, "status", outcome);
}

/* Returns whether the details name the object. They do not for an error of the request itself. */
static bool has_subject(enum error_code code)
{
    return code != ERR_BAD_REQUEST && code != ERR_UNAUTHORIZED && code != ERR_NOT_ACCEPTABLE &&
           code != ERR_MEDIA_TYPE && code != ERR_TIMEOUT;
}

/* Returns true for a delete whose precondition failed: its details name the kind. Other conflicts
 * name the resource. */
static bool names_kind(const struct error *err, const struct status_subject *about)
{
    static const char unfulfilled[] = "Operation cannot be fulfilled on ";

    return err->code == ERR_CONFLICT && about->kind && begins_with(err->message, unfulfilled) &&
           begins_with(err->message + sizeof unfulfilled - 1, about->kind->name);
}

enum subject_name { BY_KIND, BY_RESOURCE };

static void write_subject(struct jsonw *w, const struct status_subject *about, enum subject_name by)
{
    if (about->options) {
        if (options_of_object(about))
            jsonw_member_str_opt(w, "name", about->name);
        else
            jsonw_member_str(w, "group", "meta.k8s.io");
        jsonw_member_str(w, "kind", about->options);
        return;
    }
    if (!about->kind)
        return;
    jsonw_member_str_opt(w, "name", about->name);
    jsonw_member_str_opt(w, "group", about->kind->group);
    jsonw_member_str(w, "kind", by == BY_KIND ? about->kind->name : about->kind->plural);
    jsonw_member_str_opt(w, "uid", about->uid);
}

static void write_cause_message(struct jsonw *w, const struct error *err)
{
    static const char in[] = "in namespace ";
    const char *ns = strstr(err->message, in);
    char text[ERROR_MESSAGE_MAX];

    if (err->code == ERR_TIMEOUT) {
        jsonw_member_str(w, "message", "Too large resource version");
    } else if (err->code == ERR_FORBIDDEN && ns) {
        ns += sizeof in - 1;
        snprintf(text, sizeof text, "namespace %.*s is being terminated", (int)strcspn(ns, " "),
                 ns);
        jsonw_member_str(w, "message", text);
    } else {
        jsonw_member_str(w, "message", err->message);
    }
}

static void write_causes(struct jsonw *w, const struct error_list *errors)
{
    bool open = false;

    for (size_t i = 0; i < errors->count; i++) {
        const struct error *err = &errors->items[i];

        if ((!err->field[0] && err->code != ERR_INVALID) || err->code == ERR_NOT_FOUND)
            continue;
        if (!open)
            jsonw_member_open_list(w, "causes");
        open = true;
        jsonw_open(w);
        jsonw_member_str_opt(w, "reason", cause_reason(err));
        write_cause_message(w, err);
        if (err->code != ERR_TIMEOUT)
            jsonw_member_str_opt(w, "field", err->field);
        jsonw_close(w);
    }
    if (open)
        jsonw_close_list(w);
}

static void write_details(struct jsonw *w, const struct error_list *errors,
                          const struct status_subject *about)
{
    const struct error *first = &errors->items[0];

    jsonw_member_open(w, "details");
    if (has_subject(status_code(errors, about)) && !is_apply_conflict(first))
        write_subject(w, about,
                      first->code == ERR_INVALID || names_kind(first, about) ? BY_KIND
                                                                             : BY_RESOURCE);
    write_causes(w, errors);
    jsonw_member_int_opt(w, "retryAfterSeconds", status_retry_after_s(first->code));
    jsonw_close(w);
}

static bool has_causes(const struct error_list *errors)
{
    return errors->items[0].field[0] || errors->items[0].code == ERR_INVALID;
}

void status_write_failure(const struct error_list *errors, const struct status_subject *about,
                          struct buf *out)
{
    enum error_code code = status_code(errors, about);
    scoped(buf) struct buf message = {0};
    struct jsonw w = jsonw_to(out);

    add_message(errors, about, &message);
    write_head(&w, "Failure", about);
    jsonw_member_str(&w, "message", message.data);
    jsonw_member_str_opt(&w, "reason", error_reason(code));
    if ((code != ERR_BAD_REQUEST && code != ERR_UNAUTHORIZED && code != ERR_UNDECLARED) ||
        has_causes(errors))
        write_details(&w, errors, about);
    jsonw_member_int(&w, "code", error_http_status(code));
    jsonw_close(&w);
}

void status_write_error(const struct error *err, const struct status_subject *about,
                        struct buf *out)
{
    struct error_list errors = {0};

    error_list_append(&errors, err);
    status_write_failure(&errors, about, out);
    error_list_release(&errors);
}

void status_write_success(int http_status, struct buf *out)
{
    struct jsonw w = jsonw_to(out);

    write_head(&w, "Success", &(const struct status_subject){0});
    jsonw_member_int(&w, "code", http_status);
    jsonw_close(&w);
}

void status_write_deleted(const struct status_subject *about, struct buf *out)
{
    struct jsonw w = jsonw_to(out);

    write_head(&w, "Success", about);
    jsonw_member_open(&w, "details");
    write_subject(&w, about, BY_RESOURCE);
    jsonw_close(&w);
    jsonw_close(&w);
}
