/*
 * Keeps the tokens in memory and in their file. The file is replaced as a whole and refused when
 * other users may read it.
 */
#include "api/server/auth/bearer_tokens.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/types/text/json_text.h"
#include "base/encoding/base64.h"
#include "base/encoding/hex.h"
#include "base/encoding/jsonw.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/timefmt.h"

enum { FILE_BYTES_MAX = 8 << 20, NAME_MAX_BYTES = 253 };

static void token_release(struct bearer_token *token)
{
    identity_unref(token->identity);
    for (size_t i = 0; i < token->n_namespaces; i++)
        mem_free(token->namespaces[i]);
    mem_free(token->namespaces);
    mem_free(token->name);
}

void bearer_tokens_release(struct bearer_tokens *tokens)
{
    for (size_t i = 0; i < tokens->count; i++)
        token_release(&tokens->items[i]);
    mem_free(tokens->items);
    *tokens = (struct bearer_tokens){0};
}

static void write_text(const unsigned char secret[BEARER_HASH], char out[BEARER_TEXT + 1])
{
    scoped(buf) struct buf text = {0};

    buf_str(&text, "jf_");
    base64url_encode(secret, BEARER_HASH, &text);
    memcpy(out, text.data, BEARER_TEXT + 1);
    OPENSSL_cleanse(text.data, text.cap);
}

static void write_hex(const unsigned char *bytes, struct buf *out)
{
    for (size_t i = 0; i < BEARER_HASH; i++)
        buf_printf(out, "%02x", bytes[i]);
}

static bool read_hex(const char *text, unsigned char out[BEARER_HASH])
{
    if (!text || strlen(text) != (size_t)BEARER_HASH * 2)
        return false;
    for (size_t i = 0; i < BEARER_HASH; i++) {
        int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        out[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}

static bool read_namespaces(struct bearer_token *token, const json_t *list)
{
    json_t *value;
    size_t i;

    token->namespaces = mem_array(json_array_size(list) + 1, sizeof *token->namespaces);
    json_array_foreach(list, i, value)
    {
        if (!json_is_string(value) || !*json_string_value(value))
            return false;
        token->namespaces[token->n_namespaces++] = mem_strdup(json_string_value(value));
    }
    return true;
}

static int64_t read_time(const json_t *value)
{
    const char *text = json_string_value(value);
    int64_t ms = 0;

    return text && time_parse(text, &ms, NULL) ? ms : 0;
}

static void make_identity(struct bearer_token *token)
{
    token->identity = identity_with_role(
        token->name, token->role, (const char *const *)token->namespaces, token->n_namespaces);
}

static bool read_token(const json_t *from, struct bearer_token *out)
{
    const char *name = json_string_value(json_object_get(from, "name"));
    const char *role = json_string_value(json_object_get(from, "role"));
    const json_t *expires = json_object_get(from, "expiresAt");

    if (!name || !*name || !role || (out->role = role_by_name(role)) == ROLE_NONE ||
        !read_hex(json_string_value(json_object_get(from, "sha256")), out->hash) ||
        !read_namespaces(out, json_object_get(from, "namespaces")))
        return false;
    out->name = mem_strdup(name);
    out->created_ms = read_time(json_object_get(from, "createdAt"));
    out->expires_ms = read_time(expires);
    make_identity(out);
    return !expires || out->expires_ms > 0; /* an unreadable expiry must not mean never */
}

static bool read_all(const json_t *doc, struct bearer_tokens *out, const char *path,
                     struct error *err)
{
    const json_t *list = json_object_get(doc, "tokens");
    json_t *value;
    size_t i;

    if (!json_is_array(list))
        return error_set(err, ERR_INVALID, "", "%s: the list \"tokens\" is missing", path);
    json_array_foreach(list, i, value)
    {
        mem_grow(out->items, out->count, out->cap);
        out->items[out->count] = (struct bearer_token){0};
        if (!read_token(value, &out->items[out->count++]))
            return error_set(err, ERR_INVALID, "", "%s: tokens[%zu] is damaged", path, i);
    }
    return true;
}

static bool is_private(int fd, const char *path, struct error *err)
{
    struct stat info;

    if (fstat(fd, &info) < 0)
        return error_errno(err, errno, "cannot look at %s", path);
    if (info.st_uid != geteuid())
        return error_set(err, ERR_FORBIDDEN, "", "%s belongs to another user (uid %u)", path,
                         (unsigned)info.st_uid);
    return (info.st_mode & 077) == 0 ||
           error_set(err, ERR_FORBIDDEN, "",
                     "%s is open to other users (mode %03o): make it private with chmod 600", path,
                     (unsigned)info.st_mode & 0777);
}

static bool same_rights(const struct bearer_token *a, const struct bearer_token *b)
{
    if (!a->name || !b->name || strcmp(a->name, b->name) != 0 ||
        memcmp(a->hash, b->hash, sizeof a->hash) != 0 || a->role != b->role ||
        a->n_namespaces != b->n_namespaces)
        return false;
    for (size_t i = 0; i < a->n_namespaces; i++)
        if (strcmp(a->namespaces[i], b->namespaces[i]) != 0)
            return false;
    return true;
}

/* A token that is still in the file keeps its identity object; the identity of a removed token is
 * marked as revoked. */
static void keep_identities(const struct bearer_tokens *before, struct bearer_tokens *now)
{
    for (size_t i = 0; i < before->count; i++)
        before->items[i].identity->revoked = true;
    for (size_t n = 0; n < now->count; n++)
        for (size_t i = 0; i < before->count; i++) {
            struct identity *kept = before->items[i].identity;

            if (!same_rights(&before->items[i], &now->items[n]))
                continue;
            identity_unref(now->items[n].identity);
            now->items[n].identity = identity_ref(kept);
            kept->revoked = false;
            break;
        }
}

bool bearer_tokens_load(struct bearer_tokens *out, const char *path, struct error *err)
{
    scoped(bearer_tokens) struct bearer_tokens read = {0};
    scoped(buf) struct buf text = {0};
    scoped(json) json_t *doc = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    bool ok;

    if (fd < 0 && errno != ENOENT)
        return error_errno(err, errno, "cannot open %s", path);
    if (fd >= 0) {
        ok = is_private(fd, path, err) && file_read_fd(fd, path, FILE_BYTES_MAX, &text, err);
        close(fd);
        if (!ok)
            return false;
        doc = json_parse(text.data ? text.data : "", text.len, &json_limits_body, err);
        if (!doc || !read_all(doc, &read, path, err)) {
            if (!doc)
                error_prefix(err, "%s: ", path);
            return false;
        }
    }
    keep_identities(out, &read);
    bearer_tokens_release(out);
    *out = read;
    read = (struct bearer_tokens){0};
    return true;
}

bool bearer_tokens_save(const struct bearer_tokens *tokens, const char *path, struct error *err)
{
    scoped(buf) struct buf text = {0}, hex = {0};
    struct jsonw w = jsonw_to(&text);

    jsonw_open(&w);
    jsonw_member_open_list(&w, "tokens");
    for (size_t i = 0; i < tokens->count; i++) {
        const struct bearer_token *token = &tokens->items[i];

        jsonw_open(&w);
        jsonw_member_str(&w, "name", token->name);
        jsonw_member_str(&w, "role", role_names[token->role]);
        if (token->n_namespaces) {
            jsonw_member_open_list(&w, "namespaces");
            for (size_t n = 0; n < token->n_namespaces; n++)
                jsonw_str(&w, token->namespaces[n]);
            jsonw_close_list(&w);
        }
        buf_clear(&hex);
        write_hex(token->hash, &hex);
        jsonw_member_str(&w, "sha256", hex.data);
        jsonw_member_time_opt(&w, "createdAt", token->created_ms);
        jsonw_member_time_opt(&w, "expiresAt", token->expires_ms);
        jsonw_close(&w);
    }
    jsonw_close_list(&w);
    jsonw_close(&w);
    buf_char(&text, '\n');
    return file_write_changed(path, text.data, text.len, 0600, err);
}

static struct bearer_token *by_name(const struct bearer_tokens *tokens, const char *name)
{
    for (size_t i = 0; i < tokens->count; i++)
        if (strcmp(tokens->items[i].name, name) == 0)
            return &tokens->items[i];
    return NULL;
}

static bool check_name(const char *name, struct error *err)
{
    size_t n = 0;

    for (; n <= NAME_MAX_BYTES && name[n]; n++)
        if (!isalnum((unsigned char)name[n]) && (n == 0 || !strchr("-_.@", name[n])))
            break;
    return (n > 0 && n <= NAME_MAX_BYTES && !name[n]) ||
           error_set(
               err, ERR_INVALID, "",
               "\"%s\" is not a valid token name: it must begin with a letter or digit and contain "
               "only letters, digits, -, _, . and @",
               name);
}

void bearer_token_describe(const struct bearer_token *token, struct buf *out)
{
    write_hex(token->hash, out);
    buf_printf(out, " %s %zu", role_names[token->role], token->n_namespaces);
    for (size_t i = 0; i < token->n_namespaces; i++)
        buf_printf(out, " %s", token->namespaces[i]);
    buf_printf(out, " %s", token->name);
}

const struct bearer_token *bearer_tokens_described(const struct bearer_tokens *tokens,
                                                   const char *description, int64_t now_ms)
{
    unsigned char hash[BEARER_HASH];
    scoped_str hex = mem_printf("%.*s", BEARER_HASH * 2, description);

    for (size_t i = 0; read_hex(hex, hash) && i < tokens->count; i++) {
        const struct bearer_token *token = &tokens->items[i];
        scoped(buf) struct buf text = {0};

        if (memcmp(token->hash, hash, sizeof hash) != 0)
            continue;
        bearer_token_describe(token, &text);
        if (strcmp(text.data, description) == 0 &&
            (!token->expires_ms || now_ms < token->expires_ms))
            return token;
    }
    return NULL;
}

static void make_secret(unsigned char secret[BEARER_HASH])
{
    if (RAND_bytes(secret, BEARER_HASH) != 1)
        mem_fatal("no random numbers");
}

void bearer_secret_make(char text[BEARER_TEXT + 1])
{
    unsigned char secret[BEARER_HASH];

    make_secret(secret);
    write_text(secret, text);
    OPENSSL_cleanse(secret, sizeof secret);
}

bool bearer_tokens_add(struct bearer_tokens *tokens, const struct bearer_token_request *request,
                       char text[BEARER_TEXT + 1], struct error *err)
{
    unsigned char secret[BEARER_HASH];
    struct bearer_token *token;

    if (!check_name(request->name, err))
        return false;
    if (by_name(tokens, request->name))
        return error_set(err, ERR_EXISTS, "",
                         "a token \"%s\" exists already; revoke it first, or choose another name",
                         request->name);
    if (tokens->count == BEARER_MAX)
        return error_set(err, ERR_TOO_MANY, "", "there are %d tokens already; revoke some first",
                         BEARER_MAX);
    make_secret(secret);
    mem_grow(tokens->items, tokens->count, tokens->cap);
    token = &tokens->items[tokens->count++];
    *token =
        (struct bearer_token){.name = mem_strdup(request->name),
                              .role = request->role,
                              .namespaces = mem_array(request->n_namespaces + 1, sizeof(char *)),
                              .n_namespaces = request->n_namespaces,
                              .created_ms = request->now_ms,
                              .expires_ms = request->expires_ms};
    for (size_t i = 0; i < request->n_namespaces; i++)
        token->namespaces[i] = mem_strdup(request->namespaces[i]);
    make_identity(token);
    write_text(secret, text);
    OPENSSL_cleanse(secret, sizeof secret);
    SHA256((const unsigned char *)text, BEARER_TEXT, token->hash);
    return true;
}

bool bearer_tokens_remove(struct bearer_tokens *tokens, const char *name)
{
    struct bearer_token *token = by_name(tokens, name);

    if (!token)
        return false;
    token_release(token);
    memmove(token, token + 1, (size_t)(tokens->items + --tokens->count - token) * sizeof *token);
    return true;
}

const struct bearer_token *bearer_tokens_find(const struct bearer_tokens *tokens, const char *text,
                                              size_t len, int64_t now_ms)
{
    unsigned char hash[BEARER_HASH];
    const struct bearer_token *found = NULL;

    SHA256((const unsigned char *)text, len, hash);
    for (size_t i = 0; i < tokens->count;
         i++) /* compares all: the time must not depend on the match */
        if (CRYPTO_memcmp(tokens->items[i].hash, hash, sizeof hash) == 0)
            found = &tokens->items[i];
    return found && (!found->expires_ms || now_ms < found->expires_ms) ? found : NULL;
}
