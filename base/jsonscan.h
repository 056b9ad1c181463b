#pragma once
/*
 * Finding one's way in compact JSON text without a tree of it: a large document is read once, and
 * of most of it only where it stands.
 *
 * For text that is known to be valid, such as stored bodies and answers of a server. In any other,
 * or one with blanks between tokens, nothing is found, and nothing beyond the final NUL is read.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A member of an object: its key as it is written, without the quotes, and its value. */
struct jsonscan_member {
    const char *key, *value, *end; /* end: behind the value */
    size_t key_len;
};

/** Behind the value that begins at `value`: at the comma or bracket that ends it, or at the NUL. */
const char *jsonscan_skip(const char *value);

/**
 * Members one by one: `*at` begins at the brace of an object, and is moved on. False at the end.
 */
bool jsonscan_next_member(const char **at, struct jsonscan_member *out);
/** The same without its end, for who goes through the value himself and sets `at` behind it. */
bool jsonscan_next_key(const char *at, struct jsonscan_member *out);
bool jsonscan_key_is(const struct jsonscan_member *member, const char *key);
/** The value of a member of the object that begins at `object`; NULL when there is none of that
 * name, or no object. */
const char *jsonscan_member(const char *object, const char *key);

/** Elements one by one: `*at` begins at the bracket of a list, and is moved on. The element, whose
 * end `*at` is; NULL at the end. */
const char *jsonscan_next_element(const char **at);

/** The characters of a string without escapes that begins at `value`; NULL for anything else. */
const char *jsonscan_string(const char *value, size_t *out_len);
/** The time in a string that begins at `value`, which may be NULL; false when there is none. */
bool jsonscan_time(const char *value, int64_t *out_ms);
