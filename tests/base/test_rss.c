#include "tests/unit.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/rss.h"

/* Returns the resident KiB that are mapped from files; -1 when the kernel does not report them. */
static long file_pages(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    long kib = -1;

    while (status && fgets(line, sizeof line, status))
        if (strncmp(line, "RssFile:", 8) == 0) {
            kib = strtol(line + 8, NULL, 10);
            break;
        }
    if (status)
        fclose(status);
    return kib;
}

static void code_that_was_run_goes_and_comes_back(void **state)
{
    json_t *doc = json_loads("{\"a\": [1, 2.5, true]}", 0, NULL);
    long before = file_pages(), after;
    char *text;

    if (before < 0)
        skip();
    rss_give_back();
    after = file_pages();
    assert_true(after < before);
    text = json_dumps(doc, JSON_COMPACT);
    assert_string_equal(text, "{\"a\":[1,2.5,true]}");
    free(text);
    json_decref(doc);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_that_was_run_goes_and_comes_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
