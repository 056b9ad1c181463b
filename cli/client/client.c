/*
 * What both transports of a client share: calls, their answers, and who answers after the data
 * directory has changed hands.
 */
#include "cli/client/client.h"

#include <errno.h>
#include <string.h>

#include "api/client/answer.h"
#include "base/mem.h"
#include "cli/client/internal.h"
#include "cli/command/command.h"

enum { FAILURE_BYTES_MAX = 1 << 20 };

/* Returns the client that answers now: the last of those that stand in for each other. */
static struct client *newest(struct client *client)
{
    while (client->successor)
        client = client->successor;
    return client;
}

/* Returns whether the data directory has changed hands: its process has ended before it answered a
 * call, or a process has taken the store that this one was about to read for it. */
static bool has_changed_hands(const struct client_call *call)
{
    const struct client *client = call->client;

    if (client->ops->is_live)
        return call->err.code == ERR_UNAVAILABLE && !call->data; /* a part may have come */
    return call->err.code == ERR_CONFLICT && client->holder == HOLDER_NONE;
}

/* Asks a GET again where the data directory has changed hands: what is stored there, or the process
 * that has the directory now, answers in its place. Returns false when the call is to fail. */
static bool ask_successor(struct client_call *call)
{
    struct client *client = call->client;

    if (call->method || !has_changed_hands(call))
        return false;
    if (!client->successor && client->follows > 0) {
        client->successor = client_open_directory(client->data_dir, client->access, NULL);
        if (client->successor)
            client->successor->follows = client->follows - 1;
    }
    if (!client->successor)
        return false;
    client_start(client, call);
    return true;
}

void client_close(struct client *client)
{
    char *data_dir, *namespace;

    if (!client)
        return;
    while (!LIST_EMPTY(&client->calls))
        client_cancel(LIST_FIRST(&client->calls));
    client_close(client->successor);
    data_dir = client->data_dir;
    namespace = client->namespace;
    client->ops->close(client);
    mem_free(data_dir);
    mem_free(namespace);
}

bool client_is_live(const struct client *client)
{
    return newest((struct client *)(size_t)client)->ops->is_live;
}

char *client_not_live_reason(const struct client *client)
{
    return newest((struct client *)(size_t)client)->holder == HOLDER_STOPPED
               ? mem_printf("the process that runs in %s is stopped", client->data_dir)
               : mem_printf("no process runs in %s", client->data_dir);
}

const char *client_data_dir(const struct client *client)
{
    return client->data_dir;
}

const char *client_namespace(const struct client *client, const char *given)
{
    return given ? given : client && client->namespace ? client->namespace : "default";
}

struct remote *client_remote(struct client *client)
{
    return client->ops->remote ? client->ops->remote(client) : NULL;
}

void client_pass(struct client *client, int64_t timeout_ms)
{
    client->stopped = false;
    client->ops->pass(client, timeout_ms);
}

static void unlink_call(struct client_call *call)
{
    LIST_REMOVE(call, in_flight);
    call->in_flight.le_prev = NULL;
}

void client_start(struct client *client, struct client_call *call)
{
    client = newest(client);
    call->client = client;
    call->status = 0;
    call->err = (struct error){0};
    buf_clear(&call->text);
    LIST_INSERT_HEAD(&client->calls, call, in_flight);
    client->ops->start(client, call);
}

void client_cancel(struct client_call *call)
{
    if (!client_call_in_flight(call))
        return;
    unlink_call(call);
    call->client->ops->cancel(call);
}

void client_call_release(struct client_call *call)
{
    client_cancel(call);
    buf_release(&call->text);
}

void client_take_data(struct client_call *call, const char *bytes, size_t len)
{
    if (call->data && call->status < 300)
        call->data(call, bytes, len);
    else if (call->status < 300 || call->text.len < FAILURE_BYTES_MAX)
        buf_add(&call->text, bytes, len);
}

/* A Warning header has the form: 299 - "unknown field \"spec.x\"". */
void client_take_warning(const char *text, size_t len)
{
    const char *at = memchr(text, '"', len), *end = text + len;
    scoped(buf) struct buf plain = {0};

    for (at = at ? at + 1 : end; at < end && *at != '"'; at++) {
        at += *at == '\\' && at + 1 < end;
        buf_char(&plain, *at);
    }
    if (plain.len)
        cli_warnf("%s", plain.data);
}

void client_take_end(struct client_call *call)
{
    unlink_call(call);
    if (!ask_successor(call) && call->done)
        call->done(call);
}

enum client_ran client_run(struct client *client, int64_t timeout_ms)
{
    for (client = newest(client);; client = client->successor) {
        enum client_ran ran = CLIENT_IDLE;

        client->stopped = false;
        if (!LIST_EMPTY(&client->calls))
            ran = client->ops->run(client, timeout_ms);
        if (ran != CLIENT_IDLE || !client->successor)
            return ran;
    }
}

void client_stop(struct client *client)
{
    for (; client; client = client->successor)
        client->stopped = true;
}

bool client_ok(const struct client_call *call, struct error *err)
{
    if (call->err.code == ERR_NONE)
        return answer_ok(call->status, &call->text, err);
    if (err)
        *err = call->err;
    return false;
}

void client_findings(const struct client_call *call, struct error_list *errors)
{
    if (call->err.code == ERR_NONE)
        answer_findings(call->status, &call->text, errors);
    else
        error_list_append(errors, &call->err);
}

static void stop_waiting(struct client_call *call)
{
    client_stop(call->client);
}

bool client_do(struct client *client, struct client_call *call, struct error *err)
{
    void (*done)(struct client_call *) = call->done;

    call->done = stop_waiting;
    client_start(client, call);
    while (client_call_in_flight(call))
        client_run(client, -1);
    call->done = done;
    return client_ok(call, err);
}

json_t *client_get(struct client *client, const char *target, struct error *err)
{
    scoped(client_call) struct client_call call = {.target = target};
    json_error_t why;
    json_t *doc;

    if (!client_do(client, &call, err))
        return NULL;
    doc = json_loadb(call.text.data ? call.text.data : "", call.text.len, 0, &why);
    if (!doc)
        error_set(err, ERR_INTERNAL, "", "the answer is no JSON: %s", why.text);
    return doc;
}

bool client_is_daemon(struct client *client)
{
    scoped(json) json_t *version = client_get(client, "/version", NULL);
    const char *mode = json_string_value(json_object_get(version, "jobflowMode"));

    return mode && strcmp(mode, "serve") == 0;
}
