#include "tests/unit.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/store/dir/holder.h"
#include "api/store/dir/store_dir.h"
#include "base/file.h"

/* covers: reliability.md D-06 */
static void a_directory_has_one_owner(void **state)
{
    scoped_str path = test_path("one");
    struct store_dir first, second;
    struct error err = {0};

    check_ok("first", store_dir_open(&first, path, &err), err);
    check_error("second", store_dir_open(&second, path, &err), err, ERR_CONFLICT);
    check_has("who", err.message, "in use by process");
    store_dir_release(&first);
    check_ok("then", store_dir_open(&second, path, &err), err);
    store_dir_release(&second);
}

static bool exists(const char *directory, const char *name)
{
    scoped_str path = mem_printf("%s/%s", directory, name);

    return access(path, F_OK) == 0;
}

/* Makes an empty log in the store's directory. */
static void make_log(const char *directory)
{
    scoped_str path = mem_printf("%s/store.db-wal", directory);
    struct error err;

    check_ok("log", file_create_private(path, &err), err);
}

/* covers: reliability.md D-08 L-21 */
static void the_reserve_moves_into_the_log_and_comes_back(void **state)
{
    scoped_str path = test_path("reserve");
    struct store_dir dir;
    struct error err = {0};

    check_ok("open", store_dir_open(&dir, path, &err), err);
    check("reserved", dir.reserved && !dir.full && exists(path, "reserve"));
    make_log(path);
    check("the log has its content alone", !store_dir_log_has_reserve(&dir));
    store_dir_move_reserve(&dir);
    check("given up", !dir.reserved && !exists(path, "reserve"));
    check("the log has it", store_dir_log_has_reserve(&dir));
    check("so there is room for deletes", store_dir_has_room(&dir));
    check("taken again", store_dir_take_reserve(&dir) && exists(path, "reserve"));
    store_dir_release(&dir);
}

enum { WAIT_MS = 30000 };

/* Waits until the process is in the given state, a letter as ps shows it. */
static void wait_for_state(pid_t pid, char state)
{
    scoped_str path = mem_printf("/proc/%d/stat", (int)pid);

    for (int i = 0; i < WAIT_MS; i++) {
        scoped(buf) struct buf text = {0};
        const char *end;

        if (!file_read(path, 4096, &text, NULL))
            _exit(1);
        end = strrchr(text.data, ')');
        if (end && end[1] == ' ' && end[2] == state)
            return;
        poll(NULL, 0, 1);
    }
    fprintf(stderr, "process %d does not come into state %c\n", (int)pid, state);
    _exit(1);
}

struct holder {
    char lock[512];
    pid_t asker; /* the process that asks for the lock */
    int ready[2];
};

/* Returns when the asking process has found the lock taken and waits. */
static void until_asked(const struct holder *holder)
{
    int events = inotify_init1(IN_CLOEXEC);
    struct inotify_event event;

    alarm(WAIT_MS / 1000); /* ends this process if no other one asks */
    if (inotify_add_watch(events, holder->lock, IN_OPEN) < 0 ||
        write(holder->ready[1], "", 1) != 1 || read(events, &event, sizeof event) <= 0)
        _exit(1);
    wait_for_state(holder->asker, 'S');
}

static void *go_on_until_asked(void *holder)
{
    until_asked(holder);
    _exit(0);
}

/* Ends the owner of the lock. A child that has not called exec yet keeps the lock a little
 * longer. */
static void leave_a_child(struct holder *holder)
{
    if (fork() == 0)
        until_asked(holder);
    _exit(0);
}

/* Ends the main thread while another thread is still running, as during the exit of a process. */
static void leave_a_thread(struct holder *holder)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, go_on_until_asked, holder))
        _exit(1);
    syscall(SYS_exit, 0);
}

/* Keeps the lock until the process is killed. */
static void hold_on(struct holder *holder)
{
    if (write(holder->ready[1], "", 1) == 1)
        pause();
}

/* Starts a process that takes the lock and ends soon after. Returns when it has the lock. */
static pid_t holder_of(const char *path, struct holder *holder, void (*leave)(struct holder *))
{
    pid_t pid;
    char byte;

    *holder = (struct holder){.asker = getpid()};
    snprintf(holder->lock, sizeof holder->lock, "%s/lock", path);
    assert_int_equal(pipe2(holder->ready, O_CLOEXEC), 0);
    pid = fork();
    if (pid == 0) {
        struct store_dir dir;

        if (store_dir_open(&dir, path, NULL))
            leave(holder);
        _exit(1);
    }
    close(holder->ready[1]);
    check_int("it had the directory", read(holder->ready[0], &byte, 1), 1);
    close(holder->ready[0]);
    return pid;
}

static void who_is_over_gives_the_directory_up_and_is_waited_for(void **state)
{
    static const struct {
        const char *name;
        void (*leave)(struct holder *);
        bool reaped; /* the owner is reaped before another process asks for the lock */
    } cases[] = {
        {"a child that goes on", leave_a_child, true},
        {"a child that goes on, its parent not yet reaped", leave_a_child, false},
        {"a thread that goes on", leave_a_thread, false},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        scoped_str path = test_path(cases[i].name);
        struct holder holder;
        struct error err = {0};
        struct store_dir dir;
        int status = -1;
        pid_t pid = holder_of(path, &holder, cases[i].leave);

        if (cases[i].reaped)
            check_int(cases[i].name, waitpid(pid, &status, 0), pid);
        else
            wait_for_state(pid, 'Z');
        check_ok(cases[i].name, store_dir_open(&dir, path, &err), err);
        store_dir_release(&dir);
        if (!cases[i].reaped)
            check_int(cases[i].name, waitpid(pid, &status, 0), pid);
        check_int(cases[i].name, status, 0);
    }
}

/* Looks at the lock of a directory that no process has until the test asks for it. Returns when it
 * looks. */
static pid_t looker_at(const char *path, struct holder *holder)
{
    char byte;
    pid_t pid;

    *holder = (struct holder){.asker = getpid()};
    snprintf(holder->lock, sizeof holder->lock, "%s/lock", path);
    assert_int_equal(pipe2(holder->ready, O_CLOEXEC), 0);
    pid = fork();
    if (pid == 0) {
        int fd = open(holder->lock, O_RDONLY | O_CLOEXEC);

        if (fd < 0 || flock(fd, LOCK_SH) < 0)
            _exit(1);
        until_asked(holder);
        _exit(0);
    }
    close(holder->ready[1]);
    check_int("it looks", read(holder->ready[0], &byte, 1), 1);
    close(holder->ready[0]);
    return pid;
}

/* A client looks at the lock to see whether a process has the directory. */
static void a_look_at_the_lock_refuses_no_owner(void **state)
{
    scoped_str path = test_path("looked at");
    struct holder holder;
    struct store_dir dir;
    struct error err = {0};
    int status = -1;
    pid_t pid;

    check_ok("before", store_dir_open(&dir, path, &err), err); /* its pid, which is there, stays */
    check("locked", holder_is_locked(path));
    store_dir_release(&dir);
    check("free", !holder_is_locked(path));
    pid = looker_at(path, &holder);
    check_ok("beside a look", store_dir_open(&dir, path, &err), err);
    store_dir_release(&dir);
    check_int("it has ended", waitpid(pid, &status, 0), pid);
    check_int("in order", status, 0);
}

/* A stopped process keeps its files open and does not release the lock. */
static void who_is_only_stopped_is_not_waited_for(void **state)
{
    scoped_str path = test_path("stopped");
    struct holder holder;
    struct error err = {0};
    struct store_dir dir;
    pid_t pid = holder_of(path, &holder, hold_on);
    bool opened;

    check_int("stopped", kill(pid, SIGSTOP), 0);
    wait_for_state(pid, 'T');
    opened = store_dir_open(&dir, path, &err);
    kill(pid, SIGKILL); /* before the checks: a stopped process would keep the test's output open */
    check_int("over", waitpid(pid, NULL, 0), pid);
    check_error("refused", opened, err, ERR_CONFLICT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_directory_has_one_owner),
        cmocka_unit_test(the_reserve_moves_into_the_log_and_comes_back),
        cmocka_unit_test(who_is_over_gives_the_directory_up_and_is_waited_for),
        cmocka_unit_test(a_look_at_the_lock_refuses_no_owner),
        cmocka_unit_test(who_is_only_stopped_is_not_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
