#pragma once
/*
 * A stream of JSON objects, cut into objects, however its bytes come: several in one piece, one in
 * several. Only braces and strings are looked at; whether an object is well formed is for who
 * parses it.
 */
#include "base/buf.h"
#include "base/error.h"

struct documents {
    size_t bytes_max;   /* of one object; set by the owner */
    struct buf partial; /* private: one that has begun in an earlier piece */
    unsigned depth;     /* private: braces open */
    bool in_string, escaped;
};
void documents_release(struct documents *documents);
SCOPED_DEFINE(documents, struct documents, documents_release)

/** Forget what has begun: another stream follows. */
void documents_reset(struct documents *documents);

/** The next piece; `each` is given every object that ends in it (borrowed), and returns false to
 * stop. False: BAD_REQUEST for what is no object, TOO_LARGE for one that is, or stopped (`err`
 * untouched). */
bool documents_take(struct documents *documents, const char *bytes, size_t len,
                    bool (*each)(void *ctx, const char *text, size_t len), void *ctx,
                    struct error *err);
