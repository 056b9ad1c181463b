/*
 * Parses and checks the structured flag values of `jobflow serve`.
 */
#include "cli/daemon/serve_values.h"

#include <stdlib.h>
#include <string.h>

#include "api/server/auth/tls_keys.h"
#include "api/types/text/quantity.h"
#include "cli/engine/controllers.h"
#include "node/devices/device_list.h"
#include "node/machine/host_paths.h"
#include "node/node_resources.h"

bool listen_address_parse(const char *text, struct listen_address *out, struct error *err)
{
    const char *colon = strrchr(text, ':'), *host = text;
    size_t len = colon ? (size_t)(colon - text) : 0;
    char *end = NULL;
    long port = colon ? strtol(colon + 1, &end, 10) : -1;

    if (len >= 2 && text[0] == '[' && text[len - 1] == ']') {
        host++;
        len -= 2;
    }
    if (len == 0 || len >= sizeof out->host || !end || *end || end == colon + 1 || port < 0 ||
        port > 65535)
        return error_set(err, ERR_INVALID, "", "\"%s\" is not ADDRESS:PORT, like 127.0.0.1:%d",
                         text, SERVE_PORT);
    memcpy(out->host, host, len);
    out->host[len] = '\0';
    out->port = (int)port;
    return true;
}

bool check_listen(const char *text, struct error *err)
{
    struct listen_address address;

    return strcmp(text, "none") == 0 || listen_address_parse(text, &address, err);
}

bool check_tls_name(const char *text, struct error *err)
{
    return tls_host_valid(text, err);
}

bool check_size_limit(const char *text, struct error *err)
{
    int64_t bytes;

    return size_limit_parse(text, &bytes, err);
}

bool check_log_size(const char *text, struct error *err)
{
    int64_t bytes;

    return log_size_parse(text, &bytes, err);
}

bool check_host_path(const char *text, struct error *err)
{
    struct host_paths paths = {0};

    return host_paths_add(&paths, text, err);
}

bool check_node_resources(const char *text, struct error *err)
{
    struct machine_resources resources;

    return machine_resources_parse(text, &resources, err);
}

bool check_devices(const char *text, struct error *err)
{
    scoped(device_list) struct device_list devices = {0};

    return device_list_read(&devices, &(const struct device_sources){.file = text}, err);
}

bool check_controllers(const char *text, struct error *err)
{
    unsigned off;

    return controllers_parse(text, &off, err);
}
