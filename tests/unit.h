#pragma once
/*
 * cmocka and our assertions. A test file includes this first, and ends with
 *
 *   int main(void)
 *   {
 *       const struct CMUnitTest tests[] = {
 *           cmocka_unit_test(abort_keeps_finished_pods),
 *       };
 *       return cmocka_run_group_tests(tests, NULL, NULL);
 *   }
 *
 * Table tests put the case's name into each failure: check_int(c->name, got, c->want).
 */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h> /* cmocka needs the four headers above */
/* clang-format on */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/error.h"
#include "base/mem.h"

/** Fails the test with a printf-formatted reason. */
#define check_fail(...)                                                                            \
    do {                                                                                           \
        print_error(__VA_ARGS__);                                                                  \
        print_error("\n");                                                                         \
        _fail(__FILE__, __LINE__);                                                                 \
    } while (0)

#define check(name, condition)                                                                     \
    do {                                                                                           \
        if (!(condition))                                                                          \
            check_fail("%s: not so: %s", (name), #condition);                                      \
    } while (0)

#define check_int(name, got, want)                                                                 \
    do {                                                                                           \
        int64_t got_ = (int64_t)(got), want_ = (int64_t)(want);                                    \
        if (got_ != want_)                                                                         \
            check_fail("%s: %s is %" PRId64 ", not %" PRId64, (name), #got, got_, want_);          \
    } while (0)

/* Compares strings; NULL equals only NULL. */
#define check_str(name, got, want)                                                                 \
    do {                                                                                           \
        const char *got_ = (got), *want_ = (want);                                                 \
        if (!got_ != !want_ || (got_ && strcmp(got_, want_) != 0))                                 \
            check_fail("%s: %s is\n  %s\nnot\n  %s", (name), #got, got_ ? got_ : "(null)",         \
                       want_ ? want_ : "(null)");                                                  \
    } while (0)

#define check_has(name, text, part)                                                                \
    do {                                                                                           \
        const char *text_ = (text), *part_ = (part);                                               \
        if (!text_ || !strstr(text_, part_))                                                       \
            check_fail("%s: %s is\n  %s\nand does not contain\n  %s", (name), #text,               \
                       text_ ? text_ : "(null)", part_);                                           \
    } while (0)

/** Checks that a call succeeded, and prints its error otherwise. `err` is the struct error passed
 * to it. */
#define check_ok(name, call, err)                                                                  \
    do {                                                                                           \
        if (!(call))                                                                               \
            check_fail("%s: %s failed: %s: %s", (name), #call, (err).field, (err).message);        \
    } while (0)

/** Checks that a call failed with this error code. */
#define check_error(name, call, err, want_code)                                                    \
    do {                                                                                           \
        if (call)                                                                                  \
            check_fail("%s: %s succeeded", (name), #call);                                         \
        if ((err).code != (want_code))                                                             \
            check_fail("%s: code %d, not %s: %s", (name), (int)(err).code, #want_code,             \
                       (err).message);                                                             \
    } while (0)

/** Returns a new path below the test's own directory: "TMPDIR/name"; owned. */
static inline UNUSED char *test_path(const char *name)
{
    const char *dir = getenv("TMPDIR");

    return mem_printf("%s/%s", dir ? dir : "/tmp", name);
}

/** Returns a path below the source tree; owned. */
static inline UNUSED char *source_path(const char *name)
{
    const char *dir = getenv("JOBFLOW_SOURCE");

    return mem_printf("%s/%s", dir ? dir : ".", name);
}
