/*
 * Opens a store, loads its objects, and closes it.
 *
 * A row with a wrong checksum is damage of the whole store (db.h). A whole row that this program
 * cannot use (metadata of an unknown form, an unknown kind, a missing body, a body or status that
 * is no JSON) affects that object only. It is logged, counted, kept on disk and not served (P-11).
 */
#include <string.h>

#include "api/store/dir/dir_owner.h"
#include "api/store/dir/holder.h"
#include "api/store/internal.h"
#include "base/encoding/jsonscan.h"
#include "base/log.h"
#include "base/mem.h"

struct loader {
    struct store *store;
    /* A slot of a body, in a table sorted by row for binary search. */
    struct loaded_body {
        int64_t row;
        uint32_t slot;
        bool broken; /* the row is not the JSON of an object */
    } * bodies;
    size_t n_bodies, cap_bodies;
    struct entry *block; /* the last entry that started a block of rows */
    int64_t last_row;
};

/* Checks JSON that the store holds. What this program wrote is not parsed again at every start. */
static bool is_usable(const struct loader *loader, const void *bytes, size_t len)
{
    return db_is_checked(loader->store->db) || jsonscan_is_object(bytes, len);
}

static void load_body(void *ctx, int64_t row, const void *bytes, size_t len)
{
    struct loader *loader = ctx;
    uint32_t slot = bodies_load(&loader->store->bodies, row, blob_intern(bytes, len));

    mem_grow(loader->bodies, loader->n_bodies, loader->cap_bodies);
    loader->bodies[loader->n_bodies++] =
        (struct loaded_body){row, slot, !is_usable(loader, bytes, len)};
}

/* Returns NULL when there is no such body. */
static const struct loaded_body *find_body(const struct loader *loader, int64_t row)
{
    size_t low = 0, high = loader->n_bodies;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (loader->bodies[middle].row < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low < loader->n_bodies && loader->bodies[low].row == row ? &loader->bodies[low] : NULL;
}

static void refuse(struct loader *loader, const struct db_row *row, const char *why)
{
    loader->store->unreadable++;
    log_error("stored object cannot be read; left as it is",
              kv_str("kind", row->kind ? row->kind->name : "unknown"), kv_str("namespace", row->ns),
              kv_str("name", row->name), kv_int("row", row->row), kv_str("error", why));
}

/* Builds the object of a row. NULL, with the reason logged, when its parts are unreadable. */
static struct object *build(struct loader *loader, const struct db_row *row,
                            const struct loaded_body *body)
{
    struct store *store = loader->store;
    struct error err;
    struct meta *meta;
    struct object *object;

    if (!row->kind) {
        refuse(loader, row, "a kind this program does not know");
        return NULL;
    }
    if (!body || row->damage) {
        refuse(loader, row, row->damage ? row->damage : "its body is missing");
        return NULL;
    }
    if (body->broken) {
        refuse(loader, row, "its body is not a JSON object");
        return NULL;
    }
    if (row->status && !is_usable(loader, row->status, row->status_len)) {
        refuse(loader, row, "its status is not a JSON object");
        return NULL;
    }
    meta = meta_decode(row->meta, row->meta_len, &err);
    if (!meta) {
        refuse(loader, row, err.message);
        return NULL;
    }
    object = object_new(row->kind, meta, blob_ref(store->bodies.slots[body->slot].blob),
                        row->status ? blob_new(row->status, row->status_len) : NULL);
    object->revision = row->revision;
    object->row = row->row;
    object->row_sum = row->sum;
    if (*object_uid(object) && *object_name(object))
        return object;
    refuse(loader, row, "it has no name or no uid");
    object_unref(object);
    return NULL;
}

static void load_object(void *ctx, const struct db_row *row)
{
    struct loader *loader = ctx;
    struct store *store = loader->store;
    const struct loaded_body *body = find_body(loader, row->body);
    struct object *object;
    struct entry *entry;

    loader->last_row = row->row;
    if (row->row < 0)
        store->next_few = row->row + 1;
    if (body)
        bodies_use_slot(&store->bodies,
                        body->slot); /* counts for unreadable objects too: they stay on
                                                * disk */
    object = build(loader, row, body);
    if (!object)
        return;
    entry = index_add(&store->index, object);
    if (!entry) {
        refuse(loader, row, "its name or uid belongs to another object");
        object_unref(object);
        return;
    }
    entry->body = body->slot;
    store->object_bytes_meta += meta_bytes(object->meta);
    store->object_bytes_status += object->status ? object->status->len : 0;
    if (row->revision > store->revision)
        store->revision = row->revision;
    if (row->row < 0)
        return;
    if (row->row % ROWS_PER_BLOCK == 0)
        loader->block = entry;
    else if (loader->block && row->row - loader->block->object->row < ROWS_PER_BLOCK)
        loader->block->neighbours = (uint8_t)(row->row - loader->block->object->row);
}

static bool load(struct store *store, struct error *err)
{
    struct loader loader = {.store = store};
    const struct db_reader reader = {load_body, load_object, &loader};
    const struct db_part part = {store->options.name_only  ? DB_NAMED
                                 : store->options.few_only ? DB_FEW
                                                           : DB_ALL,
                                 store->options.name_only};
    bool ok = db_load(store->db, &part, &reader, err);

    bodies_loaded(&store->bodies);
    if (loader.last_row > 0)
        store->next_block = loader.last_row / ROWS_PER_BLOCK + 1;
    if (ok && part.what == DB_ALL && !store->unreadable)
        db_set_checked(store->db);
    if (store->unreadable)
        log_error("some stored objects cannot be read", kv_str("file", store->dir.database),
                  kv_int("count", (int64_t)store->unreadable));
    mem_free(loader.bodies);
    return ok;
}

/* Raises the revision above every revision assigned earlier, durable or not (P-03). Without any
 * room on the disk the store is read all the same; the first commit then notes the revisions. */
static bool claim_revisions(struct store *store, struct error *err)
{
    int64_t mark = db_revision_mark(store->db);
    enum db_outcome outcome;
    struct error why = {0};

    if (mark > store->revision)
        store->revision = mark - 1;
    if (store->options.read_only)
        return true;
    store->revision_mark = store->revision + REVISIONS_RESERVED;
    outcome = db_note(store->db, store->revision_mark, DB_IN_USE, &why);
    if (store->dir.full && outcome == DB_OK)
        error_set(&why, ERR_STORAGE, "", "there is no room for the reserve");
    if (store->dir.full || outcome == DB_NO_SPACE)
        store_is_full(store, &why);
    if (outcome == DB_NO_SPACE)
        outcome = db_note(store->db, store->revision_mark, DB_IN_USE, &why);
    if (outcome == DB_NO_SPACE)
        store->revision_mark = mark;
    if (outcome == DB_FAILED && err)
        *err = why;
    return outcome != DB_FAILED;
}

static enum db_mode mode_of(const struct store_options *options)
{
    if (options->damaged)
        return DB_DAMAGED;
    if (options->read_only)
        return options->stopped_holder ? DB_LOOK_UNLOCKED : DB_LOOK;
    return options->sync == STORE_SYNC_NORMAL ? DB_NORMAL : DB_FULL;
}

/* Logs each finding of a store that is read though it is damaged. */
static void tell_damage(const struct store *store)
{
    for (const char *at = db_damage(store->db); *at;) {
        scoped_str line = mem_printf("%.*s", (int)strcspn(at, "\n"), at);

        log_error("the store is damaged", kv_str("file", store->dir.database),
                  kv_str("damage", line));
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
}

/* Opens the database. SQLite only reports that the file is in use; the lock file names the process.
 */
static bool open_database(struct store *store, const char *directory, struct error *err)
{
    struct error why = {0};

    store->db = db_open(store->dir.database, mode_of(&store->options), &why);
    if (store->db) {
        if (!load(store, err) || !claim_revisions(store, err))
            return false;
        tell_damage(store);
        return true;
    }
    if (why.code == ERR_CONFLICT)
        return holder_in_use(directory, err);
    if (err)
        *err = why;
    return false;
}

static bool goes_on(const char *directory, struct error *err)
{
    return error_set(err, ERR_CONFLICT, "",
                     "the process that holds %s was stopped and goes on: ask again", directory);
}

/* Reads the store beside a process that is stopped and keeps its locks. What was read is only valid
 * when the process is stopped until the end. */
static bool open_beside_stopped(struct store *store, const char *directory, struct error *err)
{
    struct holder_stamp stamp;
    struct error why = {0};
    bool ok;

    if (!holder_stamp_take(directory, &stamp))
        return goes_on(directory, err);
    ok = open_database(store, directory, &why);
    if (!holder_stamp_holds(directory, &stamp))
        return goes_on(directory, err);
    if (!ok && err)
        *err = why;
    return ok;
}

static bool open_directory(struct store *store, const char *directory, struct error *err)
{
    bool beside_stopped = store->options.read_only && store->options.stopped_holder;

    if (store->options.read_only && !dir_owner_check(directory, err))
        return false;
    if (store->options.read_only && !store->options.damaged)
        store_dir_look(&store->dir, directory);
    else if (!store_dir_open(&store->dir, directory, err))
        return false;
    if (beside_stopped ? !open_beside_stopped(store, directory, err)
                       : !open_database(store, directory, err))
        return false;
    if (store->options.read_only) { /* everything is in memory now */
        db_close(take(store->db));
    }
    return true;
}

static void store_free(struct store *store)
{
    index_release(&store->index);
    bodies_release(&store->bodies);
    changes_release(&store->changes);
    db_close(store->db);
    store_dir_release(&store->dir);
    mem_free(store);
}

struct store *store_open(struct loop *loop, const struct store_options *options, struct error *err)
{
    struct store *store = mem_alloc(sizeof *store);
    const char *directory = options->directory;

    store->loop = loop;
    store->options = *options;
    store->options.directory = NULL;
    store->options.read_only |= options->damaged;
    if (store->options.watch_window == 0)
        store->options.watch_window = WINDOW_DEFAULT;
    store->dir = (struct store_dir){.directory = -1, .lock = -1};
    store->next_block = 1;
    store->next_few = DB_FEW_FIRST;
    bodies_init(&store->bodies);
    if (directory ? !open_directory(store, directory, err) : options->read_only) {
        store_free(store);
        return NULL;
    }
    store->durable_revision = store->revision;
    store_watch_start(store);
    store_commit_start(store);
    return store;
}

void store_close(struct store *store)
{
    struct error err;

    if (!store)
        return;
    store_watch_stop(store);
    loop_cancel(store->loop, &store->listen);
    if (store_commit_stop(store) && store->db &&
        db_note(store->db, store->revision + 1, DB_CLOSED, &err) != DB_OK)
        log_warn("store not closed in order", kv_str("error", err.message));
    if (store->db && store->state == STORE_FULL)
        db_keep_log(store->db);
    if (store->dir.reserved) /* the reserve on disk is needed only by a running store */
        store_dir_give_reserve(&store->dir);
    store_free(store);
}
