#pragma once
/*
 * What node and shim tell each other, and what a shim writes down.
 *
 *   node → shim   CONFIG, START, STOP, RELEASE, HOSTS, LIST, BYE,
 *                 FILES (a volume's, that have changed), PROGRAM (a container's, from its next
 *                 run on), PASSED (a sidecar's startup probe), EXEC (a program beside a
 *                 container's), KILL (one container; it may start again), DEADLINE (another one)
 *   shim → node   HELLO, STATUS, LISTED, EXECUTED
 *   record file   STATUS, RELEASE
 *
 * A START is a pod as the shim needs it. A STATUS is the whole state of one pod, so the last one
 * counts and a repeated one does no harm.
 */
#include "api/types/kinds/pod/pod.h"
#include "base/arena.h"
#include "node/machine/sockaddr_rules.h"
#include "node/wire/frame.h"

enum { SHIM_VERSION = 7, SHIM_CONTAINERS_MAX = 256 }; /* init and main together */

/* What has a number keeps it: shims of an earlier version still have their pods. */
/* clang-format off */
#define SHIM_MESSAGES(X) \
    X(HELLO) X(CONFIG) X(START) X(STOP) X(RELEASE) X(HOSTS) X(LIST) X(BYE) X(STATUS) X(LISTED) \
    X(NO_MORE) X(EXEC) X(EXECUTED) X(KILL) X(FILES) X(PROGRAM) X(PASSED) X(DEADLINE)
/* clang-format on */
#define SHIM_ENUM(name) SHIM_##name,
enum shim_message { SHIM_NO_MESSAGE, SHIM_MESSAGES(SHIM_ENUM) SHIM_MESSAGE_N };
#undef SHIM_ENUM

enum shim_restart { RESTART_NEVER, RESTART_ON_FAILURE, RESTART_ALWAYS, SHIM_RESTART_N };

/* How a pod's programs are started; see node/runtime/start.c. */
enum shim_pod_kind { SHIM_POD_PLAIN, SHIM_POD_SANDBOXED, SHIM_POD_KIND_N };

struct shim_mount {
    uint32_t volume; /* index into the pod's volumes */
    const char *path, *sub_path;
    bool read_only;
};

struct shim_limits {
    int64_t memory_bytes, cpu_milli; /* 0 = none */
    int64_t processes;               /* 0 = a pod's share, -1 = bounded by other means; not sent */
};

/* What is done beside a container's program: a hook at its start or end, an exec probe. */
enum shim_act { ACT_NONE, ACT_EXEC, ACT_HTTP, ACT_SLEEP, SHIM_ACT_N };
struct shim_action {
    enum shim_act act;
    char **argv; /* EXEC: [n_argv] and NULL */
    uint32_t n_argv;
    const char *path; /* HTTP: asked of the pod's own address */
    uint32_t port;
    int64_t sleep_ms; /* SLEEP */
};

struct shim_container {
    const char *name;
    bool sidecar; /* an init container that is kept */
    bool awaited; /* those behind it start once it is told to have PASSED */
    char **argv;  /* [n_argv] and NULL */
    char **env;   /* [n_env] KEY=VALUE and NULL; over the base of the config */
    uint32_t n_argv, n_env;
    const char *cwd;              /* NULL = the config's */
    const char *termination_path; /* NULL = none */
    bool log_message;             /* without one, the end of a failing run's log is its message */
    struct shim_mount *mounts;
    uint32_t n_mounts;
    struct shim_limits limits;
    struct shim_action post_start, pre_stop;
};

enum shim_volume_kind { SHIM_EMPTY_DIR, SHIM_FILES_VOLUME, SHIM_HOST_PATH, SHIM_VOLUME_KIND_N };

struct shim_file {
    const char *path;
    const char *bytes;
    size_t len;
    uint32_t mode;
};

struct shim_volume {
    const char *name;
    enum shim_volume_kind kind;
    bool memory, read_only;
    bool foreign; /* its ids are those of the host, whatever the pod's are */
    int64_t size_bytes;
    struct shim_file *files;
    uint32_t n_files;

    /* HOST_PATH; see sandbox/host_path.h */
    const char *host_path; /* absolute */
    const char *host_base; /* above it, and no step leads out of it; NULL = wherever it leads */
    const char *host_keep; /* a directory that is never shown; NULL = none */
    const char *host_type; /* as in hostPath.type; NULL = any */
    bool host_private;     /* what is made is for our user alone */
};

struct shim_pod {
    const char *uid;
    enum shim_pod_kind kind;
    enum shim_restart restart;
    int64_t start_ms;    /* wall time of the start intent; the deadline counts from here */
    int64_t deadline_ms; /* 0 = none */
    int64_t grace_ms;    /* between TERM and KILL when the pod ends by itself */
    struct shim_container *containers; /* [n_init + n_main], init containers first */
    uint32_t n_init, n_main;

    /* boxed pods */
    const char *hostname, *ip, *hosts; /* NULL = none */
    uint32_t *ports;                   /* declared by any container, TCP and UDP alike */
    uint32_t n_ports;
    uint32_t ids; /* the first of the range its programs have at level full; 0 = there is none */
    const char *host_key,
        *host_public; /* that sshd identifies itself with; NULL = it has its own */
    struct shim_volume *volumes;
    uint32_t n_volumes;
};

/* What holds for all pods of a shim. */
struct shim_config {
    const char *cwd;
    char **env; /* [n_env] KEY=VALUE and NULL */
    uint32_t n_env;
    int64_t backoff_ms;       /* of the first restart */
    int64_t log_max_bytes;    /* of one log file */
    uint32_t level;           /* of boxed pods: enum isolation_level */
    bool hosts_as_addresses;  /* pods look no names up (sandbox/plain.h) */
    bool private_tmp;         /* boxed pods have a /tmp of their own */
    uint32_t sockaddr_method; /* enum sockaddr_method */
    bool private_network;     /* boxed pods with an address are in sandbox/network.h */
};

struct shim_hello {
    uint32_t version;
    int64_t pid;
};

/* The uid is the first field of its message, of which the second has flags; so it is with all
 * messages about one pod. */
enum { SHIM_STATUS_FINAL = 1 };
struct shim_status {
    const char *uid;
    bool final;
    struct pod_status status;
};

/* One order about one pod. */
enum { GRACE_FROM_SPEC = -1 };
struct shim_command {
    const char *uid;
    int64_t grace_ms;    /* STOP, KILL; GRACE_FROM_SPEC: what its spec says (STOP) */
    const char *hosts;   /* HOSTS */
    uint32_t container;  /* KILL, PASSED: index, init containers first */
    const char *why;     /* KILL: for people */
    int64_t deadline_ms; /* DEADLINE: as of a shim_pod */
};

/* The files of one volume, anew. */
struct shim_files {
    const char *uid;
    uint32_t index; /* of the volume */
    struct shim_volume volume;
};

/* Command and variables of a container, anew. */
struct shim_program {
    const char *uid;
    uint32_t container;
    char **argv, **env; /* as in shim_container */
    uint32_t n_argv, n_env;
};

/* A program to be run beside a container's, and what came of it. */
struct shim_exec {
    const char *uid;
    uint32_t container;
    uint64_t id; /* the asker's */
    int64_t limit_ms;
    struct shim_action action;
};
struct shim_executed {
    const char *uid;
    uint64_t id;
    int32_t code;     /* as of a container; -1: it was not run, or not to its end */
    const char *text; /* the begin of what it printed, or why it was not run */
};

void shim_put_hello(struct buf *out, const struct shim_hello *hello);
void shim_put_config(struct buf *out, const struct shim_config *config);
void shim_put_start(struct buf *out, const struct shim_pod *pod);
void shim_put_command(struct buf *out, enum shim_message type, const struct shim_command *order);
void shim_put_plain(struct buf *out, enum shim_message type); /* LIST, LISTED, BYE */
void shim_put_status(struct buf *out, const struct shim_status *status);
void shim_put_files(struct buf *out, const struct shim_files *files);
void shim_put_program(struct buf *out, const struct shim_program *program);
void shim_put_exec(struct buf *out, const struct shim_exec *exec);
void shim_put_executed(struct buf *out, const struct shim_executed *executed);

/* Each fills `out` from the fields of a frame; texts are borrowed from the frame, arrays live in
 * `arena`. False when the fields are not a well-formed message of that type; `out` is then
 * undefined. */
bool shim_get_hello(struct frame_reader *r, struct shim_hello *out);
bool shim_get_config(struct frame_reader *r, struct arena *arena, struct shim_config *out);
bool shim_get_start(struct frame_reader *r, struct arena *arena, struct shim_pod *out);
bool shim_get_command(struct frame_reader *r, enum shim_message type, struct shim_command *out);
bool shim_get_status(struct frame_reader *r, struct arena *arena, struct shim_status *out);
bool shim_get_files(struct frame_reader *r, struct arena *arena, struct shim_files *out);
bool shim_get_program(struct frame_reader *r, struct arena *arena, struct shim_program *out);
bool shim_get_exec(struct frame_reader *r, struct arena *arena, struct shim_exec *out);
bool shim_get_executed(struct frame_reader *r, struct shim_executed *out);

/* Parts of messages. */
void shim_put_list(struct buf *out, char *const *items, uint32_t count);
char **shim_get_list(struct frame_reader *r, struct arena *arena, uint32_t *out_count);
void shim_put_action(struct buf *out, const struct shim_action *action);
void shim_get_action(struct frame_reader *r, struct arena *arena, struct shim_action *out);

/** A uid is a file name of ours: letters, digits and '-', at most 63 (SEC-17). */
bool shim_uid_ok(const char *uid);
