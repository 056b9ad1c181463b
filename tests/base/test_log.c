#include "tests/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"

/* Redirects the log to a file. captured() returns the text logged since then. */
struct capture {
    char *path;
    int fd;
};

static struct capture capture(enum log_level level, enum log_format format)
{
    struct capture capture = {.path = test_path("log")};

    capture.fd = open(capture.path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(capture.fd >= 0);
    log_to(capture.fd, level, format);
    return capture;
}

static char *captured(struct capture *capture)
{
    struct buf text = {0};
    struct error err = {0};

    check_ok("captured", file_read(capture->path, 1 << 20, &text, &err), err);
    close(capture->fd);
    log_to(STDERR_FILENO, LOG_WARN, LOG_TEXT);
    mem_free(capture->path);
    return buf_take(&text);
}

static void a_text_line_has_time_level_event_and_pairs(void **state)
{
    struct capture c = capture(LOG_INFO, LOG_TEXT);

    log_info("job phase changed", kv_str("job", "default/train"), kv_str("why", "exit code 3"),
             kv_int("retry", -2), kv_str("none", NULL));
    log_warn("no pairs");

    scoped_str text = captured(&c);

    check_str("line", text + sizeof "2026-01-02T03:04:05.678Z" - 1,
              strchr(text, ' ')); /* the column of the time has a fixed width */
    check_has("line", text,
              " INFO job phase changed job=default/train why=\"exit code 3\" retry=-2 none=\"\"\n");
    check_has("line", text, " WARN no pairs\n");
}

static void what_is_above_the_level_is_not_written(void **state)
{
    struct capture c = capture(LOG_WARN, LOG_TEXT);

    log_info("quiet");
    log_debug("quieter");
    log_error("loud");
    assert_false(log_enabled(LOG_INFO));
    assert_true(log_enabled(LOG_ERROR));

    scoped_str text = captured(&c);

    check_has("error", text, " ERROR loud\n");
    assert_null(strstr(text, "quiet"));
}

/* covers: reliability.md SEC-31 */
static void a_line_stays_one_line_whatever_is_logged(void **state)
{
    /* clang-format off */
    static const struct {
        const char *name, *value, *want;
    } cases[] = {
        {"newline",     "a\nERROR b", "v=\"a\\nERROR b\"\n"},
        {"return",      "a\rb",       "v=\"a\\u000db\"\n"},
        {"escape",      "\x1b[31m",   "v=\"\\u001b[31m\"\n"},
        {"delete",      "\x7f",       "v=\"\\u007f\"\n"},
        {"quote",       "say \"hi\"", "v=\"say \\\"hi\\\"\"\n"},
        {"backslash",   "a\\b",       "v=\"a\\\\b\"\n"},
        {"equals",      "a=b",        "v=\"a=b\"\n"},
        {"not ascii",   "\u00e4",     "v=\u00e4\n"},
    };
    /* clang-format on */

    for (size_t i = 0; i < countof(cases); i++) {
        struct capture c = capture(LOG_INFO, LOG_TEXT);

        log_info("x", kv_str("v", cases[i].value));

        scoped_str text = captured(&c);

        check_has(cases[i].name, text, cases[i].want);
        check_int(cases[i].name, strchr(text, '\n') - text, strlen(text) - 1);
    }
}

static void json_lines_parse(void **state)
{
    struct capture c = capture(LOG_DEBUG, LOG_JSON);

    log_debug("event \"x\"\n", kv_str("a", "b\tc"), kv_int("n", INT64_MIN));

    scoped_str text = captured(&c);
    json_t *line = json_loads(text, 0, NULL);

    assert_non_null(line);
    assert_string_equal(json_string_value(json_object_get(line, "event")), "event \"x\"\n");
    assert_string_equal(json_string_value(json_object_get(line, "level")), "debug");
    assert_string_equal(json_string_value(json_object_get(line, "a")), "b\tc");
    assert_int_equal(json_integer_value(json_object_get(line, "n")), INT64_MIN);
    json_decref(line);
}

/* covers: reliability.md SEC-31 */
static void a_long_line_is_cut_and_stays_well_formed(void **state)
{
    static const size_t sizes[] = {7000, 8000, 8100, 8150, 8170, 8192, 20000};
    char value[20001];

    for (size_t s = 0; s < countof(sizes); s++) {
        for (size_t shift = 0; shift < 40; shift++) {
            size_t size = sizes[s] - shift;

            memset(value, shift % 2 ? 'x' : '\n', size);
            value[size] = '\0';

            struct capture c = capture(LOG_INFO, shift % 4 < 2 ? LOG_JSON : LOG_TEXT);

            log_info("long", kv_str("v", value), kv_str("w", "tail"), kv_int("n", 7));

            scoped_str text = captured(&c);

            assert_true(strlen(text) <= 8192);
            assert_int_equal(text[strlen(text) - 1], '\n');
            assert_int_equal(strchr(text, '\n') - text, strlen(text) - 1);
            if (shift % 4 < 2) {
                json_t *line = json_loads(text, 0, NULL);

                if (!line)
                    check_fail("size %zu: ...%s", size, text + strlen(text) - 40);
                json_decref(line);
            }
        }
    }
}

static void logging_leaves_errno_alone(void **state)
{
    log_to(-1, LOG_INFO, LOG_TEXT);
    errno = ENOSPC;
    log_info("into nowhere");
    assert_int_equal(errno, ENOSPC);
    log_to(STDERR_FILENO, LOG_WARN, LOG_TEXT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_line_has_time_level_event_and_pairs),
        cmocka_unit_test(what_is_above_the_level_is_not_written),
        cmocka_unit_test(a_line_stays_one_line_whatever_is_logged),
        cmocka_unit_test(json_lines_parse),
        cmocka_unit_test(a_long_line_is_cut_and_stays_well_formed),
        cmocka_unit_test(logging_leaves_errno_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
