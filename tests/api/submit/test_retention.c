/*
 * Tests how long the deduplication ids of ended jobs are remembered.
 */
#include "tests/unit.h"

#include "api/submit/retention.h"
#include "api/types/kinds/submission.h"
#include "base/loop/loop.h"
#include "tests/support/registry_fixture.h"

enum { HOUR_MS = 3600 * 1000 };

/* see armada-submit.md S-23 */
static void the_longest_retention_ends_never_and_a_shorter_one_at_once(void **unused)
{
    scoped(registry_fixture) struct registry_fixture *fixture = registry_fixture_new(NULL, NULL);
    struct submit_retention *retention =
        submit_retention_start(fixture->loop, fixture->registry, INT64_MAX);

    /* Its job does not exist, so that the first look notes its end, and the second one its age. */
    registry_fixture_create(fixture,
                            "{'apiVersion':'jobflow.dev/v1','kind':'Submission','metadata':{'name':"
                            "'s'},'spec':{'queue':'default','deduplicationId':'d','jobId':'x',"
                            "'namespace':'default'}}");
    loop_advance(fixture->loop, 3 * HOUR_MS);
    check_str("its end",
              submission_end_of(registry_fixture_get(fixture, &kind_submission, "s"))->state,
              "CANCELLED");
    submit_retention_set(retention, HOUR_MS);
    loop_advance(fixture->loop, HOUR_MS);
    check("it is forgotten", !registry_fixture_has(fixture, &kind_submission, "s"));
    submit_retention_stop(retention);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_retention_ends_never_and_a_shorter_one_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
