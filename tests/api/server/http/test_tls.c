#include "tests/unit.h"

#include <openssl/pem.h>
#include <openssl/ssl.h>

#include "api/server/auth/tls_keys.h"
#include "api/server/http/tls.h"
#include "base/clock.h"

enum { DAY_S = 86400 };

/* Tests TLS of the server. OpenSSL uses the real clock to check a peer's certificate, so the test
 * does, too. */
#define NOW_S (clock_wall_ms(clock_real()) / 1000)

static const char *const local_hosts[] = {"localhost", "127.0.0.1", "::1"};

static void make_ca(struct tls_pair *ca)
{
    struct error err = {0};

    check_ok("CA", tls_ca_make(NOW_S, ca, &err), err);
}

static void issue(const struct tls_pair *ca, const char *user, bool server, struct tls_pair *out)
{
    static const char *const groups[] = {"jobflow:editor:a", "jobflow:viewer"};
    const struct tls_subject subject = {
        .user = user,
        .groups = groups,
        .n_groups = server ? 0 : countof(groups),
        .hosts = local_hosts,
        .n_hosts = server ? countof(local_hosts) : 0,
        .days = 3650,
    };
    struct error err = {0};

    check_ok("issue", tls_issue(ca, &subject, NOW_S - (int64_t)3 * 365 * DAY_S, out, &err), err);
}

/* covers: reliability.md SEC-02 */
static void a_certificate_is_valid_for_its_hosts_time_and_ca(void **state)
{
    static const struct {
        const char *name, *host;
        int64_t later_s, days;
        bool good;
    } cases[] = {
        {"a name of it", "localhost", 0, 30, true},
        {"an address", "127.0.0.1", 0, 30, true},
        {"a longer address", "::1", 0, 30, true},
        {"another name", "example.org", 0, 30, false},
        {"another address", "10.0.0.1", 0, 30, false},
        {"too near its end", "localhost", 0, (int64_t)8 * 365, false},
        {"later", "localhost", (int64_t)9 * 365 * DAY_S, 30, false},
    };
    scoped(tls_pair) struct tls_pair ca = {0}, other = {0}, server = {0};
    static const char *const bad[] = {"a,DNS:b"};
    const struct tls_subject injected = {.user = "x", .hosts = bad, .n_hosts = 1, .days = 1};
    struct error err = {0};

    make_ca(&ca);
    make_ca(&other);
    issue(&ca, "server", true, &server);
    for (size_t i = 0; i < countof(cases); i++)
        check_int(cases[i].name,
                  tls_still_good(&ca, &server, &cases[i].host, 1, NOW_S + cases[i].later_s,
                                 cases[i].days),
                  cases[i].good);
    check("another authority", !tls_still_good(&other, &server, local_hosts, 3, NOW_S, 30));
    check("no host name", !tls_issue(&ca, &injected, NOW_S, &server, &err));
    check_int("code", err.code, ERR_INVALID);
}

/* A client and a server session in this process. */

struct peers {
    struct tls *server;
    SSL_CTX *ctx;
    SSL *client;
    BIO *in, *out; /* the two directions of the client's side */
    struct buf plain;
    enum tls_state state;
};

static X509 *certificate_of(const struct tls_pair *pair)
{
    BIO *bio = BIO_new_mem_buf(pair->certificate.data, (int)pair->certificate.len);
    X509 *certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL);

    BIO_free(bio);
    return certificate;
}

static EVP_PKEY *key_of(const struct tls_pair *pair)
{
    BIO *bio = BIO_new_mem_buf(pair->key.data, (int)pair->key.len);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);

    BIO_free(bio);
    return key;
}

static void peers_start(struct peers *peers, const struct tls_pair *ca,
                        const struct tls_pair *shown, const unsigned char *alpn, unsigned alpn_len)
{
    scoped(tls_pair) struct tls_pair server = {0};
    struct tls_context *context;
    struct error err = {0};

    *peers = (struct peers){0};
    issue(ca, "server", true, &server);
    context = tls_context_new(server.certificate.data, server.key.data, ca->certificate.data, &err);
    check_ok("context", context, err);
    peers->server = tls_new(context);
    tls_context_unref(context); /* the TLS session holds a reference to the context */
    peers->ctx = SSL_CTX_new(TLS_client_method());
    if (shown) {
        X509 *certificate = certificate_of(shown);
        EVP_PKEY *key = key_of(shown);

        SSL_CTX_use_certificate(peers->ctx, certificate);
        SSL_CTX_use_PrivateKey(peers->ctx, key);
        X509_free(certificate);
        EVP_PKEY_free(key);
    }
    peers->client = SSL_new(peers->ctx);
    if (alpn)
        SSL_set_alpn_protos(peers->client, alpn, alpn_len);
    peers->in = BIO_new(BIO_s_mem());
    peers->out = BIO_new(BIO_s_mem());
    BIO_set_mem_eof_return(peers->in, -1);
    SSL_set_bio(peers->client, peers->in, peers->out);
    SSL_set_connect_state(peers->client);
}

static void peers_stop(struct peers *peers)
{
    SSL_free(peers->client);
    SSL_CTX_free(peers->ctx);
    tls_free(peers->server);
    buf_release(&peers->plain);
}

/* Passes the pending bytes in both directions, `step` bytes at a time. */
static bool pass(struct peers *peers, size_t step)
{
    char bytes[65536];
    int n = BIO_read(peers->out, bytes, sizeof bytes);
    scoped(buf) struct buf http = {0};

    for (int at = 0; at < n && peers->state == TLS_OPEN; at += (int)step) {
        size_t len = (size_t)(n - at) < step ? (size_t)(n - at) : step;

        peers->state = tls_receive(peers->server, bytes + at, len, &peers->plain, &http);
    }
    if (http.len)
        BIO_write(peers->in, http.data, (int)http.len);
    return n > 0 || http.len > 0;
}

static bool handshake(struct peers *peers, size_t step)
{
    for (int i = 0; i < 10 && peers->state == TLS_OPEN; i++) {
        SSL_do_handshake(peers->client);
        if (!pass(peers, step) && SSL_is_init_finished(peers->client))
            break;
    }
    return SSL_is_init_finished(peers->client) && tls_handshake_done(peers->server);
}

static void bytes_pass_both_ways_in_pieces_of_any_size(void **state)
{
    static const size_t steps[] = {1, 7, 1000, 65536};
    scoped(tls_pair) struct tls_pair ca = {0};

    make_ca(&ca);
    for (size_t i = 0; i < countof(steps); i++) {
        scoped(buf) struct buf answer = {0}, http = {0}, got = {0};
        struct peers peers;
        char bytes[4096];
        int n;

        peers_start(&peers, &ca, NULL, NULL, 0);
        check("shaken", handshake(&peers, steps[i]));
        SSL_write(peers.client, "hello", 5);
        pass(&peers, steps[i]);
        check_str("came", peers.plain.data, "hello");
        while (answer.len < 100000)
            buf_str(&answer, "0123456789");
        check("sent", tls_send(peers.server, &answer, &http));
        BIO_write(peers.in, http.data, (int)http.len);
        while ((n = SSL_read(peers.client, bytes, sizeof bytes)) > 0)
            buf_add(&got, bytes, (size_t)n);
        check_int("all of it", got.len, answer.len);
        check("the same", got.data && memcmp(got.data, answer.data, got.len) == 0);
        SSL_shutdown(peers.client);
        pass(&peers, steps[i]);
        check_int("its end", peers.state, TLS_ENDED);
        peers_stop(&peers);
    }
}

static void a_client_is_named_by_a_certificate_of_the_ca(void **state)
{
    scoped(tls_pair) struct tls_pair ca = {0}, other = {0}, good = {0}, foreign = {0};
    const struct {
        const char *name;
        const struct tls_pair *shown;
        enum tls_certificate wanted;
    } cases[] = {
        {"none", NULL, TLS_NO_CERTIFICATE},
        {"ours", &good, TLS_CERTIFICATE_GOOD},
        {"another authority's", &foreign, TLS_CERTIFICATE_UNKNOWN},
    };

    make_ca(&ca);
    make_ca(&other);
    issue(&ca, "carol", false, &good);
    issue(&other, "carol", false, &foreign);
    for (size_t i = 0; i < countof(cases); i++) {
        scoped(buf) struct buf user = {0}, groups = {0};
        struct peers peers;

        peers_start(&peers, &ca, cases[i].shown, NULL, 0);
        check(cases[i].name, handshake(&peers, 65536));
        check_int(cases[i].name, tls_peer(peers.server, &user, &groups), cases[i].wanted);
        if (cases[i].wanted == TLS_CERTIFICATE_GOOD) {
            check_str("user", user.data, "carol");
            check_str("group", groups.data, "jobflow:editor:a");
            check_str("the next", groups.data ? groups.data + strlen(groups.data) + 1 : "",
                      "jobflow:viewer");
        }
        peers_stop(&peers);
    }
}

/* covers: kube-api.md 17 */
static void http_1_1_is_chosen_and_nothing_else(void **state)
{
    static const struct {
        const char *name;
        const unsigned char *alpn;
        unsigned len;
        bool good;
    } cases[] = {
        {"nothing offered", NULL, 0, true},
        {"HTTP/1.1", (const unsigned char *)"\x08http/1.1", 9, true},
        {"both", (const unsigned char *)"\x02h2\x08http/1.1", 12, true},
        {"HTTP/2 alone", (const unsigned char *)"\x02h2", 3, false},
    };
    scoped(tls_pair) struct tls_pair ca = {0};

    make_ca(&ca);
    for (size_t i = 0; i < countof(cases); i++) {
        const unsigned char *chosen = NULL;
        struct peers peers;
        unsigned len = 0;

        peers_start(&peers, &ca, NULL, cases[i].alpn, cases[i].len);
        check_int(cases[i].name, handshake(&peers, 65536), cases[i].good);
        check_int(cases[i].name, peers.state, cases[i].good ? TLS_OPEN : TLS_FAILED);
        SSL_get0_alpn_selected(peers.client, &chosen, &len);
        check_int(cases[i].name, len, cases[i].good && cases[i].alpn ? 8 : 0);
        peers_stop(&peers);
    }
}

static void random_bytes_are_refused(void **state)
{
    static const char *const noise[] = {"GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01\xff\xff garbage",
                                        "\x80\x80\x80\x80\x80\x80"};
    scoped(tls_pair) struct tls_pair ca = {0};

    make_ca(&ca);
    for (size_t i = 0; i < countof(noise); i++) {
        scoped(buf) struct buf plain = {0}, http = {0};
        struct peers peers;
        char more[70000] = {0}, one[] = "x";
        enum tls_state seen;

        peers_start(&peers, &ca, NULL, NULL, 0);
        seen = tls_receive(peers.server, noise[i], strlen(noise[i]), &plain, &http);
        if (seen == TLS_OPEN) /* the server may wait for the rest of a record */
            seen = tls_receive(peers.server, more, sizeof more, &plain, &http);
        check_int(noise[i], seen, TLS_FAILED);
        check_int("nothing came", plain.len, 0);
        check("nothing can be sent",
              !tls_send(peers.server, &(struct buf){one, 1, sizeof one}, &http));
        peers_stop(&peers);
    }
}

static void a_certificate_with_the_key_of_another_is_refused(void **state)
{
    scoped(tls_pair) struct tls_pair ca = {0}, one = {0}, other = {0};
    struct error err = {0};

    make_ca(&ca);
    issue(&ca, "one", true, &one);
    issue(&ca, "other", true, &other);
    check("mixed", !tls_context_new(one.certificate.data, other.key.data, NULL, &err));
    check_int("code", err.code, ERR_INVALID);
    check("noise", !tls_context_new("-----", one.key.data, NULL, &err));
    check("CA", !tls_context_new(one.certificate.data, one.key.data, "no CA", &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_certificate_is_valid_for_its_hosts_time_and_ca),
        cmocka_unit_test(bytes_pass_both_ways_in_pieces_of_any_size),
        cmocka_unit_test(a_client_is_named_by_a_certificate_of_the_ca),
        cmocka_unit_test(http_1_1_is_chosen_and_nothing_else),
        cmocka_unit_test(random_bytes_are_refused),
        cmocka_unit_test(a_certificate_with_the_key_of_another_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
