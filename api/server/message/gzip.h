#pragma once
/*
 * Gzip coding of long responses. Ref: spec/kube-api.md 1.3.
 */
#include <stdbool.h>

#include "base/buf.h"

/** Longer responses are coded if the client accepts it. */
enum { GZIP_FROM_BYTES = 128 << 10 };
/** The headers of a coded response. */
extern const char *const gzip_headers[2];

/** Returns whether an Accept-Encoding header (may be NULL) has an element that is exactly
 * "gzip". */
bool gzip_is_accepted(const char *accept_encoding);

struct gzip;
struct gzip *gzip_new(void);
void gzip_free(struct gzip *gzip); /* NULL is ignored */
SCOPED_DEFINE_PTR(gzip, struct gzip *, gzip_free)

enum gzip_part { GZIP_MORE, GZIP_LAST };
/** Codes `bytes` and appends what is ready to `out`; with GZIP_LAST everything up to the end. */
void gzip_add(struct gzip *gzip, const void *bytes, size_t len, enum gzip_part part,
              struct buf *out);
