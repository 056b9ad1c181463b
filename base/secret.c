/*
 * Wiping uses explicit_bzero, which the compiler may not optimise away.
 */
#include "base/secret.h"

#include <string.h>

void secret_wipe(struct buf *buf)
{
    if (buf->data)
        explicit_bzero(buf->data, buf->cap);
    buf_release(buf);
}

void secret_add(struct secret *secret, const void *bytes, size_t len)
{
    struct buf *buf = &secret->bytes;

    if (buf->cap - buf->len <= len) {
        struct buf larger = {0};

        buf_reserve(&larger, 2 * (buf->len + len));
        buf_add(&larger, buf->data ? buf->data : "", buf->len);
        secret_wipe(buf);
        *buf = larger;
    }
    buf_add(buf, bytes, len);
}

void secret_release(struct secret *secret)
{
    secret_wipe(&secret->bytes);
}
