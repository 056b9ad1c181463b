#pragma once
/*
 * The interface through which a daemon serves the browser page below /ui/. The folder web/ implements
 * it (daemon_page_ops of web/daemon_page.h) and includes headers of the daemon, so the daemon cannot
 * include those of web/. The caller of daemon_run passes the functions instead.
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
    /* Makes the page. It borrows what the setup refers to. NULL with `err` set. */
    struct daemon_page *(*start)(const struct daemon_page_setup *setup, struct error *err);
    /* Returns what answers the requests below /ui/; borrowed. */
    struct http_handler *(*handler)(struct daemon_page *page);
    /* Switches the page on or off. While it is off, every request is answered with 404. */
    void (*set)(struct daemon_page *page, bool on);
    /* Ends the sign-ins whose tokens are no longer valid. Called when tokens may have changed. */
    void (*check)(struct daemon_page *page);
    /* Ends the streams to all browsers and tells them the reason. */
    void (*stop)(struct daemon_page *page, const char *why);
    void (*free)(struct daemon_page *page); /* after the listener's end; NULL is fine */
};
