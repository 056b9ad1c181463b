/*
 * Makes the new file, from a backup or from what is whole, and puts it in place.
 *
 * SQLite reads the write-ahead log up to its first broken frame. When whole commits stand behind it
 * (wal.h), the new file is made of an image of the store with these commits: of the first image
 * that lacks nothing, or of one without the pages that are broken, if fewer changes are lost with
 * these than with the commits.
 */
#include "api/store/db/repair.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/store/db/salvage.h"
#include "api/store/db/wal.h"
#include "api/store/dir/store_dir.h"
#include "base/file.h"
#include "base/mem.h"

struct repairer {
    struct store_repair *repair;
    char *path, *new_path, *image_path, *mark_path, *log_path;
    struct salvage salvage;
};

/* Removes files that were made beside the store. */
static void unlink_all(const char *path)
{
    static const char *const ends[] = {"", "-wal", "-mark", "-journal"};

    for (size_t i = 0; i < countof(ends); i++) {
        scoped_str file = mem_printf("%s%s", path, ends[i]);

        unlink(file);
    }
}

/* Keeps the damaged files under their names in a directory of their own. */
static bool keep_damaged(const struct repairer *repairer, struct error *err)
{
    const char *const paths[] = {repairer->path, repairer->log_path, repairer->mark_path};
    scoped_str directory =
        mem_printf("%s/damaged-%s", repairer->repair->directory, repairer->repair->stamp);

    if (mkdir(directory, 0700) < 0 && errno != EEXIST)
        return error_errno(err, errno, "cannot create %s", directory);
    for (size_t i = 0; i < countof(paths); i++) {
        scoped_str to = mem_printf("%s%s", directory, strrchr(paths[i], '/'));

        if (link(paths[i], to) < 0 && errno != ENOENT && errno != EEXIST)
            return error_errno(err, errno, "cannot keep %s as %s", paths[i], to);
    }
    return true;
}

/* Puts the new file in place. The mark is the last to change: without it the store is refused. */
static bool put_in_place(const struct repairer *repairer, const struct db_state *state,
                         struct error *err)
{
    const struct mark_content content = {state->generation, state->commits, state->newest,
                                         state->revision, state->clean};
    struct mark *mark;
    bool ok;

    if (!file_sync(repairer->new_path, err) || !keep_damaged(repairer, err))
        return false;
    if ((unlink(repairer->log_path) < 0 && errno != ENOENT) ||
        (unlink(repairer->mark_path) < 0 && errno != ENOENT) ||
        rename(repairer->new_path, repairer->path) < 0)
        return error_errno(err, errno, "cannot replace %s", repairer->path);
    mark = mark_open(repairer->mark_path, MARK_WRITE, err);
    ok = mark && mark_write(mark, &content, err) == MARK_OK && mark_sync(mark, err) &&
         file_sync(repairer->repair->directory, err);
    mark_close(mark);
    return ok;
}

/* Whether the image that was copied takes the place of what SQLite reads, whose state is `read`. */
static bool is_better(const struct salvage *image, const struct db_state *read, enum wal_gap gap)
{
    if (!image->has_state || image->found.commits < read->commits ||
        (read->generation && image->found.generation != read->generation))
        return false;
    return image->is_all || (gap == WAL_GAP_ZEROS && image->missing > 0 &&
                             image->missing <= image->found.newest - read->newest);
}

/* Makes the new file of an image with the commits behind a broken frame. False when no image is
 * better than what SQLite reads; `err` says nothing then. */
static bool salvage_log(struct repairer *repairer)
{
    struct db_state read = {0};
    struct wal wal;
    bool made = false;

    wal_read(repairer->log_path, repairer->path, &wal);
    salvage_state(repairer->path, &read);
    for (enum wal_gap gap = 0; !made && wal_has_more(&wal) && gap < WAL_GAPS; gap++) {
        if (gap == WAL_GAP_ZEROS && wal.unknown_page)
            break;
        made = wal_write_image(&wal, repairer->path, repairer->image_path, gap, NULL) &&
               salvage_rows(repairer->image_path, repairer->new_path, &repairer->salvage, NULL) &&
               is_better(&repairer->salvage, &read, gap);
        unlink_all(repairer->image_path);
        if (!made) {
            salvage_reset(&repairer->salvage);
            unlink_all(repairer->new_path);
        }
    }
    wal_release(&wal);
    return made;
}

static bool make_new(struct repairer *repairer, struct error *err)
{
    struct store_repair *repair = repairer->repair;
    struct salvage *salvage = &repairer->salvage;
    bool ok;

    unlink_all(repairer->new_path);
    ok = (!repair->from && salvage_log(repairer)) ||
         salvage_rows(repair->from ? repair->from : repairer->path, repairer->new_path, salvage,
                      err);
    if (ok && repair->agree)
        ok = repair->agree(repair->ctx, repairer->path, repairer->new_path, err);
    ok = ok && put_in_place(repairer, &salvage->made, err);
    unlink_all(repairer->new_path);
    if (ok) {
        repair->lost = salvage->lost;
        salvage->lost = (struct buf){0};
        repair->n_lost = salvage->n_lost;
        repair->kept = salvage->kept;
        repair->revision = salvage->revision;
    }
    return ok;
}

/* Removes the empty log that SQLite made when it read the store. */
static void unlink_empty(const char *path)
{
    struct stat info;

    if (stat(path, &info) == 0 && info.st_size == 0)
        unlink(path);
}

static bool repair_in(struct repairer *repairer, struct error *err)
{
    struct mark *mark = mark_open(repairer->mark_path, MARK_READ_ONLY, NULL);
    struct salvage *salvage = &repairer->salvage;
    const char *from = repairer->repair->from ? repairer->repair->from : repairer->path;
    struct stat info;
    bool had_log = stat(repairer->log_path, &info) == 0, ok;

    if (mark)
        salvage->mark_found = mark_read(mark, &salvage->marked);
    mark_close(mark);
    if (!repairer->repair->from && salvage->mark_found == MARK_ABSENT &&
        stat(repairer->path, &info) < 0 && !had_log)
        return error_set(err, ERR_NOT_FOUND, "", "there is no store at %s", repairer->path);
    ok = !salvage_is_older(from) ||
         error_set(err, ERR_INVALID, "",
                   "%s was written by an older program, which kept no checksums: take a backup of "
                   "it, or move it away to start empty",
                   from);
    ok = ok && make_new(repairer, err);
    if (!ok && !had_log)
        unlink_empty(repairer->log_path);
    return ok;
}

/* Refuses a backup that another user can have written: its flows would run with our rights. A file
 * that is not there is reported when it is opened. */
static bool is_trusted(const char *path, struct error *err)
{
    struct stat info;

    if (stat(path, &info) < 0 ||
        ((info.st_uid == geteuid() || info.st_uid == 0) && !(info.st_mode & (S_IWGRP | S_IWOTH))))
        return true;
    return error_set(err, ERR_FORBIDDEN, "",
                     "another user can have written %s (owner %lu, mode %03o), and its flows would "
                     "run with your rights: if you trust it, copy it to a file of your own that "
                     "only you may write to",
                     path, (unsigned long)info.st_uid, (unsigned)(info.st_mode & 0777));
}

bool store_repair(struct store_repair *repair, struct error *err)
{
    struct repairer repairer = {.repair = repair};
    struct store_dir dir;
    int64_t objects = 0;
    bool ok;

    if (repair->from &&
        (!is_trusted(repair->from, err) || !store_verify(repair->from, &objects, err)))
        return false;
    if (!store_dir_open(&dir, repair->directory, err))
        return false;
    repairer.path = mem_strdup(dir.database);
    repairer.new_path = mem_printf("%s.new", dir.database);
    repairer.image_path = mem_printf("%s.image", dir.database);
    repairer.mark_path = mem_printf("%s-mark", dir.database);
    repairer.log_path = mem_printf("%s-wal", dir.database);
    ok = repair_in(&repairer, err);
    mem_free(repairer.path);
    mem_free(repairer.new_path);
    mem_free(repairer.image_path);
    salvage_reset(&repairer.salvage);
    mem_free(repairer.mark_path);
    mem_free(repairer.log_path);
    if (dir.reserved)
        store_dir_give_reserve(&dir);
    store_dir_release(&dir);
    return ok;
}

static void count_object(void *ctx, const struct db_row *row)
{
    ++*(int64_t *)ctx;
}

static void ignore_body(void *ctx, int64_t row, const void *bytes, size_t len)
{
}

bool store_verify(const char *path, int64_t *out_objects, struct error *err)
{
    const struct db_reader reader = {ignore_body, count_object, out_objects};
    struct db *db = db_open(path, DB_LOOK, err);
    bool ok = db && db_load(db, &(const struct db_part){DB_ALL, NULL}, &reader, err);

    db_close(db);
    return ok;
}

struct visit {
    const struct kind *kind;
    void (*visit)(void *ctx, const char *uid, const char *ns, const char *name);
    void *ctx;
};

static void visit_object(void *ctx, const struct db_row *row)
{
    const struct visit *visit = ctx;
    scoped(meta) struct meta *meta = NULL;

    if (row->kind == visit->kind && !row->damage)
        meta = meta_decode(row->meta, row->meta_len, NULL);
    if (meta && meta->uid)
        visit->visit(visit->ctx, meta->uid, row->ns, row->name);
}

bool store_each_in_file(const char *path, const struct kind *kind,
                        void (*visit)(void *ctx, const char *uid, const char *ns, const char *name),
                        void *ctx, struct error *err)
{
    struct visit all = {kind, visit, ctx};
    const struct db_reader reader = {ignore_body, visit_object, &all};
    struct db *db = db_open(path, DB_DAMAGED, err);
    bool ok = db && db_load(db, &(const struct db_part){DB_ALL, NULL}, &reader, err);

    db_close(db);
    return ok;
}
