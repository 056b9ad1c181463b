#pragma once
/*
 * Where a page is: its files, its sign-ins, and what answers its requests.
 *
 *   browser ─► listener ─► request_check ─► signin ─► web_server ─► gateway ─► upstream ─► API server
 *                             403             401                     403
 *
 * A site is the handler of requests below /ui/. The page itself and its files need no sign-in,
 * because they hold no data. Each sign-in has a credential, and each credential a web_server, which
 * asks the API server with its rights. Ref: spec/web.md 4 to 7.
 */
#include "api/server/http/handler.h"
#include "api/server/http/host_check.h"
#include "base/buf.h"
#include "base/loop/loop.h"

struct web_server;
struct web_site;

struct web_site_options {
    struct loop *loop;
    const unsigned char *assets; /* packed files of the page, borrowed; NULL: every path is 404 */
    size_t assets_len;
    /* Names that a site with TLS answers to, borrowed; NULL: the site is plain, on loopback
     * addresses. */
    const struct host_list *hosts;
    size_t forward_bytes_max; /* what requests that are passed on may hold in all; 0: 256 MiB */
    const char *signins_path; /* file that keeps the sign-ins; NULL: they end with the process */
    const char *another_link; /* how a link is made: part of a sentence */
    const char *url;          /* address of the site, for links that others ask for; NULL: none */
    /* Returns what answers for a credential; NULL with `err` set. */
    struct web_server *(*server_of)(void *ctx, const char *credential, struct error *err);
    /* The following may be NULL. */
    /* Returns whether a credential gives rights still. NULL: it does. */
    bool (*good)(void *ctx, const char *credential);
    /* Returns the identity of a good credential, borrowed, for limits and records. NULL: one for
     * all. */
    struct identity *(*identity_of)(void *ctx, const char *credential);
    /* Writes the credential of a token; false when it is not known. NULL: tokens are not taken. */
    bool (*take_token)(void *ctx, const char *token, const char *peer, struct buf *credential);
    /* Writes the credential by which a client of the API asks for a link; false for one that has
     * none. NULL: links are made by this process only. */
    bool (*may_link)(void *ctx, const struct identity *identity, struct buf *credential);
    void (*ended)(void *ctx);                  /* called when a sign-in or an answer has ended */
    void (*warn)(void *ctx, const char *text); /* called with a sentence that the user should see */
    void (*signed_in)(void *ctx);              /* called after each sign-in */
    void *ctx;
};

/** Borrows what the options refer to. NULL with INVALID when the files are damaged. */
struct web_site *web_site_new(const struct web_site_options *options, struct error *err);
void web_site_free(struct web_site *site); /* NULL is fine; call after the listener's end */
struct http_handler *web_site_handler(struct web_site *site);
/** Switches the site on or off. While it is off every path is 404; sign-ins stay. */
void web_site_switch(struct web_site *site, bool on);
/** Appends a ticket for one sign-in without a credential. The caller wipes it. */
void web_site_ticket(struct web_site *site, int64_t life_ms, struct buf *out);
/** Ends the sign-ins whose credentials give no rights any more, with their streams. */
void web_site_check(struct web_site *site);
/** Returns whether an answer of the server is under way, or a sign-in has its credential. */
bool web_site_uses(const struct web_site *site, const struct web_server *server,
                   const char *credential);
/** Returns how long no page has been connected and no request has come. */
int64_t web_site_idle_ms(const struct web_site *site);
/** Ends the streams of all pages, with the reason. */
void web_site_stop(struct web_site *site, const char *why);
