/*
 * Tests how lines of programs are shown on a terminal.
 */
#include "tests/unit.h"

#include "base/term.h"

static const struct {
    const char *name, *line;
    const char *shown; /* the line as shown, with colours and tabs kept */
    const char *plain;
} cases[] = {
    {"a text", "one two", "one two", "one two"},
    {"letters", "für", "für", "für"},
    {"a tab", "a\tb", "a\tb", "a b"},
    {"colours", "a\033[1;31mred\033[m", "a\033[1;31mred\033[m\033[0m", "ared"},
    {"the last of several texts", "10%\r20%", "20%", "20%"},
    {"returns at the end", "10%\r20%\r\r", "20%", "20%"},
    {"the cursor stays", "a\033[2J\033[3;4Hb\033[K\033[?25l", "ab", "ab"},
    {"a modified colour is no colour", "a\033[>4;1mb", "ab", "ab"},
    {"half a sequence", "a\033[12;", "a", "a"},
    {"a title", "a\033]0;title\ab\033]2;t\033\\c", "abc", "abc"},
    {"half a title", "a\033]0;tit", "a", "a"},
    {"control characters", "a\a\b\177\033b", "ab", "ab"},
    {"nothing", "", "", ""},
};

static void lines_of_programs_cannot_move_the_cursor(void **state)
{
    for (size_t i = 0; i < countof(cases); i++) {
        scoped(buf) struct buf shown = {0}, plain = {0};

        term_write_line(cases[i].line, strlen(cases[i].line), &shown);
        term_write_plain(cases[i].line, strlen(cases[i].line), &plain);
        check_str(cases[i].name, shown.data ? shown.data : "", cases[i].shown);
        check_str(cases[i].name, plain.data ? plain.data : "", cases[i].plain);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_programs_cannot_move_the_cursor),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
