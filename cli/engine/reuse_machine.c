/*
 * The key is a file of the data directory. It is made when a step first refers to a Secret.
 */
#include "cli/engine/reuse_machine.h"

#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"

enum { KEY_BYTES = 32 };

struct reuse_machine {
    struct flow_reuse_options options;
    struct host_paths paths;
    char *directory, *key_path;
    char *base; /* last result of base_of; owned */
    bool has_key;
    bool read_only;                                /* no key is written */
    const struct reuse_forecast_options *forecast; /* borrowed; NULL: steps run */
    uint64_t key[KEY_BYTES / sizeof(uint64_t)];
};

static const char *base_of(void *ctx, const char *path)
{
    struct reuse_machine *machine = ctx;
    const struct host_path_rule *rule = host_paths_rule(&machine->paths, path);

    if (!rule || host_path_climbs(path))
        return NULL;
    mem_free(machine->base);
    machine->base = mem_printf("%.*s", (int)rule->len, rule->prefix);
    return machine->base;
}

static bool read_key(struct reuse_machine *machine)
{
    scoped(buf) struct buf bytes = {0};

    if (!machine->key_path || !file_read(machine->key_path, KEY_BYTES, &bytes, NULL) ||
        bytes.len != KEY_BYTES)
        return false;
    memcpy(machine->key, bytes.data, KEY_BYTES);
    return true;
}

/* A key that cannot be kept holds for this process. */
static void make_key(struct reuse_machine *machine)
{
    struct error err = {0};

    for (size_t i = 0; i < countof(machine->key); i++)
        machine->key[i] = clock_random(clock_real());
    if (machine->key_path && !machine->read_only &&
        !file_write_atomic(machine->key_path, machine->key, KEY_BYTES, 0600, &err))
        log_warn("key of the cache not kept: steps that use Secrets run again after a restart",
                 kv_str("file", machine->key_path), kv_str("error", err.message));
}

static const void *secret(void *ctx, size_t *out_len)
{
    struct reuse_machine *machine = ctx;

    if (!machine->has_key && !read_key(machine))
        make_key(machine);
    machine->has_key = true;
    *out_len = KEY_BYTES;
    return machine->key;
}

struct reuse_machine *reuse_machine_new(const char *directory, const char *data_dir,
                                        const struct host_paths *paths)
{
    struct reuse_machine *machine = mem_alloc(sizeof *machine);

    machine->paths = *paths;
    machine->directory = mem_strdup(directory);
    machine->key_path = data_dir ? mem_printf("%s/cache.key", data_dir) : NULL;
    machine->options = (struct flow_reuse_options){.directory = machine->directory,
                                                   .base_of = paths->any ? NULL : base_of,
                                                   .ctx = machine,
                                                   .secret = secret};
    return machine;
}

/* Forwards what was compared: a forecast knows nothing of this struct. */
static const struct reuse_forecast_options *forecast_of(void *ctx)
{
    return ((const struct reuse_machine *)ctx)->forecast;
}

static void compared(void *ctx, const char *flow, const char *step, const json_t *rows)
{
    forecast_of(ctx)->compared(forecast_of(ctx)->ctx, flow, step, rows);
}

struct reuse_machine *reuse_machine_forecast(const char *directory,
                                             const struct reuse_forecast_options *forecast)
{
    const struct host_paths any = {.any = true};
    struct reuse_machine *machine = reuse_machine_new(directory, forecast->data_dir, &any);

    machine->read_only = true;
    machine->forecast = forecast;
    if (forecast->compared)
        machine->options.compared = compared;
    return machine;
}

void reuse_machine_set_environment(struct reuse_machine *machine, const char *environment)
{
    machine->options.environment = environment;
}

void reuse_machine_free(struct reuse_machine *machine)
{
    if (!machine)
        return;
    mem_free(machine->directory);
    mem_free(machine->key_path);
    mem_free(machine->base);
    mem_free(machine);
}

const struct flow_reuse_options *reuse_machine_options(const struct reuse_machine *machine)
{
    return &machine->options;
}
