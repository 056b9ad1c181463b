#pragma once
/*
 * Finds values in compact JSON text without building a tree. A large document is read once, and
 * most of its parts are only skipped.
 *
 * The text must be known to be valid and without white space between tokens, such as stored bodies
 * and responses of a server. In any other text nothing is found; the functions never read past the
 * final NUL.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A member of an object: its key as written, without quotes, and its value. */
struct jsonscan_member {
    const char *key, *value, *end; /* `end` is the first byte after the value */
    size_t key_len;
};

/** Returns the first byte after the value that begins at `value`: a comma, a closing bracket or the
 * NUL. */
const char *jsonscan_skip(const char *value);

/**
 * Returns the members of an object one by one. `*at` first points to the opening brace; each call
 * moves it forward. False after the last member.
 */
bool jsonscan_next_member(const char **at, struct jsonscan_member *out);
/** Finds the next member as jsonscan_next_member does, but not the end of its value, for a caller
 * that walks through the value itself and then sets its position to the byte after it. */
bool jsonscan_next_key(const char *at, struct jsonscan_member *out);
bool jsonscan_key_is(const struct jsonscan_member *member, const char *key);
/** Returns the value of a member of the object that begins at `object`. NULL if there is no such
 * member or no object. */
const char *jsonscan_member(const char *object, const char *key);

/** Returns the elements of a list one by one. `*at` first points to the opening bracket; each call
 * moves it to the end of the returned element. NULL after the last element. */
const char *jsonscan_next_element(const char **at);

/** Returns the characters of the string that begins at `value`. NULL if it has escapes or is no
 * string. */
const char *jsonscan_string(const char *value, size_t *out_len);
/** Reads the time in the string that begins at `value`. False if `value` is NULL or holds no time.
 */
bool jsonscan_time(const char *value, int64_t *out_ms);
/** Reads the duration in the string that begins at `value`, in milliseconds. -1 if `value` is NULL
 * or holds no duration. */
int64_t jsonscan_duration(const char *value);

/** Returns whether `text` is one JSON object as this program writes it: valid, without white space
 * between tokens, in UTF-8, and nested no deeper than JSONSCAN_DEPTH. O(len). */
bool jsonscan_is_object(const char *text, size_t len);
enum { JSONSCAN_DEPTH = 1024 };
