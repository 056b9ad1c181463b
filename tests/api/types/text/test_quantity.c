/*
 * Tests api/types/text/quantity. See kube-api.md 13.5.
 */
#include "tests/unit.h"

#include "api/types/text/quantity.h"

static const struct {
    const char *text;
    int64_t milli, whole;
    const char *decimal, *binary;
} good[] = {
    {"0", 0, 0, "0", "0"},
    {"1", 1000, 1, "1", "1"},
    {"500m", 500, 1, "500m", "500m"},
    {"1.5", 1500, 2, "1500m", "1500m"},
    {"0.5Gi", 536870912000, 536870912, "536870912", "512Mi"},
    {"1000m", 1000, 1, "1", "1"},
    {"1024Mi", 1073741824000, 1073741824, "1073741824", "1Gi"},
    {"100e6", 100000000000, 100000000, "100M", "100000000"},
    {"1E3", 1000000, 1000, "1k", "1k"},
    {"1e-3", 1, 1, "1m", "1m"},
    {"+2k", 2000000, 2000, "2k", "2000"},
    {"-1.5", -1500, -2, "-1500m", "-1500m"},
    {".5", 500, 1, "500m", "500m"},
    {"5.", 5000, 5, "5", "5"},
    {"0.1n", 1, 1, "1n", "1n"},
    {"1e-30", 1, 1, "1n", "1n"},
    {"123u", 1, 1, "123u", "123u"},
    {"9223372036854775807", INT64_MAX, INT64_MAX, "9223372036854775807", "9223372036854775807"},
    {"9223372036854775808", INT64_MAX, INT64_MAX, "9223372036854775807", "9223372036854775807"},
    {"1e1000000", INT64_MAX, INT64_MAX, "9223372036854775807", "9223372036854775807"},
    {"8Ei", INT64_MAX, INT64_MAX, "9223372036854775807", "9223372036854775807"},
    {"00000000000000000000000000000000000001", 1000, 1, "1", "1"},
};

static void quantities_are_exact_and_canonical(void **state)
{
    for (size_t i = 0; i < countof(good); i++) {
        quantity_nano value = -1;
        struct error err = {0};
        char text[QUANTITY_TEXT_MAX];

        if (!quantity_parse(good[i].text, &value, &err))
            fail_msg("%s: %s", good[i].text, err.message);
        if (quantity_milli(value) != good[i].milli || quantity_whole(value) != good[i].whole)
            fail_msg("%s: %lld milli, %lld whole", good[i].text, (long long)quantity_milli(value),
                     (long long)quantity_whole(value));
        quantity_print(value, QUANTITY_DECIMAL, text);
        assert_string_equal(text, good[i].decimal);
        quantity_print(value, QUANTITY_BINARY, text);
        assert_string_equal(text, good[i].binary);

        quantity_nano again = -1;

        assert_true(quantity_parse(good[i].decimal, &again, NULL));
        assert_int_equal(quantity_compare(value, again), 0);
    }
}

static void malformed_quantities_are_refused(void **state)
{
    static const char *const bad[] = {"",    " ",    "x",   "1 ",  " 1",    "1Kib", "1.2.3",
                                      "1ki", "1K",   "e3",  "1e",  "1e1.5", "--1",  "1e+",
                                      ".",   "0x10", "NaN", "inf", "1mm"};

    for (size_t i = 0; i < countof(bad); i++) {
        struct error err = {0};
        quantity_nano value;

        if (quantity_parse(bad[i], &value, &err))
            fail_msg("\"%s\" was accepted", bad[i]);
        assert_int_equal(err.code, ERR_INVALID);
    }
}

static void everyday_units_are_told_how_to_be_written(void **state)
{
    static const struct {
        const char *text, *instead;
    } cases[] = {
        {"1GB", "write 1G or 1Gi"},
        {"1gb", "write 1G or 1Gi"},
        {"1.5g", "write 1.5G or 1.5Gi"},
        {"64 MB", "write 64M or 64Mi"},
        {"8KB", "write 8k or 8Ki"},
        {"2MiB", "write 2Mi"},
        {"1gi", "write 1Gi"},
        {"3 Tbytes", "write 3T or 3Ti"},
        {"GB", "for example 500m"},
        {"12x", "for example 500m"},
        {"1GBs", "for example 500m"},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        struct error err = {0};
        quantity_nano value;

        if (quantity_parse(cases[i].text, &value, &err) || !strstr(err.message, cases[i].instead))
            fail_msg("%s: %s", cases[i].text, err.message);
    }
}

static void quantities_compare_by_value(void **state)
{
    quantity_nano a = 0, b = 0;

    assert_true(quantity_parse("1.5", &a, NULL) && quantity_parse("1499m", &b, NULL));
    assert_int_equal(quantity_compare(a, b), 1);
    assert_int_equal(quantity_compare(b, a), -1);
    assert_true(quantity_parse("1500m", &b, NULL));
    assert_int_equal(quantity_compare(a, b), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantities_are_exact_and_canonical),
        cmocka_unit_test(malformed_quantities_are_refused),
        cmocka_unit_test(everyday_units_are_told_how_to_be_written),
        cmocka_unit_test(quantities_compare_by_value),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
