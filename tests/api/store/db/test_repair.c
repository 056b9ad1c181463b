/*
 * Tests the repair of stores whose write-ahead log is damaged: what is whole behind a broken frame
 * is saved, and what is lost is told.
 *
 * A store has acknowledged changes in many commits, all of them in its log, as after a kill. Each
 * case damages a copy of its files.
 *
 *   JOBFLOW_SEED=N test_api_store_db_repair      tries the N-th way of damage alone
 *   JOBFLOW_SEEDS=2000 test_api_store_db_repair  tries more of them
 *
 * covers: reliability.md D-07 FT-29 P-03
 */
#include "tests/unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/store/db/repair.h"
#include "api/store/db/wal.h"
#include "base/file.h"
#include "base/log.h"
#include "tests/support/dice.h"
#include "tests/support/objects.h"
#include "tests/support/store_fixture.h"

enum { OBJECTS = 120, CHANGES = 300, STILL = 70, FILE_MAX = 32 << 20, FRAME_HEAD = 24, WAYS = 150 };

static const char *const files[] = {"store.db", "store.db-wal", "store.db-mark"};
enum { STORE, LOG, MARK, FILES };

/* A killed store, and the texts of its objects. */
struct history {
    struct buf content[FILES];
    char *texts[OBJECTS]; /* of the object of that number; NULL: it was deleted */
    int objects;
    int64_t newest;
    struct wal wal;
};

static char *path_in(const char *directory, const char *file)
{
    return mem_printf("%s/%s", directory, file);
}

static void write_file(const char *directory, const char *file, const struct buf *content)
{
    scoped_str path = path_in(directory, file);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    check(path, fd >= 0 && file_write_all(fd, content->data, content->len));
    close(fd);
}

/* Makes or changes the object of a number. Its text is long, so that a page has few objects. */
static void change(struct store_fixture *fixture, struct history *history, int number, int time)
{
    scoped_str name = mem_printf("n%d", number);
    const struct object *before = store_fixture_get(fixture, name);
    char *text = mem_printf("{\"time\":%d,\"text\":\"%0300d\"}", time, number);

    if (before)
        store_put(fixture->store, sample_with_status(before, text));
    else
        store_put(fixture->store, sample_object(.name = name, .body = "{}", .status = text));
    mem_free(history->texts[number]);
    history->texts[number] = text;
    loop_settle(fixture->loop);
}

static void forget(struct store_fixture *fixture, struct history *history, int number)
{
    scoped_str name = mem_printf("n%d", number);
    const struct object *before = store_fixture_get(fixture, name);

    if (before)
        store_delete(fixture->store, before);
    mem_free(take(history->texts[number]));
    loop_settle(fixture->loop);
}

/* The objects below STILL are written once; those above change and are deleted. */
static void history_new(struct history *history)
{
    struct store_fixture fixture = store_fixture_new("history");
    scoped_str log = path_in(fixture.directory, files[LOG]);
    scoped_str database = path_in(fixture.directory, files[STORE]);

    for (int i = 0; i < OBJECTS; i++)
        change(&fixture, history, i, 0);
    for (int i = 0; i < CHANGES; i++) {
        int number = STILL + i * 7 % (OBJECTS - STILL);

        if (i % 11 == 5)
            forget(&fixture, history, number);
        else
            change(&fixture, history, number, i + 1);
    }
    for (int i = 0; i < OBJECTS; i++)
        history->objects += history->texts[i] != NULL;
    history->newest = store_revision(fixture.store);
    for (int i = 0; i < FILES; i++) {
        scoped_str path = path_in(fixture.directory, files[i]);

        check(path, file_read(path, FILE_MAX, &history->content[i], NULL));
    }
    wal_read(log, database, &history->wal);
    check("all frames are whole", history->wal.n && history->wal.n == history->wal.n_read);
    store_fixture_free(&fixture);
}

static void history_release(struct history *history)
{
    for (int i = 0; i < OBJECTS; i++)
        mem_free(history->texts[i]);
    for (int i = 0; i < FILES; i++)
        buf_release(&history->content[i]);
    wal_release(&history->wal);
}

/* What a repaired store has. */
struct outcome {
    int right, older, foreign; /* objects as they were at the end; earlier; that ought not to be */
    size_t n_lost;
    char *lost;
};

/* Repairs a copy of the history with another log, and opens it. */
static struct outcome repair(const char *title, const struct history *history,
                             const struct buf *log)
{
    struct store_fixture fixture = store_fixture_at("repaired");
    struct store_repair repair = {.directory = fixture.directory, .stamp = "now"};
    struct outcome outcome = {0};
    struct error err = {0};

    file_remove_tree(AT_FDCWD, fixture.directory, NULL);
    check(title, file_mkdirs(fixture.directory, 0700, &err));
    write_file(fixture.directory, files[STORE], &history->content[STORE]);
    write_file(fixture.directory, files[LOG], log);
    write_file(fixture.directory, files[MARK], &history->content[MARK]);
    check_ok(title, store_repair(&repair, &err), err);
    check(title, repair.revision > history->newest);
    check_ok(title, store_fixture_open(&fixture, &err), err);
    check_int(title, (long)store_count(fixture.store, &kind_job, NULL), (long)repair.kept);
    for (int i = 0; i < OBJECTS; i++) {
        scoped_str name = mem_printf("n%d", i);
        const struct object *object = store_fixture_get(&fixture, name);

        if (object && !history->texts[i])
            outcome.foreign++;
        else if (object)
            *(strcmp(object->status->text, history->texts[i]) == 0 ? &outcome.right
                                                                   : &outcome.older) += 1;
    }
    outcome.n_lost = repair.n_lost;
    outcome.lost = repair.lost.len ? mem_strdup(repair.lost.data) : mem_strdup("");
    buf_release(&repair.lost);
    store_fixture_free(&fixture);
    return outcome;
}

static void copy_log(const struct history *history, struct buf *out)
{
    buf_add(out, history->content[LOG].data, history->content[LOG].len);
}

/* Returns a frame of the log: one whose page is written again later, or the last of
 * its page, if that page is a leaf with several rows. */
static const struct wal_frame *frame_of(const struct history *history, bool again)
{
    const struct wal *wal = &history->wal;

    for (size_t i = wal->n / 16; i < wal->n * 9 / 10; i++) {
        const struct wal_frame *frame = &wal->frames[i];
        const char *page = wal->bytes.data + frame->at;
        bool is_again = false;

        for (size_t k = i + 1; k < wal->n; k++)
            is_again |= wal->frames[k].page == frame->page;
        if (is_again != again || page[0] != 13 || page[4] < 3)
            continue;
        return frame;
    }
    return NULL;
}

static void one_broken_place_costs_nothing_where_the_log_tells_the_rest(void **state)
{
    static const struct {
        const char *name;
        bool again;  /* the page of the frame is written again */
        bool header; /* the place is in the header of the log */
        int place;   /* in the header, or behind the begin of the frame */
    } cases[] = {
        {"a page that is written again", true, false, FRAME_HEAD + 2000},
        {"the number of a page", false, false, 3},
        {"the size of the file", false, false, 6},
        {"the salt of a frame", false, false, 9},
        {"the checksum of a frame", false, false, 17},
        {"the magic number of the log", false, true, 1},
        {"the order of bytes of the log", false, true, 3},
        {"the page size of the log", false, true, 10},
        {"the salts of the log", false, true, 17},
        {"the checksum of the log", false, true, 25},
    };
    struct history history = {0};

    history_new(&history);
    for (size_t i = 0; i < countof(cases); i++) {
        const struct wal_frame *frame = frame_of(&history, cases[i].again);
        scoped(buf) struct buf log = {0};
        struct outcome outcome;

        check(cases[i].name, frame);
        copy_log(&history, &log);
        log.data[(cases[i].header ? 0 : frame->at - FRAME_HEAD) + (size_t)cases[i].place] ^= 0x10;
        outcome = repair(cases[i].name, &history, &log);
        check_str(cases[i].name, outcome.lost, "");
        check_int(cases[i].name, outcome.right, history.objects);
        check_int(cases[i].name, outcome.foreign + outcome.older, 0);
        mem_free(outcome.lost);
    }
    history_release(&history);
}

static void a_broken_page_costs_its_objects_alone_and_they_are_told(void **state)
{
    struct history history = {0};
    const struct wal_frame *frame;
    scoped(buf) struct buf log = {0};
    scoped_str wanted = NULL;
    struct outcome outcome;

    history_new(&history);
    frame = frame_of(&history, false);
    check("a frame", frame);
    copy_log(&history, &log);
    memset(log.data + frame->at + 1024, 0, 512);
    outcome = repair("a broken page", &history, &log);
    check_int("all others are as they were", outcome.right,
              history.objects - (unsigned char)history.wal.bytes.data[frame->at + 4]);
    check_int("none is of an earlier time", outcome.foreign + outcome.older, 0);
    wanted = mem_printf("%d objects of which nothing can be read\n",
                        (unsigned char)history.wal.bytes.data[frame->at + 4]);
    check_str("they are told", outcome.lost, wanted);
    mem_free(outcome.lost);
    history_release(&history);
}

/* Frames of a commit that failed, or of an earlier time, may lie behind the end of a log. */
static void frames_behind_the_end_are_no_commits(void **state)
{
    struct history history = {0};
    const struct wal_frame *frame;
    scoped(buf) struct buf log = {0};
    struct outcome outcome;
    size_t from;

    history_new(&history);
    frame = frame_of(&history, true);
    copy_log(&history, &log);
    from = history.wal.frames[history.wal.n / 2].at - FRAME_HEAD;
    buf_add(&log, history.content[LOG].data + from,
            (size_t)40 * (history.wal.page_size + FRAME_HEAD));
    log.data[frame->at + 100] ^= 1;
    outcome = repair("frames behind the end", &history, &log);
    check_str("nothing is lost", outcome.lost, "");
    check_int("all is as it was at the end", outcome.right, history.objects);
    mem_free(outcome.lost);
    history_release(&history);
}

static void spoil(struct buf *log, struct dice *dice)
{
    for (int times = dice_chance(dice, 60) ? 1 : 1 + dice_roll(dice, 4); times > 0; times--) {
        size_t at = (size_t)dice_roll(dice, (int)log->len);
        size_t block = dice_chance(dice, 50) ? 512 : 4096;

        if (dice_chance(dice, 60))
            log->data[at] = (char)(log->data[at] ^ (1 << dice_roll(dice, 8)));
        else
            memset(log->data + at / block * block, dice_chance(dice, 50) ? 0 : 0xa5,
                   at / block * block + block < log->len ? block : log->len - at / block * block);
    }
}

/* Whatever the damage: either nothing is lost, or something is told. Objects that are older than
 * they were, or that were deleted, are there only when lost commits are told. */
static void no_loss_is_silent(void **state)
{
    const char *one = getenv("JOBFLOW_SEED"), *many = getenv("JOBFLOW_SEEDS");
    int first = one ? (int)strtol(one, NULL, 10) : 1;
    int last = one ? first : many ? (int)strtol(many, NULL, 10) : WAYS;
    int whole = 0, some = 0;
    struct history history = {0};

    history_new(&history);
    for (int number = first; number <= last; number++) {
        struct dice dice = {(uint64_t)number * 104729};
        scoped_str title = mem_printf("JOBFLOW_SEED=%d", number);
        scoped(buf) struct buf log = {0};
        struct outcome outcome;
        bool all;

        copy_log(&history, &log);
        spoil(&log, &dice);
        outcome = repair(title, &history, &log);
        all = outcome.right == history.objects;
        if (one)
            printf("%d %d %d %s", outcome.right, outcome.older, outcome.foreign, outcome.lost);
        check(title, all || outcome.n_lost);
        check(title, !(outcome.older || outcome.foreign) || strstr(outcome.lost, "commits"));
        whole += all && !outcome.n_lost;
        some += !(outcome.older || outcome.foreign || all);
        mem_free(outcome.lost);
    }
    printf("    %d without a loss, %d without some objects, %d of an earlier time\n", whole, some,
           last - first + 1 - whole - some);
    check("most lose nothing", one || whole > (last - first) / 2);
    history_release(&history);
}

static bool refuse(void *ctx, const char *old, const char *new, struct error *err)
{
    return error_set(err, ERR_CONFLICT, "", "no");
}

static void ignore(void *ctx, const char *uid, const char *ns, const char *name)
{
}

/* Reads the old store, as who is asked does. */
static bool read_and_refuse(void *ctx, const char *old, const char *new, struct error *err)
{
    store_each_in_file(old, &kind_job, ignore, NULL, NULL);
    return refuse(ctx, old, new, err);
}

/* The names of the directory's entries, sorted. */
static char *names_in(const char *directory)
{
    struct dirent **entries;
    struct buf out = {0};
    int n = scandir(directory, &entries, NULL, alphasort);

    for (int i = 0; i < n; i++) {
        buf_printf(&out, "%s ", entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return buf_take(&out);
}

static void a_refused_repair_leaves_nothing(void **state)
{
    static const struct {
        const char *name;
        bool (*agree)(void *ctx, const char *old, const char *new, struct error *err);
        bool log; /* whether the store has its log */
    } cases[] = {
        {"a store without a log", refuse, false},
        {"a store without a log that is read", read_and_refuse, false},
        {"a store with a log", read_and_refuse, true},
    };
    struct history history = {0};

    history_new(&history);
    for (size_t i = 0; i < countof(cases); i++) {
        scoped_str directory = test_path("refused");
        struct store_repair repair = {
            .directory = directory, .stamp = "now", .agree = cases[i].agree};
        struct error err = {0};
        scoped_str before = NULL;
        scoped_str after = NULL;

        file_remove_tree(AT_FDCWD, directory, NULL);
        check(cases[i].name, file_mkdirs(directory, 0700, &err));
        write_file(directory, "lock", &(struct buf){0});
        for (int file = 0; file < FILES; file++)
            if (file != LOG || cases[i].log)
                write_file(directory, files[file], &history.content[file]);
        before = names_in(directory);
        check(cases[i].name, !store_repair(&repair, &err));
        check_int(cases[i].name, err.code, ERR_CONFLICT);
        after = names_in(directory);
        check_str(cases[i].name, after, before);
        buf_release(&repair.lost);
    }
    history_release(&history);
}

static int set_up(void **state)
{
    log_to(open("/dev/null", O_WRONLY | O_CLOEXEC), LOG_ERROR, LOG_TEXT);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_broken_place_costs_nothing_where_the_log_tells_the_rest),
        cmocka_unit_test(a_broken_page_costs_its_objects_alone_and_they_are_told),
        cmocka_unit_test(frames_behind_the_end_are_no_commits),
        cmocka_unit_test(no_loss_is_silent),
        cmocka_unit_test(a_refused_repair_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
