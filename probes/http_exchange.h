#pragma once
/*
 * One exchange of a try with a peer that is not trusted (T-6): no redirects, no proxies, no
 * cookies, bounded headers and body, and the address is checked again when the socket is opened
 * (SEC-13, SEC-14). For the kinds of tries over HTTP alone: it shows libcurl.
 */
#include "base/buf.h"
#include "base/http_multi.h"
#include "probes/attempt.h"

struct http_exchange;

/** Was that a good answer? Asked once, at its end. */
typedef bool (*http_exchange_fn)(struct http_exchange *exchange, CURLcode result);

struct http_exchange *http_exchange_new(struct probe_http_client *client,
                                        struct probe_attempt *attempt,
                                        const struct probe_address *address,
                                        http_exchange_fn passed);
void http_exchange_header(struct http_exchange *exchange, const char *line); /* "Name: value" */
CURL *http_exchange_easy(struct http_exchange *exchange); /* for options of the kind's own */
void http_exchange_start(struct http_exchange *exchange, const char *url, int64_t timeout_ms);

/* At its end. */
long http_exchange_status(const struct http_exchange *exchange);
/** The body, as far as it is kept: PROBE_BODY_MAX bytes. */
const struct buf *http_exchange_body(const struct http_exchange *exchange);
/** Was there a header or trailer that is this line? */
bool http_exchange_answered(const struct http_exchange *exchange, const char *line);
