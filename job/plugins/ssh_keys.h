#pragma once
/*
 * Makes key pairs in OpenSSH's formats with libcrypto, and derives public keys. The functions have
 * no state and may run on a worker thread: an RSA pair takes a good part of a second. Ref:
 * spec/job-plugins.md 4, spec/reliability.md SEC-29.
 */
#include "base/error.h"
#include "base/secret.h"

/** RSA of 3,072 bits: the private key as PKCS#1 in PEM, the public one as `ssh-rsa BASE64` and a
 * newline. */
bool job_key_rsa(struct secret *out_private, struct buf *out_public, struct error *err);
/** Ed25519: the private key in OpenSSH's own form, the public one as `ssh-ed25519 BASE64`. */
bool job_key_ed25519(struct secret *out_private, struct buf *out_public, struct error *err);
/** The public key that belongs to a private one without passphrase: PEM of RSA or Ed25519, or
 * OpenSSH's own form. INVALID otherwise; the message contains no byte of the key. */
bool job_key_public(const char *private_key, size_t len, struct buf *out_public, struct error *err);
