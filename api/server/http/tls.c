/*
 * TLS sessions with OpenSSL and a BIO that holds no memory: it reads the bytes passed to the
 * current call and writes into the buffer passed to it. OpenSSL's own memory BIOs keep the largest
 * size they ever had, which adds up over a thousand watches.
 */
#include "api/server/http/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <string.h>

#include "base/mem.h"

enum { PIECE_BYTES = 16 << 10 }; /* the largest TLS record */

/* A tls_context is OpenSSL's SSL_CTX, which counts references itself. */
static SSL_CTX *ctx_of(struct tls_context *context)
{
    return (SSL_CTX *)(void *)context;
}

static bool failed(struct error *err, const char *what)
{
    char why[256];

    ERR_error_string_n(ERR_get_error(), why, sizeof why);
    ERR_clear_error();
    return error_set(err, ERR_INVALID, "", "%s: %s", what, why);
}

static BIO *reader(const char *pem)
{
    BIO *bio = BIO_new_mem_buf(pem, -1);

    if (!bio)
        mem_fatal("OpenSSL has no memory");
    return bio;
}

static X509 *read_certificate(const char *pem)
{
    BIO *bio = reader(pem);
    X509 *certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL);

    BIO_free(bio);
    return certificate;
}

static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_len,
                           const unsigned char *offered, unsigned offered_len, void *arg)
{
    static const unsigned char ours[] = "\x08http/1.1";

    if (SSL_select_next_proto((unsigned char **)(size_t)out, out_len, ours, sizeof ours - 1,
                              offered, offered_len) != OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    return SSL_TLSEXT_ERR_OK;
}

/* Lets the handshake go on with a client certificate that our CA did not sign. OpenSSL keeps the
 * result of the verification; tls_peer reads it and then reports TLS_CERTIFICATE_UNKNOWN. */
static int accept_any(int good, X509_STORE_CTX *store)
{
    return 1;
}

static bool use_pair(SSL_CTX *ctx, const char *certificate_pem, const char *key_pem)
{
    X509 *certificate = read_certificate(certificate_pem);
    BIO *bio = reader(key_pem);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
    bool ok = certificate && key && SSL_CTX_use_certificate(ctx, certificate) == 1 &&
              SSL_CTX_use_PrivateKey(ctx, key) == 1 && SSL_CTX_check_private_key(ctx) == 1;

    BIO_free(bio);
    EVP_PKEY_free(key);
    X509_free(certificate);
    return ok;
}

static bool ask_for_certificates(SSL_CTX *ctx, const char *ca_pem)
{
    X509 *ca = read_certificate(ca_pem);
    bool ok = ca && X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx), ca) == 1 &&
              SSL_CTX_add_client_CA(ctx, ca) == 1;

    X509_free(ca);
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, accept_any);
    return ok;
}

struct tls_context *tls_context_new(const char *certificate, const char *key, const char *client_ca,
                                    struct error *err)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());

    if (!ctx)
        mem_fatal("OpenSSL has no memory");
    SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET |
                                 SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(ctx, 0);
    SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_alpn_select_cb(ctx, choose_protocol, NULL);
    if (!use_pair(ctx, certificate, key)) {
        failed(err, "the server's certificate and key cannot be used");
    } else if (client_ca && !ask_for_certificates(ctx, client_ca)) {
        failed(err, "the CA of client certificates cannot be used");
    } else {
        return (struct tls_context *)(void *)ctx;
    }
    SSL_CTX_free(ctx);
    return NULL;
}

struct tls_context *tls_context_ref(struct tls_context *context)
{
    SSL_CTX_up_ref(ctx_of(context));
    return context;
}

void tls_context_unref(struct tls_context *context)
{
    SSL_CTX_free(ctx_of(context));
}

struct tls {
    SSL *ssl;
    const char *in; /* bytes received and not yet read; borrowed for the call */
    size_t in_len;
    struct buf *out; /* buffer to write to; borrowed for the call */
};

static int http_fixture_read(BIO *bio, char *to, int len)
{
    struct tls *tls = BIO_get_data(bio);
    size_t n = tls->in_len < (size_t)len ? tls->in_len : (size_t)len;

    BIO_clear_retry_flags(bio);
    if (n == 0) { /* more may come: not the end */
        BIO_set_retry_read(bio);
        return -1;
    }
    memcpy(to, tls->in, n);
    tls->in += n;
    tls->in_len -= n;
    return (int)n;
}

static int wire_write(BIO *bio, const char *from, int len)
{
    struct tls *tls = BIO_get_data(bio);

    BIO_clear_retry_flags(bio);
    buf_add(tls->out, from, (size_t)len);
    return len;
}

static long wire_control(BIO *bio, int command, long number, void *pointer)
{
    return command == BIO_CTRL_FLUSH;
}

static const BIO_METHOD *wire_method(void)
{
    static BIO_METHOD *method;

    if (method)
        return method;
    method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "wire");
    if (!method)
        mem_fatal("OpenSSL has no memory");
    BIO_meth_set_read(method, http_fixture_read);
    BIO_meth_set_write(method, wire_write);
    BIO_meth_set_ctrl(method, wire_control);
    return method;
}

struct tls *tls_new(struct tls_context *context)
{
    struct tls *tls = mem_alloc(sizeof *tls);
    BIO *wire = BIO_new(wire_method());

    tls->ssl = SSL_new(ctx_of(context));
    if (!tls->ssl || !wire)
        mem_fatal("OpenSSL has no memory");
    BIO_set_data(wire, tls);
    BIO_set_init(wire, 1);
    SSL_set_bio(tls->ssl, wire, wire);
    SSL_set_accept_state(tls->ssl);
    return tls;
}

void tls_free(struct tls *tls)
{
    if (!tls)
        return;
    SSL_free(tls->ssl);
    mem_free(tls);
}

bool tls_handshake_done(const struct tls *tls)
{
    return SSL_is_init_finished(tls->ssl) == 1;
}

enum tls_state tls_receive(struct tls *tls, const void *bytes, size_t len, struct buf *plain,
                           struct buf *wire)
{
    enum tls_state state = TLS_OPEN;
    size_t n = 0;

    ERR_clear_error();
    tls->in = bytes;
    tls->in_len = len;
    tls->out = wire;
    for (;;) {
        buf_reserve(plain, PIECE_BYTES);
        if (SSL_read_ex(tls->ssl, plain->data + plain->len, PIECE_BYTES, &n) != 1)
            break;
        plain->len += n;
    }
    tls->in_len = 0; /* all was read, unless the session has failed */
    if (plain->data)
        plain->data[plain->len] = '\0';
    switch (SSL_get_error(tls->ssl, 0)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
        break;
    case SSL_ERROR_ZERO_RETURN:
        state = TLS_ENDED;
        break;
    default:
        state = TLS_FAILED;
    }
    return state;
}

bool tls_send(struct tls *tls, const struct buf *plain, struct buf *wire)
{
    size_t sent = 0;
    bool ok;

    ERR_clear_error();
    tls->out = wire;
    ok = plain->len == 0 || SSL_write_ex(tls->ssl, plain->data, plain->len, &sent) == 1;
    return ok && sent == plain->len;
}

void tls_end(struct tls *tls, struct buf *wire)
{
    ERR_clear_error();
    tls->out = wire;
    if (tls_handshake_done(tls))
        SSL_shutdown(tls->ssl);
}

static bool add_text(const ASN1_STRING *from, struct buf *out)
{
    unsigned char *text = NULL;
    int len = ASN1_STRING_to_UTF8(&text, from);
    bool ok = len > 0 &&
              strlen((const char *)text) == (size_t)len; /* a NUL could hide a suffix of the name */

    if (ok)
        buf_add(out, text, (size_t)len);
    OPENSSL_free(text);
    return ok;
}

enum name_end { UNTERMINATED, NUL_TERMINATED };

/* Appends up to `limit` entries of a subject, such as its organisations. */
static void add_names(const X509_NAME *name, int nid, int limit, enum name_end end, struct buf *out)
{
    for (int at = -1, n = 0; n < limit && (at = X509_NAME_get_index_by_NID(name, nid, at)) >= 0;
         n++)
        if (add_text(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)), out) &&
            end == NUL_TERMINATED)
            buf_char(out, '\0');
}

enum tls_certificate tls_peer(const struct tls *tls, struct buf *user, struct buf *groups)
{
    enum { GROUPS_MAX = 32 };
    const X509 *certificate = SSL_get0_peer_certificate(tls->ssl);

    if (!certificate)
        return TLS_NO_CERTIFICATE;
    if (SSL_get_verify_result(tls->ssl) != X509_V_OK)
        return TLS_CERTIFICATE_UNKNOWN;
    add_names(X509_get_subject_name(certificate), NID_commonName, 1, UNTERMINATED, user);
    add_names(X509_get_subject_name(certificate), NID_organizationName, GROUPS_MAX, NUL_TERMINATED,
              groups);
    return user->len ? TLS_CERTIFICATE_GOOD : TLS_CERTIFICATE_UNKNOWN;
}
