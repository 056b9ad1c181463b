/*
 * Tests the look-ups of api/types/kind and the suggestions of api/types/text/suggest. covers:
 * kube-api.md 32
 */
#include "tests/unit.h"

#include "api/types/kind.h"
#include "api/types/text/suggest.h"

static const struct {
    const char *word;
    const struct kind *kind;
} words[] = {
    {"jobflows", &kind_job_flow},
    {"jobflow", &kind_job_flow},
    {"JobFlow", &kind_job_flow},
    {"jf", &kind_job_flow},
    {"JF", &kind_job_flow},
    {"jobflow.flow.volcano.sh", &kind_job_flow},
    {"jobflows.v1alpha1.flow.volcano.sh", &kind_job_flow},
    {"vcjob", &kind_job},
    {"job", &kind_job},
    {"jobs.batch.volcano.sh", &kind_job},
    {"pods", &kind_pod},
    {"po", &kind_pod},
    {"pods.v1", &kind_pod},
    {"cm", &kind_config_map},
    {"jobs.batch", NULL},
    {"jobs.flow.volcano.sh", NULL},
    {"zzz", NULL},
    {"", NULL},
    {".", NULL},
};

static void typed_words_find_their_kind(void **state)
{
    for (size_t i = 0; i < countof(words); i++)
        if (kind_by_word(words[i].word) != words[i].kind)
            check_fail("%s", words[i].word);
}

static void every_kind_is_found_by_each_of_its_names(void **state)
{
    for (int id = 0; id < KIND_N; id++) {
        const struct kind *kind = kind_by_id((enum kind_id)id);

        assert_int_equal(kind->id, id);
        assert_ptr_equal(kind_by_gvk(kind_api_version(kind), kind->name), kind);
        assert_ptr_equal(kind_by_resource(kind->group, kind->version, kind->plural), kind);
        assert_ptr_equal(kind_by_word(kind->plural), kind);
        assert_ptr_equal(kind_by_word(kind->singular), kind);
    }
    assert_null(kind_by_id(KIND_N));
    assert_null(kind_by_gvk("v1", "Job"));
    assert_null(kind_by_resource("", "v1", "jobs"));
    check_str("group", kind_api_version(&kind_job), "batch.volcano.sh/v1alpha1");
    check_str("core", kind_api_version(&kind_pod), "v1");
}

static const struct {
    const char *typed;
    const struct kind *kind;
} near[] = {
    {"JobFlo", &kind_job_flow},
    {"jobfolw", &kind_job_flow},
    {"Jobtemplate", &kind_job_template},
    {"podd", &kind_pod},
    {"qeue", &kind_queue},
    {"flow.volcano.sh/v1", &kind_job_template},
    {"CronWorkflowBinding", NULL},
    {"", NULL},
};

static void mistyped_kind_gets_a_suggestion(void **state)
{
    for (size_t i = 0; i < countof(near); i++)
        if (kind_nearest(near[i].typed) != near[i].kind)
            check_fail("%s", near[i].typed);
}

static const struct {
    const char *typed, *candidate;
    size_t distance; /* expected distance of the two words; SIZE_MAX: they are not similar */
} distances[] = {
    {"name", "name", 0},
    {"NAME", "name", 0},
    {"naem", "name", 1},
    {"nam", "name", 1},
    {"x", "y", 1},
    {"ab", "cd", SIZE_MAX},
    {"image", "args", SIZE_MAX},
    {"minAvailible", "minAvailable", 1},
    {"", "a", SIZE_MAX},
};

static void distances_count_edits_and_swaps(void **state)
{
    for (size_t i = 0; i < countof(distances); i++) {
        struct suggest best = {0};

        suggest_offer(&best, distances[i].typed, distances[i].candidate);
        check_int(distances[i].typed, best.word ? best.distance : SIZE_MAX, distances[i].distance);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(typed_words_find_their_kind),
        cmocka_unit_test(every_kind_is_found_by_each_of_its_names),
        cmocka_unit_test(mistyped_kind_gets_a_suggestion),
        cmocka_unit_test(distances_count_edits_and_swaps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
