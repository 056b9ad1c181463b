#pragma once
/*
 * A runtime with real processes in a fresh data directory, and pods for it in one line.
 *
 * The test program is its own shim: its main begins with
 *
 *   if (shim_main(argc, argv) >= 0) return 0;
 */
#include "node/runtime/runtime.h"

enum { BED_ARGS_MAX = 12, BED_MOUNTS_MAX = 8 };

/* A container; the zero value of everything else is what most tests want. */
struct bed_container {
    const char *name; /* NULL: c<index> */
    const char *argv[BED_ARGS_MAX];
    const char *cwd;
    struct runtime_env env[4];
    struct volume_mount mounts[BED_MOUNTS_MAX];
    int32_t port;
    const char *memory_limit;
    const char *message_policy; /* terminationMessagePolicy */
    const char *lifecycle;      /* JSON with ' in place of " */
    const char *startup;        /* startupProbe, the same way */
    bool sidecar;
};

struct bed_pod {
    const char *uid;
    const char *restart; /* NULL: Never */
    int64_t deadline_s, grace_s;
    struct bed_container init[4], main[4];
    const char *hostname, *ip, *hosts;
    const struct runtime_volume *volumes;
    size_t n_volumes;
};

struct bed;

struct bed *bed_new(const char *dir, const struct runtime_host_options *options); /* NULL: none */
/** The node ends (and the shims stay); the next bed_new on the directory is its next life. */
void bed_free(struct bed *bed);
struct runtime *bed_runtime(struct bed *bed);
struct loop *bed_loop(struct bed *bed);

void bed_start(struct bed *bed, const struct bed_pod *pod);
/** Run the loop until the pod's last report is final, or `limit_ms` is over (then NULL). The
 * status is good until the next report of the pod. */
const struct pod_status *bed_final(struct bed *bed, const char *uid, int64_t limit_ms);
/** The same until its phase is `phase`. */
const struct pod_status *bed_phase(struct bed *bed, const char *uid, enum pod_phase phase,
                                   int64_t limit_ms);
/** Run a program beside the first container: its code (-1: it was not run to its end); what it
 * printed to `*out_text` (owned). */
int bed_exec(struct bed *bed, const char *uid, int64_t limit_ms, char **out_text,
             const char *const *argv);
/** Run the loop for a while. */
void bed_run(struct bed *bed, int64_t ms);
/** Until there is such a text in its log; false when that takes longer. */
bool bed_printed(struct bed *bed, const char *uid, const char *text, int64_t limit_ms);
/** Reports of the pod so far, final ones among them; was it found by adopt? */
unsigned bed_reports(struct bed *bed, const char *uid);
unsigned bed_finals(struct bed *bed, const char *uid);
bool bed_found(struct bed *bed, const char *uid);
/** The whole log of a container, owned. */
char *bed_log(struct bed *bed, const char *uid, const char *container);
/** Run `sh -c script` as the only container to its end: its exit code; the log to `*out_log`
 * (owned) unless NULL. */
int bed_shell(struct bed *bed, const char *uid, const char *script, char **out_log);

/** Does a level of isolation work for whoever runs this? `err` says why not. */
bool bed_level_works(const char *level, struct error *err);
/** The path of the test program itself, to be run in a pod. */
const char *bed_program(void);

/** Process ids of the shims that live on this data directory; how many. */
size_t bed_shims(const char *dir, int *pids, size_t max);
/** A line of output "name=value" as a number; -1 when it is not there. */
long bed_number(const char *text, const char *name);
/** Does the process exist, and is it more than a zombie (pid 1 of a container may never reap)? */
bool bed_alive(long pid);
/** What a shell script run by the test itself prints (owned). */
char *bed_host(const char *script);
