#pragma once
/*
 * An init container that waits until a port accepts connections on every host. Ref:
 * spec/job-plugins.md 7, O-P29, O-P33.
 */
#include <jansson.h>

#include "base/buf.h"

struct job_wait_container {
    const char *name, *image;
    const char *hosts; /* names of the hosts, separated by blanks */
    int64_t port, timeout_s;
};

/** The container; owned. It exits with 0 once every host accepts connections, and with 1 after
 * `timeout_s`. */
json_t *job_wait_container(const struct job_wait_container *what);
