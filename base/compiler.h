#pragma once
/*
 * Attributes of the compiler and the macros that every file may use.
 */
#include <stddef.h>

#ifdef NDEBUG
#error "assertions stay on: an invariant that no longer holds must stop us, not corrupt a store"
#endif

#define MUST_USE               __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))
#define NORETURN               __attribute__((noreturn))
#define UNUSED                 __attribute__((unused))

/* Marks functions that run in a child process on a stack borrowed from its parent (clone with
 * CLONE_VM). They end in exec and never return. The sanitizers must not check them, or they would
 * report the next child on the same stack. */
#define ON_CHILD_STACK __attribute__((no_sanitize("address"), no_sanitize("undefined")))

#define countof(array) (sizeof(array) / sizeof((array)[0]))

/** The struct of `type` whose `member` is at `ptr`. */
#define container_of(ptr, type, member)                                                            \
    __extension__({                                                                                \
        const __typeof__(((type){0}).member) *mptr_ = (ptr);                                       \
        (type *)((const char *)mptr_ - offsetof(type, member));                                    \
    })
