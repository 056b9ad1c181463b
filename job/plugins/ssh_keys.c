/*
 * libcrypto makes and parses keys; OpenSSH's formats are written here: numbers are big-endian, and
 * strings are preceded by their length. Ref: RFC 4253 6.6, RFC 8709, PROTOCOL.key of
 * OpenSSH.
 */
#include "job/plugins/ssh_keys.h"

#include <ctype.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <string.h>

#include "base/encoding/base64.h"

enum { RSA_BITS = 3072, ED25519_BYTES = 32, BLOCK = 8, LINE = 70 };

static const char openssh_magic[] = "openssh-key-v1";
static const char openssh_begin[] = "-----BEGIN OPENSSH PRIVATE KEY-----\n";
static const char openssh_end[] = "-----END OPENSSH PRIVATE KEY-----\n";

SCOPED_DEFINE_PTR(pkey, EVP_PKEY *, EVP_PKEY_free)
SCOPED_DEFINE_PTR(bignum, BIGNUM *, BN_free)

static void put_u32(struct secret *out, uint32_t value)
{
    const unsigned char bytes[4] = {(unsigned char)(value >> 24), (unsigned char)(value >> 16),
                                    (unsigned char)(value >> 8), (unsigned char)value};

    secret_add(out, bytes, sizeof bytes);
}

static void put_string(struct secret *out, const void *bytes, size_t len)
{
    put_u32(out, (uint32_t)len);
    secret_add(out, bytes, len);
}

static bool put_number(struct secret *out, const EVP_PKEY *key, const char *name)
{
    unsigned char bytes[2 + RSA_BITS] = {0}; /* keys of users may be longer than generated ones */
    scoped(bignum) BIGNUM *number = NULL;
    int len;

    if (!EVP_PKEY_get_bn_param(key, name, &number) || BN_num_bytes(number) > RSA_BITS)
        return false;
    len = BN_bn2bin(number, bytes + 1);
    if (bytes[1] & 0x80) /* the number would be negative */
        put_string(out, bytes, (size_t)len + 1);
    else
        put_string(out, bytes + 1, (size_t)len);
    return true;
}

static void put_ed25519_public(struct secret *out, const unsigned char *public_key)
{
    put_string(out, "ssh-ed25519", strlen("ssh-ed25519"));
    put_string(out, public_key, ED25519_BYTES);
}

static void write_public(const char *type, const struct secret *blob, struct buf *out)
{
    buf_str(out, type);
    buf_char(out, ' ');
    base64_encode(blob->bytes.data, blob->bytes.len, out);
    buf_char(out, '\n');
}

static bool refuse(struct error *err)
{
    return error_set(err, ERR_INVALID, "ssh-private-key",
                     "the private key is not of a supported kind (RSA or Ed25519, "
                     "without passphrase); give ssh-public-key, too");
}

static bool public_of(const EVP_PKEY *key, struct buf *out, struct error *err)
{
    scoped(secret) struct secret blob = {0};
    unsigned char bytes[ED25519_BYTES];
    size_t len = sizeof bytes;

    if (EVP_PKEY_is_a(key, "RSA")) {
        put_string(&blob, "ssh-rsa", strlen("ssh-rsa"));
        if (!put_number(&blob, key, OSSL_PKEY_PARAM_RSA_E) ||
            !put_number(&blob, key, OSSL_PKEY_PARAM_RSA_N))
            return refuse(err);
        write_public("ssh-rsa", &blob, out);
        return true;
    }
    if (!EVP_PKEY_is_a(key, "ED25519") || !EVP_PKEY_get_raw_public_key(key, bytes, &len))
        return refuse(err);
    put_ed25519_public(&blob, bytes);
    write_public("ssh-ed25519", &blob, out);
    return true;
}

/* Keys with a passphrase are refused without a prompt. */
static int no_passphrase(char *buf, int size, int writing, void *arg)
{
    return -1;
}

struct reader {
    const unsigned char *at;
    size_t left;
};

static bool take_u32(struct reader *r, uint32_t *out)
{
    if (r->left < 4)
        return false;
    *out = (uint32_t)r->at[0] << 24 | (uint32_t)r->at[1] << 16 | (uint32_t)r->at[2] << 8 | r->at[3];
    r->at += 4;
    r->left -= 4;
    return true;
}

static bool take_string(struct reader *r, struct reader *out)
{
    uint32_t len;

    if (!take_u32(r, &len) || len > r->left)
        return false;
    *out = (struct reader){r->at, len};
    r->at += len;
    r->left -= len;
    return true;
}

/* Whether the text may stand at the beginning of a line of authorized_keys. Anything but the name of
 * a type of key would be an option there, like command="…". */
static bool is_type_name(const struct reader *type)
{
    for (size_t i = 0; i < type->left; i++)
        if (!isalnum(type->at[i]) && !(type->at[i] && strchr("-.@", type->at[i])))
            return false;
    return type->left > 0;
}

/* OpenSSH's format has the public key unencrypted before the private part. */
static bool public_in_openssh(const char *text, size_t len, struct buf *out, struct error *err)
{
    scoped(secret) struct secret bytes = {0};
    const char *end = memmem(text, len, openssh_end, strlen(openssh_end) - 1);
    struct reader r, skipped, blob, type;
    uint32_t keys;

    if (!end || !base64_decode(text, (size_t)(end - text), &bytes.bytes) ||
        bytes.bytes.len < sizeof openssh_magic ||
        memcmp(bytes.bytes.data, openssh_magic, sizeof openssh_magic) != 0)
        return refuse(err);
    r = (struct reader){(const unsigned char *)bytes.bytes.data + sizeof openssh_magic,
                        bytes.bytes.len - sizeof openssh_magic};
    for (int i = 0; i < 3; i++) /* cipher, derivation and its parameters */
        if (!take_string(&r, &skipped))
            return refuse(err);
    if (!take_u32(&r, &keys) || keys != 1 || !take_string(&r, &blob))
        return refuse(err);
    r = blob;
    if (!take_string(&r, &type) || !is_type_name(&type))
        return refuse(err);
    buf_add(out, type.at, type.left);
    buf_char(out, ' ');
    base64_encode(blob.at, blob.left, out);
    buf_char(out, '\n');
    return true;
}

bool job_key_public(const char *private_key, size_t len, struct buf *out_public, struct error *err)
{
    const char *openssh = memmem(private_key, len, openssh_begin, strlen(openssh_begin));
    scoped(pkey) EVP_PKEY *key = NULL;
    BIO *bio;

    if (openssh) {
        openssh += strlen(openssh_begin);
        return public_in_openssh(openssh, len - (size_t)(openssh - private_key), out_public, err);
    }
    bio = BIO_new_mem_buf(private_key, (int)len);
    key = bio ? PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL) : NULL;
    BIO_free(bio);
    return key ? public_of(key, out_public, err) : refuse(err);
}

static bool failed(struct error *err)
{
    return error_set(err, ERR_INTERNAL, "", "libcrypto could not make a key pair");
}

bool job_key_rsa(struct secret *out_private, struct buf *out_public, struct error *err)
{
    scoped(pkey) EVP_PKEY *key = EVP_RSA_gen(RSA_BITS);
    BIO *bio = key ? BIO_new(BIO_s_mem()) : NULL;
    char *text = NULL;
    long len;
    bool ok;

    if (!bio)
        return failed(err);
    ok = PEM_write_bio_PrivateKey_traditional(bio, key, NULL, NULL, 0, NULL, NULL);
    len = BIO_get_mem_data(bio, &text);
    if (ok && len > 0)
        secret_add(out_private, text, (size_t)len);
    if (len > 0)
        OPENSSL_cleanse(text, (size_t)len);
    BIO_free(bio);
    return ok ? public_of(key, out_public, err) : failed(err);
}

/* Base64 in lines, as OpenSSH writes it. */
static void armour(const struct secret *bytes, struct secret *out)
{
    struct buf text = {0};

    base64_encode(bytes->bytes.data, bytes->bytes.len, &text);
    secret_add(out, openssh_begin, strlen(openssh_begin));
    for (size_t at = 0; at < text.len; at += LINE) {
        secret_add(out, text.data + at, text.len - at < LINE ? text.len - at : LINE);
        secret_add(out, "\n", 1);
    }
    secret_add(out, openssh_end, strlen(openssh_end));
    secret_wipe(&text);
}

static void write_openssh(const unsigned char *seed, const unsigned char *public_key,
                          uint32_t check, struct secret *out)
{
    scoped(secret) struct secret blob = {0}, pair = {0}, private_part = {0}, whole = {0};

    put_ed25519_public(&blob, public_key);
    secret_add(&pair, seed, ED25519_BYTES);
    secret_add(&pair, public_key, ED25519_BYTES);
    put_u32(&private_part, check);
    put_u32(&private_part, check);
    put_ed25519_public(&private_part, public_key);
    put_string(&private_part, pair.bytes.data, pair.bytes.len);
    put_string(&private_part, "", 0); /* the comment of the key */
    for (unsigned char pad = 1; private_part.bytes.len % BLOCK; pad++)
        secret_add(&private_part, &pad, 1);

    secret_add(&whole, openssh_magic, sizeof openssh_magic);
    put_string(&whole, "none", 4); /* name of the cipher */
    put_string(&whole, "none", 4); /* name of the key derivation */
    put_string(&whole, "", 0);
    put_u32(&whole, 1);
    put_string(&whole, blob.bytes.data, blob.bytes.len);
    put_string(&whole, private_part.bytes.data, private_part.bytes.len);
    armour(&whole, out);
}

bool job_key_ed25519(struct secret *out_private, struct buf *out_public, struct error *err)
{
    scoped(pkey) EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    unsigned char seed[ED25519_BYTES], public_key[ED25519_BYTES];
    size_t seed_len = sizeof seed, public_len = sizeof public_key;
    uint32_t check;

    if (!key || !EVP_PKEY_get_raw_private_key(key, seed, &seed_len) ||
        !EVP_PKEY_get_raw_public_key(key, public_key, &public_len) ||
        RAND_bytes((unsigned char *)&check, sizeof check) != 1)
        return failed(err);
    write_openssh(seed, public_key, check, out_private);
    OPENSSL_cleanse(seed, sizeof seed);
    return public_of(key, out_public, err);
}
