/*
 * Tests damaged stores. A store with acknowledged writes is damaged in one of 200 ways, chosen by a
 * seed: a flipped bit, a cut file, zeroed bytes, a missing file, an older file. It is then refused,
 * or everything acknowledged is there; nothing is missing or changed in silence. A refused store is
 * not changed.
 *
 *   JOBFLOW_SEED=N test_api_store_damage      tries the N-th way alone
 *   JOBFLOW_SEEDS=2000 test_api_store_damage  tries more of them
 *
 * covers: reliability.md D-07 FT-29 P-03 P-11
 */
#include "tests/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/store/db/db.h"
#include "api/store/store.h"
#include "base/file.h"
#include "base/log.h"
#include "tests/support/dice.h"
#include "tests/support/objects.h"
#include "tests/support/store_fixture.h"

enum { WAYS = 200, OBJECTS = 60, FILE_MAX = 8 << 20 };

static const char *const files[] = {"store.db", "store.db-wal", "store.db-mark"};
enum { STORE, LOG, MARK, FILES };

/* The files of a store, as they were when its process was killed or had closed it. */
struct copy {
    struct buf content[FILES];
    bool there[FILES];
};

/* A store, and everything that was acknowledged. */
struct history {
    struct copy killed, closed, early; /* early: before the last half of the writes */
    char *state;
    int64_t newest;
};

static void copy_from(const char *directory, struct copy *out)
{
    for (int i = 0; i < FILES; i++) {
        scoped_str path = mem_printf("%s/%s", directory, files[i]);

        buf_clear(&out->content[i]);
        out->there[i] = file_read(path, FILE_MAX, &out->content[i], NULL);
    }
}

static void copy_to(const struct copy *copy, const char *directory)
{
    for (int i = 0; i < FILES; i++) {
        scoped_str path = mem_printf("%s/%s", directory, files[i]);
        int fd;

        unlink(path);
        if (!copy->there[i])
            continue;
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        assert_true(file_write_all(fd, copy->content[i].data, copy->content[i].len));
        close(fd);
    }
}

static void copy_release(struct copy *copy)
{
    for (int i = 0; i < FILES; i++)
        buf_release(&copy->content[i]);
}

/* An empty file counts as a missing one: SQLite creates an empty log. */
static bool same_copy(const struct copy *a, const struct copy *b)
{
    for (int i = 0; i < FILES; i++)
        if (a->content[i].len != b->content[i].len ||
            (a->content[i].len &&
             memcmp(a->content[i].data, b->content[i].data, a->content[i].len) != 0))
            return false;
    return true;
}

static void write_one(void *arg, const struct object *object)
{
    buf_printf(arg, "%s/%s@%lld %s %s\n", object_namespace(object), object_name(object),
               (long long)object->revision, object->body->text,
               object->status ? object->status->text : "");
}

static char *state_of(const struct store *store)
{
    struct buf out = {0};

    store_each(store, &kind_job, NULL, write_one, &out);
    buf_char(&out, '\n');
    return buf_take(&out);
}

static char *text_of(struct dice *dice, int n)
{
    struct buf text = {0};

    buf_printf(&text, "{\"n\":%d,\"text\":\"", n);
    for (int left = n % 10 ? dice_roll(dice, 300) : 20000; left > 0; left--)
        buf_char(&text, (char)('a' + dice_roll(dice, 26)));
    buf_str(&text, "\"}");
    return buf_take(&text);
}

static void write_objects(struct store_fixture *fixture, struct dice *dice, int from, int to)
{
    for (int i = from; i < to; i++) {
        scoped_str name = mem_printf("n%d", i % (OBJECTS * 3 / 4));
        scoped_str text = text_of(dice, i);
        const struct object *before = store_fixture_get(fixture, name);

        if (before && i % 5 == 0)
            store_delete(fixture->store, before);
        else if (before)
            store_put(fixture->store, sample_with_status(before, text));
        else
            store_put(fixture->store, sample_object(.name = name, .body = text, .status = "{}"));
        loop_settle(fixture->loop);
    }
}

static struct history history_new(struct store_fixture *fixture)
{
    struct history history = {0};
    struct dice dice = {7};

    write_objects(fixture, &dice, 0, OBJECTS / 2);
    store_fixture_reopen(fixture);
    copy_from(fixture->directory, &history.early);
    write_objects(fixture, &dice, OBJECTS / 2, OBJECTS * 2);
    copy_from(fixture->directory, &history.killed);
    history.state = state_of(fixture->store);
    history.newest = store_revision(fixture->store);
    store_fixture_close(fixture);
    copy_from(fixture->directory, &history.closed);
    return history;
}

/* Returns a position; the first bytes of a page or of a frame, and the end, are chosen more often
 * than others. */
static size_t position(struct dice *dice, size_t len)
{
    size_t at = (size_t)dice_roll(dice, (int)len);

    if (dice_chance(dice, 30))
        return at / 4096 * 4096 + (size_t)dice_roll(dice, 40) % len;
    if (dice_chance(dice, 10))
        return len - 1 - at % 50 % len;
    return at;
}

static void flip(struct buf *content, struct dice *dice)
{
    size_t at = position(dice, content->len);

    if (at < content->len)
        content->data[at] = (char)(content->data[at] ^ (1 << dice_roll(dice, 8)));
}

static void zero(struct buf *content, struct dice *dice)
{
    size_t at = position(dice, content->len) / 512 * 512;
    size_t end = at + 512 < content->len ? at + 512 : content->len;

    if (at < end)
        memset(content->data + at, 0, end - at);
}

static void cut(struct buf *content, struct dice *dice)
{
    content->len = dice_chance(dice, 20) ? 0 : position(dice, content->len);
}

enum way { FLIP, ZERO, CUT, REMOVE, OLDER, WAY_N };
static const char *const way_names[] = {"flipped bit", "zeroed sector", "cut", "removed", "older"};

/* Damages a copy; returns a description. */
static char *damage(const struct history *history, struct copy *copy, struct dice *dice)
{
    static void (*const change[])(struct buf *, struct dice *) = {flip, zero, cut};
    enum way way = (enum way)(dice_roll(dice, WAY_N));
    int file = dice_roll(dice, FILES);

    if (dice_chance(dice, 50))
        way = FLIP;
    while (!copy->there[file])
        file = (file + 1) % FILES;
    if (way == REMOVE) {
        copy->there[file] = false;
        buf_clear(&copy->content[file]);
    } else if (way == OLDER && history->early.there[file]) {
        buf_clear(&copy->content[file]);
        buf_add(&copy->content[file], history->early.content[file].data,
                history->early.content[file].len);
    } else if (copy->content[file].len) {
        change[way % 3](&copy->content[file], dice);
    }
    return mem_printf("%s: %s", way_names[way], files[file]);
}

static void copy_copy(const struct copy *from, struct copy *to)
{
    for (int i = 0; i < FILES; i++) {
        to->there[i] = from->there[i];
        buf_add(&to->content[i], from->content[i].data ? from->content[i].data : "",
                from->content[i].len);
    }
}

struct counts {
    int refused, whole;
};

static void try_one(struct store_fixture *fixture, const struct history *history, int number,
                    struct counts *counts)
{
    struct dice dice = {(uint64_t)number * 104729};
    struct copy copy = {0}, after = {0};
    scoped_str what = NULL;
    scoped_str title = NULL;
    struct error err = {0};

    copy_copy(number % 2 ? &history->killed : &history->closed, &copy);
    what = damage(history, &copy, &dice);
    title = mem_printf("JOBFLOW_SEED=%d: %s of a %s store", number, what,
                       number % 2 ? "killed" : "closed");
    copy_to(&copy, fixture->directory);
    if (store_fixture_open(fixture, &err)) {
        scoped_str state = state_of(fixture->store);

        check_str(title, state, history->state);
        check(title, store_revision(fixture->store) >= history->newest);
        store_fixture_close(fixture);
        counts->whole++;
    } else {
        check(title, err.code == ERR_STORAGE);
        check_has(title, err.message, "store.db");
        copy_from(fixture->directory, &after);
        check(title, same_copy(&copy, &after));
        counts->refused++;
    }
    copy_release(&copy);
    copy_release(&after);
}

static int number_from(const char *name, int otherwise)
{
    const char *text = getenv(name);

    return text ? (int)strtol(text, NULL, 10) : otherwise;
}

static void no_damage_is_served_in_silence(void **state)
{
    struct store_fixture fixture = store_fixture_new("ways");
    struct history history = history_new(&fixture);
    int ways = number_from("JOBFLOW_SEEDS", WAYS), one = number_from("JOBFLOW_SEED", 0);
    struct counts counts = {0};

    for (int number = one ? one : 1; number <= (one ? one : ways); number++)
        try_one(&fixture, &history, number, &counts);
    printf("    %d refused, %d whole\n", counts.refused, counts.whole);
    check("many are refused", one || counts.refused > ways / 4);
    copy_release(&history.killed);
    copy_release(&history.closed);
    copy_release(&history.early);
    mem_free(history.state);
    store_fixture_free(&fixture);
}

static int set_up(void **state)
{
    /* The damage is intended, so messages about it are not shown. */
    log_to(open("/dev/null", O_WRONLY | O_CLOEXEC), LOG_ERROR, LOG_TEXT);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_damage_is_served_in_silence),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
