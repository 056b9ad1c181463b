#pragma once
/*
 * Structured flag values of `jobflow serve`: parsers, and checks that run when a flag is set.
 */
#include <stdint.h>

#include "base/error.h"
#include "node/logs/limits.h"

enum { SERVE_PORT = 6480 };

struct listen_address {
    char host[256];
    int port;
};

/** Parses "127.0.0.1:6480" or "[::1]:0". Returns false with `err` set when the text is invalid. */
bool listen_address_parse(const char *text, struct listen_address *out, struct error *err);

/* Flag rows for the limits on kept logs, which `run` has, too. */
/* clang-format off */
#define KEEP_LOGS_FLAGS(flow, total) \
    {FLAG_STR, "keep-logs", 0, "SIZE", "logs of pods that are gone that each flow keeps, the oldest go first; default: " KEEP_LOGS_DEFAULT, flow, .check = check_log_size}, \
    {FLAG_STR, "keep-logs-total", 0, "SIZE", "the same of all flows and jobs together; default: " KEEP_LOGS_TOTAL_DEFAULT, total, .check = check_log_size}
/* clang-format on */

/* Flag row for the size of private directories, which `run` has, too. */
/* clang-format off */
#define SCRATCH_LIMIT_FLAG(member, usual) \
    {FLAG_STR, "scratch-limit", 0, "SIZE", "what all private directories of a container, such as /dev/shm, /run and a private /tmp, may hold together, like 8Gi; none: half of the machine's memory; default: " usual, member, .check = check_size_limit}
/* clang-format on */

/* Flag row for the file of devices, which `run`, `plan` and `validate` have, too. */
/* clang-format off */
#define DEVICES_FLAG(member) \
    {FLAG_STR, "devices", 0, "FILE", "describes devices that pods get by their ids, like GPUs, beside or instead of the NVIDIA GPUs that are found", member, .check = check_devices}
/* clang-format on */

/* Checks of flag values (the `check` of a flag in command.h). */
bool check_listen(const char *text, struct error *err);
bool check_tls_name(const char *text, struct error *err);
bool check_size_limit(const char *text, struct error *err);
bool check_log_size(const char *text, struct error *err);
bool check_host_path(const char *text, struct error *err);
bool check_node_resources(const char *text, struct error *err);
bool check_devices(const char *text, struct error *err);
bool check_controllers(const char *text, struct error *err);
