#pragma once
/*
 * Values that free themselves when their block ends.
 *
 *   SCOPED_DEFINE(buf, struct buf, buf_release)      once, beside the type
 *   scoped(buf) struct buf text = {0};               in a function
 *   return take(pointer);                            hands a pointer out of its scope
 *
 * SCOPED_DEFINE_PTR is for functions that take the pointer itself (free-like), SCOPED_DEFINE for
 * those that take the address of the variable (release-like).
 */
#include "base/compiler.h"

#define scoped(name) __attribute__((cleanup(scoped_##name##_)))

#define SCOPED_DEFINE_PTR(name, type, free_fn)                                                     \
    static inline UNUSED void scoped_##name##_(type *variable)                                     \
    {                                                                                              \
        if (*variable)                                                                             \
            free_fn(*variable);                                                                    \
    }

#define SCOPED_DEFINE(name, type, release_fn)                                                      \
    static inline UNUSED void scoped_##name##_(type *variable)                                     \
    {                                                                                              \
        release_fn(variable);                                                                      \
    }

/** Returns the pointer and sets the variable to NULL. */
#define take(pointer)                                                                              \
    __extension__({                                                                                \
        __typeof__(pointer) taken_ = (pointer);                                                    \
        (pointer) = NULL;                                                                          \
        taken_;                                                                                    \
    })
