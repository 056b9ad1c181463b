/*
 * Gzip with zlib at its fastest level: lists are repetitive, so they shrink well at any level, and
 * the loop must not be blocked.
 */
#include "api/server/message/gzip.h"

#include <string.h>
#include <strings.h>
#include <zlib.h>

#include "base/mem.h"

struct gzip {
    z_stream stream;
};

const char *const gzip_headers[2] = {"Content-Encoding: gzip", "Vary: Accept-Encoding"};

bool gzip_is_accepted(const char *accept_encoding)
{
    const char *at = accept_encoding ? accept_encoding : "";

    while (*at) {
        size_t n = strcspn(at, ","), blanks = strspn(at, " \t");
        const char *end = at + n;

        at += blanks < n ? blanks : n;
        while (end > at && (end[-1] == ' ' || end[-1] == '\t'))
            end--;
        if (end - at == 4 && strncasecmp(at, "gzip", 4) == 0)
            return true;
        at = strchr(at, ',');
        if (!at)
            break;
        at++;
    }
    return false;
}

struct gzip *gzip_new(void)
{
    enum { GZIP_WINDOW = 15 + 16, MEMORY = 8 };
    struct gzip *gzip = mem_alloc(sizeof *gzip);

    if (deflateInit2(&gzip->stream, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, MEMORY,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        mem_fatal("gzip");
    return gzip;
}

void gzip_free(struct gzip *gzip)
{
    if (!gzip)
        return;
    deflateEnd(&gzip->stream);
    mem_free(gzip);
}

void gzip_add(struct gzip *gzip, const void *bytes, size_t len, enum gzip_part part,
              struct buf *out)
{
    enum { ROOM = 16 << 10 };
    z_stream *z = &gzip->stream;

    z->next_in = (Bytef *)(uintptr_t)bytes;
    z->avail_in = (uInt)len;
    do {
        buf_reserve(out, ROOM);
        z->next_out = (Bytef *)out->data + out->len;
        z->avail_out = ROOM;
        deflate(z, part == GZIP_LAST ? Z_FINISH : Z_NO_FLUSH);
        out->len += ROOM - z->avail_out;
        out->data[out->len] = '\0';
    } while (z->avail_out == 0);
}
