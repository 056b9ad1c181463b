/*
 * SHA-256 by OpenSSL, which uses the instructions of the processor.
 */
#include "base/digest/sha256.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <string.h>

#include "base/encoding/hex.h"
#include "base/mem.h"

struct sha256_state {
    EVP_MD_CTX *ctx;
};

struct sha256_state *sha256_begin(void)
{
    struct sha256_state *state = mem_alloc(sizeof *state);

    state->ctx = EVP_MD_CTX_new();
    if (!state->ctx || EVP_DigestInit_ex(state->ctx, EVP_sha256(), NULL) != 1)
        mem_fatal("SHA-256 is not available");
    return state;
}

void sha256_feed(struct sha256_state *state, const void *bytes, size_t len)
{
    if (len && EVP_DigestUpdate(state->ctx, bytes, len) != 1)
        mem_fatal("SHA-256 failed");
}

void sha256_feed_sized(struct sha256_state *state, const void *bytes, size_t len)
{
    const uint64_t size = len;

    sha256_feed(state, &size, sizeof size);
    sha256_feed(state, bytes, len);
}

void sha256_end(struct sha256_state *state, struct sha256 *out)
{
    if (out && EVP_DigestFinal_ex(state->ctx, out->bytes, NULL) != 1)
        mem_fatal("SHA-256 failed");
    EVP_MD_CTX_free(state->ctx);
    mem_free(state);
}

void sha256_of(const void *bytes, size_t len, struct sha256 *out)
{
    struct sha256_state *state = sha256_begin();

    sha256_feed(state, bytes, len);
    sha256_end(state, out);
}

void sha256_keyed(const void *key, size_t key_len, const void *bytes, size_t len,
                  struct sha256 *out)
{
    if (!HMAC(EVP_sha256(), key, (int)key_len, bytes, len, out->bytes, NULL))
        mem_fatal("HMAC-SHA-256 is not available");
}

void sha256_format(const struct sha256 *digest, char out[SHA256_TEXT_MAX])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < SHA256_BYTES; i++) {
        out[2 * i] = digits[digest->bytes[i] >> 4];
        out[2 * i + 1] = digits[digest->bytes[i] & 15];
    }
    out[2 * SHA256_BYTES] = '\0';
}

bool sha256_parse(const char *text, struct sha256 *out)
{
    struct sha256 digest;

    if (!text || strlen(text) != 2 * SHA256_BYTES)
        return false;
    for (size_t i = 0; i < SHA256_BYTES; i++) {
        int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        digest.bytes[i] = (uint8_t)(high << 4 | low);
    }
    *out = digest;
    return true;
}

bool sha256_equal(const struct sha256 *a, const struct sha256 *b)
{
    return memcmp(a->bytes, b->bytes, SHA256_BYTES) == 0;
}
