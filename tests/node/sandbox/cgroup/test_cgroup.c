/*
 * Tests node/sandbox/cgroup: how processes get into control groups, and which groups are removed.
 * Needs root and control groups; the cases that cannot run here are skipped.
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
#include "node/sandbox/cgroup/cgroup.h"
#include "node/sandbox/spawn.h"

enum { TEXT_MAX = 64 << 10 };

/* Returns the number of hierarchies in which this process is in a group of that name. */
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
    int before, after; /* number of groups that the process is in before and after cgroup_join */
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
static void processes_start_in_the_unified_group_and_join_the_others(void **state)
{
    static const struct {
        const char *name;
        int64_t processes; /* limit of processes, as in struct shim_limits */
        bool bpf;
    } cases[] = {
        {"limited, with BPF", 0, true},
        {"limited", 0, false},
        {"limited otherwise, with BPF", -1, true},
    };
    const struct sockaddr_rules rules = {.ip = htonl(INADDR_LOOPBACK), .ports = {80}, .n_ports = 1};
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
        struct cgroup *group = cgroup_new(&(struct cgroup_spec){
            .uid = uid,
            .limits = {.processes = cases[i].processes},
            .bpf = cases[i].bpf ? &bpf : NULL,
            .rules = &rules,
        });
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

/* spawn_program returns after exec has succeeded or failed.
 * covers: see local-runtime.md 6.4 */
static void programs_start_in_the_unified_group_and_failures_are_reported(void **state)
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
    const struct sockaddr_rules rules = {.ip = htonl(INADDR_LOOPBACK), .ports = {80}, .n_ports = 1};
    scoped_str uid = mem_printf("program-%d", (int)getpid());
    struct sockaddr_bpf bpf = SOCKADDR_BPF_NONE;
    struct cgroup *group;

    if (geteuid() || !cgroup_check_sockaddr_bpf() || !sockaddr_bpf_open(&bpf, NULL)) {
        print_message("skipped: no BPF programs on groups here\n");
        return;
    }
    group = cgroup_new(&(struct cgroup_spec){
        .uid = uid, .limits = {.processes = -1}, .bpf = &bpf, .rules = &rules});
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

static void no_group_is_made_without_limits(void **state)
{
    const struct cgroup_spec spec = {.uid = "nothing", .limits = {.processes = -1}};
    bool in_unified = true;
    pid_t pid;

    check("no group", !cgroup_new(&spec));
    pid = cgroup_clone(NULL, 0, &in_unified);
    if (pid == 0)
        _exit(0);
    check_int("reaped", waitpid(pid, NULL, 0), pid);
    check("the child is in no group", !in_unified);
}

static struct cgroup *group_new(const char *name)
{
    return cgroup_new(&(struct cgroup_spec){.uid = name, .limits = {.processes = 16}});
}

/* Makes a group in a process that has ended when this returns. `out_member`, unless NULL, becomes a
 * process in the group, which runs until it is killed and holds no lock on the group. */
static void make_and_die(const char *name, pid_t *out_member)
{
    int wait_status, ends[2];
    pid_t maker, member = 0;

    check_int("pipe", pipe2(ends, O_CLOEXEC), 0);
    maker = fork();
    if (maker == 0) {
        struct cgroup *group = group_new(name);

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
    const struct cgroup_parents *parents = cgroup_find_parents();
    const char *parent = parents->v1[CGROUP_PIDS];
    scoped_str dir = mem_printf("%s/jobflow-%s-0", parent ? parent : parents->unified, name);

    return access(dir, F_OK) == 0;
}

/* covers: local-runtime.md LRT-44; see 6.4 */
static void an_empty_group_is_removed_when_its_maker_is_dead(void **state)
{
    scoped_str empty = mem_printf("empty-%d", (int)getpid());
    scoped_str inhabited = mem_printf("inhabited-%d", (int)getpid());
    scoped_str held = mem_printf("held-%d", (int)getpid());
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
    group = group_new(held);
    check("the other groups exist", has_group(inhabited) && has_group(held));
    cgroup_remove_orphaned();
    check("the empty group is removed", !has_group(empty));
    check("a group with a process stays", has_group(inhabited));
    check("a group whose maker lives stays", has_group(held));
    check_int("killed", kill(member, SIGKILL), 0);
    check_int("reaped", waitpid(member, NULL, 0), member);
    cgroup_free(group);
    check("its maker removes it", !has_group(held));
    cgroup_remove_orphaned();
    check("removed after its last process", !has_group(inhabited));
}

static void processor_time_is_in_the_units_of_the_kernel(void **state)
{
    static const struct {
        const char *name;
        int64_t milli, quota_us, weight, shares;
    } cases[] = {
        {"less than the kernel takes", 1, 1000, 1, 2},
        {"a quarter", 250, 25000, 25, 256},
        {"one", 1000, 100000, 100, 1024},
        {"a hundred", 100000, 10000000, 10000, 102400},
        {"more than the kernel weighs", 300000, 30000000, 10000, 262144},
        {"without bound", INT64_MAX, 100000000000, 10000, 262144},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        check_int(cases[i].name, cgroup_cpu_quota_us(cases[i].milli), cases[i].quota_us);
        check_int(cases[i].name, cgroup_cpu_weight(cases[i].milli, true), cases[i].weight);
        check_int(cases[i].name, cgroup_cpu_weight(cases[i].milli, false), cases[i].shares);
    }
}

static struct cgroup *pod_group_new(const char *uid)
{
    return cgroup_new(&(struct cgroup_spec){.uid = uid,
                                            .index = CGROUP_OF_POD,
                                            .limits = {.memory_bytes = 64 << 20,
                                                       .cpu_milli = 500,
                                                       .processes = -1,
                                                       .cpu_request_milli = 250}});
}

/* A file of the pod's groups with its text; "" when no group has it. */
static void read_in(const struct cgroup *group, const char *const names[2], struct buf *out)
{
    for (size_t i = 0; i < group->n; i++)
        for (size_t n = 0; n < 2; n++) {
            scoped_str path = mem_printf("%s/%s", group->dirs[i], names[n]);

            buf_clear(out);
            if (file_read(path, TEXT_MAX, out, NULL) && out->len)
                return;
        }
    buf_clear(out);
    buf_char(out, '\0');
}

static void check_reads(const struct cgroup *group, const char *in_v1, const char *in_unified,
                        const char *text_v1, const char *text_unified)
{
    const char *const names[] = {in_v1, in_unified};
    scoped(buf) struct buf text = {0};

    read_in(group, names, &text);
    check(in_unified, strcmp(text.data, text_v1) == 0 || strcmp(text.data, text_unified) == 0);
}

static bool limits_pods(void)
{
    bool memory, cpu, processes;

    cgroup_check_limits(&memory, &cpu, &processes);
    if (!memory || !cpu)
        print_message("skipped: no limits on memory and cpu here\n");
    return memory && cpu;
}

/* Groups of containers are in those of their pod, in each hierarchy in which the pod has one. */
static void a_pod_has_a_group_around_those_of_its_containers(void **state)
{
    scoped_str uid = mem_printf("pod-%d", (int)getpid());
    scoped_str name = mem_printf("jobflow-%s-pod/jobflow-%s-3", uid, uid);
    struct cgroup *pod, *container;
    struct outcome out;

    if (!limits_pods())
        return;
    pod = pod_group_new(uid);
    check("limits", pod && pod->limits_memory && pod->limits_cpu && pod->weighs_cpu);
    check_reads(pod, "memory.limit_in_bytes", "memory.max", "67108864\n", "67108864\n");
    check_reads(pod, "cpu.cfs_quota_us", "cpu.max", "50000\n", "50000 100000\n");
    check_reads(pod, "cpu.shares", "cpu.weight", "256\n", "25\n");
    container = cgroup_new(
        &(struct cgroup_spec){.uid = uid, .index = 3, .of_pod = pod, .limits = {.processes = -1}});
    check("a group without limits of its own", container != NULL);
    check_int("in each hierarchy", (long)container->n, (long)pod->n);
    out = outcome_of(container, name);
    check_int("processes are in all of them", out.after, (int)pod->n);
    cgroup_free(container);
    cgroup_free(pod);
    cgroup_remove_lost((const char *[]){uid}, 1);
}

static bool has_pod_group(const char *uid)
{
    const struct cgroup_parents *parents = cgroup_find_parents();
    const char *parent = parents->v1[CGROUP_MEMORY];
    scoped_str dir = mem_printf("%s/jobflow-%s-pod", parent ? parent : parents->unified, uid);

    return access(dir, F_OK) == 0;
}

/* Makes the groups of a pod and of one of its containers, in a process that has ended when this
 * returns. */
static void make_pod_and_die(const char *uid)
{
    int wait_status;
    pid_t maker = fork();

    if (maker == 0) {
        struct cgroup *pod = pod_group_new(uid);
        struct cgroup *container =
            pod ? cgroup_new(&(struct cgroup_spec){
                      .uid = uid, .of_pod = pod, .limits = {.memory_bytes = 32 << 20}})
                : NULL;

        _exit(!container);
    }
    check_int("maker", waitpid(maker, &wait_status, 0), maker);
    check_int("made", wait_status, 0);
    check("left behind", has_pod_group(uid));
}

static void groups_of_a_pod_are_removed_with_those_in_them(void **state)
{
    scoped_str uid = mem_printf("left-%d", (int)getpid());

    if (!limits_pods())
        return;
    make_pod_and_die(uid);
    cgroup_remove_lost((const char *[]){uid}, 1);
    check("as those of a lost pod", !has_pod_group(uid));
    make_pod_and_die(uid);
    cgroup_remove_orphaned();
    check("as groups without a maker", !has_pod_group(uid));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_start_in_the_unified_group_and_join_the_others),
        cmocka_unit_test(programs_start_in_the_unified_group_and_failures_are_reported),
        cmocka_unit_test(no_group_is_made_without_limits),
        cmocka_unit_test(an_empty_group_is_removed_when_its_maker_is_dead),
        cmocka_unit_test(processor_time_is_in_the_units_of_the_kernel),
        cmocka_unit_test(a_pod_has_a_group_around_those_of_its_containers),
        cmocka_unit_test(groups_of_a_pod_are_removed_with_those_in_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
