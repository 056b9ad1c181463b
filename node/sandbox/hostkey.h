#pragma once
/*
 * Making the key pair with which sshd in a pod identifies itself. The host's own keys are readable
 * only for root, which a pod's root is not.
 */
#include "base/buf.h"
#include "base/error.h"

/* The private key in /etc/ssh; the public key has .pub behind it. */
#define HOSTKEY_NAME "ssh_host_ecdsa_key"

/** Make an ECDSA key on P-256, as PEM and as a line of OpenSSH. The caller wipes `out_private`. */
bool hostkey_make(struct buf *out_private, struct buf *out_public, struct error *err);
