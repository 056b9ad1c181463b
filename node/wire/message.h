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
#include "base/collections/arena.h"
#include "node/machine/sockaddr_rules.h"
#include "node/wire/frame.h"

/* SHIM_CONTAINERS_MAX bounds the init and main containers of a pod together. */
enum { SHIM_VERSION = 8, SHIM_CONTAINERS_MAX = 256 };

/* The types of messages with their numbers. A message keeps its number, because after an upgrade
 * the node talks to shims of the earlier version. */
/* clang-format off */
#define SHIM_MESSAGES(X) \
    X(HELLO, 1)   X(CONFIG, 2)  X(START, 3)    X(STOP, 4)      X(RELEASE, 5)  X(HOSTS, 6)  \
    X(LIST, 7)    X(BYE, 8)     X(STATUS, 9)   X(LISTED, 10)   /* number 11 is no longer used */  \
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
    uint32_t volume; /* index of the mounted volume in the pod's volumes */
    const char *path, *sub_path;
    bool read_only;
};

struct shim_limits {
    int64_t memory_bytes, cpu_milli; /* limits of the container or pod; 0 = no limit */
    int64_t processes;               /* limit of processes; 0 = a pod's share, -1 = bounded by other
                                      * means; not part of the message */
    int64_t cpu_request_milli;       /* CPU request of a pod, its share when processors are scarce;
                                      * 0 = the kernel's default share */
};

/* An action beside a container's program: a hook at its start or end, or an exec probe. */
enum shim_act { ACT_NONE, ACT_EXEC, ACT_HTTP, ACT_SLEEP, SHIM_ACT_N };
struct shim_action {
    enum shim_act act;
    char **argv; /* ACT_EXEC: the command, [n_argv] and NULL */
    uint32_t n_argv;
    const char *path; /* ACT_HTTP: the path of a GET to the pod's own address */
    uint32_t port;
    int64_t sleep_ms; /* ACT_SLEEP: how long the action sleeps */
};

struct shim_container {
    const char *name;
    bool sidecar;           /* an init container that keeps running beside the main containers */
    bool has_startup_probe; /* the sidecar has a startup probe: later containers start after the
                             * message PASSED */
    bool filtered; /* its programs may not make the system calls of sandbox/syscall_filter.h */
    char **argv;   /* the command of the container, [n_argv] and NULL */
    char **env;    /* variables KEY=VALUE of the container, [n_env] and NULL; they override those of
                 * the config */
    uint32_t n_argv, n_env;
    const char *cwd;              /* working directory; NULL = that of the config */
    const char *termination_path; /* file with the termination message; NULL = none */
    bool log_message; /* a failing run without a termination message reports the end of its log
                       * instead */
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
    bool host_ids;      /* owners of files are shown with the ids of the host, not mapped to the
                         * pod's ids */
    int64_t size_bytes; /* largest size of an emptyDir; 0 = no limit */
    struct shim_file *files;
    uint32_t n_files;

    /* HOST_PATH; see sandbox/host_path.h */
    const char *host_path; /* absolute path on the host */
    const char *host_base; /* a parent directory that the host path must not leave; NULL = no
                            * bound */
    const char *host_keep; /* a directory that is never mounted into a pod; NULL = none */
    const char *host_type; /* type of file, as in hostPath.type; NULL = any */
    bool host_private;     /* files and directories that are created for the mount get no rights for
                            * others */
};

struct shim_pod {
    const char *uid;
    enum shim_pod_kind kind;
    enum shim_restart restart;
    int64_t start_ms;    /* wall time of the start intent; the pod's deadline counts from here */
    int64_t deadline_ms; /* active deadline of the pod; 0 = none */
    int64_t grace_ms;    /* time between TERM and KILL when the pod ends by itself */
    struct shim_container *containers; /* [n_init + n_main] containers, init containers first */
    uint32_t n_init, n_main;

    /* sandboxed pods */
    const char *hostname, *ip, *hosts; /* only for a sandboxed pod; NULL = none */
    uint32_t *ports;                   /* ports that any container declares, TCP and UDP alike */
    uint32_t n_ports;
    uint32_t ids;  /* at level full: the first id of the range that the pod's programs have; 0 =
                   * none */
    bool confined; /* the pod's author may not do what the user who runs jobflow may: the pod gets
                    * isolation_level_confining and sees less of the host (sandbox/rootfs.h) */
    /* Key pair for the pod's sshd; NULL = the program brings its own. */
    const char *host_key, *host_public;
    struct shim_volume *volumes;
    uint32_t n_volumes;
    struct shim_limits limits; /* limits of all containers together; only used if memory or cpu is
                                * limited */
};

/* Settings that a shim applies to all its pods. */
struct shim_config {
    const char *cwd;
    char **env; /* variables KEY=VALUE of every container, [n_env] and NULL */
    uint32_t n_env;
    int64_t backoff_ms; /* delay before the first restart of a container; later delays are longer */
    int64_t log_max_bytes;    /* largest size of one log file of a container */
    uint32_t level;           /* enum isolation_level of sandboxed pods */
    bool hosts_as_addresses;  /* names do not resolve in pods: addresses replace them */
    bool private_tmp;         /* each sandboxed pod has a /tmp of its own */
    uint32_t sockaddr_method; /* an enum sockaddr_method */
    bool private_network;     /* sandboxed pods with an address are in the private network
                               * (sandbox/network.h) */
    int64_t scratch_bytes; /* size of a container's private directories; 0 = half of the memory */
};

struct shim_hello {
    uint32_t version;
    int64_t pid;
};

/* The byte behind the uid of a STATUS holds flags. SHIM_STATUS_FINAL says that the pod has ended;
 * it is read without decoding the rest of the message. */
enum { SHIM_STATUS_FINAL = 1 };
struct shim_status {
    const char *uid;
    bool final;
    bool stopped; /* a STOP came before the pod ended; older shims do not send this */
    struct pod_status status;
};

/* A command about one pod: STOP, RELEASE, HOSTS, KILL, PASSED or DEADLINE. A message holds only the
 * members whose comment names its type. */
enum { GRACE_FROM_SPEC = -1 };
struct shim_command {
    const char *uid;
    int64_t grace_ms;    /* STOP, KILL: grace period; in a STOP, GRACE_FROM_SPEC takes that of the
                          * pod's spec */
    const char *hosts;   /* HOSTS: text of the new hosts file */
    uint32_t container;  /* KILL, PASSED: index of the container, init containers first */
    const char *why;     /* KILL: reason that is shown to people */
    int64_t deadline_ms; /* DEADLINE: the new deadline_ms of the pod (struct shim_pod) */
};

/* A message FILES: the new files of one volume. */
struct shim_files {
    const char *uid;
    uint32_t index; /* index of the volume in the pod's volumes */
    struct shim_volume volume;
};

/* A message PROGRAM: the new command and variables of a container. */
struct shim_program {
    const char *uid;
    uint32_t container;
    char **argv, **env; /* as in struct shim_container */
    uint32_t n_argv, n_env;
};

/* A message EXEC: run an action beside a container's program. A message EXECUTED returns its
 * result. */
struct shim_exec {
    const char *uid;
    uint32_t container;
    uint64_t id; /* chosen by the node and returned in EXECUTED */
    int64_t limit_ms;
    struct shim_action action;
};
struct shim_executed {
    const char *uid;
    uint64_t id;
    int32_t code;     /* exit code of the action; -1: it did not run, or not to its end */
    const char *text; /* the first bytes that the action wrote, or the reason why it did not run */
};

/* Each function shim_put_… appends one message to `out`, as a whole frame. */
void shim_put_hello(struct buf *out, const struct shim_hello *hello);
void shim_put_config(struct buf *out, const struct shim_config *config);
void shim_put_start(struct buf *out, const struct shim_pod *pod);
void shim_put_command(struct buf *out, enum shim_message type, const struct shim_command *command);
/** Writes a message without fields: LIST, LISTED or BYE. */
void shim_put_plain(struct buf *out, enum shim_message type);
void shim_put_status(struct buf *out, const struct shim_status *status);
void shim_put_files(struct buf *out, const struct shim_files *files);
void shim_put_program(struct buf *out, const struct shim_program *program);
void shim_put_exec(struct buf *out, const struct shim_exec *exec);
void shim_put_executed(struct buf *out, const struct shim_executed *executed);

/* Each function shim_get_… fills `out` from the fields of a frame. Texts are borrowed from the
 * frame, and arrays are allocated in `arena`. Returns false when the fields are not a well-formed
 * message of that type; `out` is then undefined. */
bool shim_get_hello(struct frame_reader *r, struct shim_hello *out);
bool shim_get_config(struct frame_reader *r, struct arena *arena, struct shim_config *out);
bool shim_get_start(struct frame_reader *r, struct arena *arena, struct shim_pod *out);
bool shim_get_command(struct frame_reader *r, enum shim_message type, struct shim_command *out);
bool shim_get_status(struct frame_reader *r, struct arena *arena, struct shim_status *out);
bool shim_get_files(struct frame_reader *r, struct arena *arena, struct shim_files *out);
bool shim_get_program(struct frame_reader *r, struct arena *arena, struct shim_program *out);
bool shim_get_exec(struct frame_reader *r, struct arena *arena, struct shim_exec *out);
bool shim_get_executed(struct frame_reader *r, struct shim_executed *out);

/** Returns whether a text is a pod's uid: 1 to 63 letters, digits and '-'. It must be checked
 * because a uid becomes part of file names (SEC-17). */
bool shim_uid_ok(const char *uid);
