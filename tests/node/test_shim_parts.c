/*
 * The parts of a shim that need no process: frames, messages, records, decisions, logs.
 */
#include "tests/unit.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node/runtime_host.h"
#include "node/shim/decide.h"
#include "node/shim/logfile.h"
#include "node/shim/message.h"
#include "node/shim/records.h"

/* ---- frames ---- */

static void every_cut_of_a_frame_is_more_and_never_wrong(void **state)
{
    scoped(buf) struct buf bytes = {0};
    struct wire_frame frame;
    size_t begun = wire_begin(&bytes, 7);

    wire_put_text(&bytes, "text");
    wire_put_text(&bytes, NULL);
    wire_put_i64(&bytes, -5);
    wire_end(&bytes, begun);
    for (size_t len = 0; len < bytes.len; len++)
        check_int("cut", wire_next_frame(bytes.data, len, &frame), WIRE_MORE);
    check_int("whole", wire_next_frame(bytes.data, bytes.len, &frame), WIRE_FRAME);
    check_int("size", frame.size, bytes.len);
    check_str("text", wire_text(&frame.fields), "text");
    check_str("absent", wire_text(&frame.fields), NULL);
    check_int("number", wire_i64(&frame.fields), -5);
    check("end", !frame.fields.bad);
    check_int("beyond", wire_u8(&frame.fields), 0);
    check("bad from then on", frame.fields.bad);
}

static void broken_frames_are_told(void **state)
{
    static const struct {
        const char *name;
        unsigned char bytes[16];
        size_t len;
        enum wire_next next;
    } cases[] = {
        {"no length", {0, 0, 0, 0}, 4, WIRE_BAD},
        {"too long", {0xff, 0xff, 0xff, 0xff, 1}, 5, WIRE_BAD},
        {"only a type", {1, 0, 0, 0, 9}, 5, WIRE_FRAME},
    };
    struct wire_frame frame;

    for (size_t i = 0; i < countof(cases); i++)
        check_int(cases[i].name,
                  wire_next_frame((const char *)cases[i].bytes, cases[i].len, &frame),
                  cases[i].next);

    /* a text that claims more than is there, one without its NUL, a count beyond the rest */
    const char claims[] = "\x20\0\0\0abc", naked[] = "\1\0\0\0ab", many[] = "\xff\xff\0\0abcd";
    struct wire_reader r = {claims, claims + sizeof claims - 1, false};

    check_str("claims", wire_text(&r), NULL);
    check("claims", r.bad);
    r = (struct wire_reader){naked, naked + sizeof naked - 1, false};
    check_str("naked", wire_text(&r), NULL);
    check("naked", r.bad);
    r = (struct wire_reader){many, many + sizeof many - 1, false};
    check_int("many", wire_count(&r, 4), 0);
    check("many", r.bad);
}

/* ---- messages ---- */

static void a_start_says_everything_the_kubelet_said(void **state)
{
    static const struct runtime_file files[] = {{"a/b", "by\0te", 5, 0640}};
    static const struct runtime_volume volumes[] = {
        {.name = "files", .kind = VOLUME_FILES, .memory = true, .files = files, .n_files = 1},
        {.name = "claim", .kind = VOLUME_CLAIM, .host_path = "/claims/x", .read_only = true},
        {.name = "dir", .kind = VOLUME_EMPTY_DIR, .size_bytes = 77}};
    static struct volume_mount mounts[] = {{"dir", "/m", "sub", true}};
    static struct container_port ports[] = {{8080, NULL}, {22, "TCP"}};
    static struct str_pair limits[] = {{"memory", "1Ki"}, {"cpu", "250m"}};
    static struct pod_container init_spec = {.name = "side", .restart_policy = "Always"};
    static struct pod_container spec = {
        .name = "main", .working_dir = "/w", .termination_message_path = "/t"};
    const char *const argv[] = {"sh", "-c", "true"};
    struct runtime_env env[] = {{"A", "1"}, {"B", NULL}};
    struct runtime_container init = {&init_spec, NULL, 0, argv, 1};
    struct runtime_container container = {&spec, env, 2, argv, 3};
    struct pod_spec pod_spec = {
        .restart_policy = "OnFailure", .grace_s = {true, 3}, .active_deadline_s = {true, 9}};
    struct runtime_pod pod = {.uid = "u-1",
                              .ns = "default",
                              .spec = &pod_spec,
                              .hostname = "h",
                              .pod_ip = "127.10.4.2",
                              .hosts = "lines",
                              .init = &init,
                              .n_init = 1,
                              .containers = &container,
                              .n_containers = 1,
                              .volumes = volumes,
                              .n_volumes = 3};
    scoped(buf) struct buf bytes = {0};
    scoped(arena) struct arena *arena = arena_new(0);
    struct wire_frame frame;
    struct shim_pod got;

    spec.mounts.items = mounts;
    spec.mounts.count = 1;
    spec.ports.items = ports;
    spec.ports.count = 2;
    spec.limits.items = limits;
    spec.limits.count = 2;
    runtime_put_start(&bytes, &pod, WAY_BOXED, (struct runtime_rights){SANDBOX_MOUNTS, 0}, 1234);
    check_int("frame", wire_next_frame(bytes.data, bytes.len, &frame), WIRE_FRAME);
    check_int("type", frame.type, SHIM_START);
    check("read", shim_get_start(&frame.fields, arena, &got));
    check_str("uid", got.uid, "u-1");
    check_int("restart", got.restart, RESTART_ON_FAILURE);
    check_int("start", got.start_ms, 1234);
    check_int("grace", got.grace_ms, 3000);
    check_int("deadline", got.deadline_ms, 9000);
    check_int("init", got.n_init, 1);
    check("sidecar", got.containers[0].sidecar && !got.containers[1].sidecar);
    check_str("argv", got.containers[1].argv[2], "true");
    check_str("argv ends", got.containers[1].argv[3], NULL);
    check_str("env", got.containers[1].env[0], "HOSTNAME=h");
    check_str("env", got.containers[1].env[2], "B=");
    check_str("cwd", got.containers[1].cwd, "/w");
    check_str("message", got.containers[1].termination_path, "/t");
    check_int("memory", got.containers[1].limits.memory_bytes, 1024);
    check_int("cpu", got.containers[1].limits.cpu_milli, 250);
    check_int("mount", got.containers[1].mounts[0].volume, 2);
    check_str("mount", got.containers[1].mounts[0].sub_path, "sub");
    check("mount", got.containers[1].mounts[0].read_only);
    check_int("ports", got.n_ports, 2);
    check_int("ports", got.ports[1], 22);
    check_str("claim", got.volumes[1].host_path, "/claims/x");
    check("claim", got.volumes[1].kind == SHIM_HOST_PATH && got.volumes[1].read_only);
    check_int("size", got.volumes[2].size_bytes, 77);
    check_int("bytes", got.volumes[0].files[0].len, 5);
    check("bytes", !memcmp(got.volumes[0].files[0].bytes, "by\0te", 5));
    check_int("mode", got.volumes[0].files[0].mode, 0640);

    for (size_t len = 0; len < frame.size - 5; len++) { /* shorter by any amount: refused */
        struct wire_reader cut = {bytes.data + 5, bytes.data + 5 + len, false};

        check("cut", !shim_get_start(&cut, arena, &got));
    }
}

/* covers: reliability.md SEC-17 */
static void only_names_of_ours_are_uids(void **state)
{
    static const struct {
        const char *uid;
        bool ok;
    } cases[] = {{"0b8c9ad2-7a4f-4f0c-8df0-3f2a6d6e0b11", true},
                 {"a", true},
                 {"", false},
                 {"..", false},
                 {"a/b", false},
                 {"a.b", false},
                 {"pool.x", false},
                 {" ", false},
                 {"0123456789012345678901234567890123456789012345678901234567890123", false}};

    for (size_t i = 0; i < countof(cases); i++)
        check_int(cases[i].uid, shim_uid_ok(cases[i].uid), cases[i].ok);
}

/* covers: see decisions.md DC-19 */
static void a_pod_is_boxed_for_what_it_asks_for(void **state)
{
    static struct container_port port = {80, NULL};
    static struct str_pair limit = {"memory", "1Gi"};
    struct pod_container plain = {.name = "c", .termination_message_path = "/dev/termination-log"},
                         with_port = {.name = "c"}, with_limit = {.name = "c"},
                         with_path = {.name = "c", .termination_message_path = "/result"},
                         with_message = {.name = "c"};
    struct pod_spec spec = {0}, named = {.hostname = "h"};
    struct runtime_container containers[] = {
        {&plain}, {&with_port}, {&with_limit}, {&with_path}, {&with_message}};
    const char *script[] = {"-c", "echo loss=1 > /dev/termination-log"};
    struct runtime_volume volume = {.name = "v"};

    with_port.ports.items = &port;
    with_port.ports.count = 1;
    with_limit.limits.items = &limit;
    with_limit.limits.count = 1;
    with_message.args.items = script;
    with_message.args.count = countof(script);

    const struct {
        const char *name;
        struct runtime_pod pod;
        bool all;
        enum shim_way way;
    } cases[] = {
        {"nothing",
         {.spec = &spec, .hostname = "p", .containers = containers, .n_containers = 1},
         false,
         WAY_BARE},
        {"two plain containers",
         {.spec = &spec,
          .init = containers,
          .n_init = 1,
          .containers = containers,
          .n_containers = 1},
         false,
         WAY_BARE},
        {"isolate all",
         {.spec = &spec, .containers = containers, .n_containers = 1},
         true,
         WAY_BOXED},
        {"a volume",
         {.spec = &spec,
          .containers = containers,
          .n_containers = 1,
          .volumes = &volume,
          .n_volumes = 1},
         false,
         WAY_BOXED},
        {"hosts",
         {.spec = &spec, .containers = containers, .n_containers = 1, .hosts = ""},
         false,
         WAY_BOXED},
        {"hostname",
         {.spec = &named, .containers = containers, .n_containers = 1},
         false,
         WAY_BOXED},
        {"a port",
         {.spec = &spec, .containers = containers + 1, .n_containers = 1},
         false,
         WAY_BOXED},
        {"a port of an init container",
         {.spec = &spec,
          .init = containers + 1,
          .n_init = 1,
          .containers = containers,
          .n_containers = 1},
         false,
         WAY_BOXED},
        {"a limit",
         {.spec = &spec, .containers = containers + 2, .n_containers = 1},
         false,
         WAY_BOXED},
        {"a file for its message",
         {.spec = &spec, .containers = containers + 3, .n_containers = 1},
         false,
         WAY_BOXED},
        {"a script that leaves a message",
         {.spec = &spec, .containers = containers + 4, .n_containers = 1},
         false,
         WAY_BOXED},
    };

    for (size_t i = 0; i < countof(cases); i++)
        check_int(cases[i].name, runtime_choose(&cases[i].pod, cases[i].all), cases[i].way);
}

/* ---- records ---- */

static void count_frame(void *ctx, struct wire_frame *frame, const char *bytes)
{
    ++*(int *)ctx;
}

/* covers: reliability.md D-10 FZ-14 */
static void damaged_records_are_read_up_to_the_damage(void **state)
{
    scoped_str dir = test_path("records");
    scoped_str path = mem_printf("%s/records", dir);
    struct records records;
    char boot_id[BOOT_ID_MAX], own[BOOT_ID_MAX];
    struct error err = {0};
    int dir_fd, frames;

    mkdir(dir, 0700);
    dir_fd = open(dir, O_RDONLY | O_DIRECTORY);
    boot_id_read(own);
    check_ok("create", records_create(&records, dir_fd, &err), err);
    for (int i = 0; i < 3; i++) {
        shim_put_order(&records.pending, SHIM_RELEASE, &(struct shim_order){.uid = "a"});
        shim_put_order(&records.pending, SHIM_RELEASE, &(struct shim_order){.uid = "b"});
        check_ok("flush", records_flush(&records, &err), err);
    }
    frames = 0;
    check_ok("read", records_read(dir_fd, boot_id, count_frame, &frames, &err), err);
    check_int("all", frames, 6);
    check_str("boot", boot_id, own);

    check_int("cut", truncate(path, records.size - 1), 0);
    frames = 0;
    records_read(dir_fd, boot_id, count_frame, &frames, &err);
    check_int("without the last block", frames, 4);

    shim_put_order(&records.pending, SHIM_RELEASE, &(struct shim_order){.uid = "c"});
    check_ok("rewrite", records_rewrite(&records, &records.pending, &err), err);
    frames = 0;
    records_read(dir_fd, boot_id, count_frame, &frames, &err);
    check_int("rewritten", frames, 1);
    records_release(&records);
    close(dir_fd);
}

/* ---- decisions ---- */

#define W CONTAINER_WAITING
#define R CONTAINER_RUNNING
#define T CONTAINER_TERMINATED

/* covers: local-runtime.md LRT-23; see 6.3 */
static void every_situation_has_its_next_step(void **state)
{
    static const struct {
        const char *name;
        struct decide_container c[4]; /* state, sidecar, resting, starting, exit code */
        unsigned n_init, n_main;
        enum decide_what what;
        unsigned container;
        enum pod_phase phase, final;
    } cases[] = {
        {"begin", {{W, false}}, 0, 1, DECIDE_START, 0, POD_PENDING, POD_FAILED},
        {"starting", {{W, false, .starting = true}}, 0, 1, DECIDE_WAIT, 0, POD_PENDING, POD_FAILED},
        {"running", {{R, false}}, 0, 1, DECIDE_WAIT, 0, POD_RUNNING, POD_FAILED},
        {"resting", {{W, false, .resting = true}}, 0, 1, DECIDE_WAIT, 0, POD_RUNNING, POD_FAILED},
        {"done", {{T, false}}, 0, 1, DECIDE_END, 0, POD_RUNNING, POD_SUCCEEDED},
        {"failed", {{T, false, .exit_code = 1}}, 0, 1, DECIDE_END, 0, POD_RUNNING, POD_FAILED},
        {"one of two done",
         {{T, false}, {R, false}},
         0,
         2,
         DECIDE_WAIT,
         0,
         POD_RUNNING,
         POD_FAILED},
        {"second to start",
         {{R, false}, {W, false}},
         0,
         2,
         DECIDE_START,
         1,
         POD_PENDING,
         POD_FAILED},
        {"init first", {{W, false}, {W, false}}, 1, 1, DECIDE_START, 0, POD_PENDING, POD_FAILED},
        {"init runs", {{R, false}, {W, false}}, 1, 1, DECIDE_WAIT, 0, POD_PENDING, POD_FAILED},
        {"init done", {{T, false}, {W, false}}, 1, 1, DECIDE_START, 1, POD_PENDING, POD_FAILED},
        {"init failed",
         {{T, false, .exit_code = 2}, {W, false}},
         1,
         1,
         DECIDE_END,
         0,
         POD_PENDING,
         POD_FAILED},
        {"init rests",
         {{W, false, .resting = true}, {W, false}},
         1,
         1,
         DECIDE_WAIT,
         0,
         POD_PENDING,
         POD_FAILED},
        {"second init waits",
         {{R, false}, {W, false}, {W, false}},
         2,
         1,
         DECIDE_WAIT,
         0,
         POD_PENDING,
         POD_FAILED},
        {"sidecar first", {{W, true}, {W, false}}, 1, 1, DECIDE_START, 0, POD_PENDING, POD_FAILED},
        {"beside a sidecar",
         {{R, true}, {W, false}},
         1,
         1,
         DECIDE_START,
         1,
         POD_PENDING,
         POD_FAILED},
        {"beside a sidecar that is not up",
         {{R, true, .awaited = true}, {W, false}},
         1,
         1,
         DECIDE_WAIT,
         0,
         POD_PENDING,
         POD_FAILED},
        {"a sidecar that is not up is started again",
         {{W, true, .awaited = true}, {W, false}},
         1,
         1,
         DECIDE_START,
         0,
         POD_PENDING,
         POD_FAILED},
        {"sidecar left", {{R, true}, {T, false}}, 1, 1, DECIDE_END, 0, POD_RUNNING, POD_SUCCEEDED},
        {"sidecar rests",
         {{W, true, .resting = true}, {R, false}},
         1,
         1,
         DECIDE_WAIT,
         0,
         POD_RUNNING,
         POD_FAILED},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        struct decide_pod pod = {cases[i].c, cases[i].n_init, cases[i].n_main, RESTART_NEVER};
        struct decide_next next = pod_decide(&pod);

        check_int(cases[i].name, next.what, cases[i].what);
        if (next.what == DECIDE_START)
            check_int(cases[i].name, next.container, cases[i].container);
        check_int(cases[i].name, pod_phase_of(&pod, false), cases[i].phase);
        check_int(cases[i].name, pod_phase_of(&pod, true), cases[i].final);
    }
}

static void restart_policies_are_as_the_kubelets(void **state)
{
    static const struct {
        enum shim_restart restart;
        int32_t code;
        bool sidecar, init, again;
    } cases[] = {
        {RESTART_NEVER, 1, false, false, false},     {RESTART_NEVER, 1, false, true, false},
        {RESTART_NEVER, 0, true, true, true},        {RESTART_ON_FAILURE, 0, false, false, false},
        {RESTART_ON_FAILURE, 1, false, false, true}, {RESTART_ON_FAILURE, 1, false, true, true},
        {RESTART_ALWAYS, 0, false, false, true},     {RESTART_ALWAYS, 0, false, true, false},
        {RESTART_ALWAYS, 1, false, true, true},      {RESTART_ALWAYS, 0, true, true, true},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        scoped_str name = mem_printf("row %zu", i);

        check_int(name,
                  pod_restarts(cases[i].restart, cases[i].sidecar, cases[i].init, cases[i].code),
                  cases[i].again);
    }
}

/* ---- logs ---- */

static void write_lines(struct log_writer *log, int from, int to, struct buf *scratch)
{
    for (int i = from; i < to; i++) {
        scoped_str line = mem_printf("line %06d of a program that prints a lot of them\n", i);

        log_write(log, line, strlen(line), scratch);
    }
}

/* covers: local-runtime.md LRT-40; reliability.md L-38 INV-N7 */
static void a_long_log_is_rotated_between_lines_and_read_in_order(void **state)
{
    struct log_query all = {.tail_lines = -1, .limit_bytes = -1};
    struct log_writer log = {
        .uid = "long", .container = "main", .flat = true, .max_bytes = 64 << 10};
    scoped_str dir = test_path("logs");
    scoped(buf) struct buf scratch = {0}, out = {0};
    int64_t offset = 0;
    int first = -1, count = 0;

    mkdir(dir, 0700);
    log.dir_fd = open(dir, O_RDONLY | O_DIRECTORY);
    log_writer_init(&log);
    write_lines(&log, 0, 10000, &scratch);
    check("read", logs_read(log.dir_fd, "long", &all, &offset, &out, NULL));
    for (const char *at = out.data; *at; at = strchr(at, '\n') + 1, count++) {
        int number = (int)strtol(at + 5, NULL, 10);

        if (first < 0)
            first = number;
        check_int("in order", number, first + count);
    }
    check_int("to the end", first + count, 10000);
    check("bounded", out.len < LOG_FILES_KEPT * (64u << 10) && count > 1000);

    write_lines(&log, 10000, 10003, &scratch); /* a follower goes on behind what it has */
    buf_clear(&out);
    check("follow", logs_read(log.dir_fd, "long", &all, &offset, &out, NULL));
    check_has("follow", out.data, "line 010000");
    check_has("follow", out.data, "line 010002");
    check("nothing twice", !strstr(out.data, "line 009999"));
    log_writer_release(&log);
    logs_remove(log.dir_fd, "long");
    buf_clear(&out);
    offset = 0;
    check("removed", logs_read(log.dir_fd, "long", &all, &offset, &out, NULL) && !out.len);
    close(log.dir_fd);
}

/* Chunks of a busy program begin and end within lines. covers: reliability.md L-38 */
static void files_are_bounded_where_every_chunk_ends_within_a_line(void **state)
{
    static const char text[] = "0123456789abcdef\n";
    enum { MAX = 64 << 10, CHUNK = 4001, CHUNKS = 400 };
    struct log_query all = {.tail_lines = -1, .limit_bytes = -1};
    struct log_writer log = {.uid = "busy", .container = "main", .flat = true, .max_bytes = MAX};
    scoped_str dir = test_path("busy");
    scoped(buf) struct buf scratch = {0}, out = {0}, chunk = {0};
    int64_t offset = 0;
    size_t at = 0;

    mkdir(dir, 0700);
    log.dir_fd = open(dir, O_RDONLY | O_DIRECTORY);
    log_writer_init(&log);
    for (int i = 0; i < CHUNKS; i++) {
        buf_clear(&chunk);
        for (size_t n = 0; n < CHUNK; n++, at++)
            buf_char(&chunk, text[at % strlen(text)]);
        log_write(&log, chunk.data, chunk.len, &scratch);
    }
    for (unsigned i = 0; i < LOG_FILES_KEPT; i++) {
        char name[LOG_NAME_MAX];
        struct stat info;

        log_name(name, "busy", true, 0, 0, i);
        check_int(name, fstatat(log.dir_fd, name, &info, 0), 0);
        check(name, info.st_size < MAX + 5 * CHUNK); /* the last chunk, with its times */
    }
    check("read", logs_read(log.dir_fd, "busy", &all, &offset, &out, NULL));
    for (const char *line = out.data; strchr(line, '\n'); line = strchr(line, '\n') + 1)
        check("whole lines", !strncmp(line, text, strlen(text)));
    log_writer_release(&log);
    close(log.dir_fd);
}

static void parts_of_a_line_are_joined(void **state)
{
    struct log_query all = {.timestamps = true, .tail_lines = -1, .limit_bytes = -1};
    struct log_writer log = {
        .uid = "parts", .container = "main", .index = 2, .run = 1, .max_bytes = 1 << 20};
    scoped_str dir = test_path("parts");
    scoped(buf) struct buf scratch = {0}, out = {0};
    int64_t offset = 0;

    mkdir(dir, 0700);
    log.dir_fd = open(dir, O_RDONLY | O_DIRECTORY);
    log_writer_init(&log);
    log_write(&log, "a", 1, &scratch);
    log_write(&log, "b\nc", 3, &scratch);
    log_write(&log, "\n", 1, &scratch);
    check("read", logs_read(log.dir_fd, "parts", &all, &offset, &out, NULL));

    check_has("first line", out.data, "Z ab\n");
    check_has("second line", out.data, "Z c\n");

    all = (struct log_query){.timestamps = false, .tail_lines = 1, .limit_bytes = -1};
    buf_clear(&out);
    offset = 0;
    check("tail", logs_read(log.dir_fd, "parts", &all, &offset, &out, NULL));
    check_str("tail", out.data, "c\n");
    all = (struct log_query){.since_ms = 4000000000000, .tail_lines = -1, .limit_bytes = -1};
    buf_clear(&out);
    offset = 0;
    check("since", logs_read(log.dir_fd, "parts", &all, &offset, &out, NULL) && !out.len);
    log_writer_release(&log);
    close(log.dir_fd);
}

static void print(const char *dir, unsigned run, const char *text)
{
    struct log_writer log = {.uid = "again", .container = "main", .run = run, .max_bytes = 1 << 20};
    scoped(buf) struct buf scratch = {0};

    log.flat = run == 0;
    log.dir_fd = open(dir, O_RDONLY | O_DIRECTORY);
    log_writer_init(&log);
    log_write(&log, text, strlen(text), &scratch);
    log_writer_release(&log);
    close(log.dir_fd);
}

static void read_on(const char *dir, const struct log_query *query, int64_t *offset,
                    const char *wanted)
{
    scoped(buf) struct buf out = {0};
    int fd = open(dir, O_RDONLY | O_DIRECTORY);

    check("read", logs_read(fd, "again", query, offset, &out, NULL));
    check_str(wanted, out.data ? out.data : "", wanted);
    close(fd);
}

static void a_follower_sees_every_run_to_its_end(void **state)
{
    const struct log_query all = {.tail_lines = -1, .limit_bytes = -1};
    const struct log_query one = {.tail_lines = 1, .limit_bytes = -1};
    const struct log_query before = {.previous = true, .tail_lines = -1, .limit_bytes = -1};
    scoped_str dir = test_path("again");
    int64_t offset = 0, fresh = 0, tail = 0, previous = 0;

    mkdir(dir, 0700);
    read_on(dir, &all, &offset, "");
    print(dir, 0, "first\nrun\n");
    read_on(dir, &all, &offset, "first\nrun\n");
    read_on(dir, &all, &offset, "");
    print(dir, 1, "b\n");
    print(dir, 3, "first\nlast\n"); /* the run between printed nothing */
    read_on(dir, &all, &offset, "b\nfirst\nlast\n");
    read_on(dir, &all, &offset, "");
    read_on(dir, &all, &fresh, "first\nlast\n");
    read_on(dir, &one, &tail, "last\n");
    print(dir, 4, "x\n");
    read_on(dir, &all, &offset, "x\n");
    read_on(dir, &one, &tail, "x\n");
    read_on(dir, &before, &previous, "first\nlast\n");
}

/* covers: local-runtime.md LRT-41 */
static void what_a_full_disk_refuses_is_told_later(void **state)
{
    struct log_query all = {.tail_lines = -1, .limit_bytes = -1};
    struct log_writer log = {
        .uid = "full", .container = "main", .flat = true, .max_bytes = 1 << 20};
    scoped_str dir = test_path("full");
    scoped(buf) struct buf scratch = {0}, out = {0};
    int64_t offset = 0;
    int good_fd;

    mkdir(dir, 0700);
    log.dir_fd = open(dir, O_RDONLY | O_DIRECTORY);
    log_writer_init(&log);
    log_write(&log, "before\n", 7, &scratch);
    good_fd = log.fd;
    log.fd = open("/dev/full", O_WRONLY);
    log_write(&log, "refused\n", 8, &scratch);
    close(log.fd);
    log.fd = good_fd;
    log_write(&log, "after\n", 6, &scratch);
    check("read", logs_read(log.dir_fd, "full", &all, &offset, &out, NULL));
    check_str("log", out.data, "before\n[8 bytes of output lost: no space for the log]\nafter\n");
    log_writer_release(&log);
    close(log.dir_fd);
}

static void only_our_first_line_makes_a_log(void **state)
{
    static const struct {
        const char *text;
        bool ok;
    } cases[] = {
        {"#jobflow-log 1 main 0 0\n", true},
        {"#jobflow-log 1 main 12 4096\nrecords", true},
        {"#jobflow-log 2 main 0 0\n", false},
        {"#jobflow-log 1 main 0\n", false},
        {"#jobflow-log 1 main 0 0 0\n", false},
        {"#jobflow-log 1 main 0 0", false},
        {"", false},
    };
    struct log_header header;

    for (size_t i = 0; i < countof(cases); i++)
        check_int(cases[i].text, log_header_parse(cases[i].text, strlen(cases[i].text), &header),
                  cases[i].ok);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cut_of_a_frame_is_more_and_never_wrong),
        cmocka_unit_test(broken_frames_are_told),
        cmocka_unit_test(a_start_says_everything_the_kubelet_said),
        cmocka_unit_test(only_names_of_ours_are_uids),
        cmocka_unit_test(a_pod_is_boxed_for_what_it_asks_for),
        cmocka_unit_test(damaged_records_are_read_up_to_the_damage),
        cmocka_unit_test(every_situation_has_its_next_step),
        cmocka_unit_test(restart_policies_are_as_the_kubelets),
        cmocka_unit_test(a_long_log_is_rotated_between_lines_and_read_in_order),
        cmocka_unit_test(files_are_bounded_where_every_chunk_ends_within_a_line),
        cmocka_unit_test(parts_of_a_line_are_joined),
        cmocka_unit_test(a_follower_sees_every_run_to_its_end),
        cmocka_unit_test(what_a_full_disk_refuses_is_told_later),
        cmocka_unit_test(only_our_first_line_makes_a_log),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
