/*
 * What `graph`, `explain` and `rerun --dry-run` say of a flow, for the page, and the files that
 * `report` and `graph -o trace` write of it: the program runs as a child, so the page and the
 * terminal never disagree.
 */
#include <string.h>

#include "api/types/text/doc.h"
#include "base/mem.h"
#include "web/allowed_requests.h"
#include "web/child_response.h"
#include "web/topic/topic.h"

static const char columns_type[] = "application/vnd.jobflow.columns";
enum { STEPS_MAX = 50, NS_SEGMENT = 6, NAME_SEGMENT = 8 };

struct flow_command {
    struct child_response answer;
    char *ns, *operand;
    char *steps[STEPS_MAX];
    const char *media_type; /* of the answer; NULL: JSON */
    bool is_file;           /* the browser keeps the answer as a file */
    /* Writes the answer from what the child has printed. */
    void (*write)(const struct flow_command *command, const struct buf *printed, struct buf *out);
};

static struct flow_command *of(struct child_response *answer)
{
    return container_of(answer, struct flow_command, answer);
}

static void release(struct child_response *answer)
{
    struct flow_command *command = of(answer);

    for (size_t i = 0; i < STEPS_MAX; i++)
        mem_free(command->steps[i]);
    mem_free(command->ns);
    mem_free(command->operand);
    mem_free(command);
}

static void write_answer(struct child_response *to)
{
    struct flow_command *command = of(to);
    struct web_response answer = {
        .status = 200,
        .media_type = command->media_type,
        .headers = {command->is_file ? "Content-Disposition: attachment" : NULL}};

    if (to->child.err.code != ERR_NONE) {
        web_respond_error_now(to->stream.response, &to->child.err);
    } else {
        command->write(command, &to->child.out, &answer.body);
        web_respond_now(to->stream.response, &answer);
    }
}

static struct flow_command *flow_command_new(struct web_server *server,
                                             struct api_response *response, const char *ns,
                                             size_t ns_len, const char *name)
{
    struct flow_command *command = mem_alloc(sizeof *command);

    child_response_init(&command->answer, server, response);
    command->answer.write = write_answer;
    command->answer.release = release;
    command->ns = mem_printf("%.*s", (int)ns_len, ns);
    /* No file has such a name by chance; a file would be read instead. */
    command->operand = mem_printf("jobflows.flow.volcano.sh/%s", name);
    return command;
}

static json_t *document_of(const struct buf *printed)
{
    return json_loadb(printed->len ? printed->data : "", printed->len, 0, NULL);
}

static void write_graph(const struct flow_command *command, const struct buf *text, struct buf *out)
{
    scoped(json) json_t *printed = document_of(text);

    json_text(json_array_get(json_object_get(printed, "flows"), 0), out);
}

/* Passes on what the child has printed, which may be megabytes. */
static void write_as_printed(const struct flow_command *command, const struct buf *printed,
                             struct buf *out)
{
    buf_add(out, printed->len ? printed->data : "", printed->len);
}

void *web_graph(struct web_server *server, const struct web_request *request,
                struct api_response *response)
{
    const char *ns = request->target.segments[NS_SEGMENT];
    const char *name = request->target.segments[NAME_SEGMENT];
    const char *part = request_query(&request->target, "part");
    struct flow_command *command;

    if (!topic_is_name(ns, strlen(ns)) || !topic_is_name(name, strlen(name)))
        return web_refuse(server, response, ERR_BAD_REQUEST, "that is no name of a flow");
    if (part && strcmp(part, "steps") != 0)
        return web_refuse(server, response, ERR_BAD_REQUEST, "\"part\" must be steps");
    command = flow_command_new(server, response, ns, strlen(ns), name);
    command->write = part ? write_as_printed : write_graph;
    command->media_type = part ? columns_type : NULL;
    memcpy(command->answer.child.arguments,
           ((const char *[]){"graph", command->operand, "--namespace", command->ns, "--output",
                             part ? "columns" : "json", part ? NULL : "--positions"}),
           7 * sizeof(char *));
    return child_response_start(&command->answer);
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
    struct flow_command *command;
    size_t n = 0, ns_len;

    if (!read_flow(flow, &ns_len, &name))
        return web_refuse(server, response, ERR_BAD_REQUEST, "\"flow\" must be NAMESPACE/NAME");
    command = flow_command_new(server, response, flow, ns_len, name);
    command->write = write_as_printed;
    command->media_type = media_type;
    command->is_file = true;
    command->answer.child.arguments[n++] = *arguments++;
    command->answer.child.arguments[n++] = command->operand;
    command->answer.child.arguments[n++] = "--namespace";
    command->answer.child.arguments[n++] = command->ns;
    while (*arguments)
        command->answer.child.arguments[n++] = *arguments++;
    return child_response_start(&command->answer);
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
    struct flow_command *command;

    if (!topic_is_name(ns, strlen(ns)) || !topic_is_name(name, strlen(name)))
        return web_refuse(server, response, ERR_BAD_REQUEST, "that is no name of a flow");
    command = flow_command_new(server, response, ns, strlen(ns), name);
    command->write = write_as_printed;
    command->steps[0] = mem_strdup(gateway_target(request->http->target));
    memcpy(command->answer.child.arguments, ((const char *[]){"get", "--raw", command->steps[0]}),
           3 * sizeof(char *));
    return child_response_start(&command->answer);
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

static void write_explained(const struct flow_command *command, const struct buf *text,
                            struct buf *out)
{
    scoped(json) json_t *printed = document_of(text);
    const json_t *several = json_object_get(printed, "steps");
    const char *name = strchr(command->operand, '/') + 1;
    scoped(json) json_t *answer = json_object();
    json_t *steps = json_array();
    size_t i;
    const json_t *step;

    json_object_set_new(answer, "flow", json_sprintf("%s/%s", command->ns, name));
    json_object_set_new(answer, "steps", steps);
    json_array_foreach(several, i, step) write_step(steps, step);
    if (!several)
        write_step(steps, printed);
    json_text(answer, out);
}

/* Takes the names of a list separated by commas; false when one is empty, looks like a flag, or is
 * one too many. */
static bool take_names(struct flow_command *command, const char *list, size_t *n)
{
    for (const char *name = list;; name++) {
        size_t len = strcspn(name, ",");

        if (*n == STEPS_MAX || len == 0 || *name == '-')
            return false;
        command->steps[(*n)++] = mem_printf("%.*s", (int)len, name);
        name += len;
        if (!*name)
            return true;
    }
}

/* Takes the steps of the query: each "step" has one name or several. */
static bool take_steps(struct flow_command *command, const struct request_target *target)
{
    size_t n = 0;

    for (size_t i = 0; i < target->n_pairs; i++)
        if (strcmp(target->keys[i], "step") == 0 && !take_names(command, target->values[i], &n))
            return false;
    return n > 0;
}

void *web_explain(struct web_server *server, const struct web_request *request,
                  struct api_response *response)
{
    const char *flow = request_query(&request->target, "flow"), *name;
    const char **arguments;
    struct error err = {0};
    struct flow_command *command;
    size_t n = 0, ns_len;

    if (!read_flow(flow, &ns_len, &name))
        return web_refuse(server, response, ERR_BAD_REQUEST, "\"flow\" must be NAMESPACE/NAME");
    command = flow_command_new(server, response, flow, ns_len, name);
    if (!take_steps(command, &request->target)) {
        error_set(&err, ERR_BAD_REQUEST, "",
                  "\"step\" must name 1 to 50 steps, separated by commas");
        return child_response_refuse(&command->answer, &err);
    }
    command->write = write_explained;
    arguments = command->answer.child.arguments;
    arguments[n++] = "explain";
    arguments[n++] = command->operand;
    for (size_t i = 0; i < STEPS_MAX && command->steps[i]; i++)
        arguments[n++] = command->steps[i];
    arguments[n++] = "--namespace";
    arguments[n++] = command->ns;
    arguments[n++] = "--output";
    arguments[n++] = "json";
    return child_response_start(&command->answer);
}

/* {"text": …}: what the command prints, two columns. */
static void write_text(const struct flow_command *command, const struct buf *text, struct buf *out)
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
    struct flow_command *command;
    size_t ns_len;

    if (!read_flow(flow, &ns_len, &name))
        return web_refuse(server, response, ERR_BAD_REQUEST, "\"flow\" must be NAMESPACE/NAME");
    if (!steps || (from && only) || !*steps || *steps == '-')
        return web_refuse(server, response, ERR_BAD_REQUEST,
                          "either \"from\" or \"only\" must name steps");
    command = flow_command_new(server, response, flow, ns_len, name);
    command->write = write_text;
    command->steps[0] = mem_strdup(steps);
    memcpy(command->answer.child.arguments,
           ((const char *[]){"rerun", command->operand, from ? "--from" : "--only",
                             command->steps[0], "--dry-run", "--namespace", command->ns}),
           7 * sizeof(char *));
    return child_response_start(&command->answer);
}
