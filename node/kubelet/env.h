#pragma once
/*
 * The environment and the arguments of a container, with all references resolved.
 */
#include "node/kubelet/value_source.h"
#include "node/runtime/runtime.h"

/**
 * Fills `out` for `container`: envFrom in order, then env (later variables replace earlier ones, in
 * their place), with $(NAME) expanded from the variables before it. command and args are expanded
 * from all variables. $$ is a plain $, and an undefined reference stays as it is written. Returns
 * INVALID when the result is larger than Linux passes to a program (ArgumentsTooLong). Ref: kubelet
 * makeEnvironmentVariables, third_party/forked/golang/expansion.
 */
enum resolve_result kubelet_env(const struct value_source *source,
                                const struct pod_container *container,
                                struct runtime_container *out);
