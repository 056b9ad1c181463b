/*
 * Assembles the engine and starts its parts in order: store (recovery), registry, node (adoption of
 * running pods), controllers.
 */
#include "cli/engine/engine.h"
#include "cli/engine/devices.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/cluster_embedded.h"
#include "base/log.h"
#include "base/mem.h"
#include "cli/engine/process_limits.h"
#include "cli/engine/reuse_machine.h"
#include "flow/controller.h"
#include "job/controller.h"
#include "job/plugins/plugin.h"
#include "node/node_resources.h"
#include "probes/address.h"
#include "schedule/cronjob.h"
#include "schedule/flowtrigger.h"
#include "template/controller.h"

/* Delays in ms that batch commits: for writes that are not urgent, and for writes that no client
 * waits for. Both exceed the duration of a commit and are not noticeable to users; the second also
 * exceeds the run time of a short pod. */
enum { COMMIT_DELAY_MS = 2, COMMIT_IDLE_DELAY_MS = 15 };

struct engine {
    char *data_dir; /* absolute, because shims have another working directory */
    struct clock *clock;
    struct loop *loop;
    struct store *store;
    struct registry *registry;
    struct cluster *cluster;
    struct machine_resources resources;
    struct device_list devices;
    struct node *node;
    struct job_controller *jobs;
    struct flow_controller *flows;
    struct reuse_machine *reuse;
    struct probe_sockets sockets; /* sockets that reach into pods, for probes */
    struct template_controller *templates;
    struct cronjob_controller *cronjobs;
    struct flowtrigger_controller *triggers;
};

/* The default is one pod per CPU, and at least this many, so that a small machine can run a gang,
 * or a server with a client that waits for it. */
enum { DEFAULT_PODS_MIN = 8 };

int engine_default_pods(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    return n > DEFAULT_PODS_MIN ? (int)n : DEFAULT_PODS_MIN;
}

static bool start_node(struct engine *engine, const struct engine_options *options,
                       struct error *err)
{
    struct node_options node = {
        .data_dir = engine->data_dir,
        .max_pods = options->max_pods ? options->max_pods : engine_default_pods(),
        .host_paths = options->host_paths,
        .environment = options->environment,
        .empty_dir_bytes = options->empty_dir_bytes,
        .confine = options->confine,
        .sim = options->sim,
        .host =
            {
                .directory = engine->data_dir,
                .isolation = options->isolation ? options->isolation : "auto",
                .network = options->network ? options->network : "shared",
                .isolate_all = options->isolation != NULL,
                .own_keyrings = options->own_keyrings,
                .hosts_as_addresses = options->hosts_as_addresses,
                .restart_backoff_ms = options->restart_backoff_ms,
            },
    };

    if (options->scratch_limit &&
        !size_limit_parse(options->scratch_limit, &node.host.scratch_bytes, err))
        return false;
    if (!options->sim) {
        int fit = process_limits_pods(node.max_pods);

        if (fit < node.max_pods)
            log_warn("fewer pods than asked run at once: the limit on open files is small",
                     kv_int("pods", fit), kv_int("asked", node.max_pods));
        node.max_pods = fit;
    }
    if (!machine_resources_parse(options->node_resources, &engine->resources, err) ||
        !machine_devices_read(&engine->devices, options->devices, options->sim, err) ||
        !machine_resources_add_devices(&engine->resources, &engine->devices, true, err) ||
        !log_limits_parse(options->keep_logs, options->keep_logs_total, &node.kept_logs, err))
        return false;
    node.cpu_milli = engine->resources.cpu_milli;
    node.memory_bytes = engine->resources.memory_bytes;
    node.extras = engine->resources.extras;
    node.devices = &engine->devices;
    memcpy(node.extra, engine->resources.extra, sizeof node.extra);
    engine->node = node_start(engine->cluster, &node, err);
    if (engine->node && options->sim_speed)
        runtime_sim_set_speed(node_runtime(engine->node), options->sim_speed);
    return engine->node != NULL;
}

static int socket_to(void *ctx, const struct sockaddr *to)
{
    struct runtime *runtime = node_runtime(ctx);

    return runtime->ops->socket_to(runtime, to, SOCK_STREAM);
}

/* A simulation with a virtual clock starts at the current wall-clock time, so that its times look
 * familiar, and is deterministic from there. When it continues a stored simulation, new ids differ
 * from the stored ones. */
static struct clock *new_clock(const struct engine_options *options)
{
    struct clock *real = clock_real();
    uint64_t seed = options->data_dir ? clock_random(real) : 1;

    return options->sim && !options->sim_speed ? clock_virtual_new(clock_wall_ms(real), seed)
                                               : real;
}

static bool runs(const struct engine_options *options, enum controller controller)
{
    return !(options->controllers_off & CONTROLLER_BIT(controller));
}

static void start_controllers(struct engine *engine, const struct engine_options *options)
{
    const struct job_options jobs = {.scheduler_name = "volcano",
                                     .max_requeue = 15,
                                     .gc_aborted = options->gc_aborted,
                                     .local_pods = true,
                                     .own_network = options->network &&
                                                    strcmp(options->network, "private") == 0};
    struct reuse_machine *reuse =
        options->forecast ? reuse_machine_forecast(options->steps_dir, options->forecast)
        : options->sim
            ? NULL
            : reuse_machine_new(options->steps_dir, engine->data_dir, &options->host_paths);
    const struct flow_options flows = {.upstream_compat = options->compat_upstream,
                                       .reuse = reuse ? reuse_machine_options(reuse) : NULL,
                                       .answers = options->answers,
                                       .sockets = &engine->sockets,
                                       .host_address = "127.0.0.1"};
    const struct cronjob_options cronjobs = {.upstream_compat = options->compat_upstream};
    const struct flowtrigger_options triggers = {.upstream_compat = options->compat_upstream};

    if (reuse)
        reuse_machine_set_environment(reuse, options->reuse_environment);
    engine->reuse = reuse;
    engine->sockets = (struct probe_sockets){socket_to, engine->node};
    if (runs(options, CONTROLLER_JOB))
        engine->jobs = job_controller_start(engine->cluster, &jobs);
    if (runs(options, CONTROLLER_JOB_TEMPLATE))
        engine->templates = template_controller_start(engine->cluster);
    if (runs(options, CONTROLLER_JOB_FLOW))
        engine->flows = flow_controller_start(engine->cluster, &flows);
    if (options->schedules && runs(options, CONTROLLER_CRON_JOB))
        engine->cronjobs = cronjob_controller_start(engine->cluster, &cronjobs);
    if (options->schedules && runs(options, CONTROLLER_FLOW_TRIGGER))
        engine->triggers = flowtrigger_controller_start(engine->cluster, &triggers);
}

struct engine *engine_start(const struct engine_options *options, struct error *err)
{
    struct engine *engine = mem_alloc(sizeof *engine);
    const struct store_options store = {
        .directory = options->data_dir,
        .sync = options->sync,
        .max_delay_ms = COMMIT_DELAY_MS,
        .idle_delay_ms = COMMIT_IDLE_DELAY_MS,
        .read_only = options->read_only,
        .stopped_holder = options->stopped_holder,
        .damaged = options->damaged,
        .few_only = options->few_only,
        .name_only = options->name_only,
    };
    const struct registry_options registry = {
        .upstream_compat = options->compat_upstream,
        .virtual_runtime = options->sim,
        .flows = {.deletion_protection = !options->no_deletion_protection,
                  .reject_updates = !options->allow_flow_updates,
                  .steps = options->flow_steps},
        .plugins = &job_plugin_rules,
        .strict_plugin_arguments = options->strict_plugin_arguments,
        .no_key_arguments = options->no_key_arguments,
        .no_low_ports = options->no_low_ports,
        .cluster_objects = options->cluster_objects,
    };

    if (options->controllers && options->data_dir && !process_limits_check(err)) {
        mem_free(engine);
        return NULL;
    }
    engine->clock = new_clock(options);
    engine->loop = loop_new(engine->clock);
    engine->store = store_open(engine->loop, &store, err);
    if (!engine->store)
        goto failed;
    engine->registry = registry_new(engine->loop, engine->store, &registry);
    engine->cluster = cluster_embedded_new(engine->loop, engine->registry);
    if (options->data_dir) /* the store has created the directory */
        engine->data_dir = realpath(options->data_dir, NULL);
    if (options->controllers) {
        if (!start_node(engine, options, err))
            goto failed;
        start_controllers(engine, options);
    }
    return engine;

failed:
    engine_stop(engine);
    return NULL;
}

void engine_stop_controllers(struct engine *engine)
{
    flowtrigger_controller_stop(take(engine->triggers));
    cronjob_controller_stop(take(engine->cronjobs));
    flow_controller_stop(take(engine->flows));
    template_controller_stop(take(engine->templates));
    job_controller_stop(take(engine->jobs));
}

void engine_stop(struct engine *engine)
{
    if (!engine)
        return;
    engine_stop_controllers(engine);
    if (engine->node)
        node_stop(engine->node);
    if (engine->cluster)
        cluster_embedded_free(engine->cluster);
    if (engine->registry)
        registry_free(engine->registry);
    store_close(engine->store);
    loop_free(engine->loop);
    clock_free(engine->clock);
    reuse_machine_free(engine->reuse);
    device_list_release(&engine->devices);
    free(engine->data_dir);
    mem_free(engine);
}

const char *engine_data_dir(const struct engine *engine)
{
    return engine->data_dir;
}

struct loop *engine_loop(struct engine *engine)
{
    return engine->loop;
}

struct store *engine_store(struct engine *engine)
{
    return engine->store;
}

struct registry *engine_registry(struct engine *engine)
{
    return engine->registry;
}

struct cluster *engine_cluster(struct engine *engine)
{
    return engine->cluster;
}

struct runtime *engine_runtime(struct engine *engine)
{
    return engine->node ? node_runtime(engine->node) : NULL;
}
