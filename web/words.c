/*
 * What `graph`, `explain` and `rerun --dry-run` say of a flow, for the page, and the files that
 * `report` and `graph -o trace` write of it: the program runs as a child, so the page and the
 * terminal never disagree.
 */
#include <string.h>

#include "api/types/text/doc.h"
#include "base/mem.h"
#include "web/child.h"
#include "web/gateway.h"
#include "web/internal.h"
#include "web/topic_internal.h"

static const char columns_type[] = "application/vnd.jobflow.columns";
enum { STEPS_MAX = 50, NS_SEGMENT = 6, NAME_SEGMENT = 8 };

struct words {
    struct web_stream stream;
    struct child child;
    char *ns, *operand;
    char *steps[STEPS_MAX];
    const char *media_type; /* of the answer; NULL: JSON */
    bool is_file;           /* the browser keeps the answer as a file */
    /* Writes the answer from what the child has printed. */
    void (*write)(const struct words *words, const struct buf *printed, struct buf *out);
};

static void release(struct words *words)
{
    child_release(&words->child);
    for (size_t i = 0; i < STEPS_MAX; i++)
        mem_free(words->steps[i]);
    mem_free(words->ns);
    mem_free(words->operand);
    mem_free(words);
}

static void on_done(struct child *child)
{
    struct words *words = container_of(child, struct words, child);
    struct web_answer answer = {
        .status = 200,
        .media_type = words->media_type,
        .headers = {words->is_file ? "Content-Disposition: attachment" : NULL}};
    struct error err = child->err;

    if (err.code != ERR_NONE) {
        web_answer_error_now(words->stream.response, &err);
    } else {
        words->write(words, &child->out, &answer.body);
        web_answer_now(words->stream.response, &answer);
    }
    release(words);
}

static void cancel(struct web_stream *stream)
{
    release(container_of(stream, struct words, stream));
}

static const struct web_stream_ops ops = {.cancel = cancel};

static struct words *words_new(struct web_server *server, struct api_response *response,
                               const char *ns, size_t ns_len, const char *name)
{
    struct words *words = mem_alloc(sizeof *words);

    words->stream = (struct web_stream){&ops, server, response};
    words->child.done = on_done;
    words->ns = mem_printf("%.*s", (int)ns_len, ns);
    /* No file has such a name by chance; a file would be read instead. */
    words->operand = mem_printf("jobflows.flow.volcano.sh/%s", name);
    return words;
}

static void *start(struct words *words)
{
    struct web_server *server = words->stream.server;
    struct api_response *response = words->stream.response;
    struct error err = {0};

    if (child_start(server->children, &words->child, &err))
        return &words->stream;
    release(words);
    return web_answer_error(server, response, &err);
}

static void *refuse(struct web_server *server, struct api_response *response, const char *why)
{
    struct error err = {0};

    error_set(&err, ERR_BAD_REQUEST, "", "%s", why);
    return web_answer_error(server, response, &err);
}

static json_t *document_of(const struct buf *printed)
{
    return json_loadb(printed->len ? printed->data : "", printed->len, 0, NULL);
}

static void write_graph(const struct words *words, const struct buf *text, struct buf *out)
{
    scoped(json) json_t *printed = document_of(text);

    json_text(json_array_get(json_object_get(printed, "flows"), 0), out);
}

/* Passes on what the child has printed, which may be megabytes. */
static void write_as_printed(const struct words *words, const struct buf *printed, struct buf *out)
{
    buf_add(out, printed->len ? printed->data : "", printed->len);
}

void *web_graph(struct web_server *server, const struct web_request *request,
                struct api_response *response)
{
    const char *ns = request->target.segments[NS_SEGMENT];
    const char *name = request->target.segments[NAME_SEGMENT];
    const char *part = request_query(&request->target, "part");
    struct words *words;

    if (!topic_is_name(ns, strlen(ns)) || !topic_is_name(name, strlen(name)))
        return refuse(server, response, "that is no name of a flow");
    if (part && strcmp(part, "steps") != 0)
        return refuse(server, response, "\"part\" must be steps");
    words = words_new(server, response, ns, strlen(ns), name);
    words->write = part ? write_as_printed : write_graph;
    words->media_type = part ? columns_type : NULL;
    memcpy(words->child.arguments,
           ((const char *[]){"graph", words->operand, "--namespace", words->ns, "--output",
                             part ? "columns" : "json", part ? NULL : "--positions"}),
           7 * sizeof(char *));
    return start(words);
}

/* Reads NAMESPACE/NAME; false for anything else. */
static bool read_flow(const char *flow, size_t *out_ns_len, const char **out_name)
{
    size_t ns_len = flow ? strcspn(flow, "/") : 0;

    if (!flow || !flow[ns_len])
        return false;
    *out_ns_len = ns_len;
    *out_name = flow + ns_len + 1;
    return topic_is_name(flow, ns_len) && topic_is_name(*out_name, strlen(*out_name)) &&
           !strchr(*out_name, '/');
}

/* Starts a child that writes a file about the flow of the query. */
static void *start_file(struct web_server *server, const struct web_request *request,
                        struct api_response *response, const char *const *arguments,
                        const char *media_type)
{
    const char *flow = request_query(&request->target, "flow"), *name;
    struct words *words;
    size_t n = 0, ns_len;

    if (!read_flow(flow, &ns_len, &name))
        return refuse(server, response, "\"flow\" must be NAMESPACE/NAME");
    words = words_new(server, response, flow, ns_len, name);
    words->write = write_as_printed;
    words->media_type = media_type;
    words->is_file = true;
    words->child.arguments[n++] = *arguments++;
    words->child.arguments[n++] = words->operand;
    words->child.arguments[n++] = "--namespace";
    words->child.arguments[n++] = words->ns;
    while (*arguments)
        words->child.arguments[n++] = *arguments++;
    return start(words);
}

void *web_report(struct web_server *server, const struct web_request *request,
                 struct api_response *response)
{
    static const char *const choices[] = {"failed", "none", "all"};
    const char *logs = request_query(&request->target, "logs");

    for (size_t i = 0; i < countof(choices); i++)
        if (strcmp(logs ? logs : choices[0], choices[i]) == 0)
            return start_file(
                server, request, response,
                (const char *[]){"report", "--output", "-", "--logs", choices[i], NULL},
                "text/html; charset=utf-8");
    return refuse(server, response, "\"logs\" must be failed, none or all");
}

void *web_trace(struct web_server *server, const struct web_request *request,
                struct api_response *response)
{
    return start_file(server, request, response,
                      (const char *[]){"graph", "--output", "trace", "--gzip", NULL},
                      "application/gzip");
}

void *web_raw(struct web_server *server, const struct web_request *request,
              struct api_response *response)
{
    const char *ns = request->target.segments[NS_SEGMENT];
    const char *name = request->target.segments[NAME_SEGMENT];
    struct words *words;

    if (!topic_is_name(ns, strlen(ns)) || !topic_is_name(name, strlen(name)))
        return refuse(server, response, "that is no name of a flow");
    words = words_new(server, response, ns, strlen(ns), name);
    words->write = write_as_printed;
    words->steps[0] = mem_strdup(gateway_target(request->http->target));
    memcpy(words->child.arguments, ((const char *[]){"get", "--raw", words->steps[0]}),
           3 * sizeof(char *));
    return start(words);
}

/* Each step as `graph -o json` has it, with the sentence in "text". */
static void write_step(json_t *steps, const json_t *step)
{
    json_t *told = json_copy((json_t *)(size_t)step);
    json_t *why = json_object_get(told, "why");

    json_object_set_new(told, "text", why ? json_incref(why) : json_string(""));
    json_object_del(told, "why");
    json_array_append_new(steps, told);
}

static void write_explained(const struct words *words, const struct buf *text, struct buf *out)
{
    scoped(json) json_t *printed = document_of(text);
    const json_t *several = json_object_get(printed, "steps");
    const char *name = strchr(words->operand, '/') + 1;
    scoped(json) json_t *answer = json_object();
    json_t *steps = json_array();
    size_t i;
    const json_t *step;

    json_object_set_new(answer, "flow", json_sprintf("%s/%s", words->ns, name));
    json_object_set_new(answer, "steps", steps);
    json_array_foreach(several, i, step) write_step(steps, step);
    if (!several)
        write_step(steps, printed);
    json_text(answer, out);
}

/* Takes the names of a list separated by commas; false when one is empty, looks like a flag, or is
 * one too many. */
static bool take_names(struct words *words, const char *list, size_t *n)
{
    for (const char *name = list;; name++) {
        size_t len = strcspn(name, ",");

        if (*n == STEPS_MAX || len == 0 || *name == '-')
            return false;
        words->steps[(*n)++] = mem_printf("%.*s", (int)len, name);
        name += len;
        if (!*name)
            return true;
    }
}

/* Takes the steps of the query: each "step" has one name or several. */
static bool take_steps(struct words *words, const struct request_target *target)
{
    size_t n = 0;

    for (size_t i = 0; i < target->n_pairs; i++)
        if (strcmp(target->keys[i], "step") == 0 && !take_names(words, target->values[i], &n))
            return false;
    return n > 0;
}

void *web_explain(struct web_server *server, const struct web_request *request,
                  struct api_response *response)
{
    const char *flow = request_query(&request->target, "flow"), *name;
    const char **arguments;
    struct words *words;
    size_t n = 0, ns_len;

    if (!read_flow(flow, &ns_len, &name))
        return refuse(server, response, "\"flow\" must be NAMESPACE/NAME");
    words = words_new(server, response, flow, ns_len, name);
    if (!take_steps(words, &request->target)) {
        release(words);
        return refuse(server, response, "\"step\" must name 1 to 50 steps, separated by commas");
    }
    words->write = write_explained;
    arguments = words->child.arguments;
    arguments[n++] = "explain";
    arguments[n++] = words->operand;
    for (size_t i = 0; i < STEPS_MAX && words->steps[i]; i++)
        arguments[n++] = words->steps[i];
    arguments[n++] = "--namespace";
    arguments[n++] = words->ns;
    arguments[n++] = "--output";
    arguments[n++] = "json";
    return start(words);
}

/* {"text": …}: what the command prints, two columns. */
static void write_text(const struct words *words, const struct buf *text, struct buf *out)
{
    scoped(json) json_t *answer = json_object();

    json_object_set_new(answer, "text", json_stringn(text->len ? text->data : "", text->len));
    json_text(answer, out);
}

void *web_foresee(struct web_server *server, const struct web_request *request,
                  struct api_response *response)
{
    const char *flow = request_query(&request->target, "flow"), *name;
    const char *from = request_query(&request->target, "from");
    const char *only = request_query(&request->target, "only"), *steps = from ? from : only;
    struct words *words;
    size_t ns_len;

    if (!read_flow(flow, &ns_len, &name))
        return refuse(server, response, "\"flow\" must be NAMESPACE/NAME");
    if (!steps || (from && only) || !*steps || *steps == '-')
        return refuse(server, response, "either \"from\" or \"only\" must name steps");
    words = words_new(server, response, flow, ns_len, name);
    words->write = write_text;
    words->steps[0] = mem_strdup(steps);
    memcpy(words->child.arguments,
           ((const char *[]){"rerun", words->operand, from ? "--from" : "--only", words->steps[0],
                             "--dry-run", "--namespace", words->ns}),
           7 * sizeof(char *));
    return start(words);
}
