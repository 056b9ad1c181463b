#pragma once
/*
 * A key pair that sshd identifies its host with, made here: the host's own are not for pods whose
 * root is not the real one.
 */
#include "base/buf.h"
#include "base/error.h"

#define HOSTKEY_NAME "ssh_host_ecdsa_key" /* in /etc/ssh; the public half with .pub */

/** P-256, in the forms sshd reads. The caller wipes `out_private`. */
bool hostkey_make(struct buf *out_private, struct buf *out_public, struct error *err);
