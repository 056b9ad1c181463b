/*
 * libcrypto makes the key; the public line is OpenSSH's: lengths before strings, in base64. Ref:
 * RFC 5656 3.1.
 */
#include "node/sandbox/hostkey.h"
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <string.h>

enum { POINT_BYTES = 65 };

SCOPED_DEFINE_PTR(pkey, EVP_PKEY *, EVP_PKEY_free)
SCOPED_DEFINE_PTR(bio, BIO *, BIO_free_all)

static void put_string(struct buf *out, const void *bytes, size_t len)
{
    const unsigned char length[] = {0, 0, (unsigned char)(len >> 8), (unsigned char)len};

    buf_add(out, length, sizeof length);
    buf_add(out, bytes, len);
}

static bool write_private(EVP_PKEY *key, struct buf *out)
{
    scoped(bio) BIO *memory = BIO_new(BIO_s_secmem());
    char *text;
    long len;

    if (!memory || !PEM_write_bio_PrivateKey_traditional(memory, key, NULL, NULL, 0, NULL, NULL))
        return false;
    len = BIO_get_mem_data(memory, &text);
    buf_add(out, text, (size_t)len);
    return len > 0;
}

static bool write_public(const EVP_PKEY *key, struct buf *out)
{
    static const char type[] = "ecdsa-sha2-nistp256", curve[] = "nistp256";
    scoped(buf) struct buf blob = {0};
    unsigned char point[POINT_BYTES], text[4 * 256];
    size_t len;

    if (!EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof point, &len))
        return false;
    put_string(&blob, type, strlen(type));
    put_string(&blob, curve, strlen(curve));
    put_string(&blob, point, len);
    EVP_EncodeBlock(text, (const unsigned char *)blob.data, (int)blob.len);
    buf_printf(out, "%s %s\n", type, text);
    return true;
}

bool hostkey_make(struct buf *out_private, struct buf *out_public, struct error *err)
{
    scoped(pkey) EVP_PKEY *key = EVP_EC_gen("P-256");

    return (key && write_private(key, out_private) && write_public(key, out_public)) ||
           error_set(err, ERR_INTERNAL, "", "cannot make a host key");
}
