/*
 * Tests the lists of names that flags of the controller have.
 */
#include "tests/unit.h"

#include "cli/controller/names.h"

#define NAME_OF_63 "abcdefghijklmnopqrstu-abcdefghijklmnopqrstu-abcdefghijklmnopqrs"

static void the_first_entry_that_names_a_controller_decides(void **unused)
{
    static const struct {
        const char *list;
        bool job, jobflow;
    } rows[] = {
        {"*", true, true},         {"", true, true},
        {"job", true, false},      {"+job", true, false},
        {"-job", false, false},    {"*,-job", false, true},
        {"-job,*", false, true},   {"-job-controller,*", false, true},
        {"job,-job", true, false}, {"jobflow-controller", false, true},
    };

    for (size_t i = 0; i < countof(rows); i++) {
        check_int(rows[i].list, names_runs(rows[i].list, "job"), rows[i].job);
        check_int(rows[i].list, names_runs(rows[i].list, "jobflow"), rows[i].jobflow);
    }
}

/* covers: cluster.md CLU-014 */
static void a_controller_of_another_mode_is_refused(void **unused)
{
    static const struct {
        const char *mode, *list, *message; /* `message`: NULL = accepted */
    } rows[] = {
        {"flows", "*,-jobtemplate", NULL},
        {"jobs", "job,gc-controller", NULL},
        {"flows", "job", "\"job\" does not run in mode flows (use --mode=jobs or kube)"},
        {"flows", "*,-gc", "\"gc\" does not run in mode flows (use --mode=jobs or kube)"},
        {"kube", "queue", "\"queue\" is no controller: there are jobflow, jobtemplate, job and gc"},
    };

    for (size_t i = 0; i < countof(rows); i++) {
        struct error err = {0};
        bool ok = names_check_controllers(mode_find(rows[i].mode), rows[i].list, &err);

        check_int(rows[i].list, ok, rows[i].message == NULL);
        if (!ok)
            check_str(rows[i].list, err.message, rows[i].message);
    }
}

static void namespaces_are_names_without_repetition(void **unused)
{
    static const struct {
        const char *text;
        bool ok;
    } rows[] = {
        {"a", true},
        {"a,b-1", true},
        {"", false},
        {"a,", false},
        {",a", false},
        {"A", false},
        {"a b", false},
        {"a,b,a", false},
        {"x," NAME_OF_63, true},
        {"x," NAME_OF_63 "y", false},
        {NAME_OF_63 "yy,x", false},
    };
    char **names = names_split("a,b-1");

    for (size_t i = 0; i < countof(rows); i++)
        check_int(rows[i].text, names_check_namespaces(rows[i].text, NULL), rows[i].ok);
    assert_string_equal(names[0], "a");
    assert_string_equal(names[1], "b-1");
    assert_null(names[2]);
    names_free(names);
    assert_null(names_split(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_entry_that_names_a_controller_decides),
        cmocka_unit_test(a_controller_of_another_mode_is_refused),
        cmocka_unit_test(namespaces_are_names_without_repetition),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
