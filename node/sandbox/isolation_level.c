/*
 * Which level works here, found by building a root.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "node/sandbox/capability_check.h"
#include "node/sandbox/isolation_level.h"
#include "node/sandbox/mount_tree.h"
#include "node/sandbox/rootfs.h"

enum { CHECK_FIRST_ID = 0x4000 * USER_RANGE_IDS };

#define ISOLATION_TEXT(name, text) text,
static const char *const level_texts[] = {ISOLATION_LEVELS(ISOLATION_TEXT)};
static const char *const level_means[] = {
    [ISOLATION_PLAIN] = "processes with an environment, nothing more",
    [ISOLATION_MOUNTS] = "private mounts, process ids, host name; the ids of this user",
    [ISOLATION_USER] = "user namespace, private mounts, process ids, host name",
    [ISOLATION_FULL] = "private mounts, process ids, host name; a range of ids for each namespace",
};

/* What is tried, in order. Whoever is root stays root (DC-08), unless he asks for more; others need
 * a user namespace to mount. */
static const enum isolation_level as_root[] = {ISOLATION_MOUNTS, ISOLATION_USER, ISOLATION_PLAIN};
static const enum isolation_level as_user[] = {ISOLATION_USER, ISOLATION_MOUNTS, ISOLATION_PLAIN};

const char *isolation_level_text(enum isolation_level level)
{
    return level_texts[level];
}

bool isolation_level_parse(const char *text, enum isolation_level *out)
{
    for (size_t i = 0; i < countof(level_texts); i++)
        if (strcmp(level_texts[i], text) == 0) {
            *out = (enum isolation_level)i;
            return true;
        }
    return false;
}

/* ---- the capability_check, and the child in its namespaces ---- */

struct attempt {
    enum isolation_level level;
    const char *scratch;
    int user_fd; /* level FULL */
};

/* A mount shown with other ids, as volumes are. */
static bool map_some(const struct attempt *attempt, int tree_fd, struct error *err)
{
    return attempt->level != ISOLATION_FULL || mount_tree_map_ids(tree_fd, attempt->user_fd, err);
}

static bool build_here(void *arg, struct error *err)
{
    const struct attempt *attempt = arg;
    bool full = attempt->level == ISOLATION_FULL;
    struct rootfs_plan plan = {
        .scratch = attempt->scratch,
        .run_tree_fd = -1,
        .hosts = true,
        .user_namespace = attempt->level == ISOLATION_USER,
        .owner = full ? CHECK_FIRST_ID : 0,
        .cwd = "/",
    };
    int fd;

    if (mount("tmpfs", attempt->scratch, "tmpfs", MS_NOSUID | MS_NODEV, NULL))
        return error_errno(err, errno, "tmpfs");
    fd = open(attempt->scratch, O_PATH | O_DIRECTORY | O_CLOEXEC);
    plan.run_tree_fd = fd < 0 ? -1 : mount_tree_clone(fd, false, true, err);
    return plan.run_tree_fd >= 0 && map_some(attempt, plan.run_tree_fd, err) &&
           rootfs_build(&plan, err) &&
           (!full || namespaces_enter_user_range(attempt->user_fd, err));
}

bool isolation_level_try(enum isolation_level level, const char *scratch, struct error *err)
{
    struct attempt attempt = {level, scratch, -1};

    if (level == ISOLATION_FULL &&
        (attempt.user_fd = namespaces_user_range(CHECK_FIRST_ID, err)) < 0)
        return false;
    if (!namespaces_enter(level, geteuid(), getegid(), err) || !namespaces_enter_mounts(err))
        return false;
    if (unshare(CLONE_NEWPID))
        return error_errno(err, errno, "process ids");
    return capability_check_in_child(build_here, &attempt, err);
}

static bool works(enum isolation_level level, const char *scratch, struct error *err)
{
    return level == ISOLATION_PLAIN || capability_check("level", level, scratch, err);
}

/* ---- the choice ---- */

static bool probe_named(const char *wanted, const char *scratch, enum isolation_level *out,
                        char **out_why, struct error *err)
{
    struct error refused = {0};
    enum isolation_level level;

    if (!isolation_level_parse(wanted, &level))
        return error_set(err, ERR_INVALID, "isolation",
                         "\"%s\" is no level of isolation: auto, full, user, mounts or plain",
                         wanted);
    if (!works(level, scratch, &refused))
        return error_set(err, ERR_UNAVAILABLE, "isolation", "level \"%s\" does not work here: %s",
                         wanted, refused.message);
    *out = level;
    *out_why = mem_printf("%s: %s (asked for)", wanted, level_means[level]);
    return true;
}

bool isolation_level_choose(const char *wanted, const char *scratch, enum isolation_level *out,
                            char **out_why, struct error *err)
{
    const enum isolation_level *order = geteuid() == 0 ? as_root : as_user;
    scoped(buf) struct buf why = {0};
    size_t i = 0;

    mkdir(scratch, 0700);
    if (wanted && strcmp(wanted, "auto") != 0) {
        bool ok = probe_named(wanted, scratch, out, out_why, err);
        rmdir(scratch);
        return ok;
    }
    for (; i < countof(as_root) - 1; i++) { /* the last one always works */
        struct error refused = {0};

        if (works(order[i], scratch, &refused))
            break;
        buf_printf(&why, "; not %s: %s", level_texts[order[i]], refused.message);
    }
    rmdir(scratch);
    *out = order[i];
    *out_why = mem_printf("%s: %s%s", level_texts[order[i]], level_means[order[i]],
                          why.data ? why.data : "");
    return true;
}
