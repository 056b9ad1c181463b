#pragma once
/*
 * The messages between node and shim, and the records that a shim writes to disk.
 *
 *   node → shim   CONFIG, START, STOP, RELEASE, HOSTS, LIST, BYE,
 *                 FILES      new content of one volume
 *                 PROGRAM    command and variables of a container, from its next run on
 *                 PASSED     the startup probe of a sidecar has passed
 *                 EXEC       run an action beside a container's program
 *                 KILL       end one container; its restart policy says whether it runs again
 *                 DEADLINE   another deadline for a pod
 *   shim → node   HELLO, STATUS, LISTED, EXECUTED
 *   record file   STATUS, RELEASE
 *
 * A START holds a pod as the shim needs it. A STATUS is the whole state of one pod: the newest one
 * counts, and a repeated one does no harm. Every message about one pod begins with its uid.
 */
#include "api/types/kinds/pod/pod.h"
#include "base/arena.h"
#include "node/machine/sockaddr_rules.h"
#include "node/wire/frame.h"

enum { SHIM_VERSION = 7, SHIM_CONTAINERS_MAX = 256 }; /* init and main together */

/* A message keeps its number: after an upgrade the node talks to shims of the earlier version. */
/* clang-format off */
#define SHIM_MESSAGES(X) \
    X(HELLO, 1)   X(CONFIG, 2)  X(START, 3)    X(STOP, 4)      X(RELEASE, 5)  X(HOSTS, 6)  \
    X(LIST, 7)    X(BYE, 8)     X(STATUS, 9)   X(LISTED, 10)   /* 11 is no longer used */  \
    X(EXEC, 12)   X(EXECUTED, 13) X(KILL, 14)  X(FILES, 15)    X(PROGRAM, 16) X(PASSED, 17) \
    X(DEADLINE, 18)
/* clang-format on */
#define SHIM_ENUM(name, number) SHIM_##name = (number),
enum shim_message { SHIM_NO_MESSAGE, SHIM_MESSAGES(SHIM_ENUM) SHIM_MESSAGE_N };
#undef SHIM_ENUM

enum shim_restart { RESTART_NEVER, RESTART_ON_FAILURE, RESTART_ALWAYS, SHIM_RESTART_N };

/* A plain pod runs in the shared shim; a sandboxed one has a shim and namespaces of its own. The
 * choice is runtime_choose (node/runtime/internal.h). */
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

/* An action beside a container's program: a hook at its start or end, or an exec probe. */
enum shim_act { ACT_NONE, ACT_EXEC, ACT_HTTP, ACT_SLEEP, SHIM_ACT_N };
struct shim_action {
    enum shim_act act;
    char **argv; /* EXEC: [n_argv] and NULL */
    uint32_t n_argv;
    const char *path; /* HTTP: path and port of a GET to the pod's own address */
    uint32_t port;
    int64_t sleep_ms; /* SLEEP */
};

struct shim_container {
    const char *name;
    bool sidecar;           /* an init container that keeps running */
    bool has_startup_probe; /* of a sidecar: later containers start after its PASSED */
    char **argv;            /* [n_argv] and NULL */
    char **env; /* [n_env] KEY=VALUE and NULL; overrides the environment of the config */
    uint32_t n_argv, n_env;
    const char *cwd;              /* NULL = the config's */
    const char *termination_path; /* NULL = none */
    bool log_message; /* a failing run without a termination message gets the end of its log */
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
    bool host_ids;      /* owners are shown with the ids of the host, not mapped to the pod's */
    int64_t size_bytes; /* limit of an emptyDir; 0 = none */
    struct shim_file *files;
    uint32_t n_files;

    /* HOST_PATH; see sandbox/host_path.h */
    const char *host_path; /* absolute */
    const char *host_base; /* a parent directory that the path must not leave; NULL = no bound */
    const char *host_keep; /* a directory that is never mounted into a pod; NULL = none */
    const char *host_type; /* as in hostPath.type; NULL = any */
    bool host_private;     /* files and directories that are created get no rights for others */
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

    /* sandboxed pods */
    const char *hostname, *ip, *hosts; /* NULL = none */
    uint32_t *ports;                   /* declared by any container, TCP and UDP alike */
    uint32_t n_ports;
    uint32_t ids; /* first id of the range that its programs have at level full; 0 = none */
    const char *host_key,
        *host_public; /* key pair of its sshd; NULL = the program brings its own */
    struct shim_volume *volumes;
    uint32_t n_volumes;
};

/* Settings for all pods of a shim. */
struct shim_config {
    const char *cwd;
    char **env; /* [n_env] KEY=VALUE and NULL */
    uint32_t n_env;
    int64_t backoff_ms;    /* of the first restart */
    int64_t log_max_bytes; /* of one log file */
    uint32_t level;        /* of sandboxed pods: enum isolation_level */
    bool
        hosts_as_addresses; /* names do not resolve in pods: they get addresses (sandbox/plain.h) */
    bool private_tmp;       /* sandboxed pods have a /tmp of their own */
    uint32_t sockaddr_method; /* enum sockaddr_method */
    bool private_network;     /* sandboxed pods with an address are in sandbox/network.h */
};

struct shim_hello {
    uint32_t version;
    int64_t pid;
};

/* The byte behind the uid of a STATUS holds flags. This one is read without the rest. */
enum { SHIM_STATUS_FINAL = 1 };
struct shim_status {
    const char *uid;
    bool final;
    bool
        stopped; /* a STOP came before the pod ended by itself; shims before this member never say so */
    struct pod_status status;
};

/* STOP, RELEASE, HOSTS, KILL, PASSED, DEADLINE: a command about one pod. Only the members that name
 * its type are sent. */
enum { GRACE_FROM_SPEC = -1 };
struct shim_command {
    const char *uid;
    int64_t grace_ms;    /* STOP, KILL; STOP: GRACE_FROM_SPEC = that of the pod's spec */
    const char *hosts;   /* HOSTS: the new hosts file */
    uint32_t container;  /* KILL, PASSED: index, init containers first */
    const char *why;     /* KILL: text for people */
    int64_t deadline_ms; /* DEADLINE: as in a shim_pod */
};

/* FILES: the new files of one volume. */
struct shim_files {
    const char *uid;
    uint32_t index; /* of the volume */
    struct shim_volume volume;
};

/* PROGRAM: the new command and variables of a container. */
struct shim_program {
    const char *uid;
    uint32_t container;
    char **argv, **env; /* as in shim_container */
    uint32_t n_argv, n_env;
};

/* EXEC: run an action beside a container's program. EXECUTED is its result. */
struct shim_exec {
    const char *uid;
    uint32_t container;
    uint64_t id; /* chosen by the node, returned in EXECUTED */
    int64_t limit_ms;
    struct shim_action action;
};
struct shim_executed {
    const char *uid;
    uint64_t id;
    int32_t code;     /* exit code as of a container; -1: not run, or not to its end */
    const char *text; /* the first bytes of its output, or the reason why it was not run */
};

/* shim_put_… appends a whole frame. */
void shim_put_hello(struct buf *out, const struct shim_hello *hello);
void shim_put_config(struct buf *out, const struct shim_config *config);
void shim_put_start(struct buf *out, const struct shim_pod *pod);
void shim_put_command(struct buf *out, enum shim_message type, const struct shim_command *command);
void shim_put_plain(struct buf *out, enum shim_message type); /* LIST, LISTED, BYE: no fields */
void shim_put_status(struct buf *out, const struct shim_status *status);
void shim_put_files(struct buf *out, const struct shim_files *files);
void shim_put_program(struct buf *out, const struct shim_program *program);
void shim_put_exec(struct buf *out, const struct shim_exec *exec);
void shim_put_executed(struct buf *out, const struct shim_executed *executed);

/* shim_get_… fills `out` from the fields of a frame; texts are borrowed from the frame, arrays
 * live in `arena`. False when the fields are not a well-formed message of that type; `out` is then
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

/** A uid becomes part of file names: 1 to 63 letters, digits and '-' (SEC-17). */
bool shim_uid_ok(const char *uid);
