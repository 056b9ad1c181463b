/*
 * Tests how the flags of Volcano's controller manager are read. covers: cluster.md CLU-001 CLU-002
 */
#include "tests/unit.h"

#include "api/types/text/json_text.h"
#include "cli/controller/mode.h"

static void a_list_says_which_controllers_run(void **state)
{
    static const struct {
        const char *list, *name;
        bool runs;
    } cases[] = {
        {"", "jobflow-controller", true},
        {"*", "jobflow-controller", true},
        {"*", "job-controller", true},
        {"*,-jobflow-controller", "jobflow-controller", false},
        {"-jobflow-controller,*", "jobflow-controller", false},
        {"*,-jobflow-controller", "job-controller", true},
        {"*,-jobflow-controller", "jobtemplate-controller", true},
        {"+jobflow-controller", "jobflow-controller", true},
        {"+jobflow-controller", "job-controller", false},
        {"jobflow-controller", "jobflow-controller", true},
        {"job-controller,queue-controller", "jobflow-controller", false},
        {"job-controller,queue-controller", "queue-controller", true},
        {"jobflow", "jobflow-controller", false},
        {"*,-jobflow", "jobflow-controller", true},
        {"-jobflow-controller", "job-controller", false},
        {"-jobflow-controller,jobflow-controller", "jobflow-controller", false},
        {"jobflow-controller,-jobflow-controller", "jobflow-controller", true},
        {"*,-sharding-controller", "jobflow-controller", true},
        {"*,*", "gc-controller", true},
        {"-jobflow-controller,-jobtemplate-controller", "jobtemplate-controller", false},
    };

    for (size_t i = 0; i < countof(cases); i++)
        check_int(cases[i].list, volcano_runs(cases[i].list, cases[i].name), cases[i].runs);
}

static void an_image_tells_its_version(void **state)
{
    static const struct {
        const char *image;
        int minor;
    } cases[] = {
        {"volcanosh/vc-controller-manager:v1.9.1", 9},
        {"volcanosh/vc-controller-manager:1.10.2", 10},
        {"registry.example.com:5000/vc-controller-manager:v1.13.3", 13},
        {"volcanosh/vc-controller-manager:latest", -1},
        {"registry.example.com:5000/vc-controller-manager", -1},
        {"vc-controller-manager", -1},
    };

    for (size_t i = 0; i < countof(cases); i++)
        check_int(cases[i].image, volcano_minor_of_image(cases[i].image), cases[i].minor);
}

#define OFF "*,-jobflow-controller,-jobtemplate-controller"

static void a_deployment_allows_flows_when_their_controllers_are_off(void **state)
{
    static const struct {
        const char *name, *image, *command, *args;
        int replicas;
        const char *refusal; /* part of the message; NULL: allowed */
    } cases[] = {
        {"a list", "vc:v1.13.3", "[]", "[\"-v=4\",\"--controllers=" OFF "\",\"2>&1\"]", 1, NULL},
        {"flag and value", "vc:v1.13.3", "[]", "[\"--controllers\",\"" OFF "\"]", 1, NULL},
        {"a shell string", "vc:v1.13.3",
         "[\"sh\",\"-c\",\"/vc --logtostderr --controllers=" OFF " -v=4 2>&1\"]", "[]", 1, NULL},
        {"without the flag", "vc:v1.13.3", "[]", "[\"--logtostderr\"]", 1,
         "Volcano's jobflow-controller runs in deployment volcano-system/c; start it with "
         "--controllers=*,-jobflow-controller,-jobtemplate-controller,-sharding-controller (or "
         "pass --volcano-controllers if that is not so)"},
        {"the newest, without the flag", "vc:latest", "[]", "[]", 1, "jobflow-controller runs"},
        {"only one is off", "vc:v1.10.2", "[]", "[\"--controllers=*,-jobflow-controller\"]", 1,
         "Volcano's jobtemplate-controller runs"},
        {"no replicas", "vc:v1.13.3", "[]", "[]", 0, NULL},
        {"no switch yet", "vc:1.9.1", "[]", "[\"--controllers=" OFF "\"]", 1,
         "Volcano 1.9 in deployment volcano-system/c has no --controllers (since 1.10): upgrade"},
        {"no flows yet", "vc:v1.7.0", "[]", "[]", 1, NULL},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        scoped_str text = mem_printf(
            "{\"metadata\":{\"namespace\":\"volcano-system\",\"name\":\"c\"},\"spec\":{"
            "\"replicas\":%d,\"template\":{\"spec\":{\"containers\":[{\"image\":\"%s\",\"command\":"
            "%s,\"args\":%s}]}}}}",
            cases[i].replicas, cases[i].image, cases[i].command, cases[i].args);
        scoped(json) json_t *doc = json_read(text, strlen(text));
        struct error err = {0};

        check(cases[i].name, doc != NULL);
        check_int(cases[i].name, volcano_allows(doc, &mode_find("flows")->rivals, &err),
                  !cases[i].refusal);
        if (cases[i].refusal && !strstr(err.message, cases[i].refusal))
            check_fail("%s: %s", cases[i].name, err.message);
    }
}

static void mode_jobs_also_needs_the_job_controller_off(void **state)
{
    const struct volcano_rivals *rivals = &mode_find("jobs")->rivals;
    scoped(json) json_t *old = json_pack("{s:{s:s, s:s}, s:{s:i, s:{s:{s:[{s:s}]}}}}", "metadata",
                                         "namespace", "v", "name", "c", "spec", "replicas", 1,
                                         "template", "spec", "containers", "image", "vc:v1.7.0");
    struct error err = {0};

    check("off", volcano_list_allows(rivals->without, rivals, &err));
    check("flows alone are off",
          !volcano_list_allows(mode_find("flows")->rivals.without, rivals, &err));
    check_has("which is on", err.message, "job-controller is on");
    check("a version before the switch has a job controller", !volcano_allows(old, rivals, &err));
    check_has("why", err.message, "Volcano 1.7 in deployment v/c has no --controllers");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_says_which_controllers_run),
        cmocka_unit_test(an_image_tells_its_version),
        cmocka_unit_test(a_deployment_allows_flows_when_their_controllers_are_off),
        cmocka_unit_test(mode_jobs_also_needs_the_job_controller_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
