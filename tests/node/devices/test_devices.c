/*
 * Tests what devices a machine has, and which of them pods get. Ref: everyday.md 15.
 */
#include "tests/unit.h"

#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "node/devices/device_pool.h"
#include "node/node_resources.h"

/* Returns the ids of all resources of a list, like "nvidia.com/gpu: 0 1;"; owned. */
static char *ids_of(const struct device_list *list)
{
    scoped(buf) struct buf text = {0};

    buf_str(&text, "");
    for (size_t i = 0; i < list->resources.count; i++) {
        const struct device_resource *resource = &list->resources.items[i];

        buf_printf(&text, "%s:", resource->name);
        for (size_t j = 0; j < resource->ids.count; j++)
            buf_printf(&text, " %s", resource->ids.items[j]);
        for (size_t j = 0; j < resource->env.count; j++)
            buf_printf(&text, " $%s", resource->env.items[j]);
        buf_str(&text, ";");
    }
    return buf_take(&text);
}

static char *folder_of_gpus(const char *name, int count)
{
    char *path = test_path(name);

    check_int("mkdir", mkdir(path, 0700), 0);
    for (int i = 0; i < count; i++) {
        scoped_str gpu = mem_printf("%s/0000:%02x:00.0", path, 0x3b - i);

        check_int("mkdir", mkdir(gpu, 0700), 0);
    }
    return path;
}

#define GPU_VARIABLES " $CUDA_VISIBLE_DEVICES $NVIDIA_VISIBLE_DEVICES;"

/* covers: everyday.md EVD-300 */
static void gpus_are_found_by_the_folders_of_their_driver(void **state)
{
    static const struct {
        const char *visible, *ids;
    } cases[] = {
        {NULL, "nvidia.com/gpu: 0 1" GPU_VARIABLES},
        {"", ""},
        {"1", "nvidia.com/gpu: 1" GPU_VARIABLES},
        {"1, 0", "nvidia.com/gpu: 1 0" GPU_VARIABLES},
        {"01", "nvidia.com/gpu: 1" GPU_VARIABLES},
        {"1,x,0", "nvidia.com/gpu: 1" GPU_VARIABLES},
        {"0,0,1", "nvidia.com/gpu: 0" GPU_VARIABLES},
        {"9", ""},
        {"-1,0", ""},
        {"GPU-1f3a,MIG-2,0", "nvidia.com/gpu: GPU-1f3a MIG-2 0" GPU_VARIABLES},
    };
    scoped_str path = folder_of_gpus("gpus", 2);
    scoped_str nothing = test_path("nothing");

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(device_list) struct device_list list = {0};
        const struct device_sources sources = {path, cases[i].visible, NULL};
        const char *name = cases[i].visible ? cases[i].visible : "unset";
        scoped_str ids = NULL;

        check(name, device_list_read(&list, &sources, NULL));
        ids = ids_of(&list);
        check_str(name, ids, cases[i].ids);
    }
    for (int i = 0; i < 2; i++) {
        scoped(device_list) struct device_list list = {0};
        const struct device_sources sources = {i ? nothing : NULL, "0", NULL};

        check("no driver", device_list_read(&list, &sources, NULL));
        check_int("no GPU", (int)list.resources.count, 0);
    }
}

/* Reads a file with this text. */
static bool read_text(struct device_list *list, const char *text, size_t len, const char *gpus,
                      struct error *err)
{
    scoped_str path = test_path("d.yaml");

    check_ok("write", file_write_atomic(path, text, len, 0600, err), *err);
    return device_list_read(list, &(const struct device_sources){gpus, NULL, path}, err);
}

/* covers: everyday.md EVD-301 */
static void a_file_describes_devices(void **state)
{
    static const char text[] = "devices:\n"
                               "- resource: nvidia.com/gpu\n"
                               "  ids: [2, '3']\n"
                               "- {resource: example.com/fpga, ids: [left], env: [FPGA_DEVICES]}\n"
                               "- {resource: example.com/none, ids: []}\n";
    scoped(device_list) struct device_list list = {0};
    scoped_str gpus = folder_of_gpus("others", 2);
    scoped_str ids = NULL;
    struct error err = {0};

    check_ok("read", read_text(&list, text, sizeof text - 1, gpus, &err), err);
    ids = ids_of(&list);
    check_str("instead of what is found", ids,
              "nvidia.com/gpu: 2 3" GPU_VARIABLES
              "example.com/fpga: left $FPGA_DEVICES;example.com/none:;");
}

/* covers: everyday.md EVD-301 */
static void a_wrong_file_is_refused_with_its_line_and_field(void **state)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"a: [\n", "line "},
        {"", "is one YAML document"},
        {"{}", ":1: devices: Required value"},
        {"devices: 1", ":1: devices: "},
        {"devices:\n- {ids: [a]}", ":2: devices[0].resource: Required value"},
        {"devices:\n- {resource: a/b}", ":2: devices[0].ids: Required value"},
        {"devices:\n- {resource: gpu, ids: [a]}", "has a prefix, like nvidia.com/gpu"},
        {"devices:\n- {resource: 'a/b c', ids: [a]}", ":2: devices[0].resource: "},
        {"devices:\n- resource: a/b\n  ids:\n  - x\n  - 'a,b'", ":5: devices[0].ids[1]: "},
        {"devices:\n- {resource: a/b, ids: ['']}", "1 to 128 visible ASCII characters"},
        {"devices:\n- {resource: a/b, ids: [true]}", ":2: devices[0].ids[0]: "},
        {"devices:\n- resource: a/b\n  ids: [0,\n    '0']", ":4: devices[0].ids[1]: \"0\" is there "
                                                            "twice"},
        {"devices:\n- {resource: a/b, ids: [a], env: [1X]}", ":2: devices[0].env[0]: "},
        {"devices:\n- {resource: a/b, ids: [a]}\n- {resource: a/b, ids: [b]}",
         ":3: devices[1].resource: \"a/b\" is there twice"},
        {"devices:\n- {resource: a/b, ids: [a], count: 2}", ":2: devices[0].count: "},
        {"devices:\n- {resource: a/a, ids: []}\n- {resource: a/b, ids: []}\n"
         "- {resource: a/c, ids: []}\n- {resource: a/d, ids: []}",
         "devices: "},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(device_list) struct device_list list = {0};
        struct error err = {0};

        check(cases[i].text, !read_text(&list, cases[i].text, strlen(cases[i].text), NULL, &err));
        check_has(cases[i].text, err.message, "d.yaml");
        check_has(cases[i].text, err.message, cases[i].error);
        check("the list is empty", !list.resources.count && !list.arena);
    }
}

/* covers: everyday.md EVD-301 */
static void the_number_and_length_of_ids_are_bounded(void **state)
{
    for (int more = 0; more < 2; more++) {
        scoped(device_list) struct device_list list = {0};
        scoped(buf) struct buf text = {0};
        struct error err = {0};

        buf_str(&text, "devices: [{resource: a/b, ids: [");
        for (int i = 0; i < DEVICE_IDS_MAX + more; i++)
            buf_printf(&text, "%d,", i);
        buf_str(&text, "]}]");
        check("256, 257", read_text(&list, text.data, text.len, NULL, &err) == !more);
    }
    for (int more = 0; more < 2; more++) {
        scoped(device_list) struct device_list list = {0};
        scoped_str id = mem_printf("devices: [{resource: a/b, ids: ['%0*d']}]", 128 + more, 0);
        struct error err = {0};

        check("128, 129", read_text(&list, id, strlen(id), NULL, &err) == !more);
        check_int("of them", (int)list.resources.count, !more);
    }
    {
        scoped(device_list) struct device_list list = {0};
        scoped_str path = test_path("none.yaml");
        struct error err = {0};

        check_error("no file",
                    device_list_read(&list, &(const struct device_sources){.file = path}, &err),
                    err, ERR_NOT_FOUND);
    }
}

/* A list of resources without an arena. */
#define LIST(...)                                                                                  \
    {                                                                                              \
        .resources = {                                                                             \
            (struct device_resource[]){__VA_ARGS__},                                               \
            sizeof((struct device_resource[]){__VA_ARGS__}) / sizeof(struct device_resource)       \
        }                                                                                          \
    }
#define TEXTS(...)                                                                                 \
    {                                                                                              \
        (const char *[]){__VA_ARGS__}, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)      \
    }

/* covers: everyday.md EVD-302 */
static void node_resources_limit_the_ids(void **state)
{
    static const struct {
        const char *text;
        bool strict;
        const char *error; /* NULL: none */
        int64_t number;
        size_t ids;
    } cases[] = {
        {"", true, NULL, 2, 2},
        {"a/b=1", true, NULL, 1, 1},
        {"a/b=0", true, NULL, 0, 0},
        {"a/b=2", true, NULL, 2, 2},
        {"a/b=3", true, "a/b=3: this machine has 2", 0, 0},
        {"a/b=3", false, NULL, 3, 2},
        {"c/d=9,e/f=9", true, NULL, 2, 2},
        {"c/d=9,e/f=9,g/h=1", true, "three named resources", 0, 0},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        struct device_list list = LIST({"a/b", TEXTS("0", "1"), {0}});
        struct machine_resources resources;
        struct error err = {0};
        bool ok;

        check("parsed", machine_resources_parse(cases[i].text, &resources, NULL));
        ok = machine_resources_add_devices(&resources, &list, cases[i].strict, &err);
        check(cases[i].text, ok == !cases[i].error);
        if (!ok) {
            check_has(cases[i].text, err.message, cases[i].error);
            continue;
        }
        for (size_t j = 0; j < resources.extras.count; j++)
            if (strcmp(resources.extras.names[j], "a/b") == 0)
                check_int(cases[i].text, resources.extra[j], cases[i].number);
        check_int(cases[i].text, (int)list.resources.items[0].ids.count, (int)cases[i].ids);
    }
}

#define GPUS(n)                                                                                    \
    {                                                                                              \
        (struct str_pair[]){{DEVICE_GPU, n}}, 1                                                    \
    }
#define CONTAINERS(...)                                                                            \
    {                                                                                              \
        (struct pod_container[]){__VA_ARGS__},                                                     \
            sizeof((struct pod_container[]){__VA_ARGS__}) / sizeof(struct pod_container)           \
    }

static void show(void *ctx, const char *name, const char *value)
{
    struct buf *out = ctx;

    buf_printf(out, "%s=%s ", name, value);
}

/* Returns the variables of a container, those below its own and those above; owned. */
static char *variables_of(const struct device_pool *pool, const struct device_grant *grant,
                          const struct pod_spec *spec, const struct pod_container *container)
{
    scoped(buf) struct buf text = {0};
    scoped(arena) struct arena *arena = arena_new(0);

    device_variables(pool, grant, spec, container, DEVICE_BELOW_CONTAINER, arena, show, &text);
    buf_str(&text, "| ");
    device_variables(pool, grant, spec, container, DEVICE_ABOVE_CONTAINER, arena, show, &text);
    return buf_take(&text);
}

static void check_text(const struct device_pool *pool, const struct device_grant *grant,
                       const struct pod_spec *spec, const struct pod_container *container,
                       const char *wanted)
{
    scoped(arena) struct arena *arena = arena_new(0);
    const char *text = device_grant_text(pool, grant, spec, container, arena);

    check_str(container->name, text ? text : "none", wanted);
}

/* covers: everyday.md EVD-304 */
static void containers_have_parts_of_the_devices_of_their_pod(void **state)
{
    const struct device_list list =
        LIST({DEVICE_GPU, TEXTS("a", "b", "c", "d", "e", "f"), TEXTS("G")});
    const struct pod_spec spec = {
        .init_containers =
            CONTAINERS({.name = "init", .limits = GPUS("2")},
                       {.name = "side", .limits = GPUS("1"), .restart_policy = "Always"},
                       {.name = "late", .limits = GPUS("3")}),
        .containers = CONTAINERS({.name = "one", .limits = GPUS("1")}, {.name = "none"},
                                 {.name = "two", .limits = GPUS("2")})};
    struct device_pool *pool = device_pool_new(&list);
    struct device_grant *first, *second, *again;
    const struct container_status statuses[] = {{.name = "one", .devices = DEVICE_GPU "=b"},
                                                {.name = "two", .devices = DEVICE_GPU "=c,gone"}};
    struct pod_status status = {.containers = {(struct container_status *)statuses, 2}};

    check("it requests some", device_pool_concerns(pool, &spec));
    first = device_pool_take(pool, &spec);
    assert_non_null(first);
    check_text(pool, first, &spec, &spec.init_containers.items[0], DEVICE_GPU "=a,b");
    check_text(pool, first, &spec, &spec.init_containers.items[1], DEVICE_GPU "=a");
    check_text(pool, first, &spec, &spec.init_containers.items[2], DEVICE_GPU "=b,c,d");
    check_text(pool, first, &spec, &spec.containers.items[0], DEVICE_GPU "=b");
    check_text(pool, first, &spec, &spec.containers.items[1], "none");
    check_text(pool, first, &spec, &spec.containers.items[2], DEVICE_GPU "=c,d");
    check("two are left, four are requested", !device_pool_take(pool, &spec));
    device_pool_give_back(pool, first);

    again = device_pool_restore(pool, &spec, &status);
    assert_non_null(again);
    check_text(pool, again, &spec, &spec.containers.items[0], DEVICE_GPU "=b");
    check_text(pool, again, &spec, &spec.containers.items[2], DEVICE_GPU "=c,gone");
    second = device_pool_take(pool, &spec);
    assert_non_null(second);
    check_text(pool, second, &spec, &spec.init_containers.items[1], DEVICE_GPU "=a");
    check_text(pool, second, &spec, &spec.containers.items[2], DEVICE_GPU "=e,f");
    device_pool_give_back(pool, again);
    device_pool_give_back(pool, second);
    check("nothing is restored", !device_pool_restore(pool, &spec, &(struct pod_status){0}));
    first = device_pool_take(pool, &spec);
    check_text(pool, first, &spec, &spec.containers.items[2], DEVICE_GPU "=c,d");
    device_pool_give_back(pool, first);
    device_pool_free(pool);
}

/* covers: everyday.md EVD-305 */
static void variables_name_the_devices_or_hide_them(void **state)
{
    const struct device_list list =
        LIST({DEVICE_GPU, TEXTS("4", "7"), TEXTS("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES")},
             {"example.com/fpga", TEXTS("left"), TEXTS("FPGA")});
    const struct pod_spec spec = {
        .containers = CONTAINERS({.name = "two", .limits = GPUS("2")}, {.name = "none"})};
    struct device_pool *pool = device_pool_new(&list);
    struct device_grant *grant = device_pool_take(pool, &spec);
    scoped_str two = variables_of(pool, grant, &spec, &spec.containers.items[0]);
    scoped_str none = variables_of(pool, grant, &spec, &spec.containers.items[1]);
    scoped_str nothing = variables_of(pool, NULL, &spec, &spec.containers.items[1]);

    check_str("two", two,
              "CUDA_DEVICE_ORDER=PCI_BUS_ID FPGA= | CUDA_VISIBLE_DEVICES=4,7 "
              "NVIDIA_VISIBLE_DEVICES=4,7 ");
    check_str("none", none, "CUDA_VISIBLE_DEVICES= NVIDIA_VISIBLE_DEVICES=void FPGA= | ");
    check_str("no grant", nothing, none);
    device_pool_give_back(pool, grant);
    device_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpus_are_found_by_the_folders_of_their_driver),
        cmocka_unit_test(a_file_describes_devices),
        cmocka_unit_test(a_wrong_file_is_refused_with_its_line_and_field),
        cmocka_unit_test(the_number_and_length_of_ids_are_bounded),
        cmocka_unit_test(node_resources_limit_the_ids),
        cmocka_unit_test(containers_have_parts_of_the_devices_of_their_pod),
        cmocka_unit_test(variables_name_the_devices_or_hide_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
