/*
 * node/sandbox/cgroup: who is in which group, and how he gets there. As root, where there are some.
 */
#include "tests/unit.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "node/sandbox/cgroup.h"
#include "node/sandbox/cgroup_find.h"
#include "node/sandbox/spawn.h"

enum { TEXT_MAX = 64 << 10 };

/* Hierarchies in which this process is in a group of that name. */
static int count_joined(const char *name)
{
    scoped(buf) struct buf text = {0};
    int count = 0;

    if (!file_read("/proc/self/cgroup", TEXT_MAX, &text, NULL) || !text.data)
        return -1;
    for (const char *at = text.data; (at = strstr(at, name)); at++)
        count++;
    return count;
}

struct outcome {
    bool in_unified;
    int before, after; /* it has joined */
};

static struct outcome outcome_of(const struct cgroup *group, const char *name)
{
    struct outcome out = {0};
    int wait_status = 0;
    pid_t pid = cgroup_clone(group, 0, &out.in_unified);

    if (pid == 0) {
        int before = count_joined(name);

        cgroup_join(group, out.in_unified);
        _exit((before & 15) << 4 | (count_joined(name) & 15));
    }
    check("cloned", pid > 0 && waitpid(pid, &wait_status, 0) == pid && WIFEXITED(wait_status));
    out.before = WEXITSTATUS(wait_status) >> 4;
    out.after = WEXITSTATUS(wait_status) & 15;
    return out;
}

/* covers: see local-runtime.md 6.4 */
static void processes_are_born_in_the_unified_group_and_join_the_others(void **state)
{
    static const struct {
        const char *name;
        int64_t processes; /* see shim_limits */
        bool sockaddr_bpf;
    } cases[] = {
        {"limited and sockaddr_bpf", 0, true},
        {"limited", 0, false},
        {"bounded by other means, sockaddr_bpf", -1, true},
    };
    const struct sockaddr_rules some = {.ip = htonl(INADDR_LOOPBACK), .ports = {80}, .n_ports = 1};
    struct sockaddr_bpf bpf = SOCKADDR_BPF_NONE;
    bool memory, cpu, processes;

    cgroup_check_limits(&memory, &cpu, &processes);
    if (geteuid() || !processes || !cgroup_check_sockaddr_bpf() || !sockaddr_bpf_open(&bpf, NULL)) {
        print_message("skipped: no limits or no BPF programs on groups here\n");
        return;
    }
    for (size_t i = 0; i < countof(cases); i++) {
        scoped_str uid = mem_printf("test-%d-%zu", (int)getpid(), i);
        scoped_str name = mem_printf("jobflow-%s-0", uid);
        const struct shim_limits limits = {.processes = cases[i].processes};
        struct cgroup *group =
            cgroup_new(uid, 0, &limits, cases[i].sockaddr_bpf ? &bpf : NULL, &some);
        struct outcome out;

        check(cases[i].name, group);
        check_int(cases[i].name, group->limits_processes, cases[i].processes == 0);
        out = outcome_of(group, name);
        check_int(cases[i].name, out.in_unified, group->unified >= 0);
        check_int(cases[i].name, out.before, out.in_unified);
        check_int(cases[i].name, out.after, (int)group->n);
        cgroup_free(group);
    }
    sockaddr_bpf_close(&bpf);
}

/* Whoever starts them sleeps until they are programs, or are known not to be.
 * covers: see local-runtime.md 6.4 */
static void programs_are_born_there_too_and_failures_are_told(void **state)
{
    static const struct {
        const char *program;
        enum spawn_failure failure;
        bool in_group;
    } cases[] = {
        {"cat", SPAWN_OK, true},
        {"no-such-program", SPAWN_NOT_FOUND, false},
        {"/etc/passwd", SPAWN_NOT_EXECUTABLE, false},
    };
    const struct sockaddr_rules some = {.ip = htonl(INADDR_LOOPBACK), .ports = {80}, .n_ports = 1};
    const struct shim_limits none = {.processes = -1};
    scoped_str uid = mem_printf("in_unified-%d", (int)getpid());
    struct sockaddr_bpf bpf = SOCKADDR_BPF_NONE;
    struct cgroup *group;

    if (geteuid() || !cgroup_check_sockaddr_bpf() || !sockaddr_bpf_open(&bpf, NULL)) {
        print_message("skipped: no BPF programs on groups here\n");
        return;
    }
    group = cgroup_new(uid, 0, &none, &bpf, &some);
    check("a group of the unified hierarchy", group && group->unified_fd >= 0);
    for (size_t i = 0; i < countof(cases); i++) {
        scoped(buf) struct buf text = {0};
        char *const argv[] = {(char *)cases[i].program, (char[]){"/proc/self/cgroup"}, NULL};
        scoped_str path = test_path("printed");
        int in_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
        int out_fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        struct spawn_result result =
            spawn_program(&(struct spawn_plan){.argv = argv,
                                               .env = (char *[]){(char[]){"PATH=/bin"}, NULL},
                                               .cwd = "/",
                                               .input_fd = in_fd,
                                               .output_fd = out_fd,
                                               .files = {1024, 1024},
                                               .group = group});

        close(in_fd);
        close(out_fd);
        check_int(cases[i].program, result.failure, cases[i].failure);
        check_int(cases[i].program, result.pid > 0, cases[i].failure == SPAWN_OK);
        if (result.pid > 0)
            check_int(cases[i].program, waitpid(result.pid, NULL, 0), result.pid);
        check(cases[i].program, file_read(path, TEXT_MAX, &text, NULL));
        check_int(cases[i].program, text.len && strstr(text.data, uid), cases[i].in_group);
    }
    cgroup_free(group);
    sockaddr_bpf_close(&bpf);
}

static void nothing_is_made_for_whom_nothing_is_limited(void **state)
{
    const struct shim_limits limits = {.processes = -1};
    bool in_unified = true;
    pid_t pid;

    check("no group", !cgroup_new("nothing", 0, &limits, NULL, NULL));
    pid = cgroup_clone(NULL, 0, &in_unified);
    if (pid == 0)
        _exit(0);
    check_int("reaped", waitpid(pid, NULL, 0), pid);
    check("not in_unified in one", !in_unified);
}

/* One made by a process that is dead by now; `out_member` (may be NULL) lives in it, until it is
 * killed, and keeps nothing but that. */
static void make_and_die(const char *name, pid_t *out_member)
{
    const struct shim_limits limits = {.processes = 16};
    int wait_status, ends[2];
    pid_t maker, member = 0;

    check_int("pipe", pipe2(ends, O_CLOEXEC), 0);
    maker = fork();
    if (maker == 0) {
        struct cgroup *group = cgroup_new(name, 0, &limits, NULL, NULL);

        member = group && out_member ? fork() : 0;
        if (group && out_member && !member) {
            cgroup_join(group, false);
            for (size_t i = 0; i < group->n; i++)
                close(group->join_fds[i]);
            member = getpid();
            if (write(ends[1], &member, sizeof member) == sizeof member)
                pause();
        }
        _exit(!group);
    }
    check_int("maker", waitpid(maker, &wait_status, 0), maker);
    check_int("made", wait_status, 0);
    if (out_member)
        check_int("joined", (long)read(ends[0], out_member, sizeof *out_member),
                  sizeof *out_member);
    close(ends[0]);
    close(ends[1]);
}

static bool has_group(const char *name)
{
    const struct cgroup_parents *parents = cgroup_find();
    const char *parent = parents->old[CGROUP_PIDS];
    scoped_str dir = mem_printf("%s/jobflow-%s-0", parent ? parent : parents->unified, name);

    return access(dir, F_OK) == 0;
}

/* covers: local-runtime.md LRT-44; see 6.4 */
static void a_group_goes_when_its_maker_is_dead_and_nobody_is_in_it(void **state)
{
    scoped_str empty = mem_printf("empty-%d", (int)getpid());
    scoped_str inhabited = mem_printf("inhabited-%d", (int)getpid());
    scoped_str held = mem_printf("held-%d", (int)getpid());
    const struct shim_limits limits = {.processes = 16};
    bool memory, cpu, processes;
    struct cgroup *group;
    pid_t member;

    cgroup_check_limits(&memory, &cpu, &processes);
    if (!processes) {
        print_message("skipped: no limits on processes here\n");
        return;
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    make_and_die(empty, NULL);
    make_and_die(inhabited, &member);
    group = cgroup_new(held, 0, &limits, NULL, NULL);
    check("the others are there", has_group(inhabited) && has_group(held));
    cgroup_remove_orphaned();
    check("nobody's is gone", !has_group(empty));
    check("one with a process in it stays", has_group(inhabited));
    check("so does one whose maker lives", has_group(held));
    check_int("killed", kill(member, SIGKILL), 0);
    check_int("reaped", waitpid(member, NULL, 0), member);
    cgroup_free(group);
    check("gone with its maker's leave", !has_group(held));
    cgroup_remove_orphaned();
    check("gone with its last process", !has_group(inhabited));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_are_born_in_the_unified_group_and_join_the_others),
        cmocka_unit_test(programs_are_born_there_too_and_failures_are_told),
        cmocka_unit_test(nothing_is_made_for_whom_nothing_is_limited),
        cmocka_unit_test(a_group_goes_when_its_maker_is_dead_and_nobody_is_in_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
