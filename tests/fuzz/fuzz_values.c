/*
 * FZ-08: values of flags and small texts. Each parser takes any text, or returns an error with a
 * message. The first byte selects the parser.
 */
/* covers: reliability.md FZ-08 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "cli/client/resource.h"
#include "cli/cmd/commands.h"
#include "cli/daemon/serve_values.h"
#include "cli/engine/controllers.h"
#include "job/model/names.h"
#include "node/logs/limits.h"
#include "node/node_resources.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

const struct command *const commands[] = {NULL};

static bool take_listen(const char *text, struct error *err)
{
    struct listen_address address = {.port = -1};

    if (!listen_address_parse(text, &address, err))
        return false;
    assert(address.port >= 0 && address.port <= UINT16_MAX && *address.host);
    return true;
}

static bool take_empty_dir_limit(const char *text, struct error *err)
{
    int64_t bytes = -1;
    bool ok = size_limit_parse(text, &bytes, err);

    assert(!ok || bytes >= 0);
    return ok;
}

static bool take_log_size(const char *text, struct error *err)
{
    int64_t bytes = -1;
    bool ok = log_size_parse(text, &bytes, err);

    assert(!ok || bytes >= 0);
    return ok;
}

static bool take_controllers(const char *text, struct error *err)
{
    unsigned off;

    return controllers_parse(text, &off, err);
}

static bool take_resources(const char *text, struct error *err)
{
    struct machine_resources resources = {0};

    return machine_resources_parse(text, &resources, err);
}

static bool take_resource(const char *text, struct error *err)
{
    struct resource resource = {0};

    return resource_parse(text, &resource, err);
}

static bool take_duration(const char *text, struct error *err)
{
    int64_t ns;

    return duration_parse(text, &ns, err);
}

static bool take_number(const char *text, struct error *err)
{
    int32_t number;

    return job_parse_int(text, &number) || error_set(err, ERR_INVALID, "", "not a number");
}

typedef bool (*parser)(const char *text, struct error *err);
static const parser parsers[] = {
    take_listen,    take_empty_dir_limit, take_log_size,     take_controllers,     take_resources,
    take_resource,  take_duration,        take_number,       check_listen,         check_tls_name,
    check_log_size, check_host_path,      check_controllers, check_node_resources, check_size_limit,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    scoped_str text = NULL;
    struct error err = {0};

    if (!size)
        return 0;
    text = mem_printf("%.*s", (int)size - 1, (const char *)data + 1);
    if (!parsers[data[0] % countof(parsers)](text, &err))
        assert(err.code != ERR_NONE && *err.message);
    return 0;
}
