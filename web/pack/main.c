/*
 * Packs the files of the page into one file that the program carries: pack OUT FILE…
 *
 * Each file is gzipped once, at build time, without time or name, so equal files give equal bytes.
 * web/assets.c describes the form and reads it.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { FILE_BYTES_MAX = 16 << 20 };

static int fail(const char *path, const char *why)
{
    fprintf(stderr, "pack: %s: %s\n", path, why);
    return EXIT_FAILURE;
}

static int compare_names(const void *a, const void *b)
{
    const char *left = *(char *const *)a, *right = *(char *const *)b;

    return strcmp(left, right);
}

static void put_number(size_t number, FILE *out)
{
    for (int shift = 0; shift < 32; shift += 8)
        fputc((int)(number >> shift & 0xff), out);
}

static size_t deflate_into(const unsigned char *bytes, size_t len, unsigned char *out, size_t room)
{
    enum { GZIP = 16, MEMORY = 9 };
    z_stream z = {.next_in = (Bytef *)(size_t)bytes,
                  .avail_in = (uInt)len,
                  .next_out = out,
                  .avail_out = (uInt)room};
    int result;

    if (deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + GZIP, MEMORY,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return 0;
    result = deflate(&z, Z_FINISH);
    deflateEnd(&z);
    return result == Z_STREAM_END ? (size_t)z.total_out : 0;
}

static int add_bytes(const char *path, const unsigned char *bytes, size_t len, FILE *out)
{
    size_t room = len + len / 8 + 1024, packed;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    unsigned char *gzipped = malloc(room);

    packed = gzipped ? deflate_into(bytes, len, gzipped, room) : 0;
    if (packed) {
        put_number(strlen(name) + 1, out);
        put_number(packed, out);
        put_number(len, out);
        fwrite(name, 1, strlen(name) + 1, out);
        fwrite(gzipped, 1, packed, out);
    }
    free(gzipped);
    return packed ? EXIT_SUCCESS : fail(path, "cannot be compressed");
}

static int add(const char *path, FILE *out)
{
    unsigned char *bytes = malloc(FILE_BYTES_MAX);
    FILE *in = fopen(path, "rb");
    size_t len;
    int code;

    if (!bytes || !in) {
        code = fail(path, strerror(errno));
    } else {
        len = fread(bytes, 1, FILE_BYTES_MAX, in);
        code =
            len == FILE_BYTES_MAX ? fail(path, "is too large") : add_bytes(path, bytes, len, out);
    }
    if (in)
        fclose(in);
    free(bytes);
    return code;
}

int main(int argc, char **argv)
{
    FILE *out = argc > 2 ? fopen(argv[1], "wb") : NULL;
    int code = EXIT_SUCCESS;

    if (!out) {
        fprintf(stderr, "usage: pack OUT FILE...\n");
        return EXIT_FAILURE;
    }
    qsort(argv + 2, (size_t)argc - 2, sizeof *argv, compare_names);
    fwrite("JFA1", 1, 4, out);
    for (int i = 2; i < argc && code == EXIT_SUCCESS; i++)
        code = add(argv[i], out);
    if (fclose(out))
        code = fail(argv[1], strerror(errno));
    return code;
}
