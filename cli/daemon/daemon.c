/*
 * The life cycle of a daemon:
 *
 *   lock, recovery ─► sockets ─► ready ─┬─ SIGHUP: settings, tokens, certificate ─┐
 *        │                      │       └◄────────────────────────────────────────┘
 *        ▼ refused              ▼ SIGTERM, SIGINT
 *      exit 2 or 3           draining ── all answers are sent, or 10 s ──► closed
 *
 * Pods are children of their shims: they keep running without the daemon, and the next daemon of
 * the data directory adopts them.
 */
#include "cli/daemon/daemon.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/server/rest/traffic.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "cli/daemon/access.h"
#include "cli/daemon/audit.h"
#include "cli/daemon/backups.h"
#include "cli/daemon/live_settings.h"
#include "cli/daemon/sd_notify.h"
#include "cli/daemon/serve_values.h"
#include "cli/daemon/server_names.h"
#include "cli/engine/idle.h"
#include "cli/engine/runtime_flags.h"
#include "cli/engine/serving.h"
#include "node/machine/sockaddr_rules.h"
#include "node/node_resources.h"

enum {
    DRAIN_MS = 10000,
    RENEW_MS = 12 * 3600 * 1000,
    BACKUP_EVERY_MIN_MS = 1000,
    RENEW_AGAIN_MS = 10000
};

struct daemon {
    struct daemon_options options;
    struct live_settings settings;
    char *data_dir;
    unsigned controllers_off;
    struct engine *engine;
    struct authn *authn;
    struct audit *audit;
    struct serving *serving;
    struct backups *backups; /* NULL: none by itself */
    const struct daemon_page_ops *page_ops;
    struct daemon_page *page;
    struct server_names names;
    char *url;        /* URL of the first address; NULL: none */
    char *kubeconfig; /* path of the kubeconfig; NULL: none */
    uv_signal_t signals[3];
    uv_fs_event_t tokens; /* watches the directory of the token file */
    struct task drained;
    struct timer drain_limit, renew;
    int64_t renew_ms; /* until the next renewal */
    struct idle_timer rest;
    bool stopping;
    int exit_code;
};

static void on_store_failure(void *ctx, const struct error *err)
{
    struct daemon *daemon = ctx;

    cli_errorf("the store failed, stopping here; pods go on and the next start finds them: %s",
               err->message);
    daemon->exit_code = EXIT_INTERNAL;
    loop_stop(engine_loop(daemon->engine));
}

static void rule_flows(const struct daemon *daemon)
{
    const struct daemon_options *options = &daemon->options;
    const struct registry_flow_rules rules = {
        .deletion_protection = strcmp(options->deletion_protection, "on") == 0,
        .reject_updates = strcmp(options->updates, "reject") == 0,
        .steps = options->max_flow_steps,
    };

    registry_rule_flows(engine_registry(daemon->engine), &rules);
}

static bool is_simulated(const struct daemon_options *options)
{
    return strcmp(options->runtime, "sim") == 0;
}

static int64_t sim_speed(const struct daemon_options *options)
{
    return options->sim_speed ? options->sim_speed : 1;
}

/* Returns the data directory (owned), or NULL when the environment names no place for state. */
static char *directory_of(const struct daemon_options *options)
{
    scoped_str usual = access_default_dir();

    if (options->data_dir)
        return mem_strdup(options->data_dir);
    return usual && is_simulated(options) ? mem_printf("%s-sim", usual) : take(usual);
}

static bool has_own_network(const struct daemon_options *options)
{
    return options->network && strcmp(options->network, "private") == 0;
}

static bool open_engine(struct daemon *daemon, struct error *err)
{
    const struct daemon_options *options = &daemon->options;
    struct engine_options engine = {
        .data_dir = daemon->data_dir,
        .sync = strcmp(options->durability, "relaxed") == 0 ? STORE_SYNC_NORMAL : STORE_SYNC_FULL,
        .compat_upstream = strcmp(options->compat, "upstream") == 0,
        .strict_plugin_arguments = options->strict_plugin_arguments,
        .gc_aborted = options->gc_aborted,
        .no_key_arguments = !options->allow_key_arguments,
        .sim = is_simulated(options),
        .sim_speed = is_simulated(options) ? sim_speed(options) : 0,
        .no_low_ports =
            !is_simulated(options) && !has_own_network(options) && sockaddr_low_ports_move(),
        .max_pods = (int)options->max_pods,
        .cluster_objects = true,
        .schedules = true,
        .node_resources = options->node_resources,
        .devices = options->devices,
        .isolation = options->isolation,
        .own_keyrings = true,
        .confine = !options->trust_editors,
        .network = options->network,
        .hosts_as_addresses = options->hosts_as_addresses,
        .scratch_limit = options->scratch_limit,
        .keep_logs = options->keep_logs,
        .keep_logs_total = options->keep_logs_total,
        .restart_backoff_ms = options->restart_backoff_ms,
        .controllers = !options->serve_damaged,
        .damaged = options->serve_damaged,
        .controllers_off = daemon->controllers_off,
    };

    if (!size_limit_parse(options->empty_dir_limit, &engine.empty_dir_bytes, err))
        return false;
    for (size_t i = 0; i < options->allow_host_path.count; i++)
        if (!host_paths_add(&engine.host_paths, options->allow_host_path.items[i], err))
            return false;
    daemon->engine = engine_start(&engine, err);
    if (!daemon->engine)
        return false;
    store_on_failure(engine_store(daemon->engine), on_store_failure, daemon);
    rule_flows(daemon);
    return true;
}

static void on_answered(void *ctx, const struct request_record *record)
{
    struct daemon *daemon = ctx;

    log_info("request", kv_str("id", record->id), kv_str("peer", record->peer),
             kv_str("user", record->identity ? record->identity->user : ""),
             kv_str("method", record->method_name), kv_str("target", record->target),
             kv_int("status", record->status), kv_int("bytes", (int64_t)record->bytes_out),
             kv_int("us", record->duration_ns / 1000));
    audit_note(daemon->audit, record);
    idle_timer_note(&daemon->rest);
}

static void switch_page(const struct daemon *daemon)
{
    daemon->page_ops->set(daemon->page, strcmp(daemon->options.ui, "on") == 0);
}

static void limit_clients(const struct daemon *daemon)
{
    size_t connections = (size_t)daemon->options.max_connections;
    size_t watches = (size_t)daemon->options.max_watches;
    const struct traffic_limits traffic = {.watching = watches, .watching_per_user = watches / 5};
    const struct api_submission_limits submissions = {
        .items = (size_t)daemon->options.max_submission_items,
        .retention_ms = daemon->options.submission_retention_ms};

    listener_set_limits(serving_listener(daemon->serving), connections, connections / 8);
    api_set_limits(serving_api(daemon->serving), &traffic);
    api_set_submissions(serving_api(daemon->serving), &submissions);
}

static bool can_confine(void *ctx, struct error *err)
{
    struct runtime *runtime = engine_runtime(((struct daemon *)ctx)->engine);
    struct error why = {0};

    return runtime->ops->confine(runtime, &why) ||
           error_set(
               err, ERR_FORBIDDEN, "",
               "the pods of users who are no administrators cannot be kept from the "
               "administrator's credentials on this machine: %s. The administrator can accept "
               "that: serve --trust-editors",
               why.message);
}

static bool open_access(struct daemon *daemon, struct error *err)
{
    scoped_str tokens = mem_printf("%s/" ACCESS_TOKENS, daemon->data_dir);
    scoped_str socket = mem_printf("%s/" SERVING_SOCKET, daemon->data_dir);
    struct listener_options listener = {
        .hosts = &daemon->names.list,
        .answered = on_answered,
        .ctx = daemon,
    };

    idle_timer_start(&daemon->rest, engine_loop(daemon->engine));
    daemon->authn = authn_new(engine_loop(daemon->engine), tokens);
    authn_allow_uid(daemon->authn, 0, identity_with_role("root", ROLE_ADMIN, NULL, 0));
    if (getuid() != 0)
        authn_allow_uid(daemon->authn, getuid(), identity_with_role("owner", ROLE_ADMIN, NULL, 0));
    listener.authn = daemon->authn;
    daemon->audit = audit_open(daemon->data_dir, err);
    if (!daemon->audit)
        return false;
    daemon->serving = serving_new(daemon->engine, &listener);
    api_set_daemon(serving_api(daemon->serving));
    if (!daemon->options.trust_editors && !is_simulated(&daemon->options))
        api_set_confinement(serving_api(daemon->serving),
                            &(struct api_confinement){can_confine, daemon});
    limit_clients(daemon);
    return listener_add_unix(serving_listener(daemon->serving), socket, 0600, err) &&
           authn_reload(daemon->authn, err);
}

static bool listen_on(struct daemon *daemon, const struct listen_address *address, bool may_move,
                      struct tls_context *tls, struct error *err)
{
    struct listener *listener = serving_listener(daemon->serving);
    int port;

    if (!listener_add_tcp(listener, address->host, address->port, tls, &port, err) &&
        (!may_move || err->code != ERR_EXISTS ||
         !listener_add_tcp(listener, address->host, 0, tls, &port, err)))
        return false;
    if (!daemon->url) {
        bool any = strcmp(address->host, "0.0.0.0") == 0 || strcmp(address->host, "::") == 0;
        bool v6 = strchr(address->host, ':') != NULL;
        const char *host = any ? (v6 ? "::1" : "127.0.0.1") : address->host;

        daemon->url = mem_printf(v6 ? "https://[%s]:%d" : "https://%s:%d", host, port);
    }
    return true;
}

static struct tls_context *make_tls(const struct daemon *daemon, struct error *err)
{
    return access_tls(daemon->data_dir, daemon->names.texts, daemon->names.list.n_hosts,
                      loop_wall_ms(engine_loop(daemon->engine)), err);
}

/* Writes the kubeconfig with the server's URL and the CA that clients trust. */
static bool write_kubeconfig(struct daemon *daemon, struct error *err)
{
    mem_free(daemon->kubeconfig);
    daemon->kubeconfig = access_kubeconfig(daemon->data_dir, daemon->url,
                                           loop_wall_ms(engine_loop(daemon->engine)), err);
    return daemon->kubeconfig != NULL;
}

/* A full disk is no reason not to start: the kubeconfig is written when there is room. */
static bool write_first_kubeconfig(struct daemon *daemon, struct error *err)
{
    if (write_kubeconfig(daemon, err))
        return true;
    if (err->code != ERR_STORAGE)
        return false;
    log_error("the kubeconfig cannot be written", kv_str("error", err->message));
    daemon->kubeconfig = mem_printf("%s/kubeconfig", daemon->data_dir);
    daemon->renew_ms = RENEW_AGAIN_MS;
    return true;
}

static bool open_addresses(struct daemon *daemon, struct error *err)
{
    const struct flag_list *list = &daemon->options.listen;
    struct listen_address addresses[countof(list->items)] = {{"127.0.0.1", SERVE_PORT}};
    size_t n = list->count ? list->count : 1;
    struct tls_context *tls;
    bool ok = true;

    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i], "none") == 0)
            return list->count == 1 ||
                   error_set(err, ERR_INVALID, "", "--listen none excludes every other address");
        if (!listen_address_parse(list->items[i], &addresses[i], err))
            return false;
    }
    tls = make_tls(daemon, err);
    for (size_t i = 0; i < n && ok && tls; i++)
        ok = listen_on(daemon, &addresses[i], list->count == 0, tls, err);
    tls_context_unref(tls);
    return tls && ok && write_first_kubeconfig(daemon, err);
}

static bool open_page(struct daemon *daemon, struct error *err)
{
    const struct daemon_page_setup setup = {
        .loop = engine_loop(daemon->engine),
        .authn = daemon->authn,
        .data_dir = daemon->data_dir,
        .hosts = &daemon->names.list,
        .url = daemon->url,
    };

    daemon->page = daemon->page_ops->start(&setup, err);
    if (!daemon->page)
        return false;
    switch_page(daemon);
    listener_set_page(serving_listener(daemon->serving), daemon->page_ops->handler(daemon->page));
    return true;
}

static bool start_backups(struct daemon *daemon, struct error *err)
{
    const struct backup_options options = {.directory = daemon->options.backup_dir,
                                           .every_ms = daemon->options.backup_every_ms,
                                           .keep = daemon->options.backup_keep};

    if (!options.directory || daemon->options.serve_damaged)
        return true;
    if (options.every_ms < BACKUP_EVERY_MIN_MS)
        return error_set(err, ERR_INVALID, "", "--backup-every must be one second or longer");
    daemon->backups = backups_start(daemon->engine, &options, err);
    return daemon->backups != NULL;
}

static void renew(struct timer *timer)
{
    struct daemon *daemon = container_of(timer, struct daemon, renew);
    struct loop *loop = engine_loop(daemon->engine);
    struct error err = {0};
    struct tls_context *tls = make_tls(daemon, &err);

    if (tls)
        listener_set_tls(serving_listener(daemon->serving), tls);
    daemon->renew_ms = RENEW_MS;
    if (!tls || !write_kubeconfig(daemon, &err)) {
        log_error("the certificate cannot be renewed", kv_str("error", err.message));
        daemon->renew_ms = RENEW_AGAIN_MS;
    }
    tls_context_unref(tls);
    timer_start(loop, &daemon->renew, daemon->renew_ms);
}

static void open_log(const struct daemon_options *options)
{
    log_to(STDERR_FILENO, options->verbose ? LOG_INFO : LOG_WARN,
           strcmp(options->log_format, "json") == 0 ? LOG_JSON : LOG_TEXT);
}

static void read_settings(struct daemon *daemon)
{
    struct error err = {0};

    if (!live_settings_read(&daemon->settings, &daemon->options, &err)) {
        log_error("settings are not taken, the earlier ones hold", kv_str("error", err.message));
        return;
    }
    open_log(&daemon->options);
    rule_flows(daemon);
    limit_clients(daemon);
    switch_page(daemon);
    if (is_simulated(&daemon->options) && engine_runtime(daemon->engine))
        runtime_sim_set_speed(engine_runtime(daemon->engine), sim_speed(&daemon->options));
    server_names_set(&daemon->names, &daemon->options.listen, &daemon->options.tls_names);
}

static void reload(struct daemon *daemon)
{
    struct error err = {0};

    sd_notify_send("RELOADING=1");
    read_settings(daemon);
    audit_reopen(daemon->audit);
    if (!authn_reload(daemon->authn, &err))
        log_error("tokens cannot be read", kv_str("error", err.message));
    daemon->page_ops->check(daemon->page);
    if (daemon->url)
        renew(&daemon->renew);
    log_info("reloaded");
    sd_notify_send("READY=1");
}

/* Reloads the tokens. Watches of a revoked token end at once, not with its next request. */
static void on_tokens_changed(uv_fs_event_t *handle, const char *name, int events, int status)
{
    struct daemon *daemon = handle->data;
    struct error err = {0};

    if (!authn_reload(daemon->authn, &err))
        log_error("tokens cannot be read", kv_str("error", err.message));
    daemon->page_ops->check(daemon->page);
    listener_drop_revoked(serving_listener(daemon->serving));
}

static void watch_tokens(struct daemon *daemon)
{
    scoped_str path = mem_printf("%s/access", daemon->data_dir);

    uv_fs_event_init(loop_uv(engine_loop(daemon->engine)), &daemon->tokens);
    daemon->tokens.data = daemon;
    /* The directory must exist to be watched; the first token may be created later. */
    file_mkdirs(path, 0700, NULL);
    if (uv_fs_event_start(&daemon->tokens, on_tokens_changed, path, 0) < 0)
        log_warn("revoked tokens end with their next request", kv_str("unwatched", path));
}

static void on_drained(struct task *task)
{
    loop_stop(engine_loop(container_of(task, struct daemon, drained)->engine));
}

static void on_drain_limit(struct timer *timer)
{
    struct daemon *daemon = container_of(timer, struct daemon, drain_limit);

    log_warn("answers are dropped", kv_int("connections", (int64_t)listener_connections(
                                                              serving_listener(daemon->serving))));
    loop_stop(engine_loop(daemon->engine));
}

static void stop(struct daemon *daemon)
{
    struct loop *loop = engine_loop(daemon->engine);

    if (daemon->stopping) { /* a second signal stops the daemon at once */
        loop_stop(loop);
        return;
    }
    daemon->stopping = true;
    sd_notify_send("STOPPING=1");
    log_info("stopping");
    daemon->page_ops->stop(daemon->page, "the daemon ends");
    api_end_long_running(serving_api(daemon->serving));
    listener_drain(serving_listener(daemon->serving), &daemon->drained);
    timer_start(loop, &daemon->drain_limit, DRAIN_MS);
}

static void on_signal(uv_signal_t *handle, int number)
{
    if (number == SIGHUP)
        reload(handle->data);
    else
        stop(handle->data);
}

static void listen_signals(struct daemon *daemon)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

    signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; i < countof(numbers); i++) {
        uv_signal_init(loop_uv(engine_loop(daemon->engine)), &daemon->signals[i]);
        daemon->signals[i].data = daemon;
        uv_signal_start(&daemon->signals[i], on_signal, numbers[i]);
        uv_unref((uv_handle_t *)&daemon->signals[i]);
    }
}

static void announce(const struct daemon *daemon)
{
    if (daemon->url)
        printf("serving on %s and on %s/" SERVING_SOCKET "\n\n  export KUBECONFIG=%s\n\n",
               daemon->url, daemon->data_dir, daemon->kubeconfig);
    else
        printf("serving on %s/" SERVING_SOCKET "\n", daemon->data_dir);
    fflush(stdout);
    log_info("ready", kv_str("url", daemon->url), kv_str("dataDir", daemon->data_dir));
    sd_notify_send("READY=1");
}

static void work(struct daemon *daemon)
{
    struct loop *loop = engine_loop(daemon->engine);

    daemon->drained.run = on_drained;
    daemon->drain_limit.fire = on_drain_limit;
    daemon->renew.fire = renew;
    listen_signals(daemon);
    watch_tokens(daemon);
    if (daemon->url)
        timer_start(loop, &daemon->renew, daemon->renew_ms);
    announce(daemon);
    loop_run(loop);
    for (size_t i = 0; i < countof(daemon->signals); i++)
        uv_close((uv_handle_t *)&daemon->signals[i], NULL);
    uv_close((uv_handle_t *)&daemon->tokens, NULL);
    timer_stop(loop, &daemon->drain_limit);
    timer_stop(loop, &daemon->renew);
    loop_cancel(loop, &daemon->drained);
}

/* L-22: raises the descriptor limit for the maximum number of connections. SEC-33: keeps secrets
 * out of core files. */
static void set_limits(void)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    setrlimit(RLIMIT_CORE, &(struct rlimit){0});
    prctl(PR_SET_DUMPABLE, 0);
    umask(077);
}

static void release(struct daemon *daemon)
{
    backups_stop(daemon->backups);
    serving_stop(daemon->serving);
    daemon->page_ops->free(daemon->page);
    idle_timer_stop(&daemon->rest);
    engine_stop(daemon->engine);
    authn_free(daemon->authn);
    audit_close(daemon->audit);
    server_names_release(&daemon->names);
    live_settings_release(&daemon->settings);
    mem_free(daemon->kubeconfig);
    mem_free(daemon->url);
    mem_free(daemon->data_dir);
}

static int refused(const struct error *err)
{
    bool input = err->code == ERR_CONFLICT || err->code == ERR_INVALID ||
                 err->code == ERR_FORBIDDEN || err->code == ERR_EXISTS;

    cli_error(err);
    return input ? EXIT_REFUSED : EXIT_INTERNAL;
}

int daemon_run(const struct daemon_options *options, const struct flag *flags,
               const struct daemon_page_ops *page)
{
    struct daemon daemon = {.options = *options,
                            .settings.flags = flags,
                            .page_ops = page,
                            .exit_code = EXIT_OK,
                            .renew_ms = RENEW_MS};
    const struct runtime_flag sandbox_flags[] = {
        {"isolation", options->isolation != NULL},
        {"network", options->network != NULL},
        {"trust-editors", options->trust_editors},
        {"hosts-as-addresses", options->hosts_as_addresses},
        {"allow-host-path", options->allow_host_path.count > 0},
        {0}};
    struct error err = {0};

    if (!controllers_parse(options->controllers, &daemon.controllers_off, &err)) {
        cli_error(&err);
        return EXIT_REFUSED;
    }
    if (!runtime_flags_check(options->runtime, sandbox_flags))
        return EXIT_REFUSED;
    if (options->sim_speed && !is_simulated(options)) {
        cli_errorf("--sim-speed is the speed of simulated pods: it needs --runtime sim");
        return EXIT_REFUSED;
    }
    daemon.data_dir = directory_of(options);
    if (!daemon.data_dir) {
        cli_errorf("neither XDG_STATE_HOME nor HOME is set: name a directory with --data-dir");
        return EXIT_REFUSED;
    }
    open_log(options);
    set_limits();
    server_names_set(&daemon.names, &options->listen, &options->tls_names);
    if (access_check_dir(daemon.data_dir, &err) && open_engine(&daemon, &err) &&
        open_access(&daemon, &err) && open_addresses(&daemon, &err) && open_page(&daemon, &err) &&
        start_backups(&daemon, &err))
        work(&daemon);
    else
        daemon.exit_code = refused(&err);
    release(&daemon);
    return daemon.exit_code;
}
