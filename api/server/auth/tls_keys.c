/*
 * Makes and checks X.509 certificates with OpenSSL.
 */
#include "api/server/auth/tls_keys.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <string.h>

/* Certificates begin BACKDATE_S ago, for clients whose clocks are behind. */
enum { CA_DAYS = 3650, DAY_S = 86400, BACKDATE_S = 300 };

void tls_pair_release(struct tls_pair *pair)
{
    buf_release(&pair->certificate);
    if (pair->key.data)
        OPENSSL_cleanse(pair->key.data, pair->key.cap);
    buf_release(&pair->key);
}

static bool failed(struct error *err, const char *what)
{
    char why[256];

    ERR_error_string_n(ERR_get_error(), why, sizeof why);
    ERR_clear_error();
    return error_set(err, ERR_INTERNAL, "", "%s: %s", what, why);
}

static void take_pem(BIO *bio, struct buf *out)
{
    char *bytes;
    long len = BIO_get_mem_data(bio, &bytes);

    buf_clear(out);
    buf_add(out, bytes, (size_t)len);
    BIO_free(bio);
}

static bool write_pair(X509 *certificate, EVP_PKEY *key, struct tls_pair *out)
{
    BIO *cert_bio = BIO_new(BIO_s_mem()), *key_bio = BIO_new(BIO_s_secmem());
    bool ok = cert_bio && key_bio && PEM_write_bio_X509(cert_bio, certificate) == 1 &&
              PEM_write_bio_PKCS8PrivateKey(key_bio, key, NULL, NULL, 0, NULL, NULL) == 1;

    take_pem(cert_bio, &out->certificate);
    take_pem(key_bio, &out->key);
    return ok;
}

static X509 *read_certificate(const struct tls_pair *pair)
{
    BIO *bio = BIO_new_mem_buf(pair->certificate.data, (int)pair->certificate.len);
    X509 *certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL);

    BIO_free(bio);
    return certificate;
}

static EVP_PKEY *read_key(const struct tls_pair *pair)
{
    BIO *bio = BIO_new_mem_buf(pair->key.data, (int)pair->key.len);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);

    BIO_free(bio);
    return key;
}

static bool add_extension(X509 *certificate, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX ctx;
    X509_EXTENSION *extension;
    bool ok;

    X509V3_set_ctx_nodb(&ctx);
    X509V3_set_ctx(&ctx, issuer, certificate, NULL, NULL, 0);
    extension = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
    ok = extension && X509_add_ext(certificate, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return ok;
}

static bool add_name(X509_NAME *name, const char *field, const char *value)
{
    return X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8, (const unsigned char *)value, -1,
                                      -1, 0) == 1;
}

static bool set_serial(X509 *certificate)
{
    enum { SERIAL_BITS = 127 };
    BIGNUM *number = BN_new();
    bool ok = number && BN_rand(number, SERIAL_BITS, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 &&
              BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate));

    BN_free(number);
    return ok;
}

/* Returns a certificate with version, serial number, key and validity; NULL on failure. */
static X509 *begin_certificate(EVP_PKEY *key, int64_t now_s, int64_t days)
{
    X509 *certificate = X509_new();
    bool ok = certificate && X509_set_version(certificate, 2) == 1 && set_serial(certificate) &&
              ASN1_TIME_set(X509_getm_notBefore(certificate), now_s - BACKDATE_S) &&
              ASN1_TIME_set(X509_getm_notAfter(certificate), now_s + days * DAY_S) &&
              X509_set_pubkey(certificate, key) == 1;

    if (ok)
        return certificate;
    X509_free(certificate);
    return NULL;
}

bool tls_ca_make(int64_t now_s, struct tls_pair *out, struct error *err)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *ca = key ? begin_certificate(key, now_s, CA_DAYS) : NULL;
    bool ok = ca && add_name(X509_get_subject_name(ca), "CN", "jobflow CA") &&
              X509_set_issuer_name(ca, X509_get_subject_name(ca)) == 1 &&
              add_extension(ca, ca, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
              add_extension(ca, ca, NID_key_usage, "critical,keyCertSign,cRLSign") &&
              add_extension(ca, ca, NID_subject_key_identifier, "hash") &&
              X509_sign(ca, key, EVP_sha256()) > 0 && write_pair(ca, key, out);

    X509_free(ca);
    EVP_PKEY_free(key);
    return ok || failed(err, "cannot make a certificate authority");
}

static bool is_address(const char *host)
{
    unsigned char bytes[sizeof(struct in6_addr)];

    return inet_pton(AF_INET, host, bytes) == 1 || inet_pton(AF_INET6, host, bytes) == 1;
}

static bool is_name(const char *host)
{
    for (const char *c = host; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '-' && *c != '.' && *c != '_')
            return false;
    return *host && strlen(host) <= 253;
}

bool tls_host_valid(const char *host, struct error *err)
{
    return is_address(host) || is_name(host) ||
           error_set(err, ERR_INVALID, "", "\"%s\" is neither a host name nor an address", host);
}

static bool write_hosts(const struct tls_subject *subject, struct buf *out, struct error *err)
{
    for (size_t i = 0; i < subject->n_hosts; i++) {
        const char *host = subject->hosts[i];
        bool address = is_address(host);

        if (!tls_host_valid(host, err))
            return false;
        buf_printf(out, "%s%s:%s", i ? "," : "", address ? "IP" : "DNS", host);
    }
    return true;
}

static bool add_subject(X509 *certificate, const struct tls_subject *subject)
{
    X509_NAME *name = X509_get_subject_name(certificate);
    bool ok = true;

    for (size_t i = 0; ok && i < subject->n_groups; i++)
        ok = add_name(name, "O", subject->groups[i]);
    return ok && add_name(name, "CN", subject->user);
}

bool tls_issue(const struct tls_pair *ca_pair, const struct tls_subject *subject, int64_t now_s,
               struct tls_pair *out, struct error *err)
{
    scoped(buf) struct buf hosts = {0};
    X509 *ca, *certificate;
    EVP_PKEY *ca_key, *key;
    bool ok;

    if (!write_hosts(subject, &hosts, err))
        return false;
    ca = read_certificate(ca_pair);
    ca_key = read_key(ca_pair);
    key = EVP_EC_gen("P-256");
    certificate = key ? begin_certificate(key, now_s, subject->days) : NULL;
    ok = ca && ca_key && certificate && add_subject(certificate, subject) &&
         X509_set_issuer_name(certificate, X509_get_subject_name(ca)) == 1 &&
         add_extension(certificate, ca, NID_basic_constraints, "critical,CA:FALSE") &&
         add_extension(certificate, ca, NID_key_usage, "critical,digitalSignature") &&
         add_extension(certificate, ca, NID_ext_key_usage,
                       subject->n_hosts ? "serverAuth" : "clientAuth") &&
         add_extension(certificate, ca, NID_authority_key_identifier, "keyid") &&
         (!hosts.len || add_extension(certificate, ca, NID_subject_alt_name, hosts.data)) &&
         X509_sign(certificate, ca_key, EVP_sha256()) > 0 && write_pair(certificate, key, out);
    X509_free(certificate);
    EVP_PKEY_free(key);
    EVP_PKEY_free(ca_key);
    X509_free(ca);
    return ok || failed(err, "cannot make a certificate");
}

static bool signed_by(X509 *certificate, X509 *ca)
{
    EVP_PKEY *key = X509_get0_pubkey(ca);

    return key && X509_verify(certificate, key) == 1;
}

static bool covers(X509 *certificate, const char *host)
{
    return is_address(host) ? X509_check_ip_asc(certificate, host, 0) == 1
                            : X509_check_host(certificate, host, 0, 0, NULL) == 1;
}

bool tls_still_good(const struct tls_pair *ca_pair, const struct tls_pair *pair,
                    const char *const *hosts, size_t n_hosts, int64_t now_s, int64_t days)
{
    X509 *ca = read_certificate(ca_pair), *certificate = read_certificate(pair);
    time_t then = (time_t)(now_s + days * DAY_S);
    bool good = ca && certificate && signed_by(certificate, ca) &&
                X509_cmp_time(X509_get0_notAfter(certificate), &then) > 0;

    for (size_t i = 0; good && i < n_hosts; i++)
        good = covers(certificate, hosts[i]);
    X509_free(certificate);
    X509_free(ca);
    ERR_clear_error();
    return good;
}
