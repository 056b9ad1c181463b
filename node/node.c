/*
 * Starts and stops the parts of a node: machine, runtime, kubelet, scheduler, queues, volume
 * claims.
 */
#include "node/node.h"

#include <string.h>

#include "base/mem.h"
#include "node/kubelet/claims.h"
#include "node/kubelet/kubelet.h"
#include "node/node_object.h"
#include "node/proxy/endpoints_controller.h"
#include "node/scheduler/podgroup_controller.h"
#include "node/scheduler/queue_state.h"
#include "node/scheduler/queue_usage.h"
#include "node/scheduler/scheduler.h"

struct node {
    struct cluster *cluster;
    struct machine machine;
    char *data_dir;
    struct runtime *runtime;
    struct kubelet *kubelet;
    struct scheduler *scheduler;
    struct queue_states *queue_states;
    struct queue_usage *queue_usage;
    struct plain_groups *plain_groups;
    struct claims *claims;
    struct log_keeper *logs; /* keeper of logs; NULL for a simulated node, which writes no files */
    struct endpoints_controller *endpoints; /* NULL for a simulated node, whose pods have no
                                             * network */
    struct machine_writer *writer;
};

/* Called when pods of previous runs are adopted. Their statuses precede the Node object in the log,
 * as machine_write requires. */
static void adopted(void *ctx)
{
    struct node *node = ctx;

    node->writer =
        machine_write(node->cluster, &node->machine, node->runtime->ops->describe(node->runtime),
                      node->runtime->ops->capabilities(node->runtime));
}

static bool log_kept(void *ctx, const char *uid)
{
    const struct node *node = ctx;

    return node->logs && log_keeper_keeps(node->logs, uid);
}

static void start_parts(struct node *node, const struct node_options *options)
{
    const bool private_network =
        !options->sim && options->host.network && strcmp(options->host.network, "private") == 0;
    const struct kubelet_options kubelet = {
        .node_name = node->machine.name,
        .capacity = node->machine.allocatable,
        .extras = node->machine.extras,
        .devices = options->devices && options->devices->resources.count ? options->devices : NULL,
        .environment = options->environment,
        .intents_ahead = scheduler_ahead(node->machine.allocatable.pods),
        .volumes = {.data_dir = node->data_dir,
                    .host_paths = options->host_paths,
                    .empty_dir_bytes = options->empty_dir_bytes,
                    .sim = options->sim},
        .isolate_all = !options->sim && (options->host.isolate_all || private_network),
        .confine = !options->sim && options->confine,
        .private_network = private_network,
        .lock_addresses = !options->sim && !private_network,
        .service_addresses = !options->sim,
        .machine_restarted = machine_restarted(node->cluster, &node->machine),
        .adopted = adopted,
        .log_kept = log_kept,
        .ctx = node,
    };
    const struct scheduler_node schedulable = {
        .name = node->machine.name,
        .capacity = node->machine.allocatable,
        .labels = node->machine.labels,
        .n_labels = MACHINE_LABELS,
    };
    const struct scheduler_options scheduler = {&schedulable, 1, node->machine.extras};

    node->logs =
        options->sim ? NULL : log_keeper_start(node->cluster, node->runtime, &options->kept_logs);
    node->kubelet = kubelet_start(node->cluster, node->runtime, &kubelet);
    node->scheduler = scheduler_start(node->cluster, &scheduler);
    node->queue_states = queue_states_start(node->cluster);
    node->plain_groups = plain_groups_start(node->cluster);
    node->queue_usage = queue_usage_start(node->cluster, node->scheduler);
    node->endpoints =
        options->sim ? NULL : endpoints_controller_start(node->cluster, node->machine.name);
    node->claims = claims_start(node->cluster, options->sim ? NULL : node->data_dir);
}

struct node *node_start(struct cluster *cluster, const struct node_options *options,
                        struct error *err)
{
    struct node *node = mem_alloc(sizeof *node);

    node->cluster = cluster;
    node->data_dir = mem_strdup(options->data_dir);
    struct machine_options machine = {.name = options->name,
                                      .max_pods = options->max_pods,
                                      .cpu_milli = options->cpu_milli,
                                      .memory_bytes = options->memory_bytes,
                                      .extras = options->extras,
                                      .devices = options->devices,
                                      .sim = options->sim};

    memcpy(machine.extra, options->extra, sizeof machine.extra);
    machine_read(&node->machine, &machine);
    if (!machine_check_directory(cluster, &node->machine, err)) {
        node_stop(node);
        return NULL;
    }
    node->runtime = options->sim ? runtime_sim_new(cluster->loop, NULL, NULL)
                                 : runtime_host_new(cluster->loop, &options->host, NULL, NULL, err);
    if (!node->runtime) {
        node_stop(node);
        return NULL;
    }
    start_parts(node, options);
    return node;
}

void node_stop(struct node *node)
{
    if (!node)
        return;
    claims_stop(node->claims);
    endpoints_controller_stop(node->endpoints);
    queue_usage_stop(node->queue_usage);
    plain_groups_stop(node->plain_groups);
    queue_states_stop(node->queue_states);
    scheduler_stop(node->scheduler);
    kubelet_stop(node->kubelet);
    log_keeper_stop(node->logs);
    machine_writer_free(node->writer);
    if (node->runtime)
        node->runtime->ops->free(node->runtime);
    mem_free(node->data_dir);
    mem_free(node);
}

struct runtime *node_runtime(struct node *node)
{
    return node->runtime;
}
