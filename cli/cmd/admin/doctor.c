/*
 * The command `jobflow doctor`: checks the program, the machine and the data directory.
 *
 * Each check is a row of a table: a title and a function that reports the state and a hint.
 * Capabilities are tested by using them, not derived from version numbers.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "api/store/dir/dir_owner.h"
#include "api/store/store.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/term.h"
#include "base/version.h"
#include "cli/cmd/commands.h"
#include "cli/engine/engine.h"
#include "cli/preflight/fit.h"
#include "node/runtime/name_library.h"
#include "node/sandbox/cgroup/cgroup.h"
#include "node/sandbox/filter/sockaddr_notify.h"
#include "node/sandbox/isolation_level.h"
#include "node/sandbox/network.h"

enum { FILES_WANTED = 4096, SPACE_WANTED_MIB = 256 };

struct doctor_options {
    const char *data_dir, *output;
};

static const char *const outputs[] = {"text", "json", NULL};

#define DOCTOR(member) offsetof(struct doctor_options, member)
/* clang-format off */
static const struct flag flags[] = {
    {FLAG_CHOICE, "output",   'o', "FORM", "form of the findings; default: text", DOCTOR(output), outputs},
    {FLAG_STR,    "data-dir", 0,   "DIR",  "the data directory to check; default: .jobflow", DOCTOR(data_dir)},
    {0},
};
/* clang-format on */

static const struct doctor_options defaults = {.data_dir = ".jobflow", .output = "text"};

enum verdict { WELL, WARNING, WRONG };

struct finding {
    const struct doctor_options *options;
    struct buf text; /* state that is shown */
    struct buf hint; /* what to do about it; may be empty */
};

static enum verdict check_version(struct finding *f)
{
    buf_printf(&f->text, "%s %s, SQLite %s", cli_program, JOBFLOW_VERSION_FULL,
               sqlite3_libversion());
    return WELL;
}

static enum verdict check_kernel(struct finding *f)
{
    struct utsname host;

    if (uname(&host) != 0)
        return WRONG;
    buf_printf(&f->text, "%s %s, %s", host.sysname, host.release, host.machine);
    return WELL;
}

static enum verdict check_room(struct finding *f)
{
    scoped(fit) struct fit *fit = fit_new(&(struct fit_options){.max_pods = engine_default_pods()});

    fit_write(fit, fit_room(fit), &f->text);
    buf_str(&f->text, " at once (-j changes the pods)");
    return WELL;
}

static enum verdict check_files(struct finding *f)
{
    struct rlimit limit = {0};

    getrlimit(RLIMIT_NOFILE, &limit);
    buf_printf(&f->text, "%llu open files, at most %llu", (unsigned long long)limit.rlim_cur,
               (unsigned long long)limit.rlim_max);
    if (limit.rlim_max >= FILES_WANTED)
        return WELL;
    buf_printf(&f->hint,
               "raise it to %d or more with 'ulimit -Hn' or LimitNOFILE=: many pods at "
               "once need it",
               FILES_WANTED);
    return WARNING;
}

static enum verdict check_processes(struct finding *f)
{
    struct rlimit limit = {0};

    getrlimit(RLIMIT_NPROC, &limit);
    if (limit.rlim_cur == RLIM_INFINITY)
        buf_str(&f->text, "any number of processes");
    else
        buf_printf(&f->text, "%llu processes of this user", (unsigned long long)limit.rlim_cur);
    if (limit.rlim_cur >= 256)
        return WELL;
    buf_str(&f->hint, "raise it with 'ulimit -u' or LimitNPROC=: each pod takes one or two");
    return WARNING;
}

/* Lists the other isolation levels that --isolation accepts on this machine. */
static void add_other_levels(struct finding *f, enum isolation_level chosen, const char *scratch)
{
    const char *separator = "; --isolation can be ";

    for (enum isolation_level at = ISOLATION_LEVEL_N; at-- > ISOLATION_PLAIN;) {
        enum isolation_level level;
        scoped_str why = NULL;

        if (at == chosen ||
            !isolation_level_choose(isolation_level_text(at), scratch, &level, &why, NULL))
            continue;
        buf_printf(&f->text, "%s%s", separator, isolation_level_text(at));
        separator = ", ";
    }
}

static enum verdict check_isolation(struct finding *f)
{
    const char *tmp = getenv("TMPDIR");
    scoped_str base = mem_printf("%s/jobflow-doctor-XXXXXX", tmp && *tmp == '/' ? tmp : "/tmp");
    scoped_str scratch = NULL;
    scoped_str why = NULL;
    enum isolation_level level = ISOLATION_PLAIN;
    struct error err = {0};

    if (!mkdtemp(base)) {
        buf_printf(&f->text, "cannot be tried: %s: %s", base, strerror(errno));
        return WARNING;
    }
    scratch = mem_printf("%s/probe", base);
    if (isolation_level_choose("auto", scratch, &level, &why, &err))
        buf_str(&f->text, why);
    else
        buf_str(&f->text, err.message);
    add_other_levels(f, level, scratch);
    rmdir(base);
    if (level != ISOLATION_PLAIN)
        return WELL;
    buf_str(&f->hint, "pods run as plain processes: mount paths are below $VC_MOUNT_ROOT; let this "
                      "user make user namespaces (sysctl kernel.unprivileged_userns_clone=1, "
                      "user.max_user_namespaces), or run as root");
    return WARNING;
}

static enum verdict check_cgroups(struct finding *f)
{
    bool memory = false, cpu = false, processes = false;

    cgroup_check_limits(&memory, &cpu, &processes);
    if (memory || cpu || processes) {
        buf_printf(&f->text, "the kernel enforces limits of%s%s%s", memory ? " memory" : "",
                   cpu ? " cpu" : "", processes ? " processes" : "");
        return WELL;
    }
    buf_str(&f->text, "limits of pods are not enforced by the kernel");
    buf_str(&f->hint, "needs a writable cgroup v2 with its controllers: run as root, or in a unit "
                      "with Delegate=yes");
    return WARNING;
}

static enum verdict check_addresses(struct finding *f)
{
    bool by_kernel = !geteuid() && cgroup_check_sockaddr_bpf();

    if (by_kernel || sockaddr_notify_works()) {
        buf_printf(&f->text, "pods have addresses of their own: several may use one port (%s)",
                   by_kernel ? "cgroup BPF" : "seccomp notification");
        return WELL;
    }
    buf_str(&f->text, "pods share the addresses of this machine: two cannot use one port");
    buf_str(&f->hint, "needs seccomp user notification (Linux 5.5) without another tracer");
    return WARNING;
}

static enum verdict check_names(struct finding *f)
{
    const char *why, *library = name_library_probe(&why);

    if (library)
        buf_printf(&f->text,
                   "dynamically linked programs find the names of pods at level plain, too (%s)",
                   library);
    else
        buf_printf(&f->text,
                   "at level plain pods are told addresses where they would be told names (%s%s)",
                   why ? "libnss_wrapper " : "no libnss_wrapper", why ? why : "");
    return WELL;
}

static enum verdict check_network(struct finding *f)
{
    struct error err = {0};

    if (network_check(geteuid() ? ISOLATION_USER : ISOLATION_MOUNTS, &err)) {
        buf_str(&f->text, "--network private works: pods can have a network of their own");
        return WELL;
    }
    buf_printf(&f->text, "--network private does not work here: %s", err.message);
    buf_str(&f->hint, "needs network namespaces with bridge and veth interfaces; without it pods "
                      "share the machine's network");
    return WARNING;
}

static bool has_store(const struct finding *f)
{
    scoped_str path = mem_printf("%s/store.db", f->options->data_dir);
    scoped_str mark = mem_printf("%s-mark", path);

    return access(path, F_OK) == 0 || access(mark, F_OK) == 0;
}

static enum verdict check_directory(struct finding *f)
{
    const char *dir = f->options->data_dir;
    struct stat info;
    struct error err = {0};

    if (!dir_owner_check(dir, &err)) {
        buf_printf(&f->text, "%s", err.message);
        return WRONG;
    }
    if (stat(dir, &info) < 0 && errno == ENOENT) {
        buf_printf(&f->text, "%s is not there; the first run makes it", dir);
        return WELL;
    }
    if (access(dir, R_OK | W_OK | X_OK) != 0) {
        buf_printf(&f->text, "%s: %s", dir, strerror(errno));
        buf_str(&f->hint, "choose another with --data-dir, or change its owner");
        return WRONG;
    }
    buf_printf(&f->text, "%s", dir);
    if (info.st_mode & (S_IRWXG | S_IRWXO)) {
        buf_printf(&f->text, " can be read or written by others (mode %03o)",
                   (unsigned)info.st_mode & 0777);
        buf_printf(&f->hint, "chmod 700 %s", dir);
        return WARNING;
    }
    return WELL;
}

static enum verdict check_space(struct finding *f)
{
    struct statvfs space;
    uint64_t free_mib;

    if (statvfs(f->options->data_dir, &space) < 0 && statvfs(".", &space) < 0) {
        buf_str(&f->text, strerror(errno));
        return WARNING;
    }
    free_mib = (uint64_t)space.f_bavail * space.f_frsize >> 20;
    buf_printf(&f->text, "%llu MiB free", (unsigned long long)free_mib);
    if (space.f_flag & ST_RDONLY) {
        buf_str(&f->text, ", read-only");
        return WRONG;
    }
    if (free_mib >= SPACE_WANTED_MIB)
        return WELL;
    buf_str(&f->hint, "a full disk stops every run: make room, or use --data-dir elsewhere");
    return WARNING;
}

/* Returns the pid of the process that holds the data directory, or 0. */
static long holder(const struct finding *f)
{
    scoped_str path = mem_printf("%s/lock", f->options->data_dir);
    char text[32] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    long pid = n > 0 ? strtol(text, NULL, 10) : 0;

    if (fd >= 0)
        close(fd);
    return pid > 0 && (kill((pid_t)pid, 0) == 0 || errno == EPERM) ? pid : 0;
}

static bool full_check(const char *path, struct buf *out)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *ask = NULL;
    bool ok = false;

    /* Opened as a reader opens it: closing does not checkpoint the WAL into the store. */
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
        sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL) == SQLITE_OK &&
        sqlite3_exec(db, "PRAGMA locking_mode = EXCLUSIVE; PRAGMA query_only = ON", NULL, NULL,
                     NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(db, "PRAGMA integrity_check(5)", -1, &ask, NULL) == SQLITE_OK) {
        int row;

        for (row = 0; sqlite3_step(ask) == SQLITE_ROW; row++) {
            const char *text = (const char *)sqlite3_column_text(ask, 0);

            ok = row == 0 && text && strcmp(text, "ok") == 0;
            buf_printf(out, "%s%s", row ? "; " : "", text ? text : "");
        }
        if (row == 0)
            buf_str(out, sqlite3_errmsg(db));
    } else {
        buf_str(out, db ? sqlite3_errmsg(db) : "no memory");
    }
    sqlite3_finalize(ask);
    sqlite3_close(db);
    return ok;
}

/* Reads every row, compares the store with its mark, and parses every body and status. What cannot
 * be used is logged with its name. */
static bool read_all(const struct finding *f, uint64_t *out_unreadable, struct error *err)
{
    const struct store_options options = {.directory = f->options->data_dir, .read_only = true};
    struct loop *loop = loop_new(clock_real());
    struct store *store = store_open(loop, &options, err);
    struct store_stats stats = {0};

    if (store)
        store_stats(store, &stats);
    *out_unreadable = stats.unreadable;
    store_close(store);
    loop_free(loop);
    return store != NULL;
}

static enum verdict check_store(struct finding *f)
{
    scoped_str path = mem_printf("%s/store.db", f->options->data_dir);
    scoped(buf) struct buf said = {0};
    uint64_t unreadable = 0;
    struct error err = {0};
    long pid;

    if (!has_store(f)) {
        buf_str(&f->text, "nothing is stored yet");
        return WELL;
    }
    pid = holder(f);
    if (pid) {
        buf_printf(&f->text,
                   "in use by process %ld; the store is checked only when no process uses it", pid);
        return WELL;
    }
    if (!read_all(f, &unreadable, &err)) {
        buf_str(&f->text, err.message);
        return WRONG;
    }
    if (!full_check(path, &said)) {
        buf_printf(&f->text, "%s: %s", path, said.data);
        buf_printf(&f->hint, "jobflow repair --data-dir %s saves what is whole",
                   f->options->data_dir);
        return WRONG;
    }
    if (unreadable) {
        buf_printf(&f->text, "%llu objects cannot be used and are not served (see above)",
                   (unsigned long long)unreadable);
        return WRONG;
    }
    buf_str(&f->text, "every page, checksum and object is in order");
    return WELL;
}

static const struct {
    const char *name;
    enum verdict (*check)(struct finding *finding);
} checks[] = {
    /* clang-format off */
    {"version",        check_version},
    {"kernel",         check_kernel},
    {"room",           check_room},
    {"open files",     check_files},
    {"processes",      check_processes},
    {"isolation",      check_isolation},
    {"network",        check_network},
    {"limits of pods", check_cgroups},
    {"addresses",      check_addresses},
    {"names",          check_names},
    {"data directory", check_directory},
    {"disk",           check_space},
    {"store",          check_store},
    /* clang-format on */
};

static void print_finding(const struct term *term, const char *name, enum verdict verdict,
                          const struct finding *f)
{
    static const enum color colors[] = {COLOR_GREEN, COLOR_YELLOW, COLOR_RED};
    static const char *const words[] = {"ok", "warning", "wrong"};

    printf("%s%-8s%s %-15s %s\n", term_color(term, colors[verdict]), words[verdict],
           term_reset(term), name, f->text.data ? f->text.data : "");
    if (f->hint.len)
        printf("%25s%s\n", "", f->hint.data);
}

static json_t *finding_json(const char *name, enum verdict verdict, const struct finding *f)
{
    static const char *const words[] = {"ok", "warning", "wrong"};
    json_t *object = json_pack("{s:s, s:s, s:s}", "check", name, "verdict", words[verdict], "text",
                               f->text.data ? f->text.data : "");

    if (f->hint.len)
        json_object_set_new(object, "hint", json_string(f->hint.data));
    return object;
}

static int run(const void *opaque, int n_operands, char **operands)
{
    const struct doctor_options *options = opaque;
    bool as_json = strcmp(options->output, "json") == 0;
    json_t *findings = json_array();
    enum verdict worst = WELL;
    struct term term;

    term_look(&term, stdout);
    for (size_t i = 0; i < countof(checks); i++) {
        struct finding finding = {.options = options};
        enum verdict verdict = checks[i].check(&finding);

        worst = verdict > worst ? verdict : worst;
        if (as_json)
            json_array_append_new(findings, finding_json(checks[i].name, verdict, &finding));
        else
            print_finding(&term, checks[i].name, verdict, &finding);
        fflush(stdout);
        buf_release(&finding.text);
        buf_release(&finding.hint);
    }
    if (as_json) {
        json_dumpf(findings, stdout, JSON_INDENT(2));
        putchar('\n');
    }
    json_decref(findings);
    return worst == WRONG ? EXIT_FAILED : EXIT_OK;
}

const struct command cmd_doctor = {
    .name = "doctor",
    .summary = "Check this machine and the data directory, and say what to do",
    .details = "Tries what pods need: isolation, limits the kernel enforces, addresses of their "
               "own; looks at limits, disk and every page of\n"
               "the store. Exit code 1 when something is wrong; a warning is something that is "
               "missing and can be done without.",
    .examples = "  jobflow doctor\n  jobflow doctor --data-dir /srv/jobflow -o json",
    .flags = flags,
    .options_size = sizeof(struct doctor_options),
    .defaults = &defaults,
    .run = run,
};
