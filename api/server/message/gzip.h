#pragma once
/*
 * Content coding of long answers. Ref: spec/kube-api.md 1.3.
 */
#include <stdbool.h>

#include "base/buf.h"

/** Answers that are longer are coded, for those who ask. */
enum { GZIP_FROM_BYTES = 128 << 10 };
extern const char *const gzip_headers[2];

/** Whether an Accept-Encoding header (may be NULL) has an element that is exactly "gzip". */
bool gzip_is_accepted(const char *accept_encoding);

struct gzip;
struct gzip *gzip_new(void);
void gzip_free(struct gzip *gzip); /* NULL is fine */
SCOPED_DEFINE_PTR(gzip, struct gzip *, gzip_free)
/** Append what of the coded text is ready; with `last` all of it. */
void gzip_add(struct gzip *gzip, const void *bytes, size_t len, bool last, struct buf *out);
