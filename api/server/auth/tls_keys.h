#pragma once
/*
 * A small certificate authority: makes its own certificate and signs certificates for the server
 * and its clients. Keys are ECDSA on P-256; everything is PEM text.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

struct tls_pair {
    struct buf certificate, key; /* certificate and private key, PEM */
};
void tls_pair_release(struct tls_pair *pair); /* erases the key, too */
SCOPED_DEFINE(tls_pair, struct tls_pair, tls_pair_release)

/** Makes a CA that is valid for ten years from `now_s` (seconds since the epoch). */
bool tls_ca_make(int64_t now_s, struct tls_pair *out, struct error *err);

struct tls_subject {
    const char *user;          /* name of the user (CN) */
    const char *const *groups; /* groups of the user (O), [n_groups] */
    size_t n_groups;
    const char *const *hosts; /* names and addresses of a server, [n_hosts]; none for a client */
    size_t n_hosts;
    int64_t days;
};

/** Makes a key and a certificate signed by `ca`. INVALID for a host that is neither name nor
 * address. */
bool tls_issue(const struct tls_pair *ca, const struct tls_subject *subject, int64_t now_s,
               struct tls_pair *out, struct error *err);

/** Returns false with INVALID when a certificate cannot name this host. */
bool tls_host_valid(const char *host, struct error *err);
/** Returns whether a certificate is signed by `ca` and valid for all these hosts for another
 * `days`. */
bool tls_still_good(const struct tls_pair *ca, const struct tls_pair *pair,
                    const char *const *hosts, size_t n_hosts, int64_t now_s, int64_t days);
