/*
 * The life of a controller process:
 *
 *   server answers ─► kinds are there ─► lists ─► election ─► leads ─┬─ signal: last writes, release
 *        │ exit 4          │ exit 2                    ▲             │
 *        ▼                 ▼                           └── standby ◄─┘ lease lost
 *
 * Controllers exist only while this process leads. When it does not, nothing is written: the cache
 * stays warm, and the process stands for election again (DCL-07).
 */
#include "cli/controller/controller.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "api/client/elector.h"
#include "api/cluster_remote/cluster_remote.h"
#include "base/log.h"
#include "base/mem.h"
#include "cli/controller/mode.h"
#include "cli/controller/names.h"
#include "cli/controller/pages.h"
#include "cli/controller/process_metrics.h"
#include "cli/controller/server.h"
#include "cli/controller/start_check.h"
#include "cli/controller/volcano_look.h"
#include "flow/controller.h"
#include "job/controller.h"
#include "job/model/names.h"
#include "probes/address.h"
#include "template/controller.h"

enum {
    HOST_NAME_MAX_BYTES = 256,
    DRAIN_LOOK_MS = 20,
    RELEASE_LIMIT_MS = 2000,
    LOOK_EVERY_MS = 60000,     /* time between two looks at Volcano's controllers */
    MINOR_STREAMED_LISTS = 32, /* from this version on a list may come as a watch */
    MINOR_STATUS_PUT = 22,     /* from this version on a status can be put without the spec */
};

struct process {
    const struct controller_options *options;
    const struct mode *mode;
    enum job_gang gang;
    char **namespaces; /* the namespaces that are acted in, with a final NULL; NULL: all */
    bool running;      /* the controllers run */
    char **refused;    /* what probes never reach; ends with NULL */
    struct cluster_remote_kind *followed; /* what is followed; ends with a row without kind */
    struct clock *clock;
    struct loop *loop;
    struct server server;
    struct cluster *cluster;
    struct template_controller *templates;
    struct flow_controller *flows;
    struct job_controller *jobs; /* NULL in mode flows */
    struct elector elector;
    char *identity;
    uv_signal_t signals[2];
    struct pages *pages; /* health and metrics; NULL: there is no such port */
    struct process_metrics metrics;
    struct volcano_look look; /* watches whether Volcano does the same work */
    struct timer next_look;
    /* Why the controllers do not run although this process leads; NULL when they may run. */
    char *conflict;
    struct timer drain;  /* looks whether the last writes have been answered */
    struct timer giveup; /* ends the process even if writes are still under way */
    int64_t stop_began_ns;
    bool electing, leading, stopping;
    int exit_code;
};

static bool is_interrupted(const struct process *p)
{
    return p->stopping;
}

static bool is_upstream(const struct process *p)
{
    return strcmp(p->options->compat, "upstream") == 0;
}

static const char *scheduler_of(const struct process *p)
{
    return p->options->scheduler_name ? p->options->scheduler_name : p->mode->scheduler;
}

static bool runs(const struct process *p, const char *controller)
{
    return names_runs(p->options->controllers, controller);
}

static void start_controllers(struct process *p)
{
    const struct flow_options flows = {
        .upstream_compat = is_upstream(p),
        .status_window_ms = p->options->status_window_ms,
        .files_unseen = true,
        .refused_addresses = (const char *const *)p->refused,
        .gangs_unenforced = true,
        .senders_unknown = true,
    };
    const struct job_options jobs = {
        .scheduler_name = scheduler_of(p),
        .absent_scheduler = p->mode->beside_volcano ? NULL : "volcano",
        .without_gc = !runs(p, "gc"),
        .max_requeue = (int)p->options->max_requeue,
        .gang = p->gang,
        .keep_succeeded = true,
        .label_objects = true,
    };

    log_info("leading", kv_str("identity", p->identity));
    cluster_remote_unfence(p->cluster);
    p->running = true;
    if (p->mode->runs_jobs && runs(p, "job"))
        p->jobs = job_controller_start(p->cluster, &jobs);
    if (runs(p, "jobtemplate"))
        p->templates = template_controller_start(p->cluster);
    if (runs(p, "jobflow"))
        p->flows = flow_controller_start(p->cluster, &flows);
}

static void stop_controllers(struct process *p, const char *why)
{
    if (!p->running)
        return;
    p->running = false;
    log_info("not leading", kv_str("why", why));
    flow_controller_stop(take(p->flows));
    template_controller_stop(take(p->templates));
    job_controller_stop(take(p->jobs));
    cluster_remote_fence(p->cluster, "this process does not lead any more");
}

static void begin_to_lead(struct process *p)
{
    p->leading = true;
    if (!p->conflict)
        start_controllers(p);
}

static void on_leads(struct elector *elector)
{
    begin_to_lead(container_of(elector, struct process, elector));
}

static void on_lost(struct elector *elector, const char *why)
{
    struct process *p = container_of(elector, struct process, elector);

    p->leading = false;
    stop_controllers(p, why);
}

/* Takes the verdict of a look while this process runs: the controllers stand still as long as
 * Volcano's are at work. */
static void take_verdict(struct process *p, const struct error *conflict)
{
    bool had = p->conflict != NULL;

    if (conflict && conflict->code == ERR_UNAVAILABLE)
        return; /* the look has found nothing out */
    mem_free(p->conflict);
    p->conflict = conflict ? mem_strdup(conflict->message) : NULL;
    if (conflict && !had)
        log_error("another controller does the same work", kv_str("error", conflict->message));
    if (conflict)
        stop_controllers(p, "another controller does the same work");
    else if (had && p->leading && !p->stopping)
        start_controllers(p);
}

static void on_next_look(struct timer *timer)
{
    volcano_look_start(&container_of(timer, struct process, next_look)->look);
}

static void on_looked(struct volcano_look *look, const struct error *conflict)
{
    struct process *p = container_of(look, struct process, look);

    take_verdict(p, conflict);
    p->next_look.fire = on_next_look;
    timer_start(p->loop, &p->next_look, LOOK_EVERY_MS);
}

static void on_released(struct elector *elector)
{
    loop_stop(container_of(elector, struct process, elector)->loop);
}

static void on_election_failed(struct elector *elector, const struct error *err)
{
    log_warn("the lease cannot be read or written", kv_str("namespace", elector->ns),
             kv_str("lease", elector->name), kv_str("error", err->message));
}

static char *new_identity(struct clock *clock)
{
    const char *pod = getenv("POD_NAME");
    char host[HOST_NAME_MAX_BYTES] = "", uuid[CLOCK_UUID_LEN + 1];

    clock_uuid(clock, uuid);
    if (!pod || !*pod)
        gethostname(host, sizeof host - 1);
    return mem_printf("%s_%s", pod && *pod ? pod : *host ? host : "host", uuid);
}

static const char *lease_namespace(const struct process *p)
{
    const char *pod = getenv("POD_NAMESPACE");

    return p->options->lease_namespace ? p->options->lease_namespace
           : pod && *pod               ? pod
           : p->server.namespace       ? p->server.namespace
                                       : "jobflow-system";
}

static void stand_for_election(struct process *p)
{
    p->electing = true;
    p->elector = (struct elector){
        .remote = p->server.remotes[SERVER_LEASES],
        .ns = lease_namespace(p),
        .name = p->options->lease_name,
        .identity = p->identity,
        .mode = p->mode->name,
        .lease_ms = p->options->lease_ms,
        .deadline_ms = p->options->deadline_ms,
        .retry_ms = p->options->retry_ms,
        .leads = on_leads,
        .lost = on_lost,
        .released = on_released,
        .failed = on_election_failed,
    };
    elector_start(&p->elector);
}

static void on_synced(void *ctx)
{
    struct process *p = ctx;

    log_info("synced", kv_str("server", p->server.url));
    if (p->options->leader_elect)
        stand_for_election(p);
    else
        begin_to_lead(p);
}

static void on_unsupported(void *ctx, const struct error *err)
{
    struct process *p = ctx;

    cli_error(err);
    p->exit_code = EXIT_REFUSED;
    loop_stop(p->loop);
}

static void on_giveup(struct timer *timer)
{
    struct process *p = container_of(timer, struct process, giveup);

    log_warn("stopped although something was still under way",
             kv_int("writes", (int64_t)cluster_remote_stats(p->cluster).waiting));
    loop_stop(p->loop);
}

static void release_lease(struct process *p)
{
    stop_controllers(p, "stopping");
    if (!p->electing) {
        loop_stop(p->loop);
        return;
    }
    timer_start(p->loop, &p->giveup, RELEASE_LIMIT_MS);
    elector_release(&p->elector);
}

/* Ends the process when the last writes have been answered or their time is over. */
static void on_drain(struct timer *timer)
{
    struct process *p = container_of(timer, struct process, drain);
    int64_t passed_ms = (loop_mono_ns(p->loop) - p->stop_began_ns) / 1000000;
    bool more_time = passed_ms + RELEASE_LIMIT_MS < p->options->drain_timeout_ms;

    if (p->running && more_time && cluster_remote_stats(p->cluster).waiting)
        timer_start(p->loop, &p->drain, DRAIN_LOOK_MS);
    else
        release_lease(p);
}

static void stop(struct process *p)
{
    bool again = p->stopping;

    p->stopping = true;
    if (again || !p->cluster) { /* a second signal ends the process at once */
        loop_stop(p->loop);
        return;
    }
    log_info("stopping");
    p->stop_began_ns = loop_mono_ns(p->loop);
    if (p->flows)
        flow_controller_drain(p->flows);
    p->drain.fire = on_drain;
    timer_start(p->loop, &p->drain, DRAIN_LOOK_MS);
}

static void on_signal(uv_signal_t *handle, int number)
{
    stop(handle->data);
}

static void listen_signals(struct process *p)
{
    static const int numbers[] = {SIGINT, SIGTERM};

    signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; i < countof(numbers); i++) {
        uv_signal_init(loop_uv(p->loop), &p->signals[i]);
        p->signals[i].data = p;
        uv_signal_start(&p->signals[i], on_signal, numbers[i]);
        uv_unref((uv_handle_t *)&p->signals[i]);
    }
}

/* Prints why the process does not start. Returns the exit code. */
static int refused(const struct process *p, const struct error *err)
{
    struct error shown = *err;

    if (is_interrupted(p))
        return EXIT_OK;
    if (err->code == ERR_UNAUTHORIZED)
        error_set(&shown, ERR_UNAUTHORIZED, "", "%s does not take the credentials of %s",
                  p->server.url, p->server.user ? p->server.user : "this user");
    cli_error(&shown);
    return err->code == ERR_TIMEOUT                                        ? EXIT_TIMED_OUT
           : err->code == ERR_UNAUTHORIZED || err->code == ERR_UNAVAILABLE ? EXIT_FAILED
                                                                           : EXIT_REFUSED;
}

struct first_look {
    struct volcano_look look;
    struct loop *loop;
    struct error conflict;
    bool ended;
};

static void on_first_look(struct volcano_look *look, const struct error *conflict)
{
    struct first_look *first = container_of(look, struct first_look, look);

    if (conflict)
        first->conflict = *conflict;
    first->ended = true;
    loop_stop(first->loop);
}

/* Checks that Volcano's controllers for flows are off, and begins to look again and again. */
static bool check_volcano(struct process *p, struct error *err)
{
    const struct volcano_look look = {.remote = p->server.remotes[SERVER_CALLS],
                                      .ns = p->options->volcano_namespace,
                                      .rivals = &p->mode->rivals,
                                      .only_there = p->namespaces != NULL};
    struct first_look first = {.look = look, .loop = p->loop};

    if (p->options->volcano_controllers)
        return volcano_list_allows(p->options->volcano_controllers, &p->mode->rivals, err);
    first.look.done = on_first_look;
    volcano_look_start(&first.look);
    loop_run(p->loop);
    volcano_look_stop(&first.look);
    if (!first.ended)
        return error_set(err, ERR_GONE, "", "interrupted");
    if (first.conflict.code != ERR_NONE) {
        *err = first.conflict;
        return false;
    }
    p->look = look;
    p->look.done = on_looked;
    on_looked(&p->look, NULL);
    return true;
}

/* A standby is ready as well: it can take over at once. */
static bool is_ready(void *ctx, struct buf *out)
{
    const struct process *p = ctx;
    bool synced = p->cluster && cluster_remote_is_synced(p->cluster);

    buf_printf(out, "[%c]caches synced\n[%c]not stopping\n", synced ? '+' : '-',
               p->stopping ? '-' : '+');
    return synced && !p->stopping;
}

static struct process_facts facts_of(void *ctx)
{
    const struct process *p = ctx;

    return (struct process_facts){p->leading, p->conflict != NULL, p->cluster};
}

/* In a pod the pages are there without being asked for, on the ports that probes expect. */
static const char *address_of(const char *given, const char *usual)
{
    const char *where = given ? given : getenv("KUBERNETES_SERVICE_HOST") ? usual : "none";

    return strcmp(where, "none") == 0 ? NULL : where;
}

static bool open_pages(struct process *p, struct error *err)
{
    const struct pages_options options = {is_ready, p};
    const char *health = address_of(p->options->health_listen, ":8081");
    const char *metrics = address_of(p->options->metrics_listen, ":8080");

    p->metrics = (struct process_metrics){.mode = p->mode->name,
                                          .lease = p->options->lease_name,
                                          .kinds = p->mode->followed,
                                          .look = facts_of,
                                          .ctx = p};
    process_metrics_start(&p->metrics, loop_metrics(p->loop));
    p->pages = pages_new(p->loop, &options);
    return (!health || pages_listen(p->pages, PAGES_HEALTH, health, err)) &&
           (!metrics || pages_listen(p->pages, PAGES_METRICS, metrics, err));
}

/* What is followed: the kinds of the mode, and the objects of gangs. */
static void choose_kinds(struct process *p)
{
    const struct cluster_remote_kind *from = p->mode->followed;
    const struct kind *gang = job_gang_kind(p->gang);
    size_t n = 0;

    while (from[n].kind)
        n++;
    p->followed = mem_array(n + 2, sizeof *p->followed);
    memcpy(p->followed, from, n * sizeof *from);
    if (gang && gang != &kind_pod_group)
        p->followed[n] = (struct cluster_remote_kind){gang, LABEL_MANAGED_BY, MANAGED_BY_US};
}

/* Probes never reach the API server: a pod could have its address. */
static void choose_refused(struct process *p)
{
    const struct flag_list *ranges = &p->options->probe_refuse;
    size_t own = 0;

    p->refused = server_addresses(&p->server, ranges->count, &own);
    for (size_t i = 0; i < ranges->count; i++)
        p->refused[own + i] = mem_strdup(ranges->items[i]);
}

static bool begin(struct process *p, struct error *err)
{
    const struct start_needs needs = {
        .mode = p->mode,
        .gang = p->options->gang,
        .lease_ns = p->options->leader_elect ? lease_namespace(p) : NULL,
        .namespaces = p->namespaces,
        .upstream = is_upstream(p),
    };
    struct cluster_remote_options remote = {
        .streams = p->server.remotes[SERVER_STREAMS],
        .calls = p->server.remotes[SERVER_CALLS],
        .max_in_flight = (unsigned)p->options->max_inflight,
        .synced = on_synced,
        .unsupported = on_unsupported,
        .ctx = p,
    };

    if (!server_wait(&p->server, p->options->start_timeout_ms, err) ||
        !server_check_version(&p->server, err) || !start_check(&p->server, &needs, &p->gang, err) ||
        !check_volcano(p, err))
        return false;
    choose_kinds(p);
    choose_refused(p);
    remote.kinds = p->followed;
    remote.namespaces = p->namespaces;
    remote.streamed_lists = p->server.minor >= MINOR_STREAMED_LISTS;
    remote.status_by_patch = p->server.minor < MINOR_STATUS_PUT;
    p->cluster = cluster_remote_new(p->loop, &remote);
    cluster_remote_start(p->cluster);
    return true;
}

static void end(struct process *p)
{
    stop_controllers(p, "stopped");
    if (p->electing)
        elector_stop(&p->elector);
    timer_stop(p->loop, &p->drain);
    timer_stop(p->loop, &p->giveup);
    timer_stop(p->loop, &p->next_look);
    volcano_look_stop(&p->look);
    process_metrics_stop(&p->metrics);
    pages_free(p->pages);
    mem_free(p->conflict);
    cluster_remote_free(p->cluster);
    mem_free(p->followed);
    for (size_t i = 0; p->refused && p->refused[i]; i++)
        mem_free(p->refused[i]);
    mem_free(p->refused);
    server_close(&p->server);
    for (size_t i = 0; i < countof(p->signals); i++)
        uv_close((uv_handle_t *)&p->signals[i], NULL);
    loop_free(p->loop);
    mem_free(p->identity);
    names_free(p->namespaces);
}

bool controller_check_range(const char *text, struct error *err)
{
    return probe_range_is(text) ||
           error_set(err, ERR_INVALID, "", "\"%s\" is no range of addresses such as 10.0.0.0/8",
                     text);
}

int controller_run(const struct controller_options *options)
{
    struct process p = {.options = options,
                        .mode = mode_find(options->mode),
                        .clock = clock_real(),
                        .exit_code = EXIT_OK};
    struct error err = {0};

    log_to(STDERR_FILENO, options->verbose ? LOG_INFO : LOG_WARN,
           strcmp(options->log_format, "json") == 0 ? LOG_JSON : LOG_TEXT);
    p.loop = loop_new(p.clock);
    p.identity = new_identity(p.clock);
    p.namespaces = names_split(options->namespaces);
    p.giveup.fire = on_giveup;
    listen_signals(&p);
    if (!open_pages(&p, &err) || !server_open(&p.server, p.loop, &options->endpoint, &err) ||
        !begin(&p, &err))
        p.exit_code = refused(&p, &err);
    else
        loop_run(p.loop);
    end(&p);
    return p.exit_code;
}
