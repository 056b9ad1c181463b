#pragma once
/*
 * SHA-256 of bytes, and HMAC-SHA-256 of secret ones.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SHA256_BYTES = 32,
    SHA256_TEXT_MAX = 2 * SHA256_BYTES + 1, /* as hexadecimal digits, with the end of the text */
};

struct sha256 {
    uint8_t bytes[SHA256_BYTES];
};

/* A digest that is fed piece by piece. */
struct sha256_state;

struct sha256_state *sha256_begin(void); /* owned */
void sha256_feed(struct sha256_state *state, const void *bytes, size_t len);
/** Adds the length of the bytes and then the bytes, so that a sequence of values has one reading
 * only. */
void sha256_feed_sized(struct sha256_state *state, const void *bytes, size_t len);
/** Finishes the digest and frees the state. `out` may be NULL. */
void sha256_end(struct sha256_state *state, struct sha256 *out);

void sha256_of(const void *bytes, size_t len, struct sha256 *out);
/** The HMAC of the bytes with a key. Without the key it tells nothing of short contents. */
void sha256_keyed(const void *key, size_t key_len, const void *bytes, size_t len,
                  struct sha256 *out);

void sha256_format(const struct sha256 *digest, char out[SHA256_TEXT_MAX]);
/** Reads what sha256_format has written. False for any other text, or NULL. */
bool sha256_parse(const char *text, struct sha256 *out);
bool sha256_equal(const struct sha256 *a, const struct sha256 *b);
