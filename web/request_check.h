#pragma once
/*
 * Refuses requests that another web page, or a rebound name, makes a browser send to a gateway. The
 * check comes before any other use of a request. Ref: spec/web.md WEB-036,
 * WEB-037.
 */
#include "api/server/http/host_check.h"

/** Checks Host, Origin and Sec-Fetch-Site of a complete head. `hosts` are the names of a server with
 * TLS; NULL: it is the plain one on loopback addresses. FORBIDDEN. */
bool request_check(const struct host_list *hosts, const char *bytes, size_t len,
                   const struct request_head *head, struct error *err);
