/*
 * The main function of fuzz targets outside the fuzz preset: runs each file of the given files and
 * folders once.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned replay_file(const char *path)
{
    scoped(buf) struct buf bytes = {0};
    struct error err = {0};

    if (!file_read(path, 64 << 20, &bytes, &err)) {
        fprintf(stderr, "%s: %s\n", path, err.message);
        return 0;
    }
    printf("%s\n", path);
    fflush(stdout); /* the last line of output names the input that crashed */

    /* With a copy of the exact size, AddressSanitizer detects reads past the end. */
    uint8_t *exact = mem_alloc(bytes.len ? bytes.len : 1);

    if (bytes.len)
        memcpy(exact, bytes.data, bytes.len);
    LLVMFuzzerTestOneInput(exact, bytes.len);
    mem_free(exact);
    return 1;
}

static unsigned replay(const char *path)
{
    struct stat info;
    unsigned done = 0;

    if (stat(path, &info))
        return 0;
    if (!S_ISDIR(info.st_mode))
        return replay_file(path);

    DIR *dir = opendir(path);

    if (!dir)
        return 0;
    for (struct dirent *entry;
         (entry = readdir(dir));) { /* NOLINT(concurrency-mt-unsafe): one thread */
        if (entry->d_name[0] == '.')
            continue;

        scoped_str inner = mem_printf("%s/%s", path, entry->d_name);

        done += replay(inner);
    }
    closedir(dir);
    return done;
}

int main(int argc, char **argv)
{
    unsigned done = 0;

    LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    for (int i = 1; i < argc; i++)
        done += replay(argv[i]);
    printf("%u inputs replayed\n", done);
    return 0;
}
