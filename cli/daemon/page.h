#pragma once
/*
 * What a daemon serves below /ui/. The program hands it in, because the page asks the API as a
 * client and so lies above the daemon.
 */
#include "api/server/auth/authn.h"
#include "api/server/http/handler.h"
#include "api/server/http/host_check.h"

struct daemon_page;

struct daemon_page_setup {
    struct loop *loop;
    struct authn *authn;
    const char *data_dir;
    const struct host_list *hosts; /* names of the daemon; their list may change */
    const char *url;               /* address of the daemon; NULL: it listens on none */
};

struct daemon_page_ops {
    /* Borrows what the setup refers to. NULL with `err` set. */
    struct daemon_page *(*start)(const struct daemon_page_setup *setup, struct error *err);
    struct http_handler *(*handler)(struct daemon_page *page);
    void (*set)(struct daemon_page *page, bool on);
    /* Tokens may have changed. */
    void (*check)(struct daemon_page *page);
    /* Ends what goes on, with the reason. */
    void (*stop)(struct daemon_page *page, const char *why);
    void (*free)(struct daemon_page *page); /* after the listener's end; NULL is fine */
};
