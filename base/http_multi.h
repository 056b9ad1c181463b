#pragma once
/*
 * libcurl's multi interface driven by the loop: curl names the sockets it waits for, libuv watches
 * them, and whoever added a transfer is told of its end.
 *
 * Only headers of HTTP clients include this one: it shows libcurl.
 */
#include <curl/curl.h>

#include "base/loop.h"

struct http_multi;

/* Embedded in what belongs to a transfer. */
struct http_transfer {
    CURL *easy; /* the owner's; set up before it is added */
    /** The transfer has ended and is taken out: the owner may free it, or add it once more. */
    void (*done)(struct http_transfer *transfer, CURLcode result);
};

struct http_multi *http_multi_new(struct loop *loop);
/** A handle for a transfer (owned); libcurl is loaded with the first one. */
CURL *http_multi_easy(struct http_multi *multi);
/** Every transfer must be out. Memory goes with the loop's next passes. NULL is fine. */
void http_multi_free(struct http_multi *multi);

void http_multi_add(struct http_multi *multi, struct http_transfer *transfer);
/** No `done` follows. Not from a callback of curl's (data, header). */
void http_multi_remove(struct http_multi *multi, struct http_transfer *transfer);
