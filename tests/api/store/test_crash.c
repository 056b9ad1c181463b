/*
 * Tests kill -9 under load: a child process writes and reports its durable writes; the parent kills
 * it at a random moment, opens the store and compares. covers: reliability.md P-01 P-02 P-03 INV-S1
 * INV-S2 INV-S3
 */
#include "tests/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/store/store.h"
#include "base/collections/hash.h"
#include "tests/support/objects.h"

enum {
    ROUNDS = 60,
    NAMES = 40,
    WRITES_PER_TURN = 20,
    REPORTS_MAX = 15,
    MORE_US_MAX = 3000,
    WRITES_UNREPORTED = 10000,
};

/* A report of the child: the newest durable revision, and the newest assigned one. */
struct report {
    int64_t durable, newest;
};

struct child {
    struct loop *loop;
    struct store *store;
    struct clock *chance;
    struct task work, tell;
    bool telling;
    int out;
    int life;
    int64_t count;
};

/* Writes an object. Its status has the number of the write, so that versions differ. */
static void write_something(struct child *child)
{
    char name[16], status[64];
    const struct object *object;

    snprintf(name, sizeof name, "n%u", (unsigned)(clock_random(child->chance) % NAMES));
    snprintf(status, sizeof status, "{\"life\":%d,\"n\":%lld}", child->life,
             (long long)++child->count);
    object = store_get(child->store, &kind_job, "default", name);
    if (!object)
        store_put(child->store, sample_object(.name = name, .status = status,
                                              .body = child->count % 3 ? "{}" : status));
    else if (clock_random(child->chance) % 4 == 0)
        store_delete(child->store, object);
    else
        store_put(child->store, sample_with_status(object, status));
}

static void tell(struct task *task)
{
    struct child *child = container_of(task, struct child, tell);
    struct report report = {store_durable_revision(child->store), store_revision(child->store)};

    child->telling = false;
    if (write(child->out, &report, sizeof report) != sizeof report)
        _exit(1);
}

static void work(struct task *task)
{
    struct child *child = container_of(task, struct child, work);

    for (int i = 0; i < WRITES_PER_TURN; i++)
        write_something(child);
    if (!child->telling) {
        child->telling = true;
        store_when_durable(child->store, &child->tell);
    }
    store_when_durable(child->store, &child->work);
}

static void run_child(const char *directory, int out, uint64_t seed, int life)
{
    const struct store_options options = {.directory = directory};
    struct child child = {.loop = loop_new(clock_real()), .out = out, .life = life};

    child.chance = clock_virtual_new(0, seed);
    child.work.run = work;
    child.tell.run = tell;
    child.store = store_open(child.loop, &options, NULL);
    if (!child.store)
        _exit(2);
    loop_post(child.loop, &child.work);
    loop_run(child.loop);
}

/* The lifetime of a child process: it ends a delay after a number of reports. */
struct life {
    int number;
    uint64_t seed;
    int reports;
    useconds_t more_us;
};

static struct report run_and_kill(const char *directory, const struct life *life)
{
    struct report last = {0}, report;
    int ends[2], status;
    pid_t pid;

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        run_child(directory, ends[1], life->seed, life->number);
    close(ends[1]);
    for (int i = 0; i < life->reports; i++)
        check("it reports", read(ends[0], &last, sizeof last) == sizeof last);
    usleep(life->more_us);
    kill(pid, SIGKILL);
    while (read(ends[0], &report, sizeof report) == sizeof report)
        last = report;
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    check("it was running", WIFSIGNALED(status));
    return last;
}

/* Adds an object to the checksum of a whole state, which is the sum over its objects and
 * independent of their order. */
static void add_object(void *arg, const struct object *object)
{
    scoped_str text = mem_printf("%s %s %s", object_name(object), object_uid(object),
                                 object->status ? object->status->text : "");

    *(uint64_t *)arg += hash_bytes(text, strlen(text));
}

static uint64_t state_of(const struct store *store)
{
    uint64_t sum = 0;

    store_each(store, &kind_job, NULL, add_object, &sum);
    return sum;
}

/*
 * Replays the child's writes on the model until it equals the store. The store may have lost the
 * last writes, but no reported write and none from the middle. So it must equal one of the states
 * from `durable` to `newest`.
 */
static void replay(struct store *model, const struct store *store, struct child *child,
                   int64_t durable, int64_t newest)
{
    uint64_t want = state_of(store);

    child->store = model;
    while (child->count < durable)
        write_something(child);
    while (state_of(model) != want) {
        check("some state that was written", child->count <= newest + WRITES_PER_TURN);
        write_something(child);
    }
}

static void what_was_reported_durable_survives_kill(void **state)
{
    struct clock *chance = clock_virtual_new(0, 11), *still = clock_virtual_new(0, 1);
    struct loop *loop = loop_new(still);
    struct store *model = store_open(loop, &(struct store_options){.watch_window = 1}, NULL);
    scoped_str directory = test_path("kill");
    int64_t before = 0; /* newest revision when the child starts */

    for (int round = 0; round < ROUNDS; round++) {
        const struct life life = {.number = round,
                                  .seed = clock_random(chance),
                                  .reports = (int)(clock_random(chance) % REPORTS_MAX),
                                  .more_us = (useconds_t)(clock_random(chance) % MORE_US_MAX)};
        struct child child = {.chance = clock_virtual_new(0, life.seed), .life = round};
        struct report report = run_and_kill(directory, &life);
        struct error err;
        struct store *store =
            store_open(loop, &(struct store_options){.directory = directory}, &err);

        check_ok("open", store, err);
        check("revisions go on above all given", store_revision(store) >= report.newest);
        if (report.newest == 0) /* the child may have written without reporting it */
            report = (struct report){before, before + WRITES_UNREPORTED};
        else
            check("also above those of the life before", report.newest > before);
        replay(model, store, &child, report.durable - before, report.newest - before);
        before = store_revision(store);
        store_close(store);
        clock_free(child.chance);
    }
    store_close(model);
    loop_settle(loop);
    loop_free(loop);
    clock_free(still);
    clock_free(chance);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_reported_durable_survives_kill),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
