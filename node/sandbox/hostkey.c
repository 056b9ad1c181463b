/*
 * libcrypto makes the key; encoding it is done here, because libcrypto looks up its encoders at
 * every call, which takes longer than making the key. The private key is the ECPrivateKey of RFC
 * 5915, in which only two strings differ between keys of one curve. The public line is OpenSSH's,
 * in which each string follows its length. Ref: RFC 5656 3.1.
 */
#include "node/sandbox/hostkey.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <string.h>

enum { SCALAR_BYTES = 32, POINT_BYTES = 65, LINE_BYTES = 48, LINE_TEXT = 64 };

/* The bytes of an encoded key in front of the private number. The key is SEQUENCE { version 1, the
 * number, [0] prime256v1, [1] the point }. */
static const unsigned char before_scalar[] = {0x30, 0x77, 0x02, 0x01, 0x01, 0x04, SCALAR_BYTES};
static const unsigned char before_point[] = {0xa0, 0x0a, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d,
                                             0x03, 0x01, 0x07, 0xa1, 0x44, 0x03, 0x42, 0x00};

SCOPED_DEFINE_PTR(pkey, EVP_PKEY *, EVP_PKEY_free)

static void put_string(struct buf *out, const void *bytes, size_t len)
{
    const unsigned char length[] = {0, 0, (unsigned char)(len >> 8), (unsigned char)len};

    buf_add(out, length, sizeof length);
    buf_add(out, bytes, len);
}

static void put_base64(struct buf *out, const unsigned char *bytes, size_t len)
{
    unsigned char text[LINE_TEXT + 1];

    for (size_t at = 0; at < len; at += LINE_BYTES) {
        size_t some = len - at < LINE_BYTES ? len - at : LINE_BYTES;

        EVP_EncodeBlock(text, bytes + at, (int)some);
        buf_printf(out, "%s\n", text);
    }
    explicit_bzero(text, sizeof text);
}

static bool write_private(EVP_PKEY *key, const unsigned char point[POINT_BYTES], struct buf *out)
{
    unsigned char der[sizeof before_scalar + SCALAR_BYTES + sizeof before_point + POINT_BYTES];
    unsigned char *at = der + sizeof before_scalar;
    BIGNUM *number = NULL;
    bool ok = EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_PRIV_KEY, &number) &&
              BN_bn2binpad(number, at, SCALAR_BYTES) == SCALAR_BYTES;

    BN_clear_free(number);
    if (!ok)
        return false;
    memcpy(der, before_scalar, sizeof before_scalar);
    memcpy(at + SCALAR_BYTES, before_point, sizeof before_point);
    memcpy(at + SCALAR_BYTES + sizeof before_point, point, POINT_BYTES);
    buf_reserve(out, 4 * sizeof der); /* growing later would leave copies of the key in memory */
    buf_str(out, "-----BEGIN EC PRIVATE KEY-----\n");
    put_base64(out, der, sizeof der);
    buf_str(out, "-----END EC PRIVATE KEY-----\n");
    explicit_bzero(der, sizeof der);
    return true;
}

static void write_public(const unsigned char point[POINT_BYTES], struct buf *out)
{
    static const char type[] = "ecdsa-sha2-nistp256", curve[] = "nistp256";
    scoped(buf) struct buf blob = {0};
    unsigned char text[4 * 256];

    put_string(&blob, type, strlen(type));
    put_string(&blob, curve, strlen(curve));
    put_string(&blob, point, POINT_BYTES);
    EVP_EncodeBlock(text, (const unsigned char *)blob.data, (int)blob.len);
    buf_printf(out, "%s %s\n", type, text);
}

/* Returns the context that makes keys, which lives as long as the process: finding the curve takes
 * longer than making a key. */
static EVP_PKEY_CTX *keygen_context(void)
{
    static EVP_PKEY_CTX *context;
    EVP_PKEY_CTX *made;

    if (context)
        return context;
    made = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
    if (made && EVP_PKEY_keygen_init(made) > 0 && EVP_PKEY_CTX_set_group_name(made, "P-256") > 0)
        context = made;
    else
        EVP_PKEY_CTX_free(made);
    return context;
}

static EVP_PKEY *make_key(void)
{
    EVP_PKEY_CTX *context = keygen_context();
    EVP_PKEY *key = NULL;

    return context && EVP_PKEY_generate(context, &key) > 0 ? key : NULL;
}

bool hostkey_make(struct buf *out_private, struct buf *out_public, struct error *err)
{
    scoped(pkey) EVP_PKEY *key = make_key();
    unsigned char point[POINT_BYTES];
    size_t len = 0;

    if (!key ||
        !EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof point, &len) ||
        len != sizeof point || !write_private(key, point, out_private))
        return error_set(err, ERR_INTERNAL, "", "cannot make a host key");
    write_public(point, out_public);
    return true;
}
