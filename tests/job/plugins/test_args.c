/*
 * Tests the arguments of plugins.
 */
#include "tests/unit.h"

#include "job/plugins/args.h"

struct read {
    const char *text;
    bool flag;
    int64_t number, port, count;
};

static const struct job_arg table[] = {
    {"text", ARG_STR, offsetof(struct read, text)},
    {"flag", ARG_BOOL, offsetof(struct read, flag)},
    {"number", ARG_INT, offsetof(struct read, number)},
    {"port", ARG_PORT, offsetof(struct read, port)},
    {"count", ARG_COUNT, offsetof(struct read, count)},
    {0},
};

struct args_case {
    const char *name;
    const char *words[6];
    struct read want;
    size_t ignored;
};

/* covers: job-plugins.md PLG-118 PLG-126 PLG-127 PLG-128 PLG-129; see 1.3 O-P04 */
static void arguments_follow_gos_flags(void **unused)
{
    /* clang-format off */
    static const struct args_case cases[] = {
        {"without words every default stays", {NULL}, {"default", false, 7, 22, 3}},
        {"a value may follow an equals sign", {"-text=a"}, {"a", false, 7, 22, 3}},
        {"a value may be the next word", {"--text", "a"}, {"a", false, 7, 22, 3}},
        {"two flags may have their values in next words",
         {"--text", "a", "--port", "80"}, {"a", false, 7, 80, 3}},
        {"the last value of a text counts", {"--text=a", "--text=b"}, {"b", false, 7, 22, 3}},
        {"the last value of a port counts", {"--port=5", "--port=6"}, {"default", false, 7, 6, 3}},
        {"a boolean flag alone is true", {"--flag"}, {"default", true, 7, 22, 3}},
        {"a boolean flag takes no next word",
         {"--flag", "false", "--number=1"}, {"default", true, 7, 22, 3}, 1},
        {"a boolean flag may be given as T", {"--flag=T"}, {"default", true, 7, 22, 3}},
        {"a boolean flag cannot be given as yes", {"--flag=yes"}, {"default", false, 7, 22, 3}, 1},
        {"a number may be hexadecimal", {"--number=0x1f"}, {"default", false, 31, 22, 3}},
        {"a port may be hexadecimal", {"--port=0x17"}, {"default", false, 7, 23, 3}},
        {"a number may be octal", {"--number=017"}, {"default", false, 15, 22, 3}},
        {"a number may be binary with _", {"--number=0b1_0"}, {"default", false, 2, 22, 3}},
        {"a number may be negative", {"--number", "-5"}, {"default", false, -5, 22, 3}},
        {"a text for a number is ignored", {"--number=x", "--text=a"}, {"a", false, 7, 22, 3}, 1},
        {"a number beyond 64 bits is ignored",
         {"--number=99999999999999999999"}, {"default", false, 7, 22, 3}, 1},
        {"a port above 65535 is ignored",
         {"--port=70000", "--flag"}, {"default", true, 7, 22, 3}, 1},
        {"a negative port is ignored", {"--port=-10"}, {"default", false, 7, 22, 3}, 1},
        {"a negative count is ignored", {"--count=-1", "--text=a"}, {"a", false, 7, 22, 3}, 1},
        {"an unknown flag does not hide the next one",
         {"--no-root", "--flag"}, {"default", true, 7, 22, 3}, 1},
        {"a flag without its value is ignored", {"--text"}, {"default", false, 7, 22, 3}, 1},
        {"reading stops at a word without a dash",
         {"x", "--port=5"}, {"default", false, 7, 22, 3}, 1},
        {"reading stops at a single dash", {"-", "--flag"}, {"default", false, 7, 22, 3}, 1},
        {"reading stops behind --", {"--", "--flag"}, {"default", false, 7, 22, 3}},
        {"reading stops at an empty word", {"", "--flag"}, {"default", false, 7, 22, 3}, 1},
        {"three dashes are ignored", {"---flag"}, {"default", false, 7, 22, 3}, 1},
        {"a flag without a name is ignored", {"--=x"}, {"default", false, 7, 22, 3}, 1},
    };
    /* clang-format on */

    for (size_t i = 0; i < countof(cases); i++) {
        const struct args_case *c = &cases[i];
        struct read got = {"default", false, 7, 22, 3};
        struct error_list ignored = {0};
        struct str_list words = {(const char **)(uintptr_t)c->words, 0};

        while (words.count < countof(c->words) && c->words[words.count])
            words.count++;
        job_args_read(table, words, &got, &ignored);
        check_str(c->name, got.text, c->want.text);
        check_int(c->name, got.flag, c->want.flag);
        check_int(c->name, got.number, c->want.number);
        check_int(c->name, got.port, c->want.port);
        check_int(c->name, got.count, c->want.count);
        check_int(c->name, ignored.count, c->ignored);
        error_list_release(&ignored);
    }
}

/* The long value is a private key that was given to the wrong flag, or to none. covers: see SEC-29
 * SEC-30 */
static void a_report_never_shows_a_long_value(void **unused)
{
#define KEY_BODY "MIIEowIBAAKCAQEAsecretsecretsecretsecretsecret"
    static const char key[] = "-----BEGIN RSA PRIVATE KEY-----\n" KEY_BODY "\n";
    static const char *const lines[][2] = {
        {"--unknown", key},           {"--number", KEY_BODY}, {"--port=" KEY_BODY, NULL},
        {"--flag=" KEY_BODY, NULL},   {"--" KEY_BODY, NULL},  {KEY_BODY, NULL},
        {"--count", "-1\n" KEY_BODY},
    };

    for (size_t i = 0; i < countof(lines); i++) {
        struct read got = {0};
        struct error_list ignored = {0};
        struct str_list words = {(const char **)(uintptr_t)lines[i], lines[i][1] ? 2 : 1};

        job_args_read(table, words, &got, &ignored);
        check(lines[i][0], ignored.count > 0);
        for (size_t n = 0; n < ignored.count; n++)
            check(ignored.items[n].message, !strstr(ignored.items[n].message, "secret"));
        error_list_release(&ignored);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_follow_gos_flags),
        cmocka_unit_test(a_report_never_shows_a_long_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
