/*
 * Tests frames, the START message, the choice between plain and sandboxed, and the record file.
 */
#include "tests/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node/runtime/internal.h"
#include "node/shim/records.h"
#include "node/wire/message.h"

static void every_cut_of_a_frame_is_partial_and_never_invalid(void **state)
{
    scoped(buf) struct buf bytes = {0};
    struct frame frame;
    size_t begun = frame_begin(&bytes, 7);

    frame_put_text(&bytes, "text");
    frame_put_text(&bytes, NULL);
    frame_put_i64(&bytes, -5);
    frame_end(&bytes, begun);
    for (size_t len = 0; len < bytes.len; len++)
        check_int("cut", frame_next(bytes.data, len, &frame), FRAME_PARTIAL);
    check_int("whole", frame_next(bytes.data, bytes.len, &frame), FRAME_WHOLE);
    check_int("size", frame.size, bytes.len);
    check_str("text", frame_get_text(&frame.fields), "text");
    check_str("absent", frame_get_text(&frame.fields), NULL);
    check_int("number", frame_get_i64(&frame.fields), -5);
    check("end", !frame.fields.bad);
    check_int("beyond", frame_get_u8(&frame.fields), 0);
    check("bad from then on", frame.fields.bad);
}

static void malformed_frames_are_refused(void **state)
{
    static const struct {
        const char *name;
        unsigned char bytes[16];
        size_t len;
        enum frame_state next;
    } cases[] = {
        {"no length", {0, 0, 0, 0}, 4, FRAME_INVALID},
        {"too long", {0xff, 0xff, 0xff, 0xff, 1}, 5, FRAME_INVALID},
        {"only a type", {1, 0, 0, 0, 9}, 5, FRAME_WHOLE},
    };
    struct frame frame;

    for (size_t i = 0; i < countof(cases); i++)
        check_int(cases[i].name, frame_next((const char *)cases[i].bytes, cases[i].len, &frame),
                  cases[i].next);

    /* Malformed fields: a length beyond the end, a text without its NUL, a count beyond the
     * rest. */
    const char claims[] = "\x20\0\0\0abc", naked[] = "\1\0\0\0ab", many[] = "\xff\xff\0\0abcd";
    const char cut[] = "\3\0\0\0a\0b";
    struct frame_reader r = {claims, claims + sizeof claims - 1, false};

    check_str("claims", frame_get_text(&r), NULL);
    check("claims", r.bad);
    r = (struct frame_reader){naked, naked + sizeof naked - 1, false};
    check_str("naked", frame_get_text(&r), NULL);
    check("naked", r.bad);
    r = (struct frame_reader){cut, cut + sizeof cut, false};
    check_str("cut by a NUL", frame_get_text(&r), NULL);
    check("cut by a NUL", r.bad);
    r = (struct frame_reader){many, many + sizeof many - 1, false};
    check_int("many", frame_get_count(&r, 4), 0);
    check("many", r.bad);
}

static void a_start_holds_everything_that_the_kubelet_gave(void **state)
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
    struct frame frame;
    struct shim_pod got;

    spec.mounts.items = mounts;
    spec.mounts.count = 1;
    spec.ports.items = ports;
    spec.ports.count = 2;
    spec.limits.items = limits;
    spec.limits.count = 2;
    runtime_put_start(&bytes, &pod, SHIM_POD_SANDBOXED,
                      (struct runtime_isolation){ISOLATION_MOUNTS, 0}, 1234);
    check_int("frame", frame_next(bytes.data, bytes.len, &frame), FRAME_WHOLE);
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
    check("bytes", memcmp(got.volumes[0].files[0].bytes, "by\0te", 5) == 0);
    check_int("mode", got.volumes[0].files[0].mode, 0640);

    /* A frame that is shorter by any amount is refused. */
    for (size_t len = 0; len < frame.size - 5; len++) {
        struct frame_reader cut = {bytes.data + 5, bytes.data + 5 + len, false};

        check("cut", !shim_get_start(&cut, arena, &got));
    }
}

/* covers: reliability.md SEC-17 */
static void only_letters_digits_and_dashes_make_a_uid(void **state)
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
static void a_pod_is_sandboxed_when_its_spec_needs_it(void **state)
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
        enum shim_pod_kind kind;
    } cases[] = {
        {"nothing",
         {.spec = &spec, .hostname = "p", .containers = containers, .n_containers = 1},
         false,
         SHIM_POD_PLAIN},
        {"two plain containers",
         {.spec = &spec,
          .init = containers,
          .n_init = 1,
          .containers = containers,
          .n_containers = 1},
         false,
         SHIM_POD_PLAIN},
        {"isolate all",
         {.spec = &spec, .containers = containers, .n_containers = 1},
         true,
         SHIM_POD_SANDBOXED},
        {"a volume",
         {.spec = &spec,
          .containers = containers,
          .n_containers = 1,
          .volumes = &volume,
          .n_volumes = 1},
         false,
         SHIM_POD_SANDBOXED},
        {"hosts",
         {.spec = &spec, .containers = containers, .n_containers = 1, .hosts = ""},
         false,
         SHIM_POD_SANDBOXED},
        {"hostname",
         {.spec = &named, .containers = containers, .n_containers = 1},
         false,
         SHIM_POD_SANDBOXED},
        {"a port",
         {.spec = &spec, .containers = containers + 1, .n_containers = 1},
         false,
         SHIM_POD_SANDBOXED},
        {"a port of an init container",
         {.spec = &spec,
          .init = containers + 1,
          .n_init = 1,
          .containers = containers,
          .n_containers = 1},
         false,
         SHIM_POD_SANDBOXED},
        {"a limit",
         {.spec = &spec, .containers = containers + 2, .n_containers = 1},
         false,
         SHIM_POD_SANDBOXED},
        {"a file for its message",
         {.spec = &spec, .containers = containers + 3, .n_containers = 1},
         false,
         SHIM_POD_SANDBOXED},
        {"a script that leaves a message",
         {.spec = &spec, .containers = containers + 4, .n_containers = 1},
         false,
         SHIM_POD_SANDBOXED},
    };

    for (size_t i = 0; i < countof(cases); i++)
        check_int(cases[i].name, runtime_choose_way(&cases[i].pod, cases[i].all), cases[i].kind);
}

static void count_frame(void *ctx, struct frame *frame, const char *bytes)
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
    int dir_fd, fd, frames;

    mkdir(dir, 0700);
    dir_fd = open(dir, O_RDONLY | O_DIRECTORY);
    boot_id_read(own);
    check_ok("create", records_create(&records, dir_fd, &err), err);
    for (int i = 0; i < 3; i++) {
        shim_put_command(&records.pending, SHIM_RELEASE, &(struct shim_command){.uid = "a"});
        shim_put_command(&records.pending, SHIM_RELEASE, &(struct shim_command){.uid = "b"});
        check_ok("flush", records_flush(&records, &err), err);
    }
    frames = 0;
    check_ok("read", records_read(dir_fd, boot_id, count_frame, &frames, &err), err);
    check_int("all", frames, 6);
    check_str("boot", boot_id, own);

    fd = open(path, O_WRONLY | O_CLOEXEC);
    check_int("a changed byte", pwrite(fd, "\xff", 1, records.size - 1), 1);
    close(fd);
    frames = 0;
    records_read(dir_fd, boot_id, count_frame, &frames, &err);
    check_int("without the changed block", frames, 4);

    check_int("cut", truncate(path, records.size - 1), 0);
    frames = 0;
    records_read(dir_fd, boot_id, count_frame, &frames, &err);
    check_int("without the last block", frames, 4);

    shim_put_command(&records.pending, SHIM_RELEASE, &(struct shim_command){.uid = "c"});
    check_ok("rewrite", records_rewrite(&records, &records.pending, &err), err);
    frames = 0;
    records_read(dir_fd, boot_id, count_frame, &frames, &err);
    check_int("rewritten", frames, 1);
    records_release(&records);
    close(dir_fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cut_of_a_frame_is_partial_and_never_invalid),
        cmocka_unit_test(malformed_frames_are_refused),
        cmocka_unit_test(a_start_holds_everything_that_the_kubelet_gave),
        cmocka_unit_test(only_letters_digits_and_dashes_make_a_uid),
        cmocka_unit_test(a_pod_is_sandboxed_when_its_spec_needs_it),
        cmocka_unit_test(damaged_records_are_read_up_to_the_damage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
