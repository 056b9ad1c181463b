/*
 * Tests node/runtime/name_library.c: a library that answers wrongly is not given to programs.
 */
#include "tests/unit.h"

#include "node/runtime/name_library.h"
#include "node/sandbox/plain.h"

static void a_library_that_does_not_answer_is_refused(void **state)
{
    check_str("no library", name_library_fault("/nonexistent/libnames.so"), "does not find names");
    check_str("one that knows no hosts file", name_library_fault("libc.so.6"),
              "does not find names");
}

/* The library of Debian 12 does not map addresses; those of other systems may. */
static void the_installed_library_is_used_if_it_works(void **state)
{
    const char *why, *path = name_library_probe(&why);

    if (!plain_name_library()) {
        check("none", !path && !why);
        skip();
    }
    check_str("the same", why, name_library_fault(plain_name_library()));
    check_str("used", path, why ? NULL : plain_name_library());
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_library_that_does_not_answer_is_refused),
        cmocka_unit_test(the_installed_library_is_used_if_it_works),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
