#pragma once
/*
 * The volumes of a pod, resolved to files and directories that the runtime can mount.
 */
#include "node/kubelet/value_source.h"
#include "node/machine/host_paths.h"
#include "node/runtime/runtime.h"

struct volume_rules {
    const char *data_dir; /* claims live in <data_dir>/pvc/<namespace>/<claim uid> */
    struct host_paths host_paths;
    int64_t empty_dir_bytes; /* limit of an emptyDir on disk without sizeLimit; 0 = no limit
                              * (L-39) */
    bool sim;                /* simulation: nothing on disk is touched */
};

/** Resolves every volume of the pod into `out`, which has [n] elements in the source's arena. */
enum resolve_result kubelet_volumes(const struct value_source *source,
                                    const struct volume_rules *rules, struct runtime_volume **out,
                                    size_t *n);

/** Returns the path of a claim's directory; owned. */
char *kubelet_claim_path(const char *data_dir, const char *ns, const char *uid);
