/*
 * A bump allocator: a chain of zeroed chunks. The arena itself lies at the start of the first
 * chunk.
 *
 * Chunks double in size up to CHUNK_MAX. An allocation that is large and does not fit into the
 * current chunk gets a chunk of its own; the current chunk stays in use. Under the address
 * sanitizer a poisoned gap follows each allocation, so that an overrun is detected although malloc
 * sees one block.
 */
#include "base/collections/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#endif

#ifdef ARENA_ASAN
#include <sanitizer/asan_interface.h>
enum { GAP = 16 };
#else
#define ASAN_POISON_MEMORY_REGION(at, size)   ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
enum { GAP = 0 };
#endif

enum { ALIGN = 16, CHUNK_FIRST = 2048, CHUNK_MAX = 256 * 1024 };

struct chunk {
    struct chunk *next;
    size_t size; /* size including this header */
} __attribute__((aligned(ALIGN)));

struct arena {
    struct chunk *chunks; /* the arena lies in one of them */
    char *at, *end;       /* room left in the chunk in use */
    size_t chunk_size;    /* size of the next chunk */
} __attribute__((aligned(ALIGN)));

static struct chunk *chunk_new(size_t size)
{
    struct chunk *chunk = mem_alloc(size);

    chunk->size = size;
    return chunk;
}

struct arena *arena_new(size_t first_chunk_bytes)
{
    const size_t head = sizeof(struct chunk) + sizeof(struct arena);
    size_t size = first_chunk_bytes ? first_chunk_bytes : CHUNK_FIRST;

    if (size > SIZE_MAX / 4)
        mem_fatal("an arena would not fit into memory");
    if (size < 2 * head)
        size = 2 * head;

    struct chunk *chunk = chunk_new(size);
    struct arena *arena = (struct arena *)(chunk + 1);

    arena->chunks = chunk;
    arena->at = (char *)(arena + 1);
    arena->end = (char *)chunk + size;
    arena->chunk_size = size;
    ASAN_POISON_MEMORY_REGION(arena->at, (size_t)(arena->end - arena->at));
    return arena;
}

void arena_free(struct arena *arena)
{
    if (!arena)
        return;
    for (struct chunk *chunk = arena->chunks; chunk;) {
        struct chunk *next = chunk->next;

        ASAN_UNPOISON_MEMORY_REGION(chunk, chunk->size);
        mem_free(chunk);
        chunk = next;
    }
}

static void *alloc_slow(struct arena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX / 4)
        mem_fatal("an arena would not fit into memory");

    if (bytes > CHUNK_MAX / 4) {
        struct chunk *own = chunk_new(sizeof *own + bytes);

        own->next = arena->chunks;
        arena->chunks = own;
        return own + 1;
    }

    if (arena->chunk_size < CHUNK_MAX)
        arena->chunk_size *= 2;

    size_t size = arena->chunk_size;

    if (size < sizeof(struct chunk) + bytes)
        size = sizeof(struct chunk) + bytes;

    struct chunk *chunk = chunk_new(size);

    chunk->next = arena->chunks;
    arena->chunks = chunk;
    arena->at = (char *)(chunk + 1) + bytes;
    arena->end = (char *)chunk + size;
    ASAN_POISON_MEMORY_REGION(arena->at, (size_t)(arena->end - arena->at));
    return chunk + 1;
}

void *arena_alloc(struct arena *arena, size_t bytes)
{
    size_t rounded = (bytes + GAP + ALIGN - 1) & ~(size_t)(ALIGN - 1);

    if (rounded < bytes)
        mem_fatal("an arena would not fit into memory");
    if (!rounded)
        rounded = ALIGN;

    char *at = arena->at;

    if (__builtin_expect((size_t)(arena->end - at) >= rounded, 1))
        arena->at = at + rounded;
    else
        at = alloc_slow(arena, rounded);
    ASAN_POISON_MEMORY_REGION(at, rounded);
    ASAN_UNPOISON_MEMORY_REGION(at, bytes);
    return at;
}

void *arena_array(struct arena *arena, size_t count, size_t bytes_each)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, bytes_each, &bytes))
        mem_fatal("an array would not fit into memory");
    return arena_alloc(arena, bytes);
}

char *arena_strndup(struct arena *arena, const char *text, size_t len)
{
    char *copy = arena_alloc(arena, len + 1);

    if (len)
        memcpy(copy, text, len);
    return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
    return text ? arena_strndup(arena, text, strlen(text)) : NULL;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args, again;
    char small[256];

    va_start(args, format);
    va_copy(again, args);
    int len = vsnprintf(small, sizeof small, format, args);
    va_end(args);
    if (len < 0)
        mem_fatal("a format string of ours is wrong");

    char *text = arena_alloc(arena, (size_t)len + 1);

    if ((size_t)len < sizeof small)
        memcpy(text, small, (size_t)len);
    else
        vsnprintf(text, (size_t)len + 1, format, again);
    va_end(again);
    return text;
}
