#pragma once
/*
 * A fixture: a runtime with real processes on a data directory, and pods for it in one line.
 *
 * The test program is its own shim: its main begins with
 *
 *   if (shim_main(argc, argv) >= 0) return 0;
 */
#include "node/runtime/runtime.h"

enum { TEST_POD_ARGS_MAX = 12, TEST_POD_MOUNTS_MAX = 8 };

/* A container. Zeroed members stand for what most tests want. */
struct test_container {
    const char *name; /* NULL: c<index> */
    const char *argv[TEST_POD_ARGS_MAX];
    const char *cwd;
    struct runtime_env env[4];
    struct volume_mount mounts[TEST_POD_MOUNTS_MAX];
    int32_t port;
    const char *memory_limit;
    const char *message_policy; /* terminationMessagePolicy */
    const char *lifecycle;      /* JSON with ' in place of " */
    const char *startup;        /* startupProbe, the same way */
    bool sidecar;
};

struct test_pod {
    const char *uid;
    const char *restart; /* NULL: Never */
    int64_t deadline_s, grace_s;
    struct test_container init[4], main[4];
    const char *hostname, *ip, *hosts;
    const struct runtime_volume *volumes;
    size_t n_volumes;
};

struct pods_fixture;

struct pods_fixture *pods_new(const char *dir,
                              const struct runtime_host_options *options); /* NULL: none */
/** End the node; its shims stay. The next pods_new on the directory is the node after a restart. */
void pods_free(struct pods_fixture *fixture);
struct runtime *pods_runtime(struct pods_fixture *fixture);
struct loop *pods_loop(struct pods_fixture *fixture);

void pods_start(struct pods_fixture *fixture, const struct test_pod *pod);
/** Run the loop until the pod's last report is final. NULL when that takes longer than `limit_ms`.
 * The status is valid until the next report of the pod. */
const struct pod_status *pods_final(struct pods_fixture *fixture, const char *uid,
                                    int64_t limit_ms);
/** Likewise, until its phase is `phase`. */
const struct pod_status *pods_phase(struct pods_fixture *fixture, const char *uid,
                                    enum pod_phase phase, int64_t limit_ms);
/** Run a program beside the first container. Returns its exit code, -1 when it was not run to its
 * end; its output goes to `*out_text` (owned). */
int pods_exec(struct pods_fixture *fixture, const char *uid, int64_t limit_ms, char **out_text,
              const char *const *argv);
/** Run the loop for a while. */
void pods_run(struct pods_fixture *fixture, int64_t ms);
/** Run the loop until the log holds the text. False when that takes longer than `limit_ms`. */
bool pods_printed(struct pods_fixture *fixture, const char *uid, const char *text,
                  int64_t limit_ms);
/** Number of reports of the pod, and of final ones; was it found by adopt? */
unsigned pods_reports(struct pods_fixture *fixture, const char *uid);
unsigned pods_finals(struct pods_fixture *fixture, const char *uid);
bool pods_found(struct pods_fixture *fixture, const char *uid);
/** The whole log of a container, owned. */
char *pods_log(struct pods_fixture *fixture, const char *uid, const char *container);
/** Run `sh -c script` as the only container to its end. Returns its exit code; the log goes to
 * `*out_log` (owned) unless NULL. */
int pods_shell(struct pods_fixture *fixture, const char *uid, const char *script, char **out_log);

/** Does a level of isolation work for this user on this machine? `err` says why not. */
bool isolation_level_works(const char *level, struct error *err);
/** The path of the test program itself, to be run in a pod. */
const char *test_program(void);

/** Process ids of the shims on a data directory. Returns their number. */
size_t shims_of(const char *dir, int *pids, size_t max);
/** The number in a line "name=value"; -1 when there is no such line. */
long number_in_text(const char *text, const char *name);
/** Does the process exist, and not as a zombie? (Process 1 of a container may never reap.) */
bool process_alive(long pid);
/** Run a shell script outside of any pod. Returns its output (owned). */
char *host_shell(const char *script);
