/*
 * Tests the store on disk: loading, locking, and failures of the disk. covers: reliability.md D-01
 * D-04 D-06 D-07 D-08 P-01 P-03 P-11 INV-S3 FT-02
 */
#include "tests/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "api/store/store.h"
#include "base/file.h"
#include "base/log.h"
#include "tests/support/disk.h"
#include "tests/support/objects.h"
#include "tests/support/store_fixture.h"

static bool nothing_to_allocate;

/* Takes the place of the C library's function: the reserve and the log find no space. */
int fallocate(int fd, int mode, off_t at, off_t bytes)
{
    if (nothing_to_allocate) {
        errno = ENOSPC;
        return -1;
    }
    return (int)syscall(SYS_fallocate, fd, mode, at, bytes);
}

static void objects_are_read_back_as_they_were(void **state)
{
    struct store_fixture fixture = store_fixture_new("back");
    const struct object *object;
    scoped(buf) struct buf before = {0};
    scoped(buf) struct buf after = {0};

    store_put(fixture.store, sample_object(.name = "owner", .body = "{\"spec\":{\"a\":1}}"));
    store_put(fixture.store, sample_object(.name = "a", .owner_uid = "uid-owner",
                                           .body = "{\"spec\":{\"a\":1}}", .finalizer = "x/y"));
    object = store_put(fixture.store,
                       sample_with_status(store_fixture_get(&fixture, "a"), "{\"state\":\"ä\"}"));
    store_put(fixture.store, sample_object(.name = "b"));
    loop_settle(fixture.loop);
    store_delete(fixture.store, store_fixture_get(&fixture, "b"));
    object_write(object, &before);
    store_fixture_reopen(&fixture);

    object = store_fixture_get(&fixture, "a");
    assert_non_null(object);
    object_write(object, &after);
    check_str("text", after.data, before.data);
    check_int("revision", object->revision, 3);
    check("shares the body", object->body == store_fixture_get(&fixture, "owner")->body);
    assert_null(store_fixture_get(&fixture, "b"));
    check_int("the counter goes on", store_revision(fixture.store), 5);
    check_int("next", store_put(fixture.store, sample_object(.name = "b"))->revision, 6);
    store_fixture_free(&fixture);
}

static void a_write_in_the_last_turn_is_kept(void **state)
{
    struct store_fixture fixture = store_fixture_new("last");

    store_put(fixture.store, sample_object(.name = "a"));
    store_fixture_reopen(&fixture);
    assert_non_null(store_fixture_get(&fixture, "a"));
    store_fixture_free(&fixture);
}

static void a_batch_writes_each_row_once(void **state)
{
    struct store_fixture fixture = store_fixture_new("once");
    struct store_stats stats;

    for (int i = 0; i < 5; i++)
        store_put(fixture.store, sample_object(.name = "a", .status = i % 2 ? "{}" : "[]"));
    store_put(fixture.store, sample_object(.name = "b"));
    store_delete(fixture.store, store_fixture_get(&fixture, "b"));
    loop_settle(fixture.loop);
    store_stats(fixture.store, &stats);
    check_int("rows: a body and an object", stats.rows_written, 2);
    check_int("commits", stats.commits, 1);
    store_fixture_free(&fixture);
}

static void unused_bodies_are_deleted_in_the_end(void **state)
{
    struct store_fixture fixture = store_fixture_new("orphans");
    int64_t left;

    for (int i = 0; i < 200; i++) {
        char body[32];

        snprintf(body, sizeof body, "{\"spec\":%d}", i);
        store_put(fixture.store, sample_object(.name = "a", .body = body));
        loop_settle(fixture.loop);
    }
    store_fixture_close(&fixture);
    left = store_fixture_ask(&fixture, "SELECT count(*) FROM bodies");
    check("few are left", left > 0 && left <= 65);
    check_int(
        "the used one is there",
        store_fixture_ask(&fixture, "SELECT count(*) FROM bodies JOIN objects ON body = bodies.id"),
        1);
    store_fixture_free(&fixture);
}

static void revisions_are_never_given_twice(void **state)
{
    struct store_fixture fixture = store_fixture_new("twice");
    int64_t accepted;

    store_put(fixture.store, sample_object(.name = "a"));
    accepted = store_revision(fixture.store);
    store_fixture_close(&fixture);
    /* The file is as after a crash: not closed cleanly, with the revision mark as it was at
     * opening. */
    store_fixture_sql(&fixture, "UPDATE state SET clean = 0, revision = 1048577");
    check_ok("open", store_fixture_open(&fixture, &(struct error){0}), (struct error){0});
    check("above all accepted ones", store_revision(fixture.store) > accepted);
    check_int("by the mark", store_revision(fixture.store), 1048576);
    store_fixture_free(&fixture);
}

static void copy_file(const char *from, const char *to, const char *name)
{
    scoped_str source = mem_printf("%s/%s", from, name);
    scoped_str target = mem_printf("%s/%s", to, name);
    scoped(buf) struct buf content = {0};
    int fd;

    assert_true(file_read(source, 1 << 28, &content, NULL));
    fd = open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(file_write_all(fd, content.data, content.len));
    close(fd);
}

/* The mark on disk bounds what was given out at any time, not only after a start. */
static void the_mark_stays_above_what_is_given_out(void **state)
{
    struct store_fixture fixture = store_fixture_new("mark"), killed = store_fixture_new("killed");
    int64_t first = store_revision(fixture.store), last;
    struct error err;

    while (store_revision(fixture.store) < first + (1 << 20)) {
        for (int i = 0; i < 10000; i++)
            store_put(fixture.store, sample_object(.name = "a"));
        loop_settle(fixture.loop);
    }
    last = store_revision(fixture.store);
    store_fixture_close(&killed);
    copy_file(fixture.directory, killed.directory, "store.db");
    copy_file(fixture.directory, killed.directory, "store.db-wal");
    copy_file(fixture.directory, killed.directory, "store.db-mark");
    store_fixture_sql(&killed, "UPDATE objects SET revision = 1");
    check_ok("open", store_fixture_open(&killed, &err), err);
    check("by the mark alone", store_revision(killed.store) >= last);
    store_fixture_free(&killed);
    store_fixture_free(&fixture);
}

/* Gives the stored object "bad" the metadata of another. */
static void store_meta(struct store_fixture *fixture, const struct object *object)
{
    scoped(buf) struct buf bytes = {0}, sql = {0};

    meta_encode(object->meta, &bytes);
    buf_str(&sql, "UPDATE objects SET meta = x'");
    for (size_t i = 0; i < bytes.len; i++)
        buf_printf(&sql, "%02x", (unsigned char)bytes.data[i]);
    buf_str(&sql, "' WHERE name = 'bad'");
    store_fixture_sql(fixture, sql.data);
}

static void an_object_without_a_uid_is_not_served(void **state)
{
    static const struct sample lacking[] = {{.name = "bad", .uid = ""}, {.name = "", .uid = "u"}};

    for (size_t i = 0; i < countof(lacking); i++) {
        scoped_str name = mem_printf("lacking-%zu", i);
        struct store_fixture fixture = store_fixture_new(name);
        struct object *object = sample_build(&lacking[i]);
        struct store_stats stats;
        struct error err;

        store_put(fixture.store, sample_object(.name = "good"));
        store_put(fixture.store, sample_object(.name = "bad"));
        store_fixture_close(&fixture);
        store_meta(&fixture, object);
        object_unref(object);
        check_ok(name, store_fixture_open(&fixture, &err), err);
        check(name, store_fixture_get(&fixture, "good"));
        check(name, !store_fixture_get(&fixture, "bad") && !store_fixture_get(&fixture, ""));
        store_stats(fixture.store, &stats);
        check_int(name, stats.unreadable, 1);
        store_fixture_free(&fixture);
    }
}

static void only_one_process_opens_it(void **state)
{
    struct store_fixture fixture = store_fixture_new("lock");
    const struct store_options options = {.directory = fixture.directory};
    struct error err;
    char pid[32];

    snprintf(pid, sizeof pid, "process %ld;", (long)getpid());
    check_error("second", store_open(fixture.loop, &options, &err), err, ERR_CONFLICT);
    check_has("second", err.message, pid);
    store_fixture_free(&fixture);
}

static void looking_changes_nothing(void **state)
{
    struct store_fixture fixture = store_fixture_at("look");
    const struct store_options look = {.directory = fixture.directory, .read_only = true};
    struct error err;
    struct store *store;

    check_error("absent", store_open(fixture.loop, &look, &err), err, ERR_NOT_FOUND);
    assert_int_equal(access(fixture.directory, F_OK), -1);
    check_ok("open", store_fixture_open(&fixture, &err), err);
    store_put(fixture.store, sample_object(.name = "a"));
    store_fixture_close(&fixture);
    store_fixture_sql(&fixture, "UPDATE state SET clean = 0");
    store = store_open(fixture.loop, &look, &err);
    check_ok("look", store, err);
    assert_non_null(store_get(store, &kind_job, "default", "a"));
    store_close(store);
    check_int("clean", store_fixture_ask(&fixture, "SELECT clean FROM state"), 0);
    store_fixture_free(&fixture);
}

struct damage {
    const char *name;
    const char *sql;
    enum error_code code; /* expected error of opening; ERR_NONE: it opens with object "good" and
                           * without "bad" */
    const char *message;
};

static const struct damage damages[] = {
    {"metadata cut", "UPDATE objects SET meta = substr(meta, 1, 9) WHERE name = 'bad'"},
    {"metadata empty", "UPDATE objects SET meta = x'' WHERE name = 'bad'"},
    {"metadata of another type", "UPDATE objects SET meta = 7 WHERE name = 'bad'"},
    {"unknown kind", "UPDATE objects SET kind = 99999999999 WHERE name = 'bad'"},
    {"negative kind", "UPDATE objects SET kind = -1 WHERE name = 'bad'"},
    {"kind of a newer program",
     "UPDATE kinds SET kind = 'Wonder' WHERE id = (SELECT kind FROM objects WHERE name = 'bad')"},
    {"body missing", "UPDATE objects SET body = 12345 WHERE name = 'bad'"},
    {"uid taken twice",
     "INSERT INTO objects SELECT 9999, kind, namespace, name, revision, body, meta, status, 0 FROM "
     "objects WHERE name = 'good'; DELETE FROM objects WHERE name = 'bad'"},
    {"schema of a newer program", "PRAGMA user_version = 99", ERR_STORAGE, "newer program"},
    {"another program's file", "PRAGMA application_id = 1", ERR_STORAGE, "another program"},
    {"no state", "DROP TABLE state", ERR_STORAGE, "state cannot be read"},
    {"schema of an older program", "PRAGMA user_version = 3", ERR_STORAGE, "older schema"},
    {"a body that is no JSON",
     "UPDATE bodies SET bytes = x'ff' WHERE id = (SELECT body FROM objects WHERE name = 'bad')"},
    {"a body that is no object",
     "UPDATE bodies SET bytes = '[]' WHERE id = (SELECT body FROM objects WHERE name = 'bad')"},
    {"a status that is no JSON", "UPDATE objects SET status = '{\"a\":' WHERE name = 'bad'"},
};

static void damage_hurts_one_object_or_is_refused(void **state)
{
    for (const struct damage *d = damages; d < damages + countof(damages); d++) {
        scoped_str name = mem_printf("damage-%d", (int)(d - damages));
        struct store_fixture fixture = store_fixture_new(name);
        struct store_stats stats;
        struct error err;

        store_put(fixture.store, sample_object(.name = "good"));
        store_put(fixture.store,
                  sample_object(.name = "bad", .kind = &kind_pod, .body = "{\"x\":1}"));
        store_fixture_close(&fixture);
        store_fixture_sql(&fixture, d->sql);
        if (d->code) {
            check_error(d->name, store_fixture_open(&fixture, &err), err, d->code);
            check_has(d->name, err.message, d->message);
            check_has(d->name, err.message, "store.db");
        } else {
            check_ok(d->name, store_fixture_open(&fixture, &err), err);
            check(d->name, store_fixture_get(&fixture, "good"));
            check(d->name, !store_get(fixture.store, &kind_pod, "default", "bad"));
            store_stats(fixture.store, &stats);
            check_int(d->name, stats.unreadable, 1);
            store_put(fixture.store, sample_object(.name = "new"));
            store_fixture_reopen(&fixture);
            check(d->name, store_fixture_get(&fixture, "new"));
        }
        store_fixture_free(&fixture);
    }
}

static void a_damaged_file_is_named_and_left_alone(void **state)
{
    struct store_fixture fixture = store_fixture_new("torn");
    scoped_str path = mem_printf("%s/store.db", fixture.directory);
    struct error err;
    struct stat before, after;
    int fd;

    for (int i = 0; i < 300; i++) {
        scoped_str name = mem_printf("n%d", i);

        store_put(fixture.store, sample_object(.name = name, .status = "{\"a\":\"0123456789\"}"));
    }
    store_fixture_close(&fixture);
    for (off_t at = 4096; at < 40960; at += 4096) {
        fd = open(path, O_WRONLY | O_CLOEXEC);
        assert_int_equal(pwrite(fd, "\xff\xff\xff\xff\xff\xff\xff\xff", 8, at), 8);
        close(fd);
    }
    stat(path, &before);
    check_error("open", store_fixture_open(&fixture, &err), err, ERR_STORAGE);
    check_has("open", err.message, path);
    check_has("open", err.message, "backup");
    stat(path, &after);
    check_int("size", after.st_size, before.st_size);
    check_int("truncate", truncate(path, 100), 0);
    check_error("cut", store_fixture_open(&fixture, &err), err, ERR_STORAGE);
    store_fixture_free(&fixture);
}

static void the_directory_is_private(void **state)
{
    struct store_fixture fixture = store_fixture_new("private");
    scoped_str database = mem_printf("%s/store.db", fixture.directory);
    scoped_str log = mem_printf("%s/store.db-wal", fixture.directory);
    struct stat stats;

    stat(fixture.directory, &stats);
    check_int("directory", stats.st_mode & 0777, 0700);
    stat(database, &stats);
    check_int("database", stats.st_mode & 0777, 0600);
    stat(log, &stats);
    check_int("log", stats.st_mode & 0777, 0600);
    store_fixture_free(&fixture);
}

struct failure {
    int calls;
    struct error err;
};

static void failed(void *ctx, const struct error *err)
{
    struct failure *failure = ctx;

    failure->calls++;
    failure->err = *err;
}

struct flag {
    struct task task;
    int runs;
};

static void raise_flag(struct task *task)
{
    container_of(task, struct flag, task)->runs++;
}

static void a_full_disk_takes_deletes_and_recovers(void **state)
{
    struct store_fixture fixture = store_fixture_new("full");
    struct failure failure = {0};
    struct flag flag = {.task.run = raise_flag};
    struct error err;

    store_on_failure(fixture.store, failed, &failure);
    store_put(fixture.store, sample_object(.name = "a"));
    loop_settle(fixture.loop);
    disk_set(DISK_NO_SPACE);
    store_put(fixture.store, sample_object(.name = "b"));
    store_when_durable(fixture.store, &flag.task);
    loop_advance(fixture.loop, 10);
    check_error("writes", store_writable(fixture.store, &err), err, ERR_STORAGE);
    check_int("not durable", flag.runs, 0);
    store_delete(fixture.store, store_fixture_get(&fixture, "a"));
    loop_advance(fixture.loop, 5000);
    check_int("still not", flag.runs, 0);
    disk_set(DISK_WELL);
    loop_advance(fixture.loop, 2000);
    check_int("durable", flag.runs, 1);
    check_ok("writes again", store_writable(fixture.store, &err), err);
    check_int("all", store_durable_revision(fixture.store), 3);
    check_int("no failure", failure.calls, 0);
    store_fixture_reopen(&fixture);
    assert_non_null(store_fixture_get(&fixture, "b"));
    assert_null(store_fixture_get(&fixture, "a"));
    store_fixture_free(&fixture);
}

static int64_t bytes_of_log(const struct store_fixture *fixture)
{
    scoped_str path = mem_printf("%s/store.db-wal", fixture->directory);
    struct stat info;

    assert_int_equal(stat(path, &info), 0);
    return (int64_t)info.st_blocks * 512;
}

/* The reserve makes room for deletes on the next full disk, so writes wait for it. The log, which
 * held it meanwhile, gives it back. */
static void writes_wait_until_the_reserve_is_back(void **state)
{
    struct store_fixture fixture = store_fixture_new("reserve");
    struct error err;

    disk_set(DISK_NO_SPACE);
    store_put(fixture.store, sample_object(.name = "a"));
    loop_advance(fixture.loop, 10);
    check("the log has the reserve", bytes_of_log(&fixture) > 1 << 20);
    nothing_to_allocate = true;
    disk_set(DISK_WELL);
    loop_advance(fixture.loop, 5000);
    check_int("written", store_durable_revision(fixture.store), 1);
    check_error("no reserve", store_writable(fixture.store, &err), err, ERR_STORAGE);
    nothing_to_allocate = false;
    loop_advance(fixture.loop, 2000);
    check_ok("writes again", store_writable(fixture.store, &err), err);
    store_put(fixture.store, sample_object(.name = "b"));
    loop_settle(fixture.loop);
    for (int i = 0; i < 2000 && bytes_of_log(&fixture) >= 1 << 20; i++)
        usleep(5000); /* the store's thread does so when it has had nothing to do for a while */
    check("the log gave it back", bytes_of_log(&fixture) < 1 << 20);
    store_fixture_free(&fixture);
}

static void a_failed_commit_is_the_end(void **state)
{
    static const enum disk_fault faults[] = {DISK_NO_WRITES, DISK_NO_SYNC};

    for (size_t i = 0; i < countof(faults); i++) {
        scoped_str name = mem_printf("eio-%zu", i);
        struct store_fixture fixture = store_fixture_new(name);
        struct failure failure = {0};
        struct flag flag = {.task.run = raise_flag};
        struct error err;

        store_on_failure(fixture.store, failed, &failure);
        disk_set(faults[i]);
        store_put(fixture.store, sample_object(.name = "a"));
        store_when_durable(fixture.store, &flag.task);
        loop_settle(fixture.loop);
        check_int(name, failure.calls, 1);
        check_error(name, store_writable(fixture.store, &err), err, ERR_INTERNAL);
        disk_set(DISK_WELL);
        store_put(fixture.store, sample_object(.name = "b"));
        store_when_durable(fixture.store, &flag.task);
        loop_advance(fixture.loop, 10000);
        check_int(name, failure.calls, 1);
        check_int(name, flag.runs, 0);
        store_fixture_reopen(&fixture);
        assert_null(store_fixture_get(&fixture, "b"));
        store_fixture_free(&fixture);
    }
}

/* Fails each operation of a small history in turn. Every write reported as durable must be present.
 */
static void every_point_of_failure_keeps_what_was_reported(void **state)
{
    for (int n = 1;; n++) {
        scoped_str name = mem_printf("point-%d", n);
        struct store_fixture fixture = store_fixture_new(name);
        struct failure failure = {0};
        int reported = 0;

        store_on_failure(fixture.store, failed, &failure);
        disk_fail_after(n, DISK_NO_WRITES);
        for (int i = 0; i < 6; i++) {
            scoped_str object = mem_printf("n%d", i);
            struct flag flag = {.task.run = raise_flag};

            store_put(fixture.store, sample_object(.name = object, .body = "{\"spec\":1}"));
            store_when_durable(fixture.store, &flag.task);
            loop_settle(fixture.loop);
            store_forget(fixture.store, &flag.task);
            if (flag.runs)
                reported = i + 1;
        }
        disk_set(DISK_WELL);
        store_fixture_reopen(&fixture);
        for (int i = 0; i < reported; i++) {
            scoped_str object = mem_printf("n%d", i);

            check(name, store_fixture_get(&fixture, object));
        }
        store_fixture_free(&fixture);
        if (failure.calls == 0) {
            check("some failed", n > 6);
            return;
        }
    }
}

static int set_up(void **state)
{
    int quiet = open("/dev/null", O_WRONLY | O_CLOEXEC);

    /* The damage is intended, so messages about it are not shown. */
    log_to(quiet, LOG_ERROR, LOG_TEXT);
    disk_install();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_are_read_back_as_they_were),
        cmocka_unit_test(a_write_in_the_last_turn_is_kept),
        cmocka_unit_test(a_batch_writes_each_row_once),
        cmocka_unit_test(unused_bodies_are_deleted_in_the_end),
        cmocka_unit_test(revisions_are_never_given_twice),
        cmocka_unit_test(the_mark_stays_above_what_is_given_out),
        cmocka_unit_test(an_object_without_a_uid_is_not_served),
        cmocka_unit_test(only_one_process_opens_it),
        cmocka_unit_test(looking_changes_nothing),
        cmocka_unit_test(damage_hurts_one_object_or_is_refused),
        cmocka_unit_test(a_damaged_file_is_named_and_left_alone),
        cmocka_unit_test(the_directory_is_private),
        cmocka_unit_test(a_full_disk_takes_deletes_and_recovers),
        cmocka_unit_test(writes_wait_until_the_reserve_is_back),
        cmocka_unit_test(a_failed_commit_is_the_end),
        cmocka_unit_test(every_point_of_failure_keeps_what_was_reported),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
