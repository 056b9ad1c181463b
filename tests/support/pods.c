/*
 * Runs pods with real processes for tests, and waits for their reports.
 */
#include "tests/support/pods.h"
#include "tests/unit.h"

#include <dirent.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/collections/hash.h"
#include "base/file.h"
#include "node/shim/entry.h"
#include "node/wire/message.h"

struct seen {
    UT_hash_handle hh;
    char uid[64];
    struct arena *arena;
    struct buf frame;
    struct shim_status status;
    unsigned reports, finals;
    bool found;
};

struct pods_fixture {
    struct loop *loop;
    struct runtime *rt;
    struct seen *pods;
    struct task adopted;
    struct timer limit;
    bool late, ready;
    const char *waits_for;  /* uid of the pod that is waited for */
    bool waits_final, came; /* a final report is waited for; the report has come */
    enum pod_phase waits_phase;
    int executed; /* exit code of the last exec */
    char *executed_text;
};

static struct seen *seen_of(struct pods_fixture *fixture, const char *uid)
{
    struct seen *seen;

    HASH_FIND_STR(fixture->pods, uid, seen);
    if (!seen) {
        seen = mem_alloc(sizeof *seen);
        snprintf(seen->uid, sizeof seen->uid, "%s", uid);
        HASH_ADD_STR(fixture->pods, uid, seen);
    }
    return seen;
}

static bool arrived(struct pods_fixture *fixture)
{
    struct seen *seen;

    if (!fixture->waits_for)
        return false;
    seen = seen_of(fixture, fixture->waits_for);
    return seen->reports &&
           (fixture->waits_final ? seen->status.final
                                 : seen->status.status.phase == fixture->waits_phase);
}

static void on_report(void *ctx, const struct runtime_report *report)
{
    struct pods_fixture *fixture = ctx;
    struct seen *seen = seen_of(fixture, report->uid);
    struct frame frame;

    if (!fixture->ready) {
        fprintf(stderr, "a report of %s came before the end of adopt\n", report->uid);
        abort();
    }
    buf_clear(&seen->frame);
    shim_put_status(&seen->frame, &(struct shim_status){report->uid, report->final, report->stopped,
                                                        report->status});
    arena_free(seen->arena);
    seen->arena = arena_new(0);
    frame_next(seen->frame.data, seen->frame.len, &frame);
    shim_get_status(&frame.fields, seen->arena, &seen->status);
    seen->reports++;
    seen->finals += report->final;
    if (arrived(fixture)) {
        fixture->came = true;
        loop_stop(fixture->loop);
    }
}

static void on_executed(void *ctx, const struct runtime_exec_result *executed)
{
    struct pods_fixture *fixture = ctx;

    fixture->executed = executed->code;
    fixture->executed_text = mem_strdup(executed->text);
    loop_stop(fixture->loop);
}

int pods_exec(struct pods_fixture *fixture, const char *uid, int64_t limit_ms, char **out_text,
              const char *const *argv)
{
    struct runtime_exec exec = {.uid = uid, .id = 7, .argv = argv, .limit_ms = limit_ms};

    while (argv[exec.n_argv])
        exec.n_argv++;
    fixture->rt->ops->exec(fixture->rt, &exec);
    fixture->late = false;
    timer_start(fixture->loop, &fixture->limit, 60000);
    while (!fixture->executed_text && !fixture->late)
        loop_run(fixture->loop);
    timer_stop(fixture->loop, &fixture->limit);
    if (fixture->late) {
        fprintf(stderr, "the end of the program was not reported\n");
        abort();
    }
    *out_text = fixture->executed_text;
    fixture->executed_text = NULL;
    return fixture->executed;
}

static void on_found(void *ctx, const char *uid)
{
    seen_of(ctx, uid)->found = true;
}

static void on_adopted(struct task *task)
{
    struct pods_fixture *fixture = container_of(task, struct pods_fixture, adopted);

    fixture->ready = true;
    loop_stop(fixture->loop);
}

static void on_limit(struct timer *timer)
{
    struct pods_fixture *fixture = container_of(timer, struct pods_fixture, limit);

    fixture->late = true;
    loop_stop(fixture->loop);
}

struct pods_fixture *pods_new(const char *dir, const struct runtime_host_options *options)
{
    struct pods_fixture *fixture = mem_alloc(sizeof *fixture);
    struct runtime_host_options own = {.restart_backoff_ms = 20};
    struct error err = {0};

    if (options)
        own = *options;
    own.directory = dir;
    fixture->loop = loop_new(clock_real());
    fixture->adopted.run = on_adopted;
    fixture->limit.fire = on_limit;
    fixture->rt = runtime_host_new(fixture->loop, &own, on_report, fixture, &err);
    if (!fixture->rt) {
        fprintf(stderr, "runtime: %s\n", err.message);
        abort();
    }
    fixture->rt->exec_done = on_executed;
    fixture->rt->ops->adopt(fixture->rt, on_found, &fixture->adopted);
    while (!fixture->ready)
        loop_run(fixture->loop);
    return fixture;
}

void pods_free(struct pods_fixture *fixture)
{
    struct seen *seen, *next;

    timer_stop(fixture->loop, &fixture->limit);
    fixture->rt->ops->free(fixture->rt);
    loop_settle(fixture->loop);
    loop_free(fixture->loop);
    HASH_ITER(hh, fixture->pods, seen, next)
    {
        HASH_DEL(fixture->pods, seen);
        arena_free(seen->arena);
        buf_release(&seen->frame);
        mem_free(seen);
    }
    mem_free(fixture);
}

struct runtime *pods_runtime(struct pods_fixture *fixture)
{
    return fixture->rt;
}

struct loop *pods_loop(struct pods_fixture *fixture)
{
    return fixture->loop;
}

struct built {
    struct pod_spec spec;
    struct pod_container specs[8];
    struct runtime_container containers[8];
    struct container_port ports[8];
    struct str_pair limits[8];
    char names[8][8];
    json_t *lifecycles[8], *startups[8]; /* documents of the handlers; owned */
};

static json_t *json_of(const char *text)
{
    scoped_str copy = mem_strdup(text);

    for (char *at = copy; at && *at; at++)
        if (*at == '\'')
            *at = '"';
    return copy ? json_loads(copy, 0, NULL) : NULL;
}

static size_t fill(struct built *built, size_t at, const struct test_container *rows)
{
    size_t n = 0;

    for (; n < 4 && rows[n].argv[0]; n++, at++) {
        const struct test_container *row = &rows[n];
        struct pod_container *spec = &built->specs[at];
        struct runtime_container *c = &built->containers[at];

        snprintf(built->names[at], sizeof built->names[at], "c%zu", at);
        spec->name = row->name ? row->name : built->names[at];
        spec->working_dir = row->cwd;
        spec->restart_policy = row->sidecar ? "Always" : NULL;
        spec->mounts.items = (struct volume_mount *)(size_t)row->mounts;
        while (spec->mounts.count < TEST_POD_MOUNTS_MAX && row->mounts[spec->mounts.count].name)
            spec->mounts.count++;
        built->ports[at].port = row->port;
        spec->ports.items = &built->ports[at];
        spec->ports.count = row->port != 0;
        built->limits[at] = (struct str_pair){"memory", row->memory_limit};
        spec->termination_message_policy = row->message_policy;
        spec->lifecycle = built->lifecycles[at] = json_of(row->lifecycle);
        spec->startup = built->startups[at] = json_of(row->startup);
        spec->limits.items = &built->limits[at];
        spec->limits.count = row->memory_limit != NULL;
        c->spec = spec;
        c->env = row->env;
        while (c->n_env < countof(row->env) && row->env[c->n_env].name)
            c->n_env++;
        c->argv = row->argv;
        while (c->n_argv < TEST_POD_ARGS_MAX && row->argv[c->n_argv])
            c->n_argv++;
    }
    return n;
}

void pods_start(struct pods_fixture *fixture, const struct test_pod *row)
{
    struct built built = {0};
    size_t n_init = fill(&built, 0, row->init), n_main = fill(&built, n_init, row->main);

    built.spec.restart_policy = row->restart ? row->restart : "Never";
    built.spec.hostname = row->hostname;
    built.spec.limits.items = &(struct str_pair){"memory", row->memory_limit};
    built.spec.limits.count = row->memory_limit != NULL;
    if (row->deadline_s)
        built.spec.active_deadline_s = (struct opt_i64){true, row->deadline_s};
    if (row->grace_s)
        built.spec.grace_s = (struct opt_i64){true, row->grace_s};
    fixture->rt->ops->start(fixture->rt, &(struct runtime_pod){
                                             .uid = row->uid,
                                             .ns = "default",
                                             .name = row->uid,
                                             .spec = &built.spec,
                                             .hostname = row->hostname ? row->hostname : row->uid,
                                             .pod_ip = row->ip ? row->ip : "",
                                             .hosts = row->hosts,
                                             .init = built.containers,
                                             .containers = built.containers + n_init,
                                             .n_init = n_init,
                                             .n_containers = n_main,
                                             .volumes = row->volumes,
                                             .n_volumes = row->n_volumes,
                                         });
    for (size_t i = 0; i < countof(built.lifecycles); i++) {
        json_decref(built.lifecycles[i]);
        json_decref(built.startups[i]);
    }
}

static const struct pod_status *wait_for(struct pods_fixture *fixture, const char *uid,
                                         int64_t limit_ms)
{
    fixture->waits_for = uid;
    fixture->late = false;
    fixture->came = arrived(fixture);
    timer_start(fixture->loop, &fixture->limit, limit_ms);
    while (!fixture->late && !fixture->came)
        loop_run(fixture->loop);
    timer_stop(fixture->loop, &fixture->limit);
    fixture->waits_for = NULL;
    return fixture->came ? &seen_of(fixture, uid)->status.status : NULL;
}

const struct pod_status *pods_final(struct pods_fixture *fixture, const char *uid, int64_t limit_ms)
{
    fixture->waits_final = true;
    return wait_for(fixture, uid, limit_ms);
}

const struct pod_status *pods_phase(struct pods_fixture *fixture, const char *uid,
                                    enum pod_phase phase, int64_t limit_ms)
{
    fixture->waits_final = false;
    fixture->waits_phase = phase;
    return wait_for(fixture, uid, limit_ms);
}

void pods_run(struct pods_fixture *fixture, int64_t ms)
{
    fixture->late = false;
    timer_start(fixture->loop, &fixture->limit, ms);
    while (!fixture->late)
        loop_run(fixture->loop);
}

bool pods_printed(struct pods_fixture *fixture, const char *uid, const char *text, int64_t limit_ms)
{
    for (int64_t waited_ms = 0; waited_ms < limit_ms; waited_ms += 10) {
        scoped_str log = pods_log(fixture, uid, NULL);

        if (log && strstr(log, text))
            return true;
        pods_run(fixture, 10);
    }
    return false;
}

unsigned pods_reports(struct pods_fixture *fixture, const char *uid)
{
    return seen_of(fixture, uid)->reports;
}

unsigned pods_finals(struct pods_fixture *fixture, const char *uid)
{
    return seen_of(fixture, uid)->finals;
}

bool pods_stopped(struct pods_fixture *fixture, const char *uid)
{
    return seen_of(fixture, uid)->status.stopped;
}

bool pods_found(struct pods_fixture *fixture, const char *uid)
{
    return seen_of(fixture, uid)->found;
}

char *pods_log(struct pods_fixture *fixture, const char *uid, const char *container)
{
    struct log_query all = {.container = container, .tail_lines = -1, .limit_bytes = -1};
    struct buf out = {0};
    int64_t offset = 0;

    fixture->rt->ops->read_log(fixture->rt, uid, &all, &offset, &out, NULL);
    return buf_take(&out);
}

int pods_shell(struct pods_fixture *fixture, const char *uid, const char *script, char **out_log)
{
    const struct pod_status *status;

    pods_start(fixture, &(struct test_pod){uid, .main = {{.argv = {"/bin/sh", "-c", script}}}});
    status = pods_final(fixture, uid, 60000);
    if (out_log)
        *out_log = pods_log(fixture, uid, NULL);
    return status && status->containers.count ? status->containers.items[0].exit_code : -1;
}

size_t shims_of(const char *dir, int *pids, size_t max)
{
    scoped_str shared = mem_printf("%s/node/shims/", dir);
    scoped_str own = mem_printf("%s/node/" PODS_DIRECTORY, dir);
    DIR *proc = opendir("/proc");
    size_t n = 0;

    for (struct dirent *entry;
         proc && (entry = readdir(proc));) { /* NOLINT(concurrency-mt-unsafe) */
        char path[64], target[512];
        ssize_t len;
        int pid = (int)strtol(entry->d_name, NULL, 10);

        if (pid <= 0 || pid == getpid())
            continue;
        snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, SHIM_FD_DIR);
        len = readlink(path, target, sizeof target - 1);
        target[len > 0 ? len : 0] = 0;
        if ((strncmp(target, shared, strlen(shared)) == 0 || strcmp(target, own) == 0) && n < max)
            pids[n++] = pid;
    }
    if (proc)
        closedir(proc);
    return n;
}

long number_in_text(const char *text, const char *name)
{
    size_t len = strlen(name);

    for (const char *line = text; line && *line;
         line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (strncmp(line, name, len) == 0 && line[len] == '=')
            return strtol(line + len + 1, NULL, 10);
    return -1;
}

bool process_alive(long pid)
{
    scoped_str path = mem_printf("/proc/%ld/stat", pid);
    scoped(buf) struct buf stat = {0};
    const char *state;

    if (pid <= 0 || !file_read(path, 4096, &stat, NULL))
        return false;
    state = strrchr(stat.data, ')');
    return state && strncmp(state, ") Z", 3) != 0;
}

char *host_shell(const char *script)
{
    char *const argv[] = {(char[]){"/bin/sh"}, (char[]){"-c"}, (char *)(size_t)script, NULL};
    posix_spawn_file_actions_t files;
    struct buf out = {0};
    char chunk[4096];
    int ends[2];
    pid_t pid;

    if (pipe(ends))
        abort();
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&files, ends[0]);
    posix_spawn_file_actions_addclose(&files, ends[1]);
    if (posix_spawn(&pid, argv[0], &files, NULL, argv, environ))
        abort();
    posix_spawn_file_actions_destroy(&files);
    close(ends[1]);
    for (ssize_t n; (n = read(ends[0], chunk, sizeof chunk)) > 0;)
        buf_add(&out, chunk, (size_t)n);
    close(ends[0]);
    waitpid(pid, NULL, 0);
    return buf_take(&out);
}

const char *test_program(void)
{
    static char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

    path[n > 0 ? n : 0] = 0;
    return path;
}

bool isolation_level_works(const char *level, struct error *err)
{
    scoped_str dir = test_path("probe");
    struct loop *loop = loop_new(clock_real());
    struct runtime *rt =
        runtime_host_new(loop, &(struct runtime_host_options){.directory = dir, .isolation = level},
                         NULL, NULL, err);

    if (rt) {
        print_message("isolation: %s\n", rt->ops->describe(rt));
        rt->ops->free(rt);
    }
    loop_free(loop);
    return rt != NULL;
}
