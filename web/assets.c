/*
 * Reads the packed files: "JFA1", then of each file three numbers (lengths of name, gzipped bytes
 * and plain bytes; 32 bits, little-endian), its name and its gzipped bytes.
 */
#include "web/assets.h"

#include <openssl/sha.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/mem.h"

/* The packed files (pack_image.c); NULL in a program without the page. */
extern const unsigned char web_pack[] __attribute__((weak, visibility("hidden")));
extern const unsigned char web_pack_end[] __attribute__((weak, visibility("hidden")));

enum { FILES_MAX = 64, NUMBER = 4, ASSET_BYTES_MAX = 16 << 20 };
static const char magic[] = "JFA1", shell_name[] = "index.html";

struct assets {
    struct asset items[FILES_MAX];
    size_t count;
    char digest[ASSETS_DIGEST + 1];
    struct buf shell;
};

const unsigned char *assets_built_in(size_t *out_len)
{
    // cppcheck-suppress comparePointers ; both are places in one image, which the linker names
    *out_len = web_pack ? (size_t)(web_pack_end - web_pack) : 0;
    return web_pack;
}

static const char *media_type_of(const char *name)
{
    static const struct {
        const char *ending, *type;
    } types[] = {
        {".html", "text/html; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".svg", "image/svg+xml; charset=utf-8"},
        {".json", "application/json; charset=utf-8"},
        {".png", "image/png"},
        {".ico", "image/x-icon"},
    };
    const char *dot = strrchr(name, '.');

    for (size_t i = 0; dot && i < countof(types); i++)
        if (strcmp(types[i].ending, dot) == 0)
            return types[i].type;
    return "application/octet-stream";
}

static size_t number_at(const unsigned char *at)
{
    return at[0] | (size_t)at[1] << 8 | (size_t)at[2] << 16 | (size_t)at[3] << 24;
}

/* Reads one file from `*at` on; false when it does not end before `end`. */
static bool read_file(struct assets *assets, const unsigned char **at, const unsigned char *end)
{
    struct asset *asset = &assets->items[assets->count];
    size_t name_len, left = (size_t)(end - *at);

    if (left < 3 * NUMBER || assets->count == FILES_MAX)
        return false;
    name_len = number_at(*at);
    asset->gzipped_len = number_at(*at + NUMBER);
    asset->len = number_at(*at + 2 * NUMBER);
    left -= 3 * NUMBER;
    if (name_len == 0 || name_len > left || asset->gzipped_len > left - name_len ||
        asset->len > ASSET_BYTES_MAX)
        return false;
    asset->name = (const char *)*at + 3 * NUMBER;
    asset->gzipped = *at + 3 * NUMBER + name_len;
    if (memchr(asset->name, '\0', name_len) != asset->name + name_len - 1)
        return false;
    asset->media_type = media_type_of(asset->name);
    *at = asset->gzipped + asset->gzipped_len;
    assets->count++;
    return true;
}

static const struct asset *by_name(const struct assets *assets, const char *name)
{
    for (size_t i = 0; i < assets->count; i++)
        if (strcmp(assets->items[i].name, name) == 0)
            return &assets->items[i];
    return NULL;
}

static void replace(const struct buf *text, const char *word, const char *by, struct buf *out)
{
    const char *at = text->data ? text->data : "", *found;

    while ((found = strstr(at, word))) {
        buf_add(out, at, (size_t)(found - at));
        buf_str(out, by);
        at = found + strlen(word);
    }
    buf_str(out, at);
}

static bool make_shell(struct assets *assets, const char *id, bool takes_tokens)
{
    const struct asset *asset = by_name(assets, shell_name);
    scoped(buf) struct buf text = {0}, half = {0}, most = {0};

    if (!asset || !assets_inflate(asset, &text))
        return false;
    replace(&text, "@DIGEST@", assets->digest, &half);
    replace(&half, "@ID@", id, &most);
    replace(&most, "@TOKENS@", takes_tokens ? "yes" : "no", &assets->shell);
    return true;
}

static void write_digest(struct assets *assets, const unsigned char *bytes, size_t len)
{
    unsigned char digest[SHA256_DIGEST_LENGTH];

    SHA256(bytes, len, digest);
    for (size_t i = 0; i < ASSETS_DIGEST / 2; i++)
        snprintf(assets->digest + 2 * i, 3, "%02x", digest[i]);
}

struct assets *assets_new(const unsigned char *bytes, size_t len, const char *id, bool takes_tokens,
                          struct error *err)
{
    const unsigned char *at = bytes + sizeof magic - 1, *end = bytes + len;
    struct assets *assets = mem_alloc(sizeof *assets);
    bool ok = len >= sizeof magic - 1 && memcmp(bytes, magic, sizeof magic - 1) == 0;

    while (ok && at < end)
        ok = read_file(assets, &at, end);
    if (ok)
        write_digest(assets, bytes, len);
    if (ok && make_shell(assets, id, takes_tokens))
        return assets;
    error_set(err, ERR_INVALID, "", "the files of the page in this program are damaged");
    assets_free(assets);
    return NULL;
}

void assets_free(struct assets *assets)
{
    if (!assets)
        return;
    buf_release(&assets->shell);
    mem_free(assets);
}

const char *assets_digest(const struct assets *assets)
{
    return assets->digest;
}

const struct asset *assets_find(const struct assets *assets, const char *name)
{
    return strcmp(name, shell_name) == 0 ? NULL : by_name(assets, name);
}

bool assets_inflate(const struct asset *asset, struct buf *out)
{
    enum { GZIP_ONLY = 16 };
    z_stream z = {.next_in = (Bytef *)(size_t)asset->gzipped, .avail_in = (uInt)asset->gzipped_len};
    int result;

    if (inflateInit2(&z, MAX_WBITS + GZIP_ONLY) != Z_OK)
        mem_fatal("no memory to inflate");
    buf_reserve(out, asset->len + 1);
    z.next_out = (Bytef *)out->data + out->len;
    z.avail_out = (uInt)asset->len;
    result = inflate(&z, Z_FINISH);
    inflateEnd(&z);
    if (result != Z_STREAM_END || z.avail_out > 0)
        return false;
    out->len += asset->len;
    out->data[out->len] = '\0';
    return true;
}

const struct buf *assets_shell(const struct assets *assets)
{
    return &assets->shell;
}
