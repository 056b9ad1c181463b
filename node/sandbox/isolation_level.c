/*
 * Chooses the level of isolation. Each candidate is tried by building a container's root with it.
 */
#include "node/sandbox/isolation_level.h"

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
#include "node/sandbox/mounts/mount_tree.h"
#include "node/sandbox/namespaces.h"
#include "node/sandbox/rootfs.h"

/* The first of the ids that a check of level FULL maps. Nothing is stored with these ids. */
enum { CHECK_FIRST_ID = 0x4000 * USER_RANGE_IDS };

#define ISOLATION_TEXT(name, text) text,
static const char *const level_texts[] = {ISOLATION_LEVELS(ISOLATION_TEXT)};
static const char *const level_descriptions[] = {
    [ISOLATION_PLAIN] = "processes with an environment, nothing more",
    [ISOLATION_MOUNTS] = "private mounts, process ids, host name; the ids of this user",
    [ISOLATION_USER] = "user namespace, private mounts, process ids, host name",
    [ISOLATION_FULL] = "private mounts, process ids, host name; a range of ids for each namespace",
};

/* The levels that "auto" tries, in order. Programs started by root stay root (DC-08), so level full
 * is chosen only by name. Users other than root need a user namespace to mount anything. */
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

enum isolation_level isolation_level_confining(void)
{
    return geteuid() == 0 ? ISOLATION_FULL : ISOLATION_USER;
}

struct attempt {
    enum isolation_level level;
    const char *scratch;
    int user_fd; /* level FULL: descriptor of the user namespace; other levels: -1 */
};

/* Builds a container's root to see whether it works. It runs in a child process inside the
 * namespaces. At level FULL a mount is also shown with mapped ids, as volumes are. */
static bool build_root(void *arg, struct error *err)
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
        .read_only = attempt->level == isolation_level_confining(),
    };
    int fd;

    if (mount("tmpfs", attempt->scratch, "tmpfs", MS_NOSUID | MS_NODEV, NULL))
        return error_errno(err, errno, "tmpfs");
    fd = open(attempt->scratch, O_PATH | O_DIRECTORY | O_CLOEXEC);
    plan.run_tree_fd = fd < 0 ? -1 : mount_tree_clone(fd, MOUNT_TREE_READ_ONLY, err);
    return plan.run_tree_fd >= 0 &&
           (!full || mount_tree_map_ids(plan.run_tree_fd, attempt->user_fd, err)) &&
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
        return error_errno(err, errno, "pid namespace");
    return capability_check_in_child(build_root, &attempt, err);
}

static bool works(enum isolation_level level, const char *scratch, struct error *err)
{
    return level == ISOLATION_PLAIN || capability_check("level", level, scratch, err);
}

static bool choose_named(const char *wanted, const char *scratch, enum isolation_level *out,
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
    *out_why = mem_printf("%s: %s (asked for)", wanted, level_descriptions[level]);
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
        bool ok = choose_named(wanted, scratch, out, out_why, err);
        rmdir(scratch);
        return ok;
    }
    for (; i < countof(as_root) - 1; i++) { /* the last level, plain, always works */
        struct error refused = {0};

        if (works(order[i], scratch, &refused))
            break;
        buf_printf(&why, "; not %s: %s", level_texts[order[i]], refused.message);
    }
    rmdir(scratch);
    *out = order[i];
    *out_why = mem_printf("%s: %s%s", level_texts[order[i]], level_descriptions[order[i]],
                          why.data ? why.data : "");
    return true;
}
