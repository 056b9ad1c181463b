#pragma once
/*
 * The health and metrics pages of a controller process, over plain HTTP: /livez, /healthz and
 * /readyz on one port, /metrics on another. A connection serves one request (spec/cluster.md 9.1).
 */
#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/loop/loop.h"

struct pages;

enum page_set { PAGES_HEALTH, PAGES_METRICS };

struct pages_options {
    /** Returns whether the process does its work, and appends one line for each thing that it
     * checked: "[+]caches synced\n". */
    bool (*ready)(void *ctx, struct buf *out);
    void *ctx;
};

struct pages *pages_new(struct loop *loop, const struct pages_options *options);
/** Listens on "ADDRESS:PORT" or ":PORT", which means all addresses. Port 0 takes a free one. The port
 * is logged. INVALID for other texts, UNAVAILABLE when the port cannot be taken. */
bool pages_listen(struct pages *pages, enum page_set set, const char *where, struct error *err);
void pages_free(struct pages *pages); /* NULL is fine */

/** Checks the form of an address for pages_listen; "none" is one, too. */
bool pages_check_address(const char *text, struct error *err);
