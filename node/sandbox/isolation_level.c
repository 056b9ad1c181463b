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
#include "node/sandbox/mount_tree.h"
#include "node/sandbox/rootfs.h"
#include "node/sandbox/sandbox.h"

enum { TRIAL_IDS = 0x4000 * SANDBOX_RANGE };

#define SANDBOX_TEXT(name, text) text,
static const char *const level_texts[] = {SANDBOX_LEVELS(SANDBOX_TEXT)};
static const char *const level_means[] = {
    [SANDBOX_PLAIN] = "processes with an environment, nothing more",
    [SANDBOX_MOUNTS] = "private mounts, process ids, host name; the ids of this user",
    [SANDBOX_USER] = "user namespace, private mounts, process ids, host name",
    [SANDBOX_FULL] = "private mounts, process ids, host name; a range of ids for each namespace",
};

/* What is tried, in order. Whoever is root stays root (DC-08), unless he asks for more; others need
 * a user namespace to mount. */
static const enum sandbox_level as_root[] = {SANDBOX_MOUNTS, SANDBOX_USER, SANDBOX_PLAIN};
static const enum sandbox_level as_user[] = {SANDBOX_USER, SANDBOX_MOUNTS, SANDBOX_PLAIN};

const char *sandbox_level_text(enum sandbox_level level)
{
    return level_texts[level];
}

bool sandbox_level_find(const char *text, enum sandbox_level *out)
{
    for (size_t i = 0; i < countof(level_texts); i++)
        if (strcmp(level_texts[i], text) == 0) {
            *out = (enum sandbox_level)i;
            return true;
        }
    return false;
}

/* ---- the trial, and the child in its namespaces ---- */

struct attempt {
    enum sandbox_level level;
    const char *scratch;
    int user_fd; /* level FULL */
};

/* A mount shown with other ids, as volumes are. */
static bool map_some(const struct attempt *attempt, int tree_fd, struct error *err)
{
    return attempt->level != SANDBOX_FULL || tree_map(tree_fd, attempt->user_fd, err);
}

static bool build_here(void *arg, struct error *err)
{
    const struct attempt *attempt = arg;
    bool full = attempt->level == SANDBOX_FULL;
    struct root_plan plan = {
        .scratch = attempt->scratch,
        .run_tree_fd = -1,
        .hosts = true,
        .user_namespace = attempt->level == SANDBOX_USER,
        .owner = full ? TRIAL_IDS : 0,
        .cwd = "/",
    };
    int fd;

    if (mount("tmpfs", attempt->scratch, "tmpfs", MS_NOSUID | MS_NODEV, NULL))
        return error_errno(err, errno, "tmpfs");
    fd = open(attempt->scratch, O_PATH | O_DIRECTORY | O_CLOEXEC);
    plan.run_tree_fd = fd < 0 ? -1 : tree_clone(fd, false, true, err);
    return plan.run_tree_fd >= 0 && map_some(attempt, plan.run_tree_fd, err) &&
           root_build(&plan, err) && (!full || sandbox_enter_range(attempt->user_fd, err));
}

bool sandbox_try(enum sandbox_level level, const char *scratch, struct error *err)
{
    struct attempt attempt = {level, scratch, -1};

    if (level == SANDBOX_FULL && (attempt.user_fd = sandbox_user_range(TRIAL_IDS, err)) < 0)
        return false;
    if (!sandbox_enter(level, geteuid(), getegid(), err) || !sandbox_enter_mounts(err))
        return false;
    if (unshare(CLONE_NEWPID))
        return error_errno(err, errno, "process ids");
    return trial_inside(build_here, &attempt, err);
}

static bool works(enum sandbox_level level, const char *scratch, struct error *err)
{
    return level == SANDBOX_PLAIN || trial("level", level, scratch, err);
}

/* ---- the choice ---- */

static bool probe_named(const char *wanted, const char *scratch, enum sandbox_level *out,
                        char **out_why, struct error *err)
{
    struct error refused = {0};
    enum sandbox_level level;

    if (!sandbox_level_find(wanted, &level))
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

bool sandbox_probe(const char *wanted, const char *scratch, enum sandbox_level *out, char **out_why,
                   struct error *err)
{
    const enum sandbox_level *order = geteuid() == 0 ? as_root : as_user;
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
