/*
 * A hash table by device and inode, protected by a lock.
 */
#include "base/digest/file_memory.h"

#include <ctype.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/collections/hash.h"
#include "base/mem.h"

enum { NS_PER_MS = 1000000, KEY_BYTES = 2 * sizeof(uint64_t) };

struct known_file {
    struct file_stamp stamp; /* its first two members are the key */
    struct sha256 digest;
    UT_hash_handle hh;
};

struct file_memory {
    pthread_mutex_t lock; /* protects the table */
    struct known_file *files;
};

struct file_memory *file_memory_new(void)
{
    struct file_memory *memory = mem_alloc(sizeof *memory);

    pthread_mutex_init(&memory->lock, NULL);
    return memory;
}

static void forget_all(struct file_memory *memory)
{
    struct known_file *file, *next;

    HASH_ITER(hh, memory->files, file, next)
    {
        HASH_DEL(memory->files, file);
        mem_free(file);
    }
}

void file_memory_free(struct file_memory *memory)
{
    if (!memory)
        return;
    forget_all(memory);
    pthread_mutex_destroy(&memory->lock);
    mem_free(memory);
}

static int64_t ns_of(struct timespec time)
{
    return (int64_t)time.tv_sec * 1000 * NS_PER_MS + time.tv_nsec;
}

void file_stamp_of(const struct stat *info, struct file_stamp *out)
{
    *out = (struct file_stamp){.device = info->st_dev,
                               .inode = info->st_ino,
                               .size = info->st_size,
                               .modified_ns = ns_of(info->st_mtim),
                               .changed_ns = ns_of(info->st_ctim)};
}

bool file_stamp_equal(const struct file_stamp *a, const struct file_stamp *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->modified_ns == b->modified_ns && a->changed_ns == b->changed_ns;
}

bool file_stamp_settled(const struct file_stamp *stamp, int64_t now_ns)
{
    const int64_t before = now_ns - (int64_t)FILE_SETTLED_MS * NS_PER_MS;

    return stamp->modified_ns < before && stamp->changed_ns < before;
}

void file_stamp_format(const struct file_stamp *stamp, char out[FILE_STAMP_TEXT_MAX])
{
    snprintf(out, FILE_STAMP_TEXT_MAX, "%" PRIx64 ".%" PRIx64 ".%" PRIx64 ".%" PRIx64 ".%" PRIx64,
             stamp->device, stamp->inode, (uint64_t)stamp->size, (uint64_t)stamp->modified_ns,
             (uint64_t)stamp->changed_ns);
}

bool file_stamp_parse(const char *text, struct file_stamp *out)
{
    uint64_t values[5];

    for (size_t i = 0; i < countof(values); i++) {
        char *end;

        if (!text || !isxdigit((unsigned char)*text))
            return false;
        values[i] = strtoull(text, &end, 16);
        text = *end == '.' ? end + 1 : NULL;
    }
    *out = (struct file_stamp){.device = values[0],
                               .inode = values[1],
                               .size = (int64_t)values[2],
                               .modified_ns = (int64_t)values[3],
                               .changed_ns = (int64_t)values[4]};
    return true;
}

static struct known_file *find(struct file_memory *memory, const struct file_stamp *stamp)
{
    struct known_file *file;

    HASH_FIND(hh, memory->files, stamp, KEY_BYTES, file);
    return file;
}

void file_memory_put(struct file_memory *memory, const struct file_stamp *stamp,
                     const struct sha256 *digest)
{
    struct known_file *file;

    pthread_mutex_lock(&memory->lock);
    file = find(memory, stamp);
    if (!file) {
        if (HASH_COUNT(memory->files) >= FILE_MEMORY_MAX)
            forget_all(memory);
        file = mem_alloc(sizeof *file);
        file->stamp = *stamp;
        HASH_ADD(hh, memory->files, stamp, KEY_BYTES, file);
    }
    file->stamp = *stamp;
    file->digest = *digest;
    pthread_mutex_unlock(&memory->lock);
}

bool file_memory_get(struct file_memory *memory, const struct file_stamp *stamp, struct sha256 *out)
{
    struct known_file *file;
    bool known;

    pthread_mutex_lock(&memory->lock);
    file = find(memory, stamp);
    known = file && file_stamp_equal(&file->stamp, stamp);
    if (known)
        *out = file->digest;
    pthread_mutex_unlock(&memory->lock);
    return known;
}
