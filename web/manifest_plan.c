/*
 * What manifests that are given to the page would do: `plan` runs as a child, as in a terminal.
 *
 *   {"manifests": TEXT, "namespace": NS} ─► documents, where each begins ─┐
 *                                       └─► jobflow plan - -o json ───────┴─► answer
 *
 * With the places of the documents the page can send each of them as it was written. Nothing of
 * their content comes back: neither data of Secrets, given or
 * stored, nor the jobs that would be made.
 */
#include <string.h>

#include "api/types/text/doc.h"
#include "api/types/text/yaml.h"
#include "base/mem.h"
#include "base/secret.h"
#include "web/child_response.h"
#include "web/topic/topic.h"

struct plan {
    struct child_response answer;
    struct buf manifests;
    char *ns;
    json_t *documents;
};

static struct plan *of(struct child_response *answer)
{
    return container_of(answer, struct plan, answer);
}

static void release(struct child_response *answer)
{
    struct plan *plan = of(answer);

    secret_wipe(&plan->manifests);
    mem_free(plan->ns);
    json_decref(plan->documents);
    mem_free(plan);
}

static void set_text(json_t *to, const char *member, const json_t *from, const char *path)
{
    const char *text = doc_text(from, path);

    if (text)
        json_object_set_new(to, member, json_string(text));
}

/* Lists what the documents are, and the first byte and line of each. */
static bool list_documents(struct plan *plan, struct error *err)
{
    scoped(yaml_reader) struct yaml_reader *reader = yaml_reader_new(
        plan->manifests.len ? plan->manifests.data : "", plan->manifests.len, &yaml_limits_default);

    for (;;) {
        scoped(json) json_t *doc = NULL;
        json_t *entry;

        if (!yaml_reader_next(reader, &doc, err))
            return false;
        if (!doc)
            return true;
        entry = json_pack("{s:I, s:I}", "begin", (json_int_t)yaml_reader_offset(reader), "line",
                          (json_int_t)yaml_reader_line(reader));
        set_text(entry, "apiVersion", doc, "apiVersion");
        set_text(entry, "kind", doc, "kind");
        set_text(entry, "namespace", doc, "metadata.namespace");
        set_text(entry, "name", doc, "metadata.name");
        json_array_append_new(plan->documents, entry);
    }
}

static void drop_member(json_t *entries, const char *member)
{
    size_t i;
    json_t *entry;

    json_array_foreach(entries, i, entry) json_object_del(entry, member);
}

/* Removes what the page does not show: the jobs of steps, and the values, stored and new, of the
 * fields that change. */
static void drop_content(json_t *printed)
{
    size_t i;
    json_t *flow;

    drop_member(json_object_get(printed, "objects"), "changes");
    json_array_foreach(json_object_get(printed, "flows"), i, flow)
    {
        drop_member(json_object_get(flow, "steps"), "job");
        drop_member(json_object_get(flow, "templates"), "changes");
    }
}

static void add_lines(json_t *lines, const struct buf *text)
{
    for (size_t at = 0; at < text->len;) {
        const char *end = memchr(text->data + at, '\n', text->len - at);
        size_t len = end ? (size_t)(end - text->data) - at : text->len - at;
        json_t *line = json_stringn(text->data + at, len);

        if (len > 0 && line)
            json_array_append(lines, line);
        json_decref(line);
        at += len + 1;
    }
}

static void write_answer(struct child_response *to)
{
    struct plan *plan = of(to);
    struct child *child = &to->child;
    scoped(json) json_t *answer = json_object();
    scoped(json) json_t *printed =
        json_loadb(child->out.len ? child->out.data : "", child->out.len, 0, NULL);
    struct web_response content = {.status = 200};
    json_t *findings = json_array();

    drop_content(printed);
    add_lines(findings, &child->said);
    if (child->err.code != ERR_NONE && json_array_size(findings) == 0)
        json_array_append_new(findings, json_string(child->err.message));
    json_object_set_new(answer, "ok", json_boolean(child->err.code == ERR_NONE));
    json_object_set_new(answer, "findings", findings);
    json_object_set(answer, "documents", plan->documents);
    if (printed)
        json_object_set(answer, "plan", printed);
    json_text(answer, &content.body);
    web_respond_now(to->stream.response, &content);
}

/* Takes manifests and namespace out of the body. */
static bool read_body(struct plan *plan, const struct api_request *request, struct error *err)
{
    scoped(json) json_t *body = json_loadb(request->body_len ? request->body : "",
                                           request->body_len, JSON_REJECT_DUPLICATES, NULL);
    const json_t *text = json_object_get(body, "manifests");
    const char *ns = json_string_value(json_object_get(body, "namespace"));

    if (!json_is_string(text) || (ns && !topic_is_name(ns, strlen(ns))))
        return error_set(err, ERR_BAD_REQUEST, "",
                         "the body is {\"manifests\": TEXT, \"namespace\": NAME}");
    buf_add(&plan->manifests, json_string_value(text), json_string_length(text));
    plan->ns =
        mem_strdup(ns ? ns : upstream_namespace(plan->answer.stream.server->options.upstream));
    return list_documents(plan, err);
}

void *web_plan(struct web_server *server, const struct web_request *request,
               struct api_response *response)
{
    struct plan *plan = mem_alloc(sizeof *plan);
    struct error err = {0};

    child_response_init(&plan->answer, server, response);
    plan->answer.write = write_answer;
    plan->answer.release = release;
    plan->answer.child.in = &plan->manifests;
    plan->documents = json_array();
    if (!read_body(plan, request->http, &err))
        return child_response_refuse(&plan->answer, &err);
    memcpy(plan->answer.child.arguments,
           ((const char *[]){"plan", "-", "--output", "json", "--namespace", plan->ns}),
           6 * sizeof(char *));
    return child_response_start(&plan->answer);
}
