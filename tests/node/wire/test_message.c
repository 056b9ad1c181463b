/*
 * Tests node/wire/message: the bytes of every message are fixed, and survive being read and written
 * again.
 *
 * Shims of an earlier program keep their pods over an upgrade, so the bytes below never change for
 * SHIM_VERSION 8. They are the whole frame in hexadecimal: length, type, fields.
 */
#include "tests/unit.h"

#include <stdio.h>

#include "node/wire/message.h"

static char sh[] = "sh", dash_c[] = "-c", script[] = "true", a_is_1[] = "A=1";
static char *argv[] = {sh, dash_c, script, NULL}, *env[] = {a_is_1, NULL};

static void put_hello(struct buf *out)
{
    shim_put_hello(out, &(struct shim_hello){SHIM_VERSION, 4711});
}

static bool again_hello(struct frame_reader *fields, struct arena *arena, struct buf *out)
{
    struct shim_hello hello;

    if (!shim_get_hello(fields, &hello))
        return false;
    shim_put_hello(out, &hello);
    return true;
}

static void put_config(struct buf *out)
{
    shim_put_config(out, &(struct shim_config){.cwd = "/w",
                                               .env = env,
                                               .n_env = 1,
                                               .backoff_ms = 10,
                                               .log_max_bytes = 11,
                                               .level = 2,
                                               .hosts_as_addresses = true,
                                               .sockaddr_method = 1,
                                               .private_network = true});
}

static bool again_config(struct frame_reader *fields, struct arena *arena, struct buf *out)
{
    struct shim_config config;

    if (!shim_get_config(fields, arena, &config))
        return false;
    shim_put_config(out, &config);
    return true;
}

static struct shim_file files[] = {{"a/b", "by\0te", 5, 0640}};
static struct shim_volume volumes[] = {
    {.name = "f", .kind = SHIM_FILES_VOLUME, .memory = true, .files = files, .n_files = 1},
    {.name = "h",
     .kind = SHIM_HOST_PATH,
     .read_only = true,
     .host_ids = true,
     .size_bytes = 77,
     .host_path = "/p/x",
     .host_base = "/p",
     .host_keep = "/k",
     .host_type = "Directory",
     .host_private = true}};
static struct shim_mount mounts[] = {{1, "/m", "sub", true}, {0, "/n", NULL, false}};
static struct shim_container containers[] = {
    {.name = "init",
     .sidecar = true,
     .has_startup_probe = true,
     .argv = argv,
     .n_argv = 3,
     .env = env},
    {.name = "main",
     .argv = argv,
     .n_argv = 1,
     .env = env,
     .n_env = 1,
     .cwd = "/c",
     .termination_path = "/t",
     .log_message = true,
     .mounts = mounts,
     .n_mounts = 2,
     .limits = {1024, 250},
     .post_start = {.act = ACT_EXEC, .argv = argv, .n_argv = 2},
     .pre_stop = {.act = ACT_HTTP, .path = "/bye", .port = 80}}};

static void put_start(struct buf *out)
{
    uint32_t ports[] = {8080, 22};

    shim_put_start(out, &(struct shim_pod){.uid = "u-1",
                                           .kind = SHIM_POD_SANDBOXED,
                                           .restart = RESTART_ALWAYS,
                                           .start_ms = 1,
                                           .deadline_ms = 2,
                                           .grace_ms = 3,
                                           .containers = containers,
                                           .n_init = 1,
                                           .n_main = 1,
                                           .hostname = "h",
                                           .ip = "127.10.4.2",
                                           .ports = ports,
                                           .n_ports = 2,
                                           .ids = 65536,
                                           .confined = true,
                                           .host_key = "key",
                                           .host_public = "pub",
                                           .volumes = volumes,
                                           .n_volumes = 2,
                                           .limits = {4096, 500, 0, 125}});
}

static void put_plain_start(struct buf *out)
{
    shim_put_start(out, &(struct shim_pod){.uid = "u-1",
                                           .kind = SHIM_POD_PLAIN,
                                           .restart = RESTART_ON_FAILURE,
                                           .containers = containers,
                                           .n_main = 1});
}

static bool again_start(struct frame_reader *fields, struct arena *arena, struct buf *out)
{
    struct shim_pod pod;

    if (!shim_get_start(fields, arena, &pod))
        return false;
    shim_put_start(out, &pod);
    return true;
}

static void put_orders(struct buf *out)
{
    static const enum shim_message types[] = {SHIM_STOP, SHIM_RELEASE, SHIM_HOSTS,
                                              SHIM_KILL, SHIM_PASSED,  SHIM_DEADLINE};
    const struct shim_command order = {.uid = "u-1",
                                       .grace_ms = -1,
                                       .hosts = "lines",
                                       .container = 2,
                                       .why = "because",
                                       .deadline_ms = 9};

    for (size_t i = 0; i < countof(types); i++)
        shim_put_command(out, types[i], &order);
    shim_put_plain(out, SHIM_LIST);
    shim_put_plain(out, SHIM_BYE);
    shim_put_plain(out, SHIM_LISTED);
}

static void put_status(struct buf *out)
{
    struct container_status init[] = {{.name = "init", .state = CONTAINER_RUNNING, .ready = true}};
    struct container_status first[] = {{.name = "main",
                                        .state = CONTAINER_TERMINATED,
                                        .reason = "Error",
                                        .message = "text",
                                        .exit_code = -2,
                                        .signal = 9,
                                        .started_ms = 10,
                                        .finished_ms = 11,
                                        .cpu_ms = 12,
                                        .memory_peak_bytes = 13,
                                        .restart_count = 14,
                                        .has_last = true,
                                        .last_exit_code = 15,
                                        .last_signal = 16,
                                        .last_reason = "Completed"}};

    shim_put_status(out, &(struct shim_status){.uid = "u-1",
                                               .final = true,
                                               .status = {.phase = POD_FAILED,
                                                          .reason = "Evicted",
                                                          .message = "full",
                                                          .initialized = true,
                                                          .start_ms = 5,
                                                          .ready_ms = 6,
                                                          .init_containers = {init, 1},
                                                          .containers = {first, 1}}});
}

static void put_stopped(struct buf *out)
{
    shim_put_status(out, &(struct shim_status){
                             .uid = "u-1", .stopped = true, .status = {.phase = POD_RUNNING}});
}

static bool again_status(struct frame_reader *fields, struct arena *arena, struct buf *out)
{
    struct shim_status status;

    if (!shim_get_status(fields, arena, &status))
        return false;
    shim_put_status(out, &status);
    return true;
}

static void put_files(struct buf *out)
{
    shim_put_files(out, &(struct shim_files){"u-1", 1, volumes[0]});
}

static bool again_files(struct frame_reader *fields, struct arena *arena, struct buf *out)
{
    struct shim_files got;

    if (!shim_get_files(fields, arena, &got))
        return false;
    shim_put_files(out, &got);
    return true;
}

static void put_program(struct buf *out)
{
    shim_put_program(out, &(struct shim_program){"u-1", 1, argv, env, 3, 1});
}

static bool again_program(struct frame_reader *fields, struct arena *arena, struct buf *out)
{
    struct shim_program program;

    if (!shim_get_program(fields, arena, &program))
        return false;
    shim_put_program(out, &program);
    return true;
}

static void put_exec(struct buf *out)
{
    shim_put_exec(
        out, &(struct shim_exec){"u-1", 1, UINT64_MAX - 1, 500, {.act = ACT_SLEEP, .sleep_ms = 7}});
}

static bool again_exec(struct frame_reader *fields, struct arena *arena, struct buf *out)
{
    struct shim_exec exec;

    if (!shim_get_exec(fields, arena, &exec))
        return false;
    shim_put_exec(out, &exec);
    return true;
}

static void put_executed(struct buf *out)
{
    shim_put_executed(out, &(struct shim_executed){"u-1", 8, -1, "not run"});
}

static bool again_executed(struct frame_reader *fields, struct arena *arena, struct buf *out)
{
    struct shim_executed executed;

    if (!shim_get_executed(fields, &executed))
        return false;
    shim_put_executed(out, &executed);
    return true;
}

/* clang-format off */
static const struct {
    const char *name;
    void (*put)(struct buf *out);
    bool (*again)(struct frame_reader *fields, struct arena *arena, struct buf *out);
    const char *hex;
} cases[] = {
    {"HELLO", put_hello, again_hello,
     "0d00000001080000006712000000000000"},
    {"CONFIG", put_config, again_config,
     "3700000002020000002f77000100000003000000413d31000a000000000000000b00000000000000"
     "02000000010001000000010000000000000000"},
    {"START of a plain pod", put_plain_start, again_start,
     "740000000303000000752d3100000100000000000000000000000000000000000000000000000000"
     "0000000100000004000000696e69740003000300000002000000736800020000002d630004000000"
     "747275650000000000ffffffffffffffff0000000000000000000000000000000000000000000000"},
    {"START", put_start, again_start,
     "cd0100000303000000752d3100010201000000000000000200000000000000030000000000000001"
     "0000000100000004000000696e69740003000300000002000000736800020000002d630004000000"
     "747275650000000000ffffffffffffffff0000000000000000000000000000000000000000000000"
     "040000006d61696e00000001000000020000007368000100000003000000413d3100020000002f63"
     "00020000002f7400010200000001000000020000002f6d0003000000737562000100000000020000"
     "002f6e00ffffffff000004000000000000fa00000000000000010200000002000000736800020000"
     "002d630002040000002f62796500500000000100000068000a0000003132372e31302e342e3200ff"
     "ffffff02000000901f0000160000000000010001030000006b657900030000007075620002000000"
     "010000006600010100000000000000000000ffffffffffffffffffffffffffffffff000100000003"
     "000000612f620005000000627900746500a0010000010000006800020001014d0000000000000004"
     "0000002f702f7800020000002f7000020000002f6b00090000004469726563746f72790001000000"
     "000010000000000000f4010000000000007d00000000000000"},
    {"STATUS", put_status, again_status,
     "d70000000903000000752d310003030700000045766963746564000400000066756c6c0005000000"
     "000000000600000000000000010000000100000004000000696e69740001ffffffffffffffff0000"
     "00000000000000000000000000000000000000000000000000000000000000000000000000000000"
     "000001040000006d61696e0002050000004572726f7200040000007465787400feffffff09000000"
     "0a000000000000000b000000000000000c000000000000000d000000000000000e000000020f0000"
     "001000000009000000436f6d706c6574656400"},
    {"STATUS, stopped", put_stopped, again_status,
     "2b0000000903000000752d31000801ffffffffffffffff000000000000000000000000000000000000000000000000"},
    {"FILES", put_files, again_files,
     "4a0000000f03000000752d310001000000010000006600010100000000000000000000ffffffffff"
     "ffffffffffffffffffffff000100000003000000612f620005000000627900746500a0010000"},
    {"PROGRAM", put_program, again_program,
     "340000001003000000752d3100010000000300000002000000736800020000002d63000400000074"
     "727565000100000003000000413d3100"},
    {"EXEC", put_exec, again_exec,
     "260000000c03000000752d310001000000fefffffffffffffff40100000000000003070000000000"
     "0000"},
    {"EXECUTED", put_executed, again_executed,
     "210000000d03000000752d31000800000000000000ffffffff070000006e6f742072756e00"},
    {"orders", put_orders, NULL,
     "110000000403000000752d3100ffffffffffffffff090000000503000000752d3100130000000603"
     "000000752d3100050000006c696e657300210000000e03000000752d3100ffffffffffffffff0200"
     "00000700000062656361757365000d0000001103000000752d310002000000110000001203000000"
     "752d3100090000000000000001000000070100000008010000000a"},
};
/* clang-format on */

static char *to_hex(const struct buf *bytes)
{
    char *text = mem_alloc(2 * bytes->len + 1);

    for (size_t i = 0; i < bytes->len; i++)
        snprintf(text + 2 * i, 3, "%02x", (unsigned char)bytes->data[i]);
    return text;
}

static void the_bytes_of_a_message_never_change(void **state)
{
    for (size_t i = 0; i < countof(cases); i++) {
        scoped(buf) struct buf bytes = {0};

        cases[i].put(&bytes);

        scoped_str hex = to_hex(&bytes);

        check_str(cases[i].name, hex, cases[i].hex);
    }
}

static void a_message_that_is_read_is_written_the_same(void **state)
{
    for (size_t i = 0; i < countof(cases); i++) {
        scoped(buf) struct buf bytes = {0}, again = {0};
        scoped(arena) struct arena *arena = arena_new(0);
        struct frame frame;

        if (!cases[i].again)
            continue;
        cases[i].put(&bytes);
        check_int(cases[i].name, frame_next(bytes.data, bytes.len, &frame), FRAME_WHOLE);
        check(cases[i].name, cases[i].again(&frame.fields, arena, &again));
        check("all was read", frame.fields.at == frame.fields.end);

        scoped_str first = to_hex(&bytes);
        scoped_str second = to_hex(&again);

        check_str(cases[i].name, second, first);
    }
}

static void a_message_that_is_cut_is_refused(void **state)
{
    for (size_t i = 0; i < countof(cases); i++) {
        scoped(buf) struct buf bytes = {0};
        struct frame frame;

        if (!cases[i].again)
            continue;
        cases[i].put(&bytes);
        frame_next(bytes.data, bytes.len, &frame);
        for (const char *end = frame.fields.at; end < frame.fields.end; end++) {
            scoped(arena) struct arena *arena = arena_new(0);
            scoped(buf) struct buf again = {0};
            struct frame_reader cut = {frame.fields.at, end, false};

            check(cases[i].name, !cases[i].again(&cut, arena, &again));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bytes_of_a_message_never_change),
        cmocka_unit_test(a_message_that_is_read_is_written_the_same),
        cmocka_unit_test(a_message_that_is_cut_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
