#pragma once
/*
 * Bytes that must not be seen: private keys. A type of its own, which no writer of logs, events or
 * errors takes, and which is wiped before its memory goes. Ref: spec/reliability.md SEC-30.
 */
#include "base/buf.h"

struct secret {
    struct buf bytes;
};

/** Append. The old place is wiped when the bytes have to move. */
void secret_add(struct secret *secret, const void *bytes, size_t len);
void secret_release(struct secret *secret); /* back to empty */
SCOPED_DEFINE(secret, struct secret, secret_release)

/** Wipe what a buffer holds, and release it: for what a secret was turned into. */
void secret_wipe(struct buf *buf);
