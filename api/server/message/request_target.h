#pragma once
/*
 * Parses request targets. The path is split on '/' first, then each segment is decoded once; the
 * query becomes decoded pairs (SEC-08, SEC-09).
 */
#include <stdint.h>

#include "base/collections/arena.h"
#include "base/error.h"

enum {
    REQUEST_SEGMENTS_MAX = 12,
    REQUEST_QUERY_PAIRS_MAX = 32,
    REQUEST_TARGET_BYTES_MAX = 8192 /* longest target of a request (L-04) */
};

struct request_target {
    const char *segments[REQUEST_SEGMENTS_MAX];
    size_t n_segments;
    const char *keys[REQUEST_QUERY_PAIRS_MAX], *values[REQUEST_QUERY_PAIRS_MAX];
    size_t n_pairs;
};

/** Sets TARGET_TOO_LONG and returns false. */
bool request_target_too_long(struct error *err);

/** Parses into memory of `arena`. TARGET_TOO_LONG; BAD_REQUEST for empty, "." and ".." segments,
 * encoded '/' or control bytes, and bad escapes. One '/' at the end of the path is ignored. */
bool request_target_parse(const char *text, struct arena *arena, struct request_target *out,
                          struct error *err);

/** Returns the value of a query parameter, or NULL; the first of several counts. */
const char *request_query(const struct request_target *target, const char *key);
/** Returns true when the parameter is present and neither 0 nor false. */
bool request_query_bool(const struct request_target *target, const char *key);
/** A whole number; `absent` when the parameter is missing or empty. BAD_REQUEST when it is not a
 * number. */
bool request_query_int(const struct request_target *target, const char *key, int64_t absent,
                       int64_t *out, struct error *err);
/** Reads a number as request_query_int does, with a lower bound. Sets INVALID, naming the
 * parameter, for a number below `min`. */
bool request_query_int_min(const struct request_target *target, const char *key, int64_t absent,
                           int64_t min, int64_t *out, struct error *err);
/** The parameter resourceVersion; 0 when it is absent. BAD_REQUEST when it is not a revision. */
bool request_query_revision(const struct request_target *target, int64_t *out, struct error *err);
