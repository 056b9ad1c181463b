#pragma once
/*
 * A bump allocator: many small allocations that are freed together. Memory is zeroed.
 */
#include <stddef.h>

#include "base/compiler.h"
#include "base/scoped.h"

struct arena;

/** Size of the first chunk; 0: a sensible default. */
struct arena *arena_new(size_t first_chunk_bytes);
void arena_free(struct arena *arena); /* NULL is ignored */
SCOPED_DEFINE_PTR(arena, struct arena *, arena_free)

void *arena_alloc(struct arena *arena, size_t bytes); /* aligned for any type, zeroed, never NULL */
/* an overflow of the product ends the process */
void *arena_array(struct arena *arena, size_t count, size_t bytes_each);
char *arena_strdup(struct arena *arena, const char *text);
char *arena_strndup(struct arena *arena, const char *text, size_t len);
char *arena_printf(struct arena *arena, const char *format, ...) PRINTF_LIKE(2, 3);
