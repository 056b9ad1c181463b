/*
 * Keeps what answers for each credential that is signed in.
 *
 *   sign-in ─► credential ─► identity (authn)
 *                   └─► user: a lent token ─► upstream, the daemon's own socket ─► API
 *                                └─► children, which print what commands print
 *
 * Requests of a page are requests of the API like any other: authorized, bounded and audited there.
 */
#include "web/daemon_page.h"

#include <limits.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "web/assets.h"
#include "web/child/child.h"
#include "web/server.h"

/* One credential with a sign-in. */
struct page_user {
    struct daemon_page *page;
    char *credential;
    struct identity *identity; /* a reference */
    char token[BEARER_TEXT + 1];
    struct client_endpoint endpoint;
    struct upstream *upstream;
    struct web_server *server;
    int64_t expires_ms; /* wall time of the end of the credential; 0: none */
    struct timer expiry;
    LIST_ENTRY(page_user) all;
};

struct daemon_page {
    struct daemon_page_setup setup;
    char *data_dir; /* the absolute path: children must not take it for a default */
    char *signins_path;
    struct web_site *site;
    struct child_slots *child_slots;
    LIST_HEAD(, page_user) users;
    struct task sweep; /* frees users without a sign-in */
};

static void forget(struct page_user *user)
{
    struct authn *authn = user->page->setup.authn;

    LIST_REMOVE(user, all);
    timer_stop(user->page->setup.loop, &user->expiry);
    web_server_free(user->server);
    upstream_free(user->upstream);
    authn_withdraw(authn, user->token);
    identity_unref(user->identity);
    OPENSSL_cleanse(user->token, sizeof user->token);
    mem_free(user->credential);
    mem_free(user);
}

static void on_sweep(struct task *task)
{
    struct daemon_page *page = container_of(task, struct daemon_page, sweep);
    struct page_user *user, *next;

    for (user = LIST_FIRST(&page->users); user; user = next) {
        next = LIST_NEXT(user, all);
        if (!web_site_uses(page->site, user->server, user->credential))
            forget(user);
    }
}

static void on_ended(void *ctx)
{
    struct daemon_page *page = ctx;

    loop_post(page->setup.loop, &page->sweep);
}

static struct identity *identity_of(void *ctx, const char *credential)
{
    const struct daemon_page *page = ctx;
    int64_t expires_ms;

    return authn_by_credential(page->setup.authn, credential, &expires_ms);
}

static bool is_good(void *ctx, const char *credential)
{
    return identity_of(ctx, credential) != NULL;
}

static struct page_user *find(const struct daemon_page *page, const char *credential)
{
    struct page_user *user;

    LIST_FOREACH(user, &page->users, all)
    {
        if (strcmp(user->credential, credential) == 0)
            return user;
    }
    return NULL;
}

static bool open_user(struct page_user *user, struct error *err)
{
    struct daemon_page *page = user->page;
    const struct upstream_options upstream = {.loop = page->setup.loop,
                                              .endpoint = user->endpoint,
                                              .token = user->token,
                                              .user = user->identity->user};

    user->upstream = upstream_new(&upstream, err);
    if (!user->upstream)
        return false;
    user->server = web_server_new(&(const struct web_server_options){
        .site = page->site,
        .upstream = user->upstream,
        .child_slots = page->child_slots,
        .endpoint = &user->endpoint,
        .token = user->token,
    });
    return true;
}

/* Ends the sign-ins when the credential is over. A long wait is taken in parts, because the clock
 * may be set. */
static void await_expiry(struct page_user *user)
{
    enum { PART_MS = 60 * 1000 };
    struct loop *loop = user->page->setup.loop;
    int64_t left_ms = user->expires_ms - loop_wall_ms(loop);

    timer_stop(loop, &user->expiry);
    if (!user->expires_ms)
        return;
    if (left_ms <= 0)
        web_site_check(user->page->site);
    else
        timer_start(loop, &user->expiry, left_ms < PART_MS ? left_ms : PART_MS);
}

static void on_expiry(struct timer *timer)
{
    await_expiry(container_of(timer, struct page_user, expiry));
}

static struct web_server *server_of(void *ctx, const char *credential, struct error *err)
{
    struct daemon_page *page = ctx;
    struct page_user *user = find(page, credential);
    struct identity *identity;
    int64_t expires_ms = 0;

    if (user)
        return user->server;
    identity = authn_by_credential(page->setup.authn, credential, &expires_ms);
    if (!identity) {
        error_set(err, ERR_UNAUTHORIZED, "", "the credential of this sign-in is over");
        return NULL;
    }
    user = mem_alloc(sizeof *user);
    user->page = page;
    user->credential = mem_strdup(credential);
    user->identity = identity_ref(identity);
    user->expires_ms = expires_ms;
    user->expiry.fire = on_expiry;
    user->endpoint.data_dir = page->data_dir;
    authn_lend(page->setup.authn, identity, user->token);
    LIST_INSERT_HEAD(&page->users, user, all);
    if (!open_user(user, err)) {
        forget(user);
        return NULL;
    }
    await_expiry(user);
    return user->server;
}

static bool may_link(void *ctx, const struct identity *identity, struct buf *credential)
{
    const struct daemon_page *page = ctx;

    return authn_credential_of(page->setup.authn, identity, credential);
}

/* Only tokens count here, and failures as for the API. */
static bool take_token(void *ctx, const char *token, const char *peer, struct buf *credential)
{
    const struct daemon_page *page = ctx;
    scoped_str header = mem_printf("Bearer %s", token);
    const struct credentials shown = {.authorization = {header, strlen(header)}, .peer = peer};
    scoped(identity) struct identity *identity =
        authn_authenticate(page->setup.authn, &shown, NULL);

    OPENSSL_cleanse(header, strlen(header));
    return identity && may_link(ctx, identity, credential);
}

static void page_free(struct daemon_page *page)
{
    if (!page)
        return;
    loop_cancel(page->setup.loop, &page->sweep);
    while (!LIST_EMPTY(&page->users))
        forget(LIST_FIRST(&page->users));
    child_slots_free(page->child_slots);
    web_site_free(page->site);
    mem_free(page->signins_path);
    mem_free(page->data_dir);
    mem_free(page);
}

static struct daemon_page *start(const struct daemon_page_setup *setup, struct error *err)
{
    struct daemon_page *page = mem_alloc(sizeof *page);
    struct web_site_options options = {
        .loop = setup->loop,
        .hosts = setup->hosts,
        .another_link =
            "'jobflow ui --link' on its machine prints a link, and a token signs in, too",
        .url = setup->url,
        .server_of = server_of,
        .good = is_good,
        .identity_of = identity_of,
        .take_token = take_token,
        .may_link = may_link,
        .ended = on_ended,
        .ctx = page,
    };
    char absolute[PATH_MAX];

    page->setup = *setup;
    page->sweep.run = on_sweep;
    page->data_dir = mem_strdup(realpath(setup->data_dir, absolute) ? absolute : setup->data_dir);
    page->signins_path = mem_printf("%s/access/signins.json", page->data_dir);
    page->child_slots = child_slots_new(setup->loop);
    options.signins_path = page->signins_path;
    options.assets = assets_built_in(&options.assets_len);
    page->site = web_site_new(&options, err);
    if (page->site)
        return page;
    page_free(page);
    return NULL;
}

static struct http_handler *handler(struct daemon_page *page)
{
    return web_site_handler(page->site);
}

static void set(struct daemon_page *page, bool on)
{
    web_site_switch(page->site, on);
}

/* The end of a token may have been moved, too. */
static void check(struct daemon_page *page)
{
    struct page_user *user;
    int64_t expires_ms;

    web_site_check(page->site);
    LIST_FOREACH(user, &page->users, all)
    {
        if (!authn_by_credential(page->setup.authn, user->credential, &expires_ms))
            continue;
        user->expires_ms = expires_ms;
        await_expiry(user);
    }
}

static void stop(struct daemon_page *page, const char *why)
{
    web_site_stop(page->site, why);
}

const struct daemon_page_ops daemon_page_ops = {
    .start = start,
    .handler = handler,
    .set = set,
    .check = check,
    .stop = stop,
    .free = page_free,
};
