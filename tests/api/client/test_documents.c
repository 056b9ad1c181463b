/*
 * Tests splitting streams of JSON objects.
 */
#include "tests/unit.h"

#include "api/client/documents.h"

static bool keep(void *ctx, const char *text, size_t len)
{
    struct buf *seen = ctx;

    buf_add(seen, text, len);
    buf_char(seen, '|');
    return true;
}

static const struct stream {
    const char *name, *bytes, *objects;
} streams[] = {
    {"lines", "{\"a\":1}\n{\"b\":2}\n", "{\"a\":1}|{\"b\":2}|"},
    {"no line ends", "{}{}{\"a\":{}}", "{}|{}|{\"a\":{}}|"},
    {"blanks", " \r\n\t{ }\r\n", "{ }|"},
    {"braces in texts", "{\"}\":\"{\\\"}\"}{\"\\\\\":\"}\"}",
     "{\"}\":\"{\\\"}\"}|{\"\\\\\":\"}\"}|"},
    {"one that does not end", "{}{\"a\":", "{}|"},
    {"nothing", "", ""},
};

static void objects_come_whole_however_their_bytes_come(void **state)
{
    for (size_t i = 0; i < countof(streams); i++)
        for (size_t step = 1; step <= strlen(streams[i].bytes) + 1; step++) {
            scoped(documents) struct documents documents = {.bytes_max = 100};
            scoped(buf) struct buf seen = {0};
            size_t len = strlen(streams[i].bytes);

            buf_str(&seen, "");
            for (size_t at = 0; at < len; at += step)
                check(streams[i].name,
                      documents_take(&documents, streams[i].bytes + at,
                                     len - at < step ? len - at : step, keep, &seen, NULL));
            check_str(streams[i].name, seen.data ? seen.data : "", streams[i].objects);
        }
}

static void what_is_no_object_is_refused(void **state)
{
    scoped(documents) struct documents documents = {.bytes_max = 100};
    scoped(buf) struct buf seen = {0};
    struct error err = {0};

    check_error("a word", documents_take(&documents, "{} x", 4, keep, &seen, &err), err,
                ERR_BAD_REQUEST);
    check_str("what came before", seen.data, "{}|");
    check_error("a list", documents_take(&documents, "[", 1, keep, &seen, &err), err,
                ERR_BAD_REQUEST);
}

static void an_object_beyond_the_bound_is_refused(void **state)
{
    static const char whole[] = "{\"a\":\"12\"}", larger[] = "{\"a\":\"123\"}";
    scoped(documents) struct documents documents = {.bytes_max = sizeof whole - 1};
    scoped(buf) struct buf seen = {0};
    struct error err = {0};

    check("just fits", documents_take(&documents, whole, strlen(whole), keep, &seen, &err));
    check("begins", documents_take(&documents, larger, 5, keep, &seen, &err));
    check_error("too large",
                documents_take(&documents, larger + 5, strlen(larger) - 5, keep, &seen, &err), err,
                ERR_TOO_LARGE);
}

static bool stop(void *ctx, const char *text, size_t len)
{
    ++*(int *)ctx;
    return false;
}

static void whoever_is_given_objects_may_stop(void **state)
{
    scoped(documents) struct documents documents = {.bytes_max = 100};
    struct error err = {0};
    int seen = 0;

    check("stopped", !documents_take(&documents, "{}{}", 4, stop, &seen, &err));
    check_int("no error", err.code, ERR_NONE);
    check_int("one", seen, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_come_whole_however_their_bytes_come),
        cmocka_unit_test(what_is_no_object_is_refused),
        cmocka_unit_test(an_object_beyond_the_bound_is_refused),
        cmocka_unit_test(whoever_is_given_objects_may_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
