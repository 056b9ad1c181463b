#pragma once
/*
 * Flags of `jobflow serve` whose texts mean more than one word: read, and checked where they are
 * given.
 */
#include <stdint.h>

#include "base/error.h"

enum { SERVE_PORT = 6480 };

struct listen_address {
    char host[256];
    int port;
};

/** "127.0.0.1:6480", "[::1]:0". */
bool listen_address_parse(const char *text, struct listen_address *out, struct error *err);
/** A size, or "none", which is 0 (L-39). */
bool empty_dir_limit_parse(const char *text, int64_t *out_bytes, struct error *err);

/* Of a flag (command.h): */
bool check_listen(const char *text, struct error *err);
bool check_tls_name(const char *text, struct error *err);
bool check_empty_dir_limit(const char *text, struct error *err);
bool check_host_path(const char *text, struct error *err);
bool check_node_resources(const char *text, struct error *err);
bool check_controllers(const char *text, struct error *err);
