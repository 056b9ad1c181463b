/*
 * Who holds a data directory, and whether it is stopped.
 */
#include "tests/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/store/dir/holder.h"
#include "api/store/dir/store_dir.h"
#include "base/file.h"

/* Starts a process that takes the lock of a directory and stops itself. With `lets_go` it gives up
 * the lock before, as a process that ended and whose pid another one has. */
static pid_t start_stopped(const char *path, bool lets_go)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        struct store_dir dir;

        if (!store_dir_open(&dir, path, NULL))
            _exit(1);
        if (lets_go)
            store_dir_release(&dir);
        raise(SIGSTOP);
        raise(SIGSTOP);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    assert_true(WIFSTOPPED(status));
    return pid;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void a_stopped_holder_is_known(void **state)
{
    scoped_str path = test_path("stopped");
    struct error err = {0};
    pid_t pid = start_stopped(path, false);
    int status;

    check_int("pid", holder_pid(path), pid);
    check("there", holder_is_there(path));
    check_int("stopped", holder_stopped(path), pid);
    check("in use", !holder_in_use(path, &err));
    check_has("says so", err.message, "which is stopped: 'fg' in its terminal or 'kill -CONT ");
    kill(pid, SIGCONT);
    /* The process stops again. That it went on cannot be waited for: once it has stopped, the kernel
     * no longer reports that. */
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    assert_true(WIFSTOPPED(status));
    check_int("stopped again", holder_stopped(path), pid);
    end(pid);
    check_int("gone", holder_stopped(path), 0);
    check("not there", !holder_is_there(path));
}

static void a_pid_without_the_lock_holds_nothing(void **state)
{
    scoped_str path = test_path("stale");
    pid_t pid = start_stopped(path, true);

    check_int("pid", holder_pid(path), pid);
    check_int("stopped", holder_stopped(path), 0);
    end(pid);
}

static void a_running_holder_is_not_stopped(void **state)
{
    scoped_str path = test_path("running");
    struct store_dir dir;
    struct holder_stamp stamp;
    struct error err = {0};

    check_int("no directory", holder_stopped(path), 0);
    check_ok("open", store_dir_open(&dir, path, &err), err);
    check_int("this process", holder_stopped(path), 0);
    check("no stamp", !holder_stamp_take(path, &stamp));
    holder_in_use(path, &err);
    check_has("in use", err.message, "; stop it or name another data directory");
    store_dir_release(&dir);
}

static void a_stamp_holds_until_something_changes(void **state)
{
    scoped_str path = test_path("stamp");
    pid_t pid = start_stopped(path, false);
    scoped_str log = mem_printf("%s/store.db-wal", path);
    struct holder_stamp stamp;
    int fd;

    check("taken", holder_stamp_take(path, &stamp));
    check("holds", holder_stamp_holds(path, &stamp));
    fd = open(log, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, "x", 1), 1);
    close(fd);
    check("a file changed", !holder_stamp_holds(path, &stamp));
    check("taken", holder_stamp_take(path, &stamp));
    check("holds", holder_stamp_holds(path, &stamp));
    end(pid);
    check("the process ended", !holder_stamp_holds(path, &stamp));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stopped_holder_is_known),
        cmocka_unit_test(a_pid_without_the_lock_holds_nothing),
        cmocka_unit_test(a_running_holder_is_not_stopped),
        cmocka_unit_test(a_stamp_holds_until_something_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
