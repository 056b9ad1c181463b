/*
 * Tests of base/base64: encoding, and decoding of valid and malformed text.
 */
#include "tests/unit.h"

#include <string.h>

#include "base/encoding/base64.h"

struct base64_case {
    const char *name, *text, *bytes; /* `bytes`: the decoded text; NULL: the decoder refuses the
                                      * text */
};

static const struct base64_case cases[] = {
    {"nothing", "", ""},
    {"one byte", "Zg==", "f"},
    {"two bytes", "Zm8=", "fo"},
    {"three bytes", "Zm9v", "foo"},
    {"line breaks", "Zm9v\r\nYmFy\n", "foobar"},
    {"all digits", "+/+/", "\xfb\xff\xbf"},
    {"a space", "Zm9 v", NULL},
    {"too short", "Zm9", NULL},
    {"padding inside", "Zg==Zg==", NULL},
    {"too much padding", "Z===", NULL},
};

static void base64_is_decoded_as_go_does(void **state)
{
    for (size_t i = 0; i < countof(cases); i++) {
        const struct base64_case *c = &cases[i];
        scoped(buf) struct buf out = {0};
        bool ok = base64_decode(c->text, strlen(c->text), &out);

        if (ok != (c->bytes != NULL) ||
            (ok && (out.len != strlen(c->bytes) ||
                    (out.len && memcmp(out.data, c->bytes, out.len) != 0))))
            fail_msg("%s", c->name);
    }
}

static void every_length_survives_a_round_trip(void **state)
{
    char bytes[64];

    for (size_t len = 0; len < sizeof bytes; len++) {
        scoped(buf) struct buf text = {0}, back = {0};

        memset(bytes, (int)len * 37, sizeof bytes);
        base64_encode(bytes, len, &text);
        assert_true(base64_decode(text.data ? text.data : "", text.len, &back));
        assert_int_equal(back.len, len);
        if (len)
            assert_memory_equal(back.data, bytes, len);
    }
}

static void base64url_needs_no_escape_in_a_url(void **state)
{
    scoped(buf) struct buf text = {0}, back = {0};

    base64url_encode("\xfb\xff\xbf\xff", 4, &text);
    assert_string_equal(text.data, "-_-__w");
    assert_true(base64url_decode(text.data, &back));
    assert_int_equal(back.len, 4);
    assert_memory_equal(back.data, "\xfb\xff\xbf\xff", 4);
    assert_false(base64url_decode("-_+_", &back));
    assert_false(base64url_decode("_w==", &back));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base64_is_decoded_as_go_does),
        cmocka_unit_test(every_length_survives_a_round_trip),
        cmocka_unit_test(base64url_needs_no_escape_in_a_url),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
