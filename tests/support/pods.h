#pragma once
/*
 * A fixture for tests of the node: a runtime with real processes on a data directory, and functions
 * that start pods and wait for them.
 *
 * The test program is also the shim, so its main begins with
 *
 *   if (shim_main(argc, argv) >= 0) return 0;
 */
#include "node/runtime/runtime.h"

enum { TEST_POD_ARGS_MAX = 12, TEST_POD_MOUNTS_MAX = 8 };

/* A container of a pod. Zeroed members stand for the usual value. */
struct test_container {
    const char *name; /* name of the container; NULL: c<index> */
    const char *argv[TEST_POD_ARGS_MAX];
    const char *cwd;
    struct runtime_env env[4];
    struct volume_mount mounts[TEST_POD_MOUNTS_MAX];
    int32_t port;
    const char *memory_limit;
    const char *message_policy; /* terminationMessagePolicy */
    const char *lifecycle;      /* the hooks, as JSON with single quotes for double ones */
    const char *startup;        /* the startupProbe, as JSON with single quotes for double ones */
    bool sidecar;
};

struct test_pod {
    const char *uid;
    const char *restart; /* restartPolicy of the container; NULL: Never */
    int64_t deadline_s, grace_s;
    struct test_container init[4], main[4];
    const char *hostname, *ip, *hosts;
    const struct runtime_volume *volumes;
    size_t n_volumes;
    const char *memory_limit; /* memory limit of the pod as a whole */
};

struct pods_fixture;

/** Starts a node on a data directory; see pods_free. `options` NULL: the defaults. */
struct pods_fixture *pods_new(const char *dir, const struct runtime_host_options *options);
/** Ends the node; its shims keep running. The next pods_new on the directory restarts the node. */
void pods_free(struct pods_fixture *fixture);
struct runtime *pods_runtime(struct pods_fixture *fixture);
struct loop *pods_loop(struct pods_fixture *fixture);

void pods_start(struct pods_fixture *fixture, const struct test_pod *pod);
/** Runs the loop until the pod's last report is final. Returns NULL when that takes longer than
 * `limit_ms`. The status is valid until the next report of the pod. */
const struct pod_status *pods_final(struct pods_fixture *fixture, const char *uid,
                                    int64_t limit_ms);
/** Runs the loop as pods_final does, until the pod's phase is `phase`. */
const struct pod_status *pods_phase(struct pods_fixture *fixture, const char *uid,
                                    enum pod_phase phase, int64_t limit_ms);
/** Runs a program in the first container, as kubectl exec does. Returns its exit code, -1 when it
 * did not run to its end; its output is stored in `*out_text` (owned). */
int pods_exec(struct pods_fixture *fixture, const char *uid, int64_t limit_ms, char **out_text,
              const char *const *argv);
/** Runs the loop for this time. */
void pods_run(struct pods_fixture *fixture, int64_t ms);
/** Runs the loop until the log contains the text. Returns false when that takes longer than
 * `limit_ms`. */
bool pods_printed(struct pods_fixture *fixture, const char *uid, const char *text,
                  int64_t limit_ms);
/** Returns the number of reports of the pod. The functions below return the number of final ones,
 * and whether adopt found the pod. */
unsigned pods_reports(struct pods_fixture *fixture, const char *uid);
unsigned pods_finals(struct pods_fixture *fixture, const char *uid);
/** Returns whether the last report says that the pod was stopped before it ended by itself. */
bool pods_stopped(struct pods_fixture *fixture, const char *uid);
bool pods_found(struct pods_fixture *fixture, const char *uid);
/** Returns the whole log of a container; owned. */
char *pods_log(struct pods_fixture *fixture, const char *uid, const char *container);
/** Runs `sh -c script` as the only container to its end. Returns its exit code; the log is stored
 * in `*out_log` (owned) unless that is NULL. */
int pods_shell(struct pods_fixture *fixture, const char *uid, const char *script, char **out_log);

/** Returns whether a level of isolation works for this user on this machine; `err` has the reason
 * if not. */
bool isolation_level_works(const char *level, struct error *err);
/** Returns the path of the test program itself, so that a pod can run it. */
const char *test_program(void);

/** Stores the process ids of the shims on a data directory and returns their number. */
size_t shims_of(const char *dir, int *pids, size_t max);
/** Returns the number in a line "name=value" of the text; -1 when there is no such line. */
long number_in_text(const char *text, const char *name);
/** Returns whether the process exists and is not a zombie. (Process 1 of a container may never
 * reap.) */
bool process_alive(long pid);
/** Runs a shell script outside of any pod. Returns its output (owned). */
char *host_shell(const char *script);
