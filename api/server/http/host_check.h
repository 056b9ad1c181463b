#pragma once
/*
 * Requests that a web page makes a browser send (SEC-05): a Host that is not ours (a DNS name bent
 * to our address) and any Origin that was not allowed are refused before anything else is looked
 * at.
 */
#include "api/server/message/request_head.h"

struct host_list {
    const char *const *hosts; /* [n_hosts] names and addresses we answer to, without ports */
    size_t n_hosts;
    const char *const *origins; /* [n_origins] "https://ui.example:8443" */
    size_t n_origins;
};

/** FORBIDDEN. */
bool host_check(const struct host_list *list, const struct request_head *head, struct error *err);
