/*
 * Tests that text from outside becomes HTML that shows it and is nothing but text.
 */
#include "tests/unit.h"

#include "view/html_text.h"

static void test_text_is_escaped(void **state)
{
    static const struct {
        const char *text;
        size_t len;
        const char *html;
    } cases[] = {
        {"", 0, ""},
        {"a b\n\tc", 6, "a b\n\tc"},
        {"<a href=\"x\">'&", 14, "&lt;a href=&quot;x&quot;&gt;&#39;&amp;"},
        {"a\0b", 3, "a[U+0000]b"},
        {"\x1b[31m\r\x7f", 7, "[U+001B][31m[U+000D][U+007F]"},
        {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", 9, "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"\xe2\x80\xae", 3, "[U+202E]"},
        {"\xe2\x80\x8b\xe2\x81\xa6\xef\xbb\xbf", 9, "[U+200B][U+2066][U+FEFF]"},
        {"\xc2\x85", 2, "[U+0085]"},
        {"\xff<", 2, "\xef\xbf\xbd&lt;"},
        {"\xe2\x82", 2, "\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xed\xa0\x80", 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(buf) struct buf out = {0};

        html_text(cases[i].text, cases[i].len, &out);
        check_str(cases[i].html, out.data ? out.data : "", cases[i].html);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_is_escaped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
