#pragma once
/*
 * Splits a stream of JSON objects into objects. A piece of the stream may contain several objects,
 * and an object may span several pieces. Only braces and strings are examined; the parser checks
 * the objects.
 */
#include "base/buf.h"
#include "base/error.h"

struct documents {
    size_t bytes_max;   /* limit for one object; set by the owner */
    struct buf partial; /* private: the start of an object, from earlier pieces */
    unsigned depth;     /* private: number of open braces */
    bool in_string, escaped;
};
void documents_release(struct documents *documents);
SCOPED_DEFINE(documents, struct documents, documents_release)

/** Drops an incomplete object, before another stream. */
void documents_reset(struct documents *documents);

/** Processes the next piece. `each` gets every object that ends in it (borrowed) and returns false
 * to stop. Returns false with BAD_REQUEST for input that is no object, with TOO_LARGE for an
 * object over the limit, and when stopped (`err` is then unchanged). */
bool documents_take(struct documents *documents, const char *bytes, size_t len,
                    bool (*each)(void *ctx, const char *text, size_t len), void *ctx,
                    struct error *err);
