/*
 * Parses field and label selectors once per request (L-31), then matches objects one by one. A
 * table lists the fields by which each kind can be selected.
 */
#include "api/server/rest/filter.h"

#include <string.h>

#include "api/types/kinds/jobflow/jobflow.h"
#include "api/types/kinds/pod/pod.h"
#include "api/types/text/doc.h"

/* Longest selector, and most requirements in it (L-31). */
enum { SELECTOR_BYTES_MAX = 4096, TERMS_MAX = 64 };

/* Returns the value of a field, borrowed from the object; NULL counts as empty. */
typedef const char *(*field_fn)(const struct object *object);

struct filter_field {
    const struct kind *kind; /* kind that has the field; NULL: every kind */
    const char *path;
    field_fn read;  /* function that reads the field; NULL: the field is the member of the body at
                     * `path` */
    const char *at; /* path of the member in the body when it differs from `path`; else NULL */
};

struct filter_term {
    const struct filter_field *field;
    const char *value;
    bool differs;
};

static const char *read_namespace(const struct object *object)
{
    return object_namespace(object);
}

static const char *read_name(const struct object *object)
{
    return object_name(object);
}

static const char *pod_phase(const struct object *pod)
{
    return pod_phase_text(pod_status_of(pod)->phase);
}

static const char *pod_ip(const struct object *pod)
{
    return pod_status_of(pod)->pod_ip;
}

static const char *pod_node(const struct object *pod)
{
    return pod_spec_of(pod)->node_name;
}

static const char *pod_restart_policy(const struct object *pod)
{
    const char *policy = pod_spec_of(pod)->restart_policy;

    return policy ? policy : "Always";
}

static const char *pod_scheduler(const struct object *pod)
{
    return pod_spec_of(pod)->scheduler_name;
}

static const char *pod_host_network(const struct object *pod)
{
    return pod_spec_of(pod)->host_network ? "true" : "false";
}

static const char *flow_phase(const struct object *flow)
{
    return flow_phase_text(jobflow_phase_of(flow));
}

static const char *job_phase(const struct object *job)
{
    return job_phase_text(job_status_of(job)->phase);
}

static const char *namespace_phase(const struct object *namespace)
{
    return object_deleting(namespace) ? "Terminating" : "Active";
}

static const struct filter_field fields[] = {
    /* clang-format off */
    {NULL,            "metadata.name",                read_name},
    {NULL,            "metadata.namespace",           read_namespace},
    {&kind_pod,       "status.phase",                 pod_phase},
    {&kind_pod,       "status.podIP",                 pod_ip},
    {&kind_pod,       "spec.nodeName",                pod_node},
    {&kind_pod,       "spec.restartPolicy",           pod_restart_policy},
    {&kind_pod,       "spec.schedulerName",           pod_scheduler},
    {&kind_pod,       "spec.hostNetwork",             pod_host_network},
    {&kind_job_flow,  "status.state.phase",           flow_phase},
    {&kind_job,       "status.state.phase",           job_phase},
    {&kind_namespace, "status.phase",                 namespace_phase},
    {&kind_secret,    "type",                         NULL},
    {&kind_event,     "involvedObject.kind",          NULL},
    {&kind_event,     "involvedObject.namespace",     NULL},
    {&kind_event,     "involvedObject.name",          NULL},
    {&kind_event,     "involvedObject.uid",           NULL},
    {&kind_event,     "involvedObject.apiVersion",    NULL},
    {&kind_event,     "involvedObject.fieldPath",     NULL},
    {&kind_event,     "reason",                       NULL},
    {&kind_event,     "reportingComponent",           NULL},
    {&kind_event,     "type",                         NULL},
    {&kind_event,     "regarding.kind",               NULL, "involvedObject.kind"},
    {&kind_event,     "regarding.namespace",          NULL, "involvedObject.namespace"},
    {&kind_event,     "regarding.name",               NULL, "involvedObject.name"},
    {&kind_event,     "regarding.uid",                NULL, "involvedObject.uid"},
    {&kind_event,     "regarding.apiVersion",         NULL, "involvedObject.apiVersion"},
    {&kind_event,     "regarding.fieldPath",          NULL, "involvedObject.fieldPath"},
    {&kind_event,     "reportingController",          NULL, "reportingComponent"},
    /* clang-format on */
};

static const struct filter_field *find_field(const struct kind *kind, const char *path)
{
    for (size_t i = 0; i < countof(fields); i++)
        if ((!fields[i].kind || fields[i].kind == kind) && strcmp(fields[i].path, path) == 0)
            return &fields[i];
    return NULL;
}

/* Refuses an unknown field. The words follow kube-apiserver; kubectl itself names the resource. */
static bool refuse_field(const struct kind *kind, const char *path, struct error *err)
{
    scoped(buf) struct buf known = {0};

    if (kind_is_custom(kind))
        return error_set(err, ERR_BAD_REQUEST, "", "field label not supported: %s", path);
    for (size_t i = 0; i < countof(fields); i++)
        if (!fields[i].kind || fields[i].kind == kind)
            buf_printf(&known, "%s\"%s\"", known.len ? ", " : "", fields[i].path);
    return error_set(err, ERR_BAD_REQUEST, "", "\"%s\" is not a known field selector: only %s",
                     path, known.data);
}

static bool refuse_syntax(const char *text, const char *term, struct error *err)
{
    return error_set(err, ERR_BAD_REQUEST, "", "invalid selector: '%s'; can't understand '%s'",
                     text, term);
}

/* Splits one requirement in place into path, operator and value. */
static bool split_term(char *term, char **out_value, bool *out_differs)
{
    char *equals = strchr(term, '=');

    if (!equals || equals == term)
        return false;
    *out_differs = equals[-1] == '!';
    if (*out_differs)
        equals[-1] = '\0';
    *equals++ = '\0';
    *out_value = equals + (!*out_differs && *equals == '=');
    return *term != '\0';
}

/* Removes the escapes of a value in place; false for a backslash at the end. */
static bool unescape(char *value)
{
    char *write = value;

    for (; *value; value++) {
        if (*value == '\\' && !*++value)
            return false;
        *write++ = *value;
    }
    *write = '\0';
    return true;
}

/* Returns the length up to the comma that ends a requirement. */
static size_t term_length(const char *text)
{
    size_t n = 0;

    while (text[n] && text[n] != ',')
        n += text[n] == '\\' && text[n + 1] ? 2 : 1;
    return n;
}

static bool parse_fields(const char *text, const struct kind *kind, struct arena *arena,
                         struct filter_term *terms, size_t *n, struct error *err)
{
    for (size_t len; *text; text += len + (text[len] == ',')) {
        char *term = arena_strndup(arena, text, len = term_length(text)), *value;
        const char *shown = arena_strdup(arena, term);
        bool differs;

        if (len == 0)
            continue;
        if (*n == TERMS_MAX)
            return error_set(err, ERR_BAD_REQUEST, "", "more than %d field requirements",
                             TERMS_MAX);
        if (!split_term(term, &value, &differs) || !unescape(value))
            return refuse_syntax(text, shown, err);
        terms[*n] = (struct filter_term){find_field(kind, term), value, differs};
        if (!terms[(*n)++].field)
            return refuse_field(kind, term, err);
    }
    return true;
}

bool filter_parse(const struct request_target *target, const struct kind *kind, const char *name,
                  struct arena *arena, struct filter *out, struct error *err)
{
    const char *labels = request_query(target, "labelSelector");
    const char *text = request_query(target, "fieldSelector");
    struct filter_term *terms = arena_array(arena, TERMS_MAX + 1, sizeof *terms);
    size_t n = 0;

    *out = (struct filter){.terms = terms};
    if (text && strlen(text) > SELECTOR_BYTES_MAX)
        return error_set(err, ERR_BAD_REQUEST, "", "the field selector is longer than %d bytes",
                         SELECTOR_BYTES_MAX);
    if (text && !parse_fields(text, kind, arena, terms, &n, err))
        return false;
    if (name)
        terms[n++] =
            (struct filter_term){find_field(kind, "metadata.name"), arena_strdup(arena, name)};
    out->n_terms = n;
    if (!labels || !*labels)
        return true;
    out->labels = selector_parse(labels, err);
    return out->labels != NULL;
}

void filter_release(struct filter *filter)
{
    selector_free(filter->labels);
    *filter = (struct filter){0};
}

static bool term_holds(const struct filter_term *term, const struct object *object, json_t **body)
{
    const char *value;

    if (!term->field->read && !*body)
        *body = object_body_json(object);
    value = term->field->read ? term->field->read(object)
                              : json_string_value(doc_at(
                                    *body, term->field->at ? term->field->at : term->field->path));
    return (strcmp(value ? value : "", term->value) == 0) != term->differs;
}

bool filter_matches(const struct filter *filter, const struct object *object)
{
    scoped(json) json_t *body = NULL;

    for (size_t i = 0; i < filter->n_terms; i++)
        if (!term_holds(&filter->terms[i], object, &body))
            return false;
    return !filter->labels || selector_matches(filter->labels, object->meta);
}
