#pragma once
/*
 * The files of the page inside the program.
 *
 * The build packs the files that make the page (web/pack); each is stored gzipped. Their digest is
 * a part of their addresses, so that a page never mixes the files of two programs. index.html is
 * the shell: "@DIGEST@" in it becomes the digest, "@ID@" the id of the gateway, "@TOKENS@" whether it takes tokens.
 * Ref: spec/web.md 4.2.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

enum { ASSETS_DIGEST = 16 }; /* hexadecimal digits */

struct asset {
    const char *name;
    const char *media_type;
    const unsigned char *gzipped;
    size_t gzipped_len, len; /* `len`: bytes when inflated */
};

struct assets;

/** Returns the packed files of the page that were built into the program, and their number of bytes
 * in *out_len. Returns NULL, and 0 in *out_len, when the program was built without the page. */
const unsigned char *assets_built_in(size_t *out_len);
/** Reads packed files, which are borrowed. `id` is the gateway's, which takes tokens or not.
 * NULL with INVALID when they are damaged or have no index.html. */
struct assets *assets_new(const unsigned char *bytes, size_t len, const char *id, bool takes_tokens,
                          struct error *err);
void assets_free(struct assets *assets); /* NULL is fine */
const char *assets_digest(const struct assets *assets);
/** Returns the file of that name, or NULL. The shell is none. */
const struct asset *assets_find(const struct assets *assets, const char *name);
/** Appends the file as it was before it was packed. */
bool assets_inflate(const struct asset *asset, struct buf *out);
/** Returns the shell. */
const struct buf *assets_shell(const struct assets *assets);
