#pragma once
/*
 * Writes compact JSON text into a buffer, without building a tree first.
 *
 * The writer places the commas. Strings are escaped as RFC 8259 requires; bytes that are not UTF-8
 * become U+FFFD. The `_opt` functions omit the member when the value is NULL, empty or zero, as
 * Kubernetes does (omitempty).
 */
#include <stdbool.h>

#include "base/buf.h"

struct jsonw {
    struct buf *out; /* buffer that the text is appended to; borrowed */
    bool comma;      /* the next value needs a comma before it */
};

struct jsonw jsonw_to(struct buf *out);

void jsonw_open(struct jsonw *w);  /* writes { */
void jsonw_close(struct jsonw *w); /* writes } */
void jsonw_open_list(struct jsonw *w);
void jsonw_close_list(struct jsonw *w);
void jsonw_key(struct jsonw *w, const char *key);

void jsonw_str(struct jsonw *w, const char *value); /* NULL is written as null */
void jsonw_strn(struct jsonw *w, const char *value, size_t len);
void jsonw_int(struct jsonw *w, int64_t value);
void jsonw_bool(struct jsonw *w, bool value);
void jsonw_raw(struct jsonw *w, const char *json, size_t len); /* writes a complete JSON value as
                                                                * it is */

void jsonw_member_open(struct jsonw *w, const char *key);
void jsonw_member_open_list(struct jsonw *w, const char *key);
void jsonw_member_str(struct jsonw *w, const char *key, const char *value);
void jsonw_member_int(struct jsonw *w, const char *key, int64_t value);
void jsonw_member_bool(struct jsonw *w, const char *key, bool value);
void jsonw_member_raw(struct jsonw *w, const char *key, const char *json, size_t len);
/* Writes a time as RFC 3339 in whole seconds and UTC. */
void jsonw_member_time(struct jsonw *w, const char *key, int64_t at_ms);
void jsonw_member_str_opt(struct jsonw *w, const char *key, const char *value);
void jsonw_member_int_opt(struct jsonw *w, const char *key, int64_t value);
void jsonw_member_bool_opt(struct jsonw *w, const char *key, bool value);
void jsonw_member_time_opt(struct jsonw *w, const char *key, int64_t at_ms);
