/*
 * The list of targets.
 */
#include "cli/target/target.h"

#include <stddef.h>
#include <string.h>

#include "base/compiler.h"

/* clang-format off */
#define VERSIONS(X) X(10) X(11) X(12) X(13) X(14) X(15)
#define VERSION_TEXT(minor)   "volcano-1." #minor,
#define VERSION_TARGET(minor) {"volcano-1." #minor, false, CLUSTER_FLOWS, minor, minor},

static const struct target targets[] = {
    VERSIONS(VERSION_TARGET)
    {"cluster",       true, CLUSTER_FLOWS, TARGET_OLDEST, TARGET_NEWEST},
    {"cluster=flows", true, CLUSTER_FLOWS, TARGET_OLDEST, TARGET_NEWEST},
    {"cluster=jobs",  true, CLUSTER_JOBS,  TARGET_OLDEST, TARGET_NEWEST},
    {"cluster=kube",  true, CLUSTER_KUBE,  TARGET_OLDEST, TARGET_NEWEST},
};
const char *const target_choices[] = {VERSIONS(VERSION_TEXT) "cluster", "cluster=flows", "cluster=jobs", "cluster=kube", NULL};
const char *const target_volcano_choices[] = {VERSIONS(VERSION_TEXT) NULL};
/* clang-format on */

const struct target *target_find(const char *text)
{
    for (size_t i = 0; i < countof(targets); i++)
        if (strcmp(targets[i].text, text) == 0)
            return &targets[i];
    return NULL;
}
