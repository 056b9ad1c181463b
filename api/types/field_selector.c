/*
 * Field selectors: path = value, all of which must hold. Which paths a kind has is a table, as in
 * the real API server.
 *
 * Names are answered from the metadata; for anything else the part of the object that has it is
 * read, at most once an object.
 */
#include "api/types/labels.h"

#include <string.h>

#include "base/mem.h"

enum { TEXT_MAX = 4096, TERMS_MAX = 64 }; /* L-31 */

struct term {
    char *path, *value;
    bool differs; /* != */
};

struct field_selector {
    struct term items[TERMS_MAX];
    size_t count;
};

/* clang-format off */
static const struct selectable {
    enum kind_id kind;
    const char *path;
    const char *missing; /* what an absent field compares as; NULL = "" */
} selectables[] = {
    {KIND_POD, "spec.nodeName"}, {KIND_POD, "spec.restartPolicy"}, {KIND_POD, "spec.schedulerName"},
    {KIND_POD, "spec.serviceAccountName"}, {KIND_POD, "spec.hostNetwork", "false"}, {KIND_POD, "status.phase"},
    {KIND_POD, "status.podIP"}, {KIND_POD, "status.nominatedNodeName"},
    {KIND_EVENT, "involvedObject.kind"}, {KIND_EVENT, "involvedObject.namespace"}, {KIND_EVENT, "involvedObject.name"},
    {KIND_EVENT, "involvedObject.uid"}, {KIND_EVENT, "involvedObject.apiVersion"},
    {KIND_EVENT, "involvedObject.resourceVersion"}, {KIND_EVENT, "involvedObject.fieldPath"}, {KIND_EVENT, "reason"},
    {KIND_EVENT, "reportingComponent"}, {KIND_EVENT, "source"}, {KIND_EVENT, "type"},
    {KIND_SECRET, "type"}, {KIND_NAMESPACE, "status.phase"}, {KIND_NODE, "spec.unschedulable", "false"},
    {KIND_SERVICE, "spec.clusterIP"}, {KIND_SERVICE, "spec.type"},
    {KIND_JOB_FLOW, "status.state.phase"}, {KIND_JOB, "status.state.phase"}, {KIND_JOB, "spec.queue"},
    {KIND_POD_GROUP, "status.phase"}, {KIND_QUEUE, "status.state"},
};
/* clang-format on */

static const struct selectable *find_selectable(const struct kind *kind, const char *path)
{
    for (size_t i = 0; i < countof(selectables); i++)
        if (selectables[i].kind == kind->id && !strcmp(selectables[i].path, path))
            return &selectables[i];
    return NULL;
}

static bool is_known(const struct kind *kind, const char *path)
{
    return !strcmp(path, "metadata.name") ||
           (kind->namespaced && !strcmp(path, "metadata.namespace")) || find_selectable(kind, path);
}

/* Up to the first '=' or "!=" that no backslash precedes; NULL without one. */
static const char *find_operator(const char *term, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (term[i] == '\\')
            i++;
        else if (term[i] == '=' || (term[i] == '!' && i + 1 < len && term[i + 1] == '='))
            return term + i;
    }
    return NULL;
}

/* \\ \, \= stand for the character; anything else after a backslash is an error. */
static bool unescape(const char *text, size_t len, char **out)
{
    char *value = mem_alloc(len + 1), *to = value;

    *out = value;
    for (size_t i = 0; i < len; i++) {
        if (text[i] == ',' || text[i] == '=')
            return false;
        if (text[i] == '\\' && (++i >= len || !strchr("\\,=", text[i])))
            return false;
        *to++ = text[i];
    }
    return true;
}

static bool parse_term(const char *text, const char *term, size_t len,
                       struct field_selector *selector, struct error *err)
{
    const char *mark = find_operator(term, len);
    struct term *item;
    const char *value;

    if (!mark)
        return error_set(err, ERR_BAD_REQUEST, "fieldSelector",
                         "invalid selector: '%.256s'; can't understand '%.*s'", text,
                         len < 256 ? (int)len : 256, term);
    if (selector->count == TERMS_MAX)
        return error_set(err, ERR_BAD_REQUEST, "fieldSelector",
                         "the field selector has more than %d terms", TERMS_MAX);
    item = &selector->items[selector->count++];
    item->differs = *mark == '!';
    value = mark + 1 + (mark[1] == '=');
    item->path = mem_printf("%.*s", (int)(mark - term), term);
    if (unescape(value, (size_t)(term + len - value), &item->value))
        return true;
    return error_set(
        err, ERR_BAD_REQUEST, "fieldSelector",
        "invalid selector: '%.256s'; in a value write \\\\ \\, \\= for backslash, comma and "
        "equals sign",
        text);
}

struct field_selector *field_selector_parse(const char *text, struct error *err)
{
    scoped(field_selector) struct field_selector *selector = NULL;
    const char *term = text;

    if (strlen(text) > TEXT_MAX) {
        error_set(err, ERR_BAD_REQUEST, "fieldSelector",
                  "the field selector is longer than %d bytes", TEXT_MAX);
        return NULL;
    }
    selector = mem_alloc(sizeof *selector);
    for (;;) {
        size_t len = 0;

        while (term[len] && term[len] != ',')
            len += 1 + (term[len] == '\\' && term[len + 1]);
        if (len && !parse_term(text, term, len, selector, err))
            return NULL;
        if (!term[len])
            return take(selector);
        term += len + 1;
    }
}

void field_selector_free(struct field_selector *selector)
{
    for (size_t i = 0; selector && i < selector->count; i++) {
        mem_free(selector->items[i].path);
        mem_free(selector->items[i].value);
    }
    mem_free(selector);
}

static bool is_custom(const struct kind *kind)
{
    static const char suffix[] = "volcano.sh";
    size_t len = strlen(kind->group);

    return len >= sizeof suffix - 1 && !strcmp(kind->group + len - (sizeof suffix - 1), suffix);
}

bool field_selector_check(const struct field_selector *selector, const struct kind *kind,
                          struct error *err)
{
    for (size_t i = 0; i < selector->count; i++) {
        const struct term *term = &selector->items[i];

        if (is_known(kind, term->path))
            continue;
        if (is_custom(kind))
            return error_set(
                err, ERR_BAD_REQUEST, "fieldSelector",
                "Unable to find \"%s, Resource=%s\" that match label selector \"\", field "
                "selector \"%.128s%s%.128s\": field label not supported: %.128s",
                kind_api_version(kind), kind->plural, term->path, term->differs ? "!=" : "=",
                term->value, term->path);
        return error_set(err, ERR_BAD_REQUEST, "fieldSelector",
                         "\"%.128s\" is not a known field selector: only \"metadata.name\", "
                         "\"metadata.namespace\"",
                         term->path);
    }
    return true;
}

const char *field_selector_name(const struct field_selector *selector)
{
    for (size_t i = 0; selector && i < selector->count; i++)
        if (!selector->items[i].differs && !strcmp(selector->items[i].path, "metadata.name"))
            return selector->items[i].value;
    return NULL;
}

/* ---- matching ---- */

/* The parts of an object, read when first asked for. */
struct parts {
    const struct object *object;
    json_t *body, *status;
};

static const json_t *find_member(struct parts *parts, const char *path)
{
    static const char status[] = "status.";
    const json_t *value;

    if (!strncmp(path, status, sizeof status - 1)) {
        if (!parts->status)
            parts->status = object_status_json(parts->object);
        value = parts->status;
        path += sizeof status - 1;
    } else {
        if (!parts->body)
            parts->body = object_body_json(parts->object);
        value = parts->body;
    }
    while (value) {
        size_t len = strcspn(path, ".");

        value = json_object_getn(value, path, len);
        if (!path[len])
            break;
        path += len + 1;
    }
    return value;
}

static const char *field_text(struct parts *parts, const char *path, char number[JSON_NUMBER_MAX])
{
    const struct selectable *row = find_selectable(parts->object->kind, path);
    const json_t *value;

    if (!strcmp(path, "metadata.name"))
        return object_name(parts->object);
    if (!strcmp(path, "metadata.namespace"))
        return object_namespace(parts->object);
    value = row ? find_member(parts, path) : NULL;
    if (!strcmp(path, "source") && json_is_object(value)) /* of an Event: its component */
        value = json_object_get(value, "component");
    if (json_is_string(value))
        return json_string_value(value);
    if (json_is_boolean(value))
        return json_is_true(value) ? "true" : "false";
    if (json_is_number(value)) {
        json_number_text(value, number);
        return number;
    }
    return row && row->missing ? row->missing : "";
}

bool field_selector_matches(const struct field_selector *selector, const struct object *object)
{
    struct parts parts = {.object = object};
    char number[JSON_NUMBER_MAX];
    bool matches = true;

    for (size_t i = 0; selector && matches && i < selector->count; i++) {
        const struct term *term = &selector->items[i];

        matches =
            term->differs == (strcmp(field_text(&parts, term->path, number), term->value) != 0);
    }
    json_decref(parts.body);
    json_decref(parts.status);
    return matches;
}
