#pragma once
/*
 * Actions beside the program of a container: exec probes, and hooks at its start and end.
 *
 *   shim ─┬─ init ── program
 *         └─ helper ── action's program, in the container's namespaces and control groups
 *
 * The shim forks a helper for each action. The helper joins the container, runs the action's
 * program there and waits for it; or sends an HTTP GET to the pod's address; or sleeps. Its exit
 * code is the result. It ends within its limit, and is killed when the container's program ends.
 */
#include "node/shim/pod.h"

/** Receives the result of an action. `code` is an exit code as of a container, or -1 when the
 * action did not run to its end. `text` (borrowed) is the first part of its output. */
typedef void (*exec_helper_done_fn)(struct container *container, uint64_t id, int code,
                                    const char *text);

/** Starts an action, which ends after `limit_ms` at the latest. `done` is called once with `id`:
 * when the helper has ended, or before this call returns false. */
bool exec_helper_start(struct container *container, const struct shim_action *action,
                       int64_t limit_ms, exec_helper_done_fn done, uint64_t id);
/** Kills all exec helpers of a container whose program has ended. */
void exec_helper_stop(const struct container *container);
bool exec_helper_has_process(const struct shim *shim, pid_t pid);
/** False: the process is not a helper. */
bool exec_helper_exited(struct shim *shim, pid_t pid, int wait_status);
