#pragma once
/*
 * Makes the key pair with which sshd in a pod identifies itself. The host's own keys are readable
 * only for the machine's root, which the root of a pod is not.
 */
#include "base/buf.h"
#include "base/error.h"

/* Name of the private key in /etc/ssh. The public key has this name with .pub behind it. */
#define HOSTKEY_NAME "ssh_host_ecdsa_key"

/** Makes an ECDSA key on P-256. `out_private` gets it as PEM, `out_public` gets the public half as
 * a line of OpenSSH. The caller wipes `out_private`. */
bool hostkey_make(struct buf *out_private, struct buf *out_public, struct error *err);
