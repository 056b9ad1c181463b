/*
 * Opens a client for a data directory or a server: decides which of them the flags, the environment
 * and the running processes name.
 */
#include "cli/client/client.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "api/store/dir/dir_owner.h"
#include "api/store/dir/holder.h"
#include "base/mem.h"
#include "cli/client/internal.h"
#include "cli/command/command.h"
#include "cli/daemon/access.h"

/* Times between tries at a data directory whose process does not answer, and after which a warning
 * says so. */
enum { PAUSE_MS = 50, SAY_AFTER_MS = 1000, FOLLOWS_MAX = 8 };

/* How a client is opened. */
struct opening {
    enum client_access access;
    struct loop *loop; /* loop for client_remote; NULL: the client makes its own */
};

static bool has_store(const char *data_dir, struct error *err)
{
    scoped_str store = mem_printf("%s/store.db", data_dir);
    scoped_str mark = mem_printf("%s-mark", store); /* exists even if the store's file is lost */
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

/* Opens the store of a process that is stopped (Ctrl-Z): it answers no request, but what it has
 * stored does not change. CONFLICT when it goes on meanwhile. A command that opens it several times
 * warns once. */
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
static struct client *open_holder(const char *data_dir, const struct opening *how,
                                  struct error *err)
{
    pid_t stopped = holder_stopped(data_dir);

    if (!stopped)
        return client_http_open(data_dir, NULL, how->loop, err);
    if (how->access == CLIENT_LOOK)
        return open_stopped(data_dir, stopped, err);
    holder_in_use(data_dir, err);
    err->code = ERR_UNAVAILABLE;
    return NULL;
}

/* Opens what answers for the directory now: its process, or its store when no process has it.
 * CONFLICT when a process has it and does not answer, because it begins, ends or is busy with the
 * store itself. */
static struct client *open_once(const char *data_dir, const struct opening *how, struct error *err)
{
    struct error why = {0};
    struct client *client = open_holder(data_dir, how, &why);

    if (client)
        return client;
    if (why.code != ERR_NOT_FOUND)
        *err = why;
    else if (holder_is_locked(data_dir))
        holder_in_use(data_dir, err);
    else if (has_store(data_dir, err))
        client = client_local_open(data_dir, how->access, HOLDER_NONE, err);
    return client;
}

/* Says once that a process lets this one wait. */
static void say_that_it_waits(const char *data_dir)
{
    cli_warnf("process %ld has %s and does not answer yet: waiting until it does or ends",
              (long)holder_pid(data_dir), data_dir);
}

/* Waits as long as a process has the directory and does not answer. A client with a loop of its
 * caller's waits for SAY_AFTER_MS only: the caller does nothing else meanwhile. Without a process,
 * another client may be reading the store. */
static struct client *open_directory(const char *data_dir, const struct opening *how,
                                     struct error *err)
{
    struct error why = {0};
    struct client *client;
    struct stat info;

    if (lstat(data_dir, &info) == 0 && !dir_owner_check(data_dir, err))
        return NULL;
    for (int waited_ms = 0;; waited_ms += PAUSE_MS) {
        why = (struct error){0};
        client = open_once(data_dir, how, &why);
        if (client || why.code != ERR_CONFLICT)
            break;
        if (waited_ms >= SAY_AFTER_MS && (how->loop || !holder_is_locked(data_dir)))
            break;
        if (waited_ms == SAY_AFTER_MS)
            say_that_it_waits(data_dir);
        pause_ms(PAUSE_MS);
    }
    if (client) {
        client->access = how->access;
        client->follows = how->loop ? 0 : FOLLOWS_MAX;
    } else if (err) {
        *err = why;
    }
    return client;
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

static struct kubeconfig_options config_options(const struct client_endpoint *endpoint)
{
    return (struct kubeconfig_options){
        .context = endpoint->context ? endpoint->context : environment("JOBFLOW_CONTEXT"),
        .cluster = endpoint->cluster,
        .user = endpoint->user,
        .allowed_plugin =
            endpoint->exec_plugin ? endpoint->exec_plugin : environment("JOBFLOW_EXEC_PLUGIN"),
        .insecure = endpoint->insecure,
        .as = endpoint->as,
        .as_uid = endpoint->as_uid,
        .as_groups = endpoint->as_groups.items,
        .n_as_groups = endpoint->as_groups.count,
    };
}

/* Returns the path of the kubeconfig file (owned): the value of --kubeconfig, else $KUBECONFIG,
 * else ~/.kube/config when a flag names a context, a cluster or a user. Returns NULL when none of
 * these says that a kubeconfig file is to be read. */
static char *kubeconfig_path(const struct client_endpoint *endpoint)
{
    const char *given = endpoint->kubeconfig ? endpoint->kubeconfig : environment("KUBECONFIG");
    bool by_name = endpoint->context || endpoint->cluster || endpoint->user;
    const char *home = environment("HOME");

    return given ? mem_strdup(given) : home && by_name ? mem_printf("%s/.kube/config", home) : NULL;
}

/* Opens the server that the flags of the command name. A flag that is not given takes its value
 * from its environment variable. */
static struct client *open_server(const struct client_endpoint *endpoint, struct loop *loop,
                                  struct error *err)
{
    const struct kubeconfig_options options = config_options(endpoint);
    scoped_str path = kubeconfig_path(endpoint);
    struct client *client;

    if (!check_token_file(endpoint->token_file, err))
        return NULL;
    client = client_kube_open(path, &options, endpoint->server, endpoint->token_file, loop, err);
    if (!client && err && err->code == ERR_FORBIDDEN)
        /* client_open_failed takes FORBIDDEN to mean a data directory of another user. */
        err->code = ERR_INVALID;
    return client;
}

bool client_endpoint_config(const struct client_endpoint *endpoint, struct kubeconfig *out,
                            struct error *err)
{
    const struct kubeconfig_options options = config_options(endpoint);
    scoped_str path = kubeconfig_path(endpoint);

    if (!check_token_file(endpoint->token_file, err))
        return false;
    if (path || endpoint->server)
        return client_kube_config(path, &options, endpoint->server, endpoint->token_file, out, err);
    return kubeconfig_in_cluster(getenv("KUBERNETES_SERVICE_HOST"),
                                 getenv("KUBERNETES_SERVICE_PORT"), KUBECONFIG_ACCOUNT_DIR, out,
                                 err) &&
           kubeconfig_impersonate(&options, out, err);
}

/* Used when the default data directory does not exist: opens the server of $KUBECONFIG, else the
 * user's daemon. */
static struct client *open_default_server(const struct opening *how, struct error *err)
{
    const struct client_endpoint usual = CLIENT_ENDPOINT_USUAL;
    scoped_str daemon_dir = access_default_dir();

    if (environment("KUBECONFIG"))
        return open_server(&usual, how->loop, err);
    return daemon_dir && has_store(daemon_dir, NULL)
               ? open_directory(daemon_dir, how, err)
               : client_cluster_open(getenv("KUBERNETES_SERVICE_HOST"),
                                     getenv("KUBERNETES_SERVICE_PORT"), how->loop, err);
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

static struct client *open_place(const char *data_dir, const struct opening *how, struct error *err)
{
    struct error why = {0}, nothing_here;
    struct client *client = open_directory(data_dir, how, &why);

    if (!client && why.code == ERR_NOT_FOUND && strcmp(data_dir, CLIENT_USUAL_DIR) == 0) {
        nothing_here = why;
        client = open_default_server(how, &why);
        if (!client && why.code == ERR_NOT_FOUND && environment("KUBECONFIG"))
            error_prefix(&why, "there is no data directory %s here; KUBECONFIG: ", data_dir);
        else if (!client && why.code == ERR_NOT_FOUND)
            why = nothing_here;
    }
    if (!client && err)
        *err = why;
    return client;
}

struct client *client_open(const char *data_dir, enum client_access access, struct error *err)
{
    return open_place(data_dir, &(const struct opening){.access = access}, err);
}

struct client *client_open_directory(const char *data_dir, enum client_access access,
                                     struct error *err)
{
    return open_directory(data_dir, &(const struct opening){.access = access}, err);
}

/* Returns the flag that names a server, or NULL when no such flag was given. */
static const char *server_flag(const struct client_endpoint *endpoint)
{
    return endpoint->server       ? "server"
           : endpoint->kubeconfig ? "kubeconfig"
           : endpoint->context    ? "context"
           : endpoint->cluster    ? "cluster"
           : endpoint->user       ? "user"
                                  : NULL;
}

bool client_endpoint_is_server(const struct client_endpoint *endpoint)
{
    return server_flag(endpoint) != NULL;
}

bool client_endpoint_may_exist(const struct client_endpoint *endpoint)
{
    return client_endpoint_is_server(endpoint) || has_store(endpoint->data_dir, NULL);
}

bool client_endpoint_is_implied(const struct client_endpoint *endpoint)
{
    scoped_str daemon_dir = access_default_dir();

    return !client_endpoint_may_exist(endpoint) &&
           strcmp(endpoint->data_dir, CLIENT_USUAL_DIR) == 0 &&
           (environment("KUBECONFIG") || (daemon_dir && has_store(daemon_dir, NULL)));
}

int client_open_failed(const struct error *err)
{
    if (err->code == ERR_STORAGE) /* the store is damaged */
        return EXIT_INTERNAL;
    return err->code == ERR_FORBIDDEN || err->code == ERR_BAD_REQUEST ? EXIT_REFUSED : EXIT_FAILED;
}

struct client *client_open_or_say(const struct client_endpoint *endpoint, enum client_access access,
                                  int *out_code)
{
    struct error err = {0};
    struct client *client = client_open_at(endpoint, access, &err);

    if (!client) {
        cli_error(&err);
        *out_code = client_open_failed(&err);
    }
    return client;
}

/* Opens the process of a data directory that was named, with the token in a file. A store without a
 * process has nothing that could check a token. */
static struct client *open_with_token(const struct client_endpoint *endpoint,
                                      const struct opening *how, struct error *err)
{
    scoped(kubeconfig) struct kubeconfig config = {0};
    struct client *client;

    if (!check_token_file(endpoint->token_file, err))
        return NULL;
    kubeconfig_use_token_file(&config, endpoint->token_file);
    if (!kubeconfig_read_token(&config, err))
        return NULL;
    if (!config.token || !*config.token) { /* without one the process would see its owner */
        error_set(err, ERR_INVALID, "", "--token-file: the file has no token");
        return NULL;
    }
    client = client_http_open(endpoint->data_dir, config.token, how->loop, err);
    if (client)
        client->access = how->access;
    return client;
}

static struct client *open_endpoint(const struct client_endpoint *endpoint,
                                    const struct opening *how, struct error *err)
{
    const char *flag = server_flag(endpoint);
    bool as_another = endpoint->as || endpoint->as_uid || endpoint->as_groups.count;
    bool is_usual = strcmp(endpoint->data_dir, CLIENT_USUAL_DIR) == 0;

    if (!flag && (as_another || (is_usual && endpoint->token_file)) && environment("KUBECONFIG"))
        flag = as_another ? "as" : "token-file";
    if (!flag && as_another) {
        error_set(err, ERR_BAD_REQUEST, "",
                  "--as is for a server: name it with --kubeconfig, --context or --server");
        return NULL;
    }
    if (!flag && endpoint->token_file && is_usual) { /* else the rights of the owner would count */
        error_set(err, ERR_BAD_REQUEST, "",
                  "--token-file is for a server: name it with --kubeconfig, --context or --server, "
                  "or a daemon by the path of its directory with --data-dir");
        return NULL;
    }
    if (!flag && endpoint->token_file)
        return open_with_token(endpoint, how, err);
    if (!flag)
        return open_place(endpoint->data_dir, how, err);
    if (is_usual)
        return open_server(endpoint, how->loop, err);
    error_set(err, ERR_INVALID, "", "--data-dir and --%s exclude each other", flag);
    return NULL;
}

struct client *client_open_as(struct loop *loop, const char *data_dir, const char *token,
                              struct error *err)
{
    return client_http_open(data_dir, token, loop, err);
}

struct client *client_open_at(const struct client_endpoint *endpoint, enum client_access access,
                              struct error *err)
{
    tune_malloc();
    return open_endpoint(endpoint, &(const struct opening){.access = access}, err);
}

struct client *client_open_on(struct loop *loop, const struct client_endpoint *endpoint,
                              struct error *err)
{
    return open_endpoint(endpoint, &(const struct opening){.access = CLIENT_LOOK, .loop = loop},
                         err);
}
