#pragma once
/*
 * Refuses requests that a web page makes a browser send (SEC-05): a Host header that is not a name
 * of this server (a DNS name rebound to its address), and an Origin header that is not allowed.
 * The check comes before any other use of the request.
 */
#include "api/server/message/request_head.h"

struct host_list {
    const char *const *hosts; /* names and addresses of this server without ports, [n_hosts] */
    size_t n_hosts;
    const char *const *origins; /* allowed origins such as "https://ui.example:8443", [n_origins] */
    size_t n_origins;
};

/** Returns false with FORBIDDEN when the request must be refused. */
bool host_check(const struct host_list *list, const struct request_head *head, struct error *err);
