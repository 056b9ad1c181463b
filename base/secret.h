#pragma once
/*
 * Bytes that must not be shown, such as private keys. No writer of logs, events or errors accepts
 * this type, and its memory is wiped before it is freed. Ref: spec/reliability.md SEC-30.
 */
#include "base/buf.h"

struct secret {
    struct buf bytes;
};

/** Appends bytes. If they have to move, their old place is wiped. */
void secret_add(struct secret *secret, const void *bytes, size_t len);
void secret_release(struct secret *secret); /* wipes and leaves it empty */
SCOPED_DEFINE(secret, struct secret, secret_release)

/** Wipes and releases a buffer, for text that was made from a secret. */
void secret_wipe(struct buf *buf);
