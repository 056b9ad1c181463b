#pragma once
/*
 * The environment and the arguments of a container, with all references resolved.
 */
#include "node/kubelet/value_source.h"
#include "node/runtime/runtime.h"

/**
 * Fill `out` for `container`: envFrom in order, then env (later ones win, in their place), $(NAME)
 * expanded from what stands before it; command and args expanded from all of it; $$ is a plain $.
 * An undefined reference stays as it is written. INVALID when the result is larger than Linux
 * passes to a program (ArgumentsTooLong). Ref: kubelet makeEnvironmentVariables,
 * third_party/forked/golang/expansion.
 */
enum resolve_result kubelet_env(const struct value_source *source,
                                const struct pod_container *container,
                                struct runtime_container *out);
