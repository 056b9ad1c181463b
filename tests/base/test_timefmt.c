#include "tests/unit.h"

#include "base/timefmt.h"

/* clang-format off */
static const struct {
    int64_t ms;
    const char *text;
} times[] = {
    {0,                "1970-01-01T00:00:00Z"},
    {999,              "1970-01-01T00:00:00Z"},
    {-1,               "1969-12-31T23:59:59Z"},
    {951782400000,     "2000-02-29T00:00:00Z"},
    {1709164800000,    "2024-02-29T00:00:00Z"},
    {1767323045678,    "2026-01-02T03:04:05Z"},
    {4102444799000,    "2099-12-31T23:59:59Z"},
    {253402300799000,  "9999-12-31T23:59:59Z"},
    {INT64_MAX,        "9999-12-31T23:59:59Z"},
    {-62167219200000,  "0000-01-01T00:00:00Z"},
    {INT64_MIN,        "0000-01-01T00:00:00Z"},
};
/* clang-format on */

static void times_print_as_rfc_3339(void **state)
{
    char text[TIME_TEXT_MAX];

    for (size_t i = 0; i < countof(times); i++) {
        time_format(times[i].ms, text);
        check_str(times[i].text, text, times[i].text);
    }
    time_format_nano(1767323045678901234, text);
    assert_string_equal(text, "2026-01-02T03:04:05.678901234Z");
    time_format_nano(-1, text);
    assert_string_equal(text, "1969-12-31T23:59:59.999999999Z");
}

static void every_day_of_400_years_reads_back(void **state)
{
    char text[TIME_TEXT_MAX];

    for (int64_t day = -146097; day < 146097; day++) {
        int64_t at_ms = (day * 86400 + 86399) * 1000, back;

        time_format(at_ms, text);
        check_ok(text, time_parse(text, &back, NULL), ((struct error){0}));
        check_int(text, back, at_ms);
    }
}

static void times_are_read_in_any_zone(void **state)
{
    /* clang-format off */
    static const struct {
        const char *text;
        int64_t ms;
    } cases[] = {
        {"2026-01-02T03:04:05Z",           1767323045000},
        {"2026-01-02t03:04:05z",           1767323045000},
        {"2026-01-02T03:04:05.6Z",         1767323045600},
        {"2026-01-02T03:04:05.678901234Z", 1767323045678},
        {"2026-01-02T04:04:05+01:00",      1767323045000},
        {"2026-01-01T21:34:05-05:30",      1767323045000},
        {"0000-01-01T00:00:00Z",           -62167219200000},
    };
    /* clang-format on */

    for (size_t i = 0; i < countof(cases); i++) {
        int64_t ms = -1;
        struct error err = {0};

        check_ok(cases[i].text, time_parse(cases[i].text, &ms, &err), err);
        check_int(cases[i].text, ms, cases[i].ms);
    }
}

static void malformed_times_are_refused(void **state)
{
    static const char *const cases[] = {
        "",
        "2026",
        "2026-01-02",
        "2026-01-02T03:04:05",
        "2026-01-02 03:04:05Z",
        "2026-1-2T03:04:05Z",
        "2026-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-01-00T00:00:00Z",
        "2026-01-02T24:00:00Z",
        "2026-01-02T03:60:00Z",
        "2026-01-02T03:04:60Z",
        "2026-01-02T03:04:05.Z",
        "2026-01-02T03:04:05Zx",
        "2026-01-02T03:04:05+24:00",
        "2026-01-02T03:04:05+0100",
        "2026-01-02T03:04:05+01:00Z",
        "9999-12-31T23:59:59-00:01",
        "0000-01-01T00:00:00+00:01",
    };

    for (size_t i = 0; i < countof(cases); i++) {
        int64_t ms = 77;
        struct error err = {0};

        check_error(cases[i], time_parse(cases[i], &ms, &err), err, ERR_INVALID);
        check_int(cases[i], ms, 77);
        check_has(cases[i], err.message, cases[i]);
    }
}

static const int64_t US = 1000, MS = 1000000, S = 1000000000, M = 60000000000, H = 3600000000000;

static void durations_are_read_as_go_reads_them(void **state)
{
    /* Ref: Go time/time_test.go, parseDurationTests. */
    const struct {
        const char *text;
        int64_t ns;
    } cases[] = {
        {"0", 0},
        {"5s", 5 * S},
        {"30s", 30 * S},
        {"1478s", 1478 * S},
        {"-5s", -5 * S},
        {"+5s", 5 * S},
        {"-0", 0},
        {"+0", 0},
        {"5.0s", 5 * S},
        {"5.6s", 5600 * MS},
        {"5.s", 5 * S},
        {".5s", 500 * MS},
        {"1.0s", S},
        {"1.004s", 1004 * MS},
        {"100.00100s", 100 * S + MS},
        {"10ns", 10},
        {"11us", 11 * US},
        {"12\u00b5s", 12 * US},
        {"12\u03bcs", 12 * US},
        {"13ms", 13 * MS},
        {"14s", 14 * S},
        {"15m", 15 * M},
        {"16h", 16 * H},
        {"3h30m", 3 * H + 30 * M},
        {"10.5s4m", 4 * M + 10500 * MS},
        {"-2m3.4s", -(2 * M + 3400 * MS)},
        {"1h2m3s4ms5us6ns", H + 2 * M + 3 * S + 4 * MS + 5 * US + 6},
        {"39h9m14.425s", 39 * H + 9 * M + 14425 * MS},
        {"52763797000ns", 52763797000},
        {"0.3333333333333333333h", 20 * M},
        {"9007199254740993ns", 9007199254740993},
        {"9223372036854775807ns", INT64_MAX},
        {"9223372036s854ms775us807ns", INT64_MAX},
        {"-9223372036854775808ns", INT64_MIN},
        {"0.100000000000000000000h", 6 * M},
        {"0.9223372036854775807h", 3320413933267},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        int64_t ns = -1;
        struct error err = {0};

        check_ok(cases[i].text, duration_parse(cases[i].text, &ns, &err), err);
        check_int(cases[i].text, ns, cases[i].ns);
    }
}

static void malformed_durations_are_refused(void **state)
{
    static const char *const cases[] = {
        "",
        "3",
        "-",
        "s",
        ".",
        "-.",
        ".s",
        "+.s",
        "1d",
        "1 s",
        "1s ",
        "--1s",
        "1e3s",
        "0x1s",
        "1h1",
        "5h-1m",
        "9223372036854775810ns",
        "9223372036854775808ns",
        "-9223372036854775809ns",
        "3000000h",
        "99999999999999999999s",
    };

    for (size_t i = 0; i < countof(cases); i++) {
        int64_t ns = 77;
        struct error err = {0};

        check_error(cases[i], duration_parse(cases[i], &ns, &err), err, ERR_INVALID);
        check_int(cases[i], ns, 77);
    }
}

static void durations_print_as_go_prints_them(void **state)
{
    /* Ref: Go time/time_test.go, durationTests. */
    const struct {
        const char *text;
        int64_t ns;
    } cases[] = {
        {"0s", 0},
        {"1ns", 1},
        {"1.1\u00b5s", 1100},
        {"2.2ms", 2200 * US},
        {"3.3s", 3300 * MS},
        {"4m5s", 4 * M + 5 * S},
        {"4m5.001s", 4 * M + 5001 * MS},
        {"5h6m7.001s", 5 * H + 6 * M + 7001 * MS},
        {"8m0.000000001s", 8 * M + 1},
        {"1h0m3.5s", H + 3500 * MS},
        {"-1.5ms", -1500 * US},
        {"2562047h47m16.854775807s", INT64_MAX},
        {"-2562047h47m16.854775808s", INT64_MIN},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        char text[TIME_TEXT_MAX];
        int64_t back;

        duration_format(cases[i].ns, text);
        check_str(cases[i].text, text, cases[i].text);
        assert_true(duration_parse(text, &back, NULL));
        check_int(cases[i].text, back, cases[i].ns);
    }
}

static void ages_print_as_kubectl_prints_them(void **state)
{
    /* Ref: k8s.io/apimachinery/pkg/util/duration/duration_test.go. */
    const struct {
        const char *text;
        int64_t s;
    } cases[] = {
        {"<invalid>", -2},
        {"0s", -1},
        {"0s", 0},
        {"1s", 1},
        {"70s", 70},
        {"119s", 119},
        {"2m", 120},
        {"3m10s", 190},
        {"9m59s", 599},
        {"10m", INT64_C(10) * 60},
        {"10m", INT64_C(10) * 60 + 59},
        {"179m", INT64_C(179) * 60},
        {"3h", INT64_C(180) * 60},
        {"7h59m", INT64_C(8) * 3600 - 1},
        {"8h", INT64_C(8) * 3600},
        {"47h", INT64_C(48) * 3600 - 1},
        {"2d", INT64_C(48) * 3600},
        {"2d1h", INT64_C(49) * 3600},
        {"7d23h", INT64_C(8) * 86400 - 1},
        {"8d", INT64_C(8) * 86400},
        {"729d", INT64_C(2) * 365 * 86400 - 1},
        {"2y", INT64_C(2) * 365 * 86400},
        {"2y1d", (INT64_C(2) * 365 + 1) * 86400},
        {"8y", INT64_C(8) * 365 * 86400},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        char text[TIME_TEXT_MAX];

        duration_human(cases[i].s * 1000, text);
        check_str(cases[i].text, text, cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_print_as_rfc_3339),
        cmocka_unit_test(every_day_of_400_years_reads_back),
        cmocka_unit_test(times_are_read_in_any_zone),
        cmocka_unit_test(malformed_times_are_refused),
        cmocka_unit_test(durations_are_read_as_go_reads_them),
        cmocka_unit_test(malformed_durations_are_refused),
        cmocka_unit_test(durations_print_as_go_prints_them),
        cmocka_unit_test(ages_print_as_kubectl_prints_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
