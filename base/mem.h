#pragma once
/*
 * Memory allocation that ends the process when memory runs out. The store is durable and every
 * start is a recovery, so callers need no code for that case.
 */
#include <stdlib.h>

#include "base/compiler.h"
#include "base/scoped.h"

MUST_USE void *mem_alloc(size_t bytes); /* the memory is zeroed */
MUST_USE void *mem_array(size_t count, size_t bytes_each);
/** Allocates an array as mem_array does, for memory that is accessed at random. It uses huge pages
 * if the array fills at least one and the system provides them. */
MUST_USE void *mem_array_wide(size_t count, size_t bytes_each);
MUST_USE void *mem_resize(void *ptr, size_t bytes); /* new bytes are not zeroed */
MUST_USE char *mem_strdup(const char *text);        /* NULL gives NULL */
MUST_USE char *mem_printf(const char *format, ...) PRINTF_LIKE(1, 2);
void mem_free(void *ptr);
NORETURN void mem_fatal(const char *what); /* one line to stderr, then abort */

/** Ensures room for one more item in a vector declared as `type *items; size_t count, cap`. The
 * capacity doubles. */
#define mem_grow(items, count, cap)                                                                \
    do {                                                                                           \
        if ((count) == (cap)) {                                                                    \
            (cap) = (cap) ? (cap)*2 : 8;                                                           \
            (items) = mem_resize((items), (cap) * sizeof *(items));                                \
        }                                                                                          \
    } while (0)

static inline UNUSED void mem_free_scoped_(char **ptr)
{
    mem_free(*ptr);
}
#define scoped_str __attribute__((cleanup(mem_free_scoped_))) char *
