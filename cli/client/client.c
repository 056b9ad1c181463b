/*
 * Opens a client for a data directory or a server, and implements what both transports share.
 */
#include "cli/client/client.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "api/client/answer.h"
#include "api/store/holder.h"
#include "api/store/place.h"
#include "base/file.h"
#include "base/mem.h"
#include "cli/client/internal.h"
#include "cli/command/command.h"
#include "cli/daemon/access.h"

/* A process that has just started locks the data directory before it listens, so opening retries
 * TRIES times, PAUSE_MS apart. */
enum { TRIES = 20, PAUSE_MS = 50, FAILURE_BYTES_MAX = 1 << 20 };

static bool has_store(const char *data_dir, struct error *err)
{
    scoped_str store = mem_printf("%s/store.db", data_dir);
    scoped_str mark = mem_printf("%s-mark", store); /* of a store whose file may be lost */
    struct stat info;

    if (stat(store, &info) == 0 || stat(mark, &info) == 0)
        return true;
    if (errno != ENOENT && errno != ENOTDIR)
        return error_errno(err, errno, "cannot look at %s", data_dir);
    return error_set(err, ERR_NOT_FOUND, "",
                     "there is no data directory %s here: '%s run FILE' makes one, --data-dir "
                     "names another",
                     data_dir, cli_program);
}

static void pause_ms(int64_t ms)
{
    const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    nanosleep(&time, NULL);
}

/* Opens the store of a process that is stopped (Ctrl-Z): it answers nobody, but what it has stored
 * does not change. CONFLICT when it goes on meanwhile. A command that opens it several times warns
 * once. */
static struct client *open_stopped(const char *data_dir, pid_t pid, struct error *err)
{
    static pid_t told;
    struct client *client = client_local_open(data_dir, CLIENT_LOOK, HOLDER_STOPPED, err);

    if (client && told != pid)
        cli_warnf("process %ld, which runs in %s, is stopped; this is what it had stored by then: "
                  "'fg' in its terminal or 'kill -CONT %ld' continues it",
                  (long)pid, data_dir, (long)pid);
    told = client ? pid : told;
    return client;
}

/* Opens the process that holds the directory. NOT_FOUND when no process listens, CONFLICT when that
 * may change within a moment. */
static struct client *open_holder(const char *data_dir, enum client_access access,
                                  struct error *err)
{
    pid_t stopped = holder_stopped(data_dir);

    if (!stopped)
        return client_http_open(data_dir, err);
    if (access == CLIENT_LOOK)
        return open_stopped(data_dir, stopped, err);
    holder_in_use(data_dir, err);
    err->code = ERR_UNAVAILABLE;
    return NULL;
}

static struct client *open_directory(const char *data_dir, enum client_access access,
                                     struct error *err)
{
    struct error why = {0};
    struct stat info;

    if (lstat(data_dir, &info) == 0 && !place_check(data_dir, err))
        return NULL;
    for (int i = 0; i < TRIES; i++) {
        struct client *client = open_holder(data_dir, access, &why);

        if (client)
            return client;
        if ((why.code != ERR_NOT_FOUND && why.code != ERR_CONFLICT) || !has_store(data_dir, &why))
            break;
        if (why.code == ERR_NOT_FOUND && (i + 1 == TRIES || !holder_is_there(data_dir))) {
            client = client_local_open(data_dir, access, HOLDER_NONE, &why);
            if (client)
                return client;
            if (why.code != ERR_CONFLICT)
                break;
        }
        pause_ms(PAUSE_MS);
    }
    if (err)
        *err = why;
    return NULL;
}

static const char *environment(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

/* Rejects a token given where a file name belongs. The message does not repeat the value (SEC-03).
 */
static bool check_token_file(const char *path, struct error *err)
{
    if (!path || access(path, F_OK) == 0 || errno != ENOENT)
        return true;
    return error_set(err, ERR_NOT_FOUND, "",
                     "--token-file: there is no such file; a token itself is never an argument, "
                     "because every user of this machine could read it there: write it to a file");
}

/* Opens the server named by the command's flags or by their environment variables. */
static struct client *open_server(const struct client_place *place, struct error *err)
{
    const struct kubeconfig_options options = {
        .context = place->context ? place->context : environment("JOBFLOW_CONTEXT"),
        .cluster = place->cluster,
        .user = place->user,
        .allowed_plugin =
            place->exec_plugin ? place->exec_plugin : environment("JOBFLOW_EXEC_PLUGIN"),
        .insecure = place->insecure,
    };
    const char *kubeconfig = place->kubeconfig ? place->kubeconfig : environment("KUBECONFIG");
    bool by_name = place->context || place->cluster || place->user;
    const char *home = environment("HOME");
    scoped_str usual = home && by_name && !kubeconfig ? mem_printf("%s/.kube/config", home) : NULL;
    struct client *client;

    if (!check_token_file(place->token_file, err))
        return NULL;
    client = client_kube_open(usual ? usual : kubeconfig, &options, place->server,
                              place->token_file, err);
    if (!client && err && err->code == ERR_FORBIDDEN)
        err->code = ERR_INVALID; /* FORBIDDEN is only for data directories, see
                                  * client_open_failed */
    return client;
}

/* Used when the default data directory does not exist: opens the server of $KUBECONFIG, else the
 * user's daemon. */
static struct client *open_default_server(enum client_access access, struct error *err)
{
    const struct client_place usual = CLIENT_PLACE_USUAL;
    scoped_str daemon_dir = access_default_dir();

    if (environment("KUBECONFIG"))
        return open_server(&usual, err);
    return daemon_dir && has_store(daemon_dir, NULL)
               ? open_directory(daemon_dir, access, err)
               : client_cluster_open(getenv("KUBERNETES_SERVICE_HOST"),
                                     getenv("KUBERNETES_SERVICE_PORT"), err);
}

/* Tunes malloc for large answers, which pass through several forms in turn: memory freed by one
 * form is reused for the next instead of being returned to the system, and large pages back it. */
static void tune_malloc(void)
{
    enum { LARGE = 1 << 30, AHEAD = 128 << 20, HUGE_PAGE = 2 << 20 };
    uintptr_t room, from;

    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, LARGE);
    room = (uintptr_t)malloc(AHEAD);
    from = (room + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
    /* Reserves address space only: no page is used yet. */
    madvise((void *)from, room + AHEAD - from, MADV_HUGEPAGE);
    mem_free((void *)room);
}

struct client *client_open(const char *data_dir, enum client_access access, struct error *err)
{
    struct error why = {0}, nothing_here;
    struct client *client = open_directory(data_dir, access, &why);

    if (!client && why.code == ERR_NOT_FOUND && strcmp(data_dir, CLIENT_USUAL_DIR) == 0) {
        nothing_here = why;
        client = open_default_server(access, &why);
        if (!client && why.code == ERR_NOT_FOUND && environment("KUBECONFIG"))
            error_prefix(&why, "there is no data directory %s here; KUBECONFIG: ", data_dir);
        else if (!client && why.code == ERR_NOT_FOUND)
            why = nothing_here;
    }
    if (!client && err)
        *err = why;
    return client;
}

/* Returns the flag that names a server, or NULL when no such flag was given. */
static const char *server_flag(const struct client_place *place)
{
    return place->server       ? "server"
           : place->kubeconfig ? "kubeconfig"
           : place->context    ? "context"
           : place->cluster    ? "cluster"
           : place->user       ? "user"
                               : NULL;
}

bool client_place_is_server(const struct client_place *place)
{
    return server_flag(place) != NULL;
}

bool client_place_may_be(const struct client_place *place)
{
    return client_place_is_server(place) || has_store(place->data_dir, NULL);
}

bool client_place_is_implied(const struct client_place *place)
{
    scoped_str daemon_dir = access_default_dir();

    return !client_place_may_be(place) && strcmp(place->data_dir, CLIENT_USUAL_DIR) == 0 &&
           (environment("KUBECONFIG") || (daemon_dir && has_store(daemon_dir, NULL)));
}

int client_open_failed(const struct error *err)
{
    if (err->code == ERR_STORAGE) /* the store is damaged */
        return EXIT_INTERNAL;
    return err->code == ERR_FORBIDDEN ? EXIT_REFUSED : EXIT_FAILED;
}

struct client *client_open_at(const struct client_place *place, enum client_access access,
                              struct error *err)
{
    const char *flag = server_flag(place);

    tune_malloc();
    if (!flag)
        return client_open(place->data_dir, access, err);
    if (strcmp(place->data_dir, CLIENT_USUAL_DIR) == 0)
        return open_server(place, err);
    error_set(err, ERR_INVALID, "", "--data-dir and --%s exclude each other", flag);
    return NULL;
}

void client_close(struct client *client)
{
    char *data_dir, *namespace;

    if (!client)
        return;
    while (!LIST_EMPTY(&client->calls))
        client_cancel(LIST_FIRST(&client->calls));
    data_dir = client->data_dir;
    namespace = client->namespace;
    client->ops->close(client);
    mem_free(data_dir);
    mem_free(namespace);
}

bool client_is_live(const struct client *client)
{
    return client->ops->is_live;
}

char *client_why_not_live(const struct client *client)
{
    return client->holder == HOLDER_STOPPED
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
    if (call->done)
        call->done(call);
}

enum client_ran client_run(struct client *client, int64_t timeout_ms)
{
    client->stopped = false;
    if (LIST_EMPTY(&client->calls))
        return CLIENT_IDLE;
    return client->ops->run(client, timeout_ms);
}

void client_stop(struct client *client)
{
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
