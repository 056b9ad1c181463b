/*
 * Tests the formats in api/types/names. covers: kube-api.md 48; reliability.md L-13; see
 * kube-api.md 13.1, 13.2
 */
#include "tests/unit.h"

#include "api/types/labels.h"

typedef bool (*format_fn)(const char *, struct error *);

#define S10  "aaaaaaaaaa"
#define S60  S10 S10 S10 S10 S10 S10
#define S250 S60 S60 S60 S60 S10

static const struct {
    format_fn format;
    const char *name, *reason; /* `reason`: part of the refusal; NULL: the name is valid */
} cases[] = {
    {name_is_dns_label, "a", NULL},
    {name_is_dns_label, "a-1", NULL},
    {name_is_dns_label, "1a", NULL},
    {name_is_dns_label, S60 "aaa", NULL},
    {name_is_dns_label, S60 "aaaa", "must be no more than 63 characters"},
    {name_is_dns_label, "", "a lowercase RFC 1123 label must consist of"},
    {name_is_dns_label, "A", "a lowercase RFC 1123 label must consist of"},
    {name_is_dns_label, "-a", "must start and end with an alphanumeric character"},
    {name_is_dns_label, "a-", "must start and end"},
    {name_is_dns_label, "a.b", "a lowercase RFC 1123 label"},
    {name_is_dns_label, "ä", "a lowercase RFC 1123 label"},
    {name_is_dns1035_label, "a1", NULL},
    {name_is_dns1035_label, "1a", "a DNS-1035 label must consist of"},
    {name_is_dns_subdomain, "example.com", NULL},
    {name_is_dns_subdomain, S250 "aaa", NULL},
    {name_is_dns_subdomain, S250 "aaaa", "must be no more than 253 characters"},
    {name_is_dns_subdomain, "Bad_Name",
     "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric"},
    {name_is_dns_subdomain, "a..b", "subdomain"},
    {name_is_dns_subdomain, ".a", "subdomain"},
    {name_is_dns_subdomain, "a.", "subdomain"},
    {name_is_dns_subdomain, "", "subdomain"},
    {name_is_qualified, "A_b.c-d", NULL},
    {name_is_qualified, "", "name part must be non-empty"},
    {name_is_qualified, "_a", "name part must consist of"},
    {label_key_valid, "app", NULL},
    {label_key_valid, "volcano.sh/queue-name", NULL},
    {label_key_valid, "/a", "prefix part must be non-empty"},
    {label_key_valid, "a/", "name part must be non-empty"},
    {label_key_valid, "a/b/c", "a qualified name must consist of"},
    {label_key_valid, "A/b", "prefix part a lowercase RFC 1123 subdomain"},
    {label_key_valid, "a b", "name part must consist of"},
    {label_value_valid, "", NULL},
    {label_value_valid, "A_b.c-1", NULL},
    {label_value_valid, "b/c", "a valid label must be an empty string or consist of"},
    {label_value_valid, S60 "aaaa", "must be no more than 63 characters"},
};

static void names_follow_their_format(void **state)
{
    for (size_t i = 0; i < countof(cases); i++) {
        struct error err = {0};
        bool ok = cases[i].format(cases[i].name, &err);

        if (ok != !cases[i].reason)
            check_fail("case %zu \"%s\": %s", i, cases[i].name, ok ? "accepted" : err.message);
        if (cases[i].reason) {
            check_has(cases[i].name, err.message, cases[i].reason);
            assert_int_equal(err.code, ERR_INVALID);
        }
        assert_int_equal(cases[i].format(cases[i].name, NULL), ok);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_follow_their_format)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
