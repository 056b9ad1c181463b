/*
 * One backup at a time. The names of backups sort by time, so the oldest are the first names.
 */
#include "cli/daemon/backups.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/cluster.h"
#include "api/store/db/repair.h"
#include "api/store/dir/dir_owner.h"
#include "base/file.h"
#include "base/log.h"
#include "base/loop/metrics.h"
#include "base/mem.h"
#include "base/timefmt.h"

enum { RETRY_MS = 60000, FIRST_MS = 1000 };
#define NAME_BEGIN "jobflow-"
#define NAME_END   ".db"
#define NAME_PART  ".part"

enum backups_state { BACKUPS_IDLE, BACKUPS_COPYING, BACKUPS_CHECKING };

struct backups {
    struct engine *engine;
    struct loop *loop;
    char *directory, *note; /* where backups go; the file with the path of the newest */
    char *part, *path;      /* of the backup that is being made: its name before and after */
    int64_t every_ms, keep;
    enum backups_state state;
    bool stopped;
    struct timer due;
    struct pool_work check;
    struct error err; /* result of the check of the copy */
    int64_t objects;
    struct metric *made, *failed, *last;
};

/* clang-format off */
static const struct metric_def
    made_def   = {"jobflow_backups_total", "Backups made and checked.", METRIC_COUNTER},
    failed_def = {"jobflow_backups_failed_total", "Backups that failed.", METRIC_COUNTER},
    last_def   = {"jobflow_backup_last_timestamp_seconds", "When the newest backup was made.", METRIC_GAUGE};
/* clang-format on */

static bool is_backup(const char *name)
{
    size_t len = strlen(name), end = strlen(NAME_END);

    return strncmp(name, NAME_BEGIN, strlen(NAME_BEGIN)) == 0 && len > end &&
           strcmp(name + len - end, NAME_END) == 0;
}

static int choose(const struct dirent *entry)
{
    return is_backup(entry->d_name);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Removes all but the newest `keep` backups. */
static void prune(const struct backups *backups)
{
    struct dirent **names = NULL;
    int n = scandir(backups->directory, &names, choose, by_name);

    for (int i = 0; i < n; i++) {
        scoped_str path = mem_printf("%s/%s", backups->directory, names[i]->d_name);

        if (i < n - backups->keep && unlink(path) < 0)
            log_warn("an old backup cannot be removed", kv_str("file", path),
                     kv_str("error", strerrordesc_np(errno)));
        free(names[i]);
    }
    free(names);
}

/* Runs on the pool: reads the copy in full, and puts it in place. */
static void check(struct pool_work *work)
{
    struct backups *backups = container_of(work, struct backups, check);
    struct error *err = &backups->err;
    scoped_str line = mem_printf("%s\n", backups->path);

    backups->objects = 0;
    if (!store_verify(backups->part, &backups->objects, err) || !file_sync(backups->part, err))
        return;
    if (rename(backups->part, backups->path) < 0) {
        error_errno(err, errno, "cannot rename %s to %s", backups->part, backups->path);
        return;
    }
    if (!file_sync(backups->directory, err) ||
        !file_write_atomic(backups->note, line, strlen(line), 0600, err))
        return;
    prune(backups);
}

static void any_node(void *arg, const struct object *node)
{
    *(const struct object **)arg = node;
}

static void fail(struct backups *backups, const struct error *err)
{
    struct cluster *cluster = engine_cluster(backups->engine);
    const struct object *node = NULL;

    metric_add(backups->failed, 1);
    log_error("a backup failed", kv_str("file", backups->path), kv_str("error", err->message));
    cluster_each(cluster, &kind_node, NULL, any_node, &node);
    if (node)
        cluster_event(cluster, node, EVENT_WARNING, "BackupFailed", "jobflow", "%s", err->message);
    unlink(backups->part);
}

/* Ends the backup that was being made, and waits for the next. */
static void end(struct backups *backups, const struct error *err)
{
    bool ok = !err || !err->code;

    if (ok) {
        metric_add(backups->made, 1);
        metric_set(backups->last, (double)loop_wall_ms(backups->loop) / 1000);
        log_info("backup made", kv_str("file", backups->path), kv_int("objects", backups->objects));
    } else {
        fail(backups, err);
    }
    mem_free(take(backups->part));
    mem_free(take(backups->path));
    backups->state = BACKUPS_IDLE;
    timer_start(backups->loop, &backups->due,
                ok || backups->every_ms < RETRY_MS ? backups->every_ms : RETRY_MS);
}

static void backups_free(struct backups *backups)
{
    mem_free(backups->directory);
    mem_free(backups->note);
    mem_free(backups->part);
    mem_free(backups->path);
    mem_free(backups);
}

static void on_checked(struct pool_work *work)
{
    struct backups *backups = container_of(work, struct backups, check);

    if (backups->stopped)
        backups_free(backups);
    else
        end(backups, &backups->err);
}

static void on_copied(void *ctx, const struct error *err)
{
    struct backups *backups = ctx;

    if (err) {
        end(backups, err);
        return;
    }
    backups->state = BACKUPS_CHECKING;
    backups->err = (struct error){0};
    backups->check.run = check;
    backups->check.done = on_checked;
    loop_work(backups->loop, &backups->check);
}

/* Returns the name of a backup made now, without the characters that are awkward in names. */
static char *name_now(const struct backups *backups)
{
    char text[TIME_TEXT_MAX];

    time_format(loop_wall_ms(backups->loop), text);
    for (char *at = text; *at; at++)
        if (*at == ':')
            *at = '-';
    return mem_printf("%s/" NAME_BEGIN "%s" NAME_END, backups->directory, text);
}

static void on_due(struct timer *timer)
{
    struct backups *backups = container_of(timer, struct backups, due);
    struct error err = {0};

    backups->path = name_now(backups);
    backups->part = mem_printf("%s" NAME_PART, backups->path);
    backups->state = BACKUPS_COPYING;
    if (!store_copy(engine_store(backups->engine), backups->part, on_copied, backups, &err))
        end(backups, &err);
}

/* Returns when the first backup is due: `every` after the newest one that is there. */
static int64_t first_wait_ms(const struct backups *backups)
{
    struct dirent **names = NULL;
    int n = scandir(backups->directory, &names, choose, by_name);
    int64_t wait_ms = FIRST_MS;
    struct stat info;

    if (n > 0) {
        scoped_str newest = mem_printf("%s/%s", backups->directory, names[n - 1]->d_name);

        if (stat(newest, &info) == 0)
            wait_ms =
                (int64_t)info.st_mtime * 1000 + backups->every_ms - loop_wall_ms(backups->loop);
    }
    for (int i = 0; i < n; i++)
        free(names[i]);
    free(names);
    return wait_ms < FIRST_MS            ? FIRST_MS
           : wait_ms > backups->every_ms ? backups->every_ms
                                         : wait_ms;
}

static int choose_part(const struct dirent *entry)
{
    size_t len = strlen(entry->d_name), end = strlen(NAME_PART);

    return strncmp(entry->d_name, NAME_BEGIN, strlen(NAME_BEGIN)) == 0 && len > end &&
           strcmp(entry->d_name + len - end, NAME_PART) == 0;
}

/* Removes what a daemon that was killed has left. */
static void remove_parts(const struct backups *backups)
{
    struct dirent **names = NULL;
    int n = scandir(backups->directory, &names, choose_part, by_name);

    for (int i = 0; i < n; i++) {
        scoped_str path = mem_printf("%s/%s", backups->directory, names[i]->d_name);

        unlink(path);
        free(names[i]);
    }
    free(names);
}

struct backups *backups_start(struct engine *engine, const struct backup_options *options,
                              struct error *err)
{
    struct metrics *metrics = loop_metrics(engine_loop(engine));
    struct backups *backups;
    char *real;

    if (!file_mkdirs(options->directory, 0700, err) || !dir_owner_check(options->directory, err))
        return NULL;
    backups = mem_alloc(sizeof *backups);
    backups->engine = engine;
    backups->loop = engine_loop(engine);
    real = realpath(options->directory, NULL);
    backups->directory = mem_strdup(real ? real : options->directory);
    free(real);
    remove_parts(backups);
    backups->note = mem_printf("%s/last-backup", engine_data_dir(engine));
    backups->every_ms = options->every_ms;
    backups->keep = options->keep;
    backups->made = metric_of(metrics_family(metrics, &made_def), NULL);
    backups->failed = metric_of(metrics_family(metrics, &failed_def), NULL);
    backups->last = metric_of(metrics_family(metrics, &last_def), NULL);
    backups->due.fire = on_due;
    timer_start(backups->loop, &backups->due, first_wait_ms(backups));
    return backups;
}

void backups_stop(struct backups *backups)
{
    if (!backups)
        return;
    timer_stop(backups->loop, &backups->due);
    backups->stopped = true;
    if (backups->state == BACKUPS_COPYING)
        store_copy_cancel(engine_store(backups->engine));
    if (backups->state != BACKUPS_CHECKING) /* the check frees it */
        backups_free(backups);
}
