/*
 * Allocation that does not fail: it ends the process instead. jansson and libuv allocate through
 * the same door, so their callers need no such branch either.
 */
#include "base/mem.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <uv.h>

/* A program without them (node/exe) does not get them for our sake. */
#pragma weak json_set_alloc_funcs
#pragma weak uv_replace_allocator

void mem_fatal(const char *what)
{
    fprintf(stderr, "jobflow: fatal: %s\n", what);
    fflush(stderr);
    abort();
}

static void *checked(void *ptr)
{
    if (__builtin_expect(!ptr, 0))
        mem_fatal("out of memory");
    return ptr;
}

void *mem_alloc(size_t bytes)
{
    return checked(calloc(1, bytes ? bytes : 1));
}

void *mem_array(size_t count, size_t bytes_each)
{
    if (!count || !bytes_each)
        return mem_alloc(1);
    return checked(calloc(count, bytes_each));
}

void *mem_array_wide(size_t count, size_t bytes_each)
{
    const size_t huge_page = (size_t)2 << 20;
    size_t bytes;
    void *array;

    if (__builtin_mul_overflow(count, bytes_each, &bytes) || bytes < 2 * huge_page)
        return mem_array(count, bytes_each);
    array = checked(aligned_alloc(huge_page, (bytes + huge_page - 1) & ~(huge_page - 1)));
    madvise(array, bytes, MADV_HUGEPAGE); /* a hint only: without huge pages the array works as
                                           * well */
    return memset(array, 0, bytes);
}

void *mem_resize(void *ptr, size_t bytes)
{
    return checked(realloc(ptr, bytes ? bytes : 1));
}

char *mem_strdup(const char *text)
{
    return text ? checked(strdup(text)) : NULL;
}

char *mem_printf(const char *format, ...)
{
    va_list args;
    char *text = NULL;

    va_start(args, format);
    int len = vasprintf(&text, format, args);
    va_end(args);
    if (len < 0)
        mem_fatal("out of memory");
    return text;
}

void mem_free(void *ptr)
{
    free(ptr);
}

static void *library_malloc(size_t bytes)
{
    return checked(malloc(bytes ? bytes : 1));
}

static void *library_realloc(void *ptr, size_t bytes)
{
    if (ptr && !bytes) {
        free(ptr);
        return NULL;
    }
    return mem_resize(ptr, bytes);
}

/* Before main: both libraries want their allocator set before anything else is called. */
__attribute__((constructor)) static void hook_libraries(void)
{
    if (json_set_alloc_funcs)
        json_set_alloc_funcs(library_malloc, mem_free);
    if (uv_replace_allocator &&
        uv_replace_allocator(library_malloc, library_realloc, mem_array, mem_free))
        mem_fatal("libuv refused the allocator");
}
