/*
 * Measures the time that the kernel alone takes to start /bin/echo, from a plain process to one
 * with the namespaces and mounts of a pod. This is the lower bound for bench_spawn; pods.py runs
 * both alternately.
 *
 *   bench_floor WAY [pods [flight]]       prints one JSON line
 *
 *   spawn     posix_spawn and waitid; the output is discarded
 *   logged    the same with a log file for each process
 *   logs      the same with a directory and two log files each: stdout and stderr
 *   spaces    a clone with mount, pid, uts and ipc namespaces (for an ordinary user also a user
 *             namespace), then the program; a log file each
 *   mounts    the same with the minimum for four volumes: private mounts, a tmpfs, four bind mounts
 *             from it, /proc
 *
 * At most `flight` processes are started and not yet reaped at a time.
 */
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"

enum { PATH_BYTES = 256, VOLUMES = 4 };

static char program[] = "/bin/echo", word[] = "done";
static char *const argv_of_program[] = {program, word, NULL};

static void die(const char *what)
{
    perror(what);
    exit(1); /* NOLINT(concurrency-mt-unsafe) */
}

static int open_log(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

    if (fd < 0)
        die(path);
    return fd;
}

static void spawn(const char *out, const char *errors)
{
    posix_spawn_file_actions_t files;
    pid_t pid;

    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out, O_WRONLY | O_CREAT | O_APPEND,
                                     0600);
    if (errors)
        posix_spawn_file_actions_addopen(&files, STDERR_FILENO, errors,
                                         O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (posix_spawn(&pid, program, &files, NULL, argv_of_program, environ))
        die("posix_spawn");
    posix_spawn_file_actions_destroy(&files);
}

static void write_map(const char *file, const char *text)
{
    int fd = open(file, O_WRONLY | O_CLOEXEC);

    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        die(file);
    close(fd);
}

static void map_ids(uid_t uid, gid_t gid)
{
    char users[64], groups[64];

    snprintf(users, sizeof users, "0 %u 1\n", uid);
    snprintf(groups, sizeof groups, "0 %u 1\n", gid);
    write_map("/proc/self/setgroups", "deny");
    write_map("/proc/self/uid_map", users);
    write_map("/proc/self/gid_map", groups);
}

/* Mounts on existing directories, because creating directories is not part of the lower bound. */
static void make_mounts(const char *dir)
{
    static const char *const over[VOLUMES] = {"/mnt", "/media", "/srv", "/opt"};
    char volume[PATH_BYTES];

    if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) ||
        mount("tmpfs", dir, "tmpfs", MS_NOSUID, "mode=0755"))
        die("mount");
    for (int i = 0; i < VOLUMES; i++) {
        snprintf(volume, sizeof volume, "%s/v%d", dir, i);
        if (mkdir(volume, 0755) || mount(volume, over[i], NULL, MS_BIND, NULL))
            die(volume);
    }
    if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL))
        die("proc");
}

static void clone_one(const char *log, const char *dir, bool mounts)
{
    uid_t uid = geteuid();
    gid_t gid = getegid();
    struct clone_args args = {.flags = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUTS | CLONE_NEWIPC |
                                       (uid ? CLONE_NEWUSER : 0),
                              .exit_signal = SIGCHLD};
    pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof args);

    if (pid < 0)
        die("clone3");
    if (pid)
        return;
    if (uid)
        map_ids(uid, gid);
    dup2(open_log(log), STDOUT_FILENO);
    if (mounts)
        make_mounts(dir);
    execv(program, argv_of_program);
    _exit(127);
}

static void start_one(const char *way, const char *dir, int number)
{
    char log[PATH_BYTES], errors[PATH_BYTES];

    snprintf(log, sizeof log, "%s/%d.log", dir, number);
    if (strcmp(way, "logs") == 0) {
        snprintf(errors, sizeof errors, "%s/%d", dir, number);
        if (mkdir(errors, 0700))
            die(errors);
        snprintf(log, sizeof log, "%s/%d/out", dir, number);
        snprintf(errors, sizeof errors, "%s/%d/err", dir, number);
        spawn(log, errors);
    } else if (strcmp(way, "spaces") == 0 || strcmp(way, "mounts") == 0) {
        clone_one(log, "/tmp", strcmp(way, "mounts") == 0);
    } else {
        spawn(strcmp(way, "logged") == 0 ? log : "/dev/null", NULL);
    }
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "logged";
    int total = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 1000;
    int flight = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 1;
    const char *where = getenv("TMPDIR"); /* NOLINT(concurrency-mt-unsafe) */
    scoped_str dir = mem_printf("%s/bench_floor.XXXXXX", where ? where : "/tmp");
    int64_t begun, took;

    if (!mkdtemp(dir))
        die("mkdtemp");
    begun = clock_mono_ns(clock_real());
    for (int started = 0, done = 0; done < total; done++) {
        siginfo_t info;

        while (started < total && started - done < flight)
            start_one(way, dir, started++);
        if (waitid(P_ALL, 0, &info, WEXITED))
            die("waitid");
        if (info.si_code != CLD_EXITED || info.si_status)
            die("the program failed");
    }
    took = clock_mono_ns(clock_real()) - begun;
    printf("{\"way\":\"%s\",\"flight\":%d,\"pods\":%d,\"us_per_pod\":%.1f}\n", way, flight, total,
           (double)took / 1e3 / total);
    file_remove_tree(AT_FDCWD, dir, NULL);
    return 0;
}
