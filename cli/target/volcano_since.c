/*
 * Tables of what each version of Volcano understands in a Job, taken from its CRDs, its webhook and
 * its plugins.
 */
#include "cli/target/volcano_since.h"

#include <string.h>

#include "base/compiler.h"

enum { ALWAYS = 0 };

/* A word and the minor version of Volcano 1 that has it first. */
struct since {
    const char *word;
    int version;
};

/* clang-format off */
/* Members of a Job's spec. What is below template, volumeClaim and plugins is looked at apart. */
static const struct since members[] = {
    {"schedulerName", ALWAYS},
    {"minAvailable", ALWAYS},
    {"volumes", ALWAYS},
    {"volumes.mountPath", ALWAYS},
    {"volumes.volumeClaim", ALWAYS},
    {"volumes.volumeClaimName", ALWAYS},
    {"tasks", ALWAYS},
    {"tasks.name", ALWAYS},
    {"tasks.replicas", ALWAYS},
    {"tasks.minAvailable", ALWAYS},
    {"tasks.template", ALWAYS},
    {"tasks.policies", ALWAYS},
    {"tasks.policies.action", ALWAYS},
    {"tasks.policies.event", ALWAYS},
    {"tasks.policies.events", ALWAYS},
    {"tasks.policies.exitCode", ALWAYS},
    {"tasks.policies.timeout", ALWAYS},
    {"tasks.topologyPolicy", ALWAYS},
    {"tasks.maxRetry", ALWAYS},
    {"tasks.dependsOn", ALWAYS},
    {"tasks.dependsOn.name", ALWAYS},
    {"tasks.dependsOn.iteration", ALWAYS},
    {"tasks.partitionPolicy", 14},
    {"tasks.partitionPolicy.totalPartitions", 14},
    {"tasks.partitionPolicy.partitionSize", 14},
    {"tasks.partitionPolicy.minPartitions", 14},
    {"tasks.partitionPolicy.networkTopology", 14},
    {"tasks.partitionPolicy.networkTopology.mode", 14},
    {"tasks.partitionPolicy.networkTopology.highestTierAllowed", 14},
    {"tasks.partitionPolicy.networkTopology.highestTierName", 14},
    {"policies", ALWAYS},
    {"policies.action", ALWAYS},
    {"policies.event", ALWAYS},
    {"policies.events", ALWAYS},
    {"policies.exitCode", ALWAYS},
    {"policies.timeout", ALWAYS},
    {"plugins", ALWAYS},
    {"runningEstimate", ALWAYS},
    {"queue", ALWAYS},
    {"maxRetry", ALWAYS},
    {"ttlSecondsAfterFinished", ALWAYS},
    {"priorityClassName", ALWAYS},
    {"minSuccess", ALWAYS},
    {"networkTopology", 12},
    {"networkTopology.mode", 12},
    {"networkTopology.highestTierAllowed", 12},
    {"networkTopology.highestTierName", 14},
};
static const char *const opaque[] = {"tasks.template", "volumes.volumeClaim", "plugins"};

static const struct since events[] = {
    {"*", ALWAYS}, {"PodPending", 11}, {"PodFailed", ALWAYS}, {"PodEvicted", ALWAYS}, {"Unknown", ALWAYS},
    {"TaskCompleted", ALWAYS}, {"TaskFailed", ALWAYS}, {"JobUpdated", ALWAYS},
};
static const struct since actions[] = {
    {"AbortJob", ALWAYS}, {"RestartJob", ALWAYS}, {"RestartTask", ALWAYS}, {"RestartPod", 11}, {"RestartPartition", 14},
    {"TerminateJob", ALWAYS}, {"CompleteJob", ALWAYS}, {"ResumeJob", ALWAYS},
};
static const struct since plugins[] = {
    {"env", ALWAYS}, {"svc", ALWAYS}, {"ssh", ALWAYS}, {"mpi", ALWAYS}, {"pytorch", ALWAYS}, {"tensorflow", ALWAYS},
    {"hcclrank", 13}, {"ray", 13},
};
/* Arguments as PLUGIN.ARGUMENT. Volcano ignores every argument of a plugin that has an unknown one. */
static const struct since arguments[] = {
    {"svc.publish-not-ready-addresses", ALWAYS}, {"svc.disable-network-policy", ALWAYS},
    {"ssh.ssh-key-file-path", ALWAYS}, {"ssh.ssh-private-key", ALWAYS}, {"ssh.ssh-public-key", ALWAYS}, {"ssh.ssh-port", 15},
    {"mpi.master", ALWAYS}, {"mpi.worker", ALWAYS}, {"mpi.port", ALWAYS},
    {"pytorch.master", ALWAYS}, {"pytorch.worker", ALWAYS}, {"pytorch.port", ALWAYS},
    {"pytorch.wait-master-enabled", 14}, {"pytorch.wait-master-timeout", 14}, {"pytorch.wait-master-image", 14},
    {"tensorflow.ps", ALWAYS}, {"tensorflow.worker", ALWAYS}, {"tensorflow.chief", ALWAYS}, {"tensorflow.evaluator", ALWAYS},
    {"tensorflow.port", ALWAYS},
    {"hcclrank.master", 13}, {"hcclrank.worker", 13},
    {"ray.head", 13}, {"ray.worker", 13}, {"ray.headContainer", 13}, {"ray.workerContainer", 13}, {"ray.port", 13},
    {"ray.dashboardPort", 13}, {"ray.clientPort", 13},
};
/* clang-format on */

/* clang-format off */
#define TABLE(rows) {rows, countof(rows)}
static const struct {
    const struct since *rows;
    size_t n;
} tables[] = {
    [VOLCANO_MEMBER]   = TABLE(members),
    [VOLCANO_EVENT]    = TABLE(events),
    [VOLCANO_ACTION]   = TABLE(actions),
    [VOLCANO_PLUGIN]   = TABLE(plugins),
    [VOLCANO_ARGUMENT] = TABLE(arguments),
};
/* clang-format on */

int volcano_since(enum volcano_word kind, const char *word)
{
    for (size_t i = 0; i < tables[kind].n; i++)
        if (strcmp(tables[kind].rows[i].word, word) == 0)
            return tables[kind].rows[i].version;
    return VOLCANO_NEVER;
}

bool volcano_is_opaque(const char *member)
{
    for (size_t i = 0; i < countof(opaque); i++)
        if (strcmp(opaque[i], member) == 0)
            return true;
    return false;
}
