#pragma once
/*
 * What is done beside a container's program: exec probes, and hooks at its start and end.
 *
 * A helper, forked from the shim, does it: joins the container, runs the program there and waits
 * for it, or asks the pod's server, or sleeps. It ends within its limit, and with the container.
 *
 *   shim ─┬─ init ── program
 *         └─ helper ── program beside it, in the container's namespaces and groups
 */
#include "node/shim/pod.h"

/** `code` as of a container, -1 when it was not run to its end; `text` (borrowed) is the begin of
 * what it printed. */
typedef void (*exec_helper_done_fn)(struct container *container, uint64_t id, int code,
                                    const char *text);

/** `done` runs once, never inside this call unless it returns false. */
bool exec_helper_start(struct container *container, const struct shim_action *action,
                       int64_t limit_ms, exec_helper_done_fn done, uint64_t id);
/** The container's program is gone: helpers of it end, too. */
void exec_helper_stop(const struct container *container);
bool exec_helper_has_process(const struct shim *shim, pid_t pid);
bool exec_helper_exited(struct shim *shim, pid_t pid, int wait_status); /* false: it is none */

/** One GET of the pod's own server within the limit: did it answer with 200 to 399? */
bool exec_helper_get(const char *ip, uint32_t port, const char *path, int64_t limit_ms);
