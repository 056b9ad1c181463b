#pragma once
/*
 * One HTTP exchange with a peer that is not trusted (T-6): no redirects, no proxies, no cookies,
 * bounded headers and body. The address is checked again when the socket is opened (SEC-13,
 * SEC-14). Private to the attempts over HTTP (http.c, http_grpc.c): it exposes libcurl.
 */
#include "base/buf.h"
#include "base/net/http_multi.h"
#include "probes/attempt.h"

struct http_exchange;

/** Returns whether the response passes the probe. Called once, at the end of the exchange. */
typedef bool (*http_exchange_fn)(struct http_exchange *exchange, CURLcode result);

struct http_exchange *http_exchange_new(struct probe_http_client *client,
                                        struct probe_attempt *attempt,
                                        const struct probe_address *address,
                                        http_exchange_fn passed);
void http_exchange_header(struct http_exchange *exchange, const char *line); /* "Name: value" */
CURL *http_exchange_easy(struct http_exchange *exchange); /* for further options */
void http_exchange_start(struct http_exchange *exchange, const char *url, int64_t timeout_ms);

/* The response, at the end of the exchange. */

long http_exchange_status(const struct http_exchange *exchange);
/** Returns the first PROBE_BODY_MAX bytes of the body. */
const struct buf *http_exchange_body(const struct http_exchange *exchange);
/** Returns whether the response has this line among its headers and trailers. */
bool http_exchange_answered(const struct http_exchange *exchange, const char *line);
