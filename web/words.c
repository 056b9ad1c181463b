/*
 * What `graph`, `explain` and `rerun --dry-run` say of a flow, for the page, and the files that
 * `report` and `graph -o trace` write of it: the program runs as a child, so the page and the
 * terminal never disagree.
 */
#include <string.h>

#include "api/types/text/doc.h"
#include "base/mem.h"
#include "web/child_answer.h"
#include "web/gateway.h"
#include "web/topic_internal.h"

static const char columns_type[] = "application/vnd.jobflow.columns";
enum { STEPS_MAX = 50, NS_SEGMENT = 6, NAME_SEGMENT = 8 };

struct words {
    struct child_answer answer;
    char *ns, *operand;
    char *steps[STEPS_MAX];
    const char *media_type; /* of the answer; NULL: JSON */
    bool is_file;           /* the browser keeps the answer as a file */
    /* Writes the answer from what the child has printed. */
    void (*write)(const struct words *words, const struct buf *printed, struct buf *out);
};

static struct words *of(struct child_answer *answer)
{
    return container_of(answer, struct words, answer);
}

static void release(struct child_answer *answer)
{
    struct words *words = of(answer);

    for (size_t i = 0; i < STEPS_MAX; i++)
        mem_free(words->steps[i]);
    mem_free(words->ns);
    mem_free(words->operand);
    mem_free(words);
}

static void write_answer(struct child_answer *to)
{
    struct words *words = of(to);
    struct web_answer answer = {
        .status = 200,
        .media_type = words->media_type,
        .headers = {words->is_file ? "Content-Disposition: attachment" : NULL}};

    if (to->child.err.code != ERR_NONE) {
        web_answer_error_now(to->stream.response, &to->child.err);
    } else {
        words->write(words, &to->child.out, &answer.body);
        web_answer_now(to->stream.response, &answer);
    }
}

static struct words *words_new(struct web_server *server, struct api_response *response,
                               const char *ns, size_t ns_len, const char *name)
{
    struct words *words = mem_alloc(sizeof *words);

    child_answer_init(&words->answer, server, response);
    words->answer.write = write_answer;
    words->answer.release = release;
    words->ns = mem_printf("%.*s", (int)ns_len, ns);
    /* No file has such a name by chance; a file would be read instead. */
    words->operand = mem_printf("jobflows.flow.volcano.sh/%s", name);
    return words;
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
        return web_refuse(server, response, ERR_BAD_REQUEST, "that is no name of a flow");
    if (part && strcmp(part, "steps") != 0)
        return web_refuse(server, response, ERR_BAD_REQUEST, "\"part\" must be steps");
    words = words_new(server, response, ns, strlen(ns), name);
    words->write = part ? write_as_printed : write_graph;
    words->media_type = part ? columns_type : NULL;
    memcpy(words->answer.child.arguments,
           ((const char *[]){"graph", words->operand, "--namespace", words->ns, "--output",
                             part ? "columns" : "json", part ? NULL : "--positions"}),
           7 * sizeof(char *));
    return child_answer_start(&words->answer);
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
        return web_refuse(server, response, ERR_BAD_REQUEST, "\"flow\" must be NAMESPACE/NAME");
    words = words_new(server, response, flow, ns_len, name);
    words->write = write_as_printed;
    words->media_type = media_type;
    words->is_file = true;
    words->answer.child.arguments[n++] = *arguments++;
    words->answer.child.arguments[n++] = words->operand;
    words->answer.child.arguments[n++] = "--namespace";
    words->answer.child.arguments[n++] = words->ns;
    while (*arguments)
        words->answer.child.arguments[n++] = *arguments++;
    return child_answer_start(&words->answer);
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
    return web_refuse(server, response, ERR_BAD_REQUEST, "\"logs\" must be failed, none or all");
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
        return web_refuse(server, response, ERR_BAD_REQUEST, "that is no name of a flow");
    words = words_new(server, response, ns, strlen(ns), name);
    words->write = write_as_printed;
    words->steps[0] = mem_strdup(gateway_target(request->http->target));
    memcpy(words->answer.child.arguments, ((const char *[]){"get", "--raw", words->steps[0]}),
           3 * sizeof(char *));
    return child_answer_start(&words->answer);
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
    struct error err = {0};
    struct words *words;
    size_t n = 0, ns_len;

    if (!read_flow(flow, &ns_len, &name))
        return web_refuse(server, response, ERR_BAD_REQUEST, "\"flow\" must be NAMESPACE/NAME");
    words = words_new(server, response, flow, ns_len, name);
    if (!take_steps(words, &request->target)) {
        error_set(&err, ERR_BAD_REQUEST, "",
                  "\"step\" must name 1 to 50 steps, separated by commas");
        return child_answer_refuse(&words->answer, &err);
    }
    words->write = write_explained;
    arguments = words->answer.child.arguments;
    arguments[n++] = "explain";
    arguments[n++] = words->operand;
    for (size_t i = 0; i < STEPS_MAX && words->steps[i]; i++)
        arguments[n++] = words->steps[i];
    arguments[n++] = "--namespace";
    arguments[n++] = words->ns;
    arguments[n++] = "--output";
    arguments[n++] = "json";
    return child_answer_start(&words->answer);
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
        return web_refuse(server, response, ERR_BAD_REQUEST, "\"flow\" must be NAMESPACE/NAME");
    if (!steps || (from && only) || !*steps || *steps == '-')
        return web_refuse(server, response, ERR_BAD_REQUEST,
                          "either \"from\" or \"only\" must name steps");
    words = words_new(server, response, flow, ns_len, name);
    words->write = write_text;
    words->steps[0] = mem_strdup(steps);
    memcpy(words->answer.child.arguments,
           ((const char *[]){"rerun", words->operand, from ? "--from" : "--only", words->steps[0],
                             "--dry-run", "--namespace", words->ns}),
           7 * sizeof(char *));
    return child_answer_start(&words->answer);
}
