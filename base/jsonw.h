#pragma once
/*
 * Writes compact JSON text into a buffer, without building a tree first.
 *
 * Commas are placed by the writer. Strings are escaped as RFC 8259 asks; bytes that are no UTF-8
 * become U+FFFD. The `_opt` calls leave the member out when the value is NULL, empty or zero, which
 * is how Kubernetes objects are written (omitempty).
 */
#include <stdbool.h>

#include "base/buf.h"

struct jsonw {
    struct buf *out; /* borrowed */
    bool comma;      /* the next value needs a comma before it */
};

struct jsonw jsonw_to(struct buf *out);

void jsonw_open(struct jsonw *w);  /* { as a value */
void jsonw_close(struct jsonw *w); /* } */
void jsonw_open_list(struct jsonw *w);
void jsonw_close_list(struct jsonw *w);
void jsonw_key(struct jsonw *w, const char *key);

void jsonw_str(struct jsonw *w, const char *value); /* NULL: null */
void jsonw_strn(struct jsonw *w, const char *value, size_t len);
void jsonw_int(struct jsonw *w, int64_t value);
void jsonw_bool(struct jsonw *w, bool value);
void jsonw_raw(struct jsonw *w, const char *json, size_t len); /* a finished JSON value */

void jsonw_member_open(struct jsonw *w, const char *key);
void jsonw_member_open_list(struct jsonw *w, const char *key);
void jsonw_member_str(struct jsonw *w, const char *key, const char *value);
void jsonw_member_int(struct jsonw *w, const char *key, int64_t value);
void jsonw_member_bool(struct jsonw *w, const char *key, bool value);
void jsonw_member_raw(struct jsonw *w, const char *key, const char *json, size_t len);
/* RFC 3339, whole seconds, UTC */
void jsonw_member_time(struct jsonw *w, const char *key, int64_t at_ms);
void jsonw_member_str_opt(struct jsonw *w, const char *key, const char *value);
void jsonw_member_int_opt(struct jsonw *w, const char *key, int64_t value);
void jsonw_member_bool_opt(struct jsonw *w, const char *key, bool value);
void jsonw_member_time_opt(struct jsonw *w, const char *key, int64_t at_ms);
