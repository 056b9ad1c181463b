#pragma once
/*
 * libcurl's multi interface on the loop. libcurl names the sockets it waits for, libuv watches
 * them, and the owner of a transfer is called when it ends.
 *
 * Only headers of HTTP clients include this header, because it includes libcurl's.
 */
#include <curl/curl.h>

#include "base/loop/loop.h"

struct http_multi;

/* A member of the struct that owns a transfer. */
struct http_transfer {
    CURL *easy; /* owned by the caller; configured before the transfer is added */
    /** Called after the transfer has ended and was removed. The owner may free it or add it again. */
    void (*done)(struct http_transfer *transfer, CURLcode result);
};

struct http_multi *http_multi_new(struct loop *loop);
/** Returns an owned handle for a transfer. The first call loads libcurl. */
CURL *http_multi_easy(struct http_multi *multi);
/** All transfers must have been removed. Memory is freed in later passes of the loop. NULL is fine.
 */
void http_multi_free(struct http_multi *multi);

void http_multi_add(struct http_multi *multi, struct http_transfer *transfer);
/** Removes a transfer without calling `done`. Must not be called from a data or header callback of
 * libcurl. */
void http_multi_remove(struct http_multi *multi, struct http_transfer *transfer);
