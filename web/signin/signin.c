/*
 * Makes, finds and ends tickets and sign-ins. All times are monotonic.
 */
#include "web/signin/internal.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <string.h>

#include "base/collections/hash.h"
#include "base/encoding/base64.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/secret.h"

enum {
    SECRET_BYTES = 32,
    COOKIES_TRIED_MAX = 8, /* cookies of our name in one request */
    MISUSE_MS = 10000,     /* a second use of a ticket within this time ends the sign-in */
    SAVE_MS = 600000,      /* the time of the last request is written this often */
    NS_PER_MS = 1000000,
};
static const int64_t second_ns = INT64_C(1000000000);
static const char credential_over[] = "the sign-in has ended: the credential that it was made with "
                                      "was revoked or changed, or is over";

static int64_t now_of(const struct signins *signins)
{
    return loop_mono_ns(signins->options.loop);
}

static void digest_of(const char *text, size_t len, digest out)
{
    SHA256((const unsigned char *)text, len, out);
}

static void make_secret(char out[SIGNIN_SECRET_TEXT + 1])
{
    unsigned char bytes[SECRET_BYTES];
    struct buf text = {0};

    if (RAND_bytes(bytes, sizeof bytes) != 1)
        mem_fatal("no random numbers");
    base64url_encode(bytes, sizeof bytes, &text);
    memcpy(out, text.data, SIGNIN_SECRET_TEXT + 1);
    OPENSSL_cleanse(bytes, sizeof bytes);
    secret_wipe(&text);
}

static void await_end(struct signins *signins);
static void on_over(struct timer *timer);

struct signins *signins_new(const struct signins_options *options)
{
    struct signins *signins = mem_alloc(sizeof *signins);
    unsigned char id[SIGNIN_ID_TEXT / 2];

    signins->options = *options;
    signins->over.fire = on_over;
    if (RAND_bytes(id, sizeof id) != 1)
        mem_fatal("no random numbers");
    for (size_t i = 0; i < sizeof id; i++)
        snprintf(signins->id + 2 * i, 3, "%02x", id[i]);
    if (options->path) {
        signins_load(signins);
        signins_save(signins); /* the id names the cookies of sign-ins to come */
        await_end(signins);
    }
    return signins;
}

void signins_free(struct signins *signins)
{
    if (!signins)
        return;
    timer_stop(signins->options.loop, &signins->over);
    for (size_t i = 0; i < TICKETS_MAX; i++)
        mem_free(signins->tickets[i].credential);
    for (size_t i = 0; i < SIGNINS_MAX; i++)
        mem_free(signins->items[i].credential);
    OPENSSL_cleanse(signins->tickets, sizeof signins->tickets);
    OPENSSL_cleanse(signins->items, sizeof signins->items);
    mem_free(signins);
}

const char *signins_id(const struct signins *signins)
{
    return signins->id;
}

static void end(struct signins *signins, struct signin *signin, const char *why)
{
    uint64_t number = signin->number;
    scoped_str credential = signin->credential;

    *signin = (struct signin){0};
    signins_save(signins);
    if (signins->options.ended)
        signins->options.ended(signins->options.ctx, number, credential, why);
}

static int64_t left_ns(int64_t since_ns, int64_t life_ms, int64_t now_ns)
{
    return since_ns + life_ms * NS_PER_MS - now_ns;
}

static void end_old(struct signins *signins)
{
    int64_t now_ns = now_of(signins);

    for (size_t i = 0; i < SIGNINS_MAX; i++) {
        struct signin *signin = &signins->items[i];

        if (signin->number && (left_ns(signin->used_ns, SIGNIN_IDLE_MS, now_ns) <= 0 ||
                               left_ns(signin->made_ns, SIGNIN_WHOLE_MS, now_ns) <= 0))
            end(signins, signin, "the sign-in has ended: its time is over");
    }
}

/* Returns when the next sign-in ends if no request comes; 0: there is none. */
static int64_t next_end_ns(const struct signins *signins)
{
    int64_t next_ns = 0;

    for (size_t i = 0; i < SIGNINS_MAX; i++) {
        const struct signin *signin = &signins->items[i];
        int64_t idle_ns = left_ns(signin->used_ns, SIGNIN_IDLE_MS, 0);
        int64_t whole_ns = left_ns(signin->made_ns, SIGNIN_WHOLE_MS, 0);
        int64_t end_ns = idle_ns < whole_ns ? idle_ns : whole_ns;

        if (signin->number && (!next_ns || end_ns < next_ns))
            next_ns = end_ns;
    }
    return next_ns;
}

/* Waits for the next end. A request may put it off meanwhile; the timer then waits again. */
static void await_end(struct signins *signins)
{
    int64_t next_ns = next_end_ns(signins), now_ns = now_of(signins);

    timer_stop(signins->options.loop, &signins->over);
    if (next_ns)
        timer_start_ns(signins->options.loop, &signins->over,
                       next_ns > now_ns ? next_ns - now_ns : 0);
}

static void on_over(struct timer *timer)
{
    struct signins *signins = container_of(timer, struct signins, over);

    end_old(signins);
    await_end(signins);
}

size_t signins_count(struct signins *signins)
{
    size_t n = 0;

    end_old(signins);
    for (size_t i = 0; i < SIGNINS_MAX; i++)
        n += signins->items[i].number != SIGNIN_NONE;
    return n;
}

void signins_ticket(struct signins *signins, const char *credential, int64_t life_ms,
                    char out[SIGNIN_SECRET_TEXT + 1])
{
    struct ticket *place = &signins->tickets[0];

    for (size_t i = 1; i < TICKETS_MAX && place->state != TICKET_FREE; i++)
        if (signins->tickets[i].state == TICKET_FREE ||
            signins->tickets[i].made_ns < place->made_ns)
            place = &signins->tickets[i];
    make_secret(out);
    mem_free(place->credential);
    *place = (struct ticket){
        .state = TICKET_GOOD, .made_ns = now_of(signins), .credential = mem_strdup(credential)};
    place->ends_ns = place->made_ns + life_ms * NS_PER_MS;
    digest_of(out, SIGNIN_SECRET_TEXT, place->secret);
}

bool signins_count_try(struct signins *signins, const char *peer, struct error *err)
{
    const char *name = peer ? peer : "";
    struct tries *tries = &signins->tries[hash_bytes(name, strlen(name)) % TRIES_BUCKETS];
    int64_t now_ns = now_of(signins);

    if (!tries->count || now_ns - tries->window_ns >= second_ns)
        *tries = (struct tries){.window_ns = now_ns};
    if (tries->count >= SIGNIN_TRIES_PER_S)
        return error_set(err, ERR_TOO_MANY, "", "too many tries to sign in; try again later");
    tries->count++;
    return true;
}

void signins_log_failure(struct signins *signins, const char *peer)
{
    int64_t now_ns = now_of(signins);

    if (signins->failure_ns && now_ns - signins->failure_ns < second_ns)
        return;
    log_warn("sign-in refused", kv_str("peer", peer ? peer : ""));
    signins->failure_ns = now_ns;
}

/* Compares with all tickets: the time must not depend on the match. */
static struct ticket *find_ticket(struct signins *signins, const char *text, size_t len)
{
    struct ticket *found = NULL;
    digest secret;

    digest_of(text, len, secret);
    for (size_t i = 0; i < TICKETS_MAX; i++) {
        struct ticket *ticket = &signins->tickets[i];

        if (CRYPTO_memcmp(ticket->secret, secret, sizeof secret) == 0 &&
            ticket->state != TICKET_FREE)
            found = ticket;
    }
    return found;
}

static struct signin *by_number(struct signins *signins, uint64_t number)
{
    for (size_t i = 0; i < SIGNINS_MAX && number; i++)
        if (signins->items[i].number == number)
            return &signins->items[i];
    return NULL;
}

/* The next value of a cookie with our name. `*at` walks over the header. */
static bool next_cookie(const struct signins *signins, struct header_value header, size_t *at,
                        struct header_value *out)
{
    scoped_str name = mem_printf("%sjf-%s=", signins->options.cookie_prefix, signins->id);
    size_t name_len = strlen(name);

    while (*at < header.len) {
        const char *text = header.text + *at;
        const char *end = memchr(text, ';', header.len - *at);
        size_t len = end ? (size_t)(end - text) : header.len - *at;

        *at += len + 1;
        while (len && *text == ' ') {
            text++;
            len--;
        }
        if (len >= name_len && memcmp(text, name, name_len) == 0) {
            *out = (struct header_value){text + name_len, len - name_len};
            return true;
        }
    }
    return false;
}

static bool has_cookie_of(const struct signins *signins, const struct signin *signin,
                          struct header_value header)
{
    struct header_value value;
    bool has = false;
    size_t at = 0;

    for (int i = 0; i < COOKIES_TRIED_MAX && next_cookie(signins, header, &at, &value); i++) {
        digest cookie;

        digest_of(value.text, value.len, cookie);
        if (CRYPTO_memcmp(cookie, signin->cookie, sizeof cookie) == 0)
            has = true;
    }
    return has;
}

/* Whether the credential gives any right still. */
static bool is_good(const struct signins *signins, const char *credential)
{
    return !signins->options.good || signins->options.good(signins->options.ctx, credential);
}

/* Returns how many sign-ins have the credential of this one. */
static size_t n_alike(const struct signins *signins, const struct signin *signin)
{
    size_t n = 0;

    for (size_t i = 0; i < SIGNINS_MAX; i++)
        n += strcmp(signins->items[i].credential, signin->credential) == 0;
    return n;
}

/* Returns the sign-in that makes room when all places are taken: of the credential with the most
 * sign-ins the one unused longest, so that no user ends the sign-ins of others by many of its own. */
static struct signin *surplus(struct signins *signins)
{
    struct signin *found = NULL;
    size_t most = 0;

    for (size_t i = 0; i < SIGNINS_MAX; i++) {
        struct signin *signin = &signins->items[i];
        size_t n = n_alike(signins, signin);

        if (n > most || (n == most && signin->used_ns < found->used_ns)) {
            found = signin;
            most = n;
        }
    }
    return found;
}

static struct signin *place_for_signin(struct signins *signins)
{
    struct signin *place;

    end_old(signins);
    for (size_t i = 0; i < SIGNINS_MAX; i++)
        if (signins->items[i].number == SIGNIN_NONE)
            return &signins->items[i];
    place = surplus(signins);
    end(signins, place, "the sign-in has ended: there were too many, and it was unused longest");
    return place;
}

static bool refuse(struct signins *signins, const char *peer, struct error *err)
{
    signins_log_failure(signins, peer);
    return error_set(err, ERR_UNAUTHORIZED, "",
                     "this link is not good any more, for a link works once and for a short time: "
                     "%s",
                     signins->options.another_link);
}

/* The link was in the hands of two clients, and nothing says which of them the user is. */
static void take_back(struct signins *signins, struct ticket *ticket, struct header_value cookie)
{
    struct signin *signin = by_number(signins, ticket->signin);
    int64_t since_ns = now_of(signins) - ticket->ends_ns;

    if (!signin || since_ns >= (int64_t)MISUSE_MS * NS_PER_MS ||
        has_cookie_of(signins, signin, cookie))
        return;
    ticket->signin = SIGNIN_NONE;
    end(signins, signin, "the sign-in has ended: its link was used a second time");
    if (signins->options.misused)
        signins->options.misused(signins->options.ctx);
}

uint64_t signins_make(struct signins *signins, const char *credential, struct signin_keys *out)
{
    struct signin *signin = place_for_signin(signins);

    make_secret(out->cookie);
    make_secret(out->key);
    signin->number = ++signins->made;
    signin->credential = mem_strdup(credential);
    digest_of(out->cookie, SIGNIN_SECRET_TEXT, signin->cookie);
    digest_of(out->key, SIGNIN_SECRET_TEXT, signin->key);
    signin->made_ns = signin->used_ns = now_of(signins);
    await_end(signins);
    signins_save(signins);
    return signin->number;
}

bool signins_redeem(struct signins *signins, const struct signin_try *attempt,
                    struct signin_keys *out, struct error *err)
{
    struct ticket *ticket;

    if (!signins_count_try(signins, attempt->peer, err))
        return false;
    ticket = find_ticket(signins, attempt->ticket, attempt->len);
    if (ticket && ticket->state == TICKET_USED)
        take_back(signins, ticket, attempt->cookie);
    if (!ticket || ticket->state == TICKET_USED || now_of(signins) >= ticket->ends_ns ||
        !is_good(signins, ticket->credential))
        return refuse(signins, attempt->peer, err);
    ticket->state = TICKET_USED;
    ticket->signin = signins_make(signins, ticket->credential, out);
    ticket->ends_ns = now_of(signins);
    return true;
}

/* Compares with all sign-ins, both halves of each: the time must not depend on the match. */
static struct signin *match(struct signins *signins, struct header_value cookie, const digest key)
{
    struct signin *found = NULL;
    digest half;

    digest_of(cookie.text, cookie.len, half);
    for (size_t i = 0; i < SIGNINS_MAX; i++) {
        struct signin *signin = &signins->items[i];
        int differs = CRYPTO_memcmp(signin->cookie, half, sizeof half) |
                      CRYPTO_memcmp(signin->key, key, SHA256_DIGEST_LENGTH);

        if (!differs && signin->number)
            found = signin;
    }
    return found;
}

uint64_t signins_find(struct signins *signins, struct header_value cookie, struct header_value key)
{
    struct signin *found = NULL;
    struct header_value value;
    digest second;
    size_t at = 0;

    end_old(signins);
    digest_of(key.text ? key.text : "", key.len, second);
    for (int i = 0; i < COOKIES_TRIED_MAX && next_cookie(signins, cookie, &at, &value); i++) {
        struct signin *signin = match(signins, value, second);

        found = signin ? signin : found;
    }
    if (found && !is_good(signins, found->credential)) {
        end(signins, found, credential_over);
        found = NULL;
    }
    if (!found)
        return SIGNIN_NONE;
    found->used_ns = now_of(signins);
    if (left_ns(signins->saved_ns, SAVE_MS, found->used_ns) <= 0)
        signins_save(signins);
    return found->number;
}

void signins_check(struct signins *signins)
{
    end_old(signins);
    for (size_t i = 0; i < SIGNINS_MAX; i++)
        if (signins->items[i].number && !is_good(signins, signins->items[i].credential))
            end(signins, &signins->items[i], credential_over);
}

const char *signins_credential(struct signins *signins, uint64_t number)
{
    const struct signin *signin = by_number(signins, number);

    return signin ? signin->credential : NULL;
}

bool signins_has(const struct signins *signins, const char *credential)
{
    for (size_t i = 0; i < SIGNINS_MAX; i++)
        if (signins->items[i].number && strcmp(signins->items[i].credential, credential) == 0)
            return true;
    return false;
}

bool signins_ends(struct signins *signins, uint64_t number, int64_t *out_idle_ms,
                  int64_t *out_whole_ms)
{
    const struct signin *signin = by_number(signins, number);
    int64_t now_ns = now_of(signins);

    if (!signin)
        return false;
    *out_idle_ms = left_ns(signin->used_ns, SIGNIN_IDLE_MS, now_ns) / NS_PER_MS;
    *out_whole_ms = left_ns(signin->made_ns, SIGNIN_WHOLE_MS, now_ns) / NS_PER_MS;
    return true;
}

void signins_end(struct signins *signins, uint64_t number, const char *why)
{
    struct signin *signin = by_number(signins, number);

    if (signin)
        end(signins, signin, why);
}

void signins_write_cookie(const struct signins *signins, const char *value, struct buf *out)
{
    bool secure = *signins->options.cookie_prefix != '\0';

    buf_printf(out, "Set-Cookie: %sjf-%s=%s; HttpOnly; SameSite=Strict; Path=/ui/%s%s",
               signins->options.cookie_prefix, signins->id, value ? value : "",
               secure ? "; Secure" : "", value ? "" : "; Max-Age=0");
}
