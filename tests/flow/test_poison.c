/*
 * Tests objects that admission would never have accepted, put into the store as an older program or
 * a damaged disk might have left them. The controllers start, leave them alone or say what is
 * wrong, and run the flow beside them.
 *
 * covers: reliability.md FT-23 P-11 INV-F7
 */
#include "tests/unit.h"

#include "tests/support/flow_fixture.h"
#include "tests/support/objects.h"

#define STEPS(text) "{\"spec\":{\"flows\":[" text "]}}"
#define NODES(text) "{\"state\":{\"phase\":\"Running\"},\"nodes\":" text "}"

/* clang-format off */
static const struct {
    const char *name, *body, *status;
} flows[] = {
    {"cycle",     STEPS("{\"name\":\"a\",\"dependsOn\":{\"targets\":[\"b\"]}},{\"name\":\"b\",\"dependsOn\":{\"targets\":[\"a\"]}}"), NULL},
    {"itself",    STEPS("{\"name\":\"a\",\"dependsOn\":{\"targets\":[\"a\"]}}"), NULL},
    {"nobody",    STEPS("{\"name\":\"a\",\"dependsOn\":{\"targets\":[\"x\"]}}"), NULL},
    {"twice",     STEPS("{\"name\":\"a\"},{\"name\":\"a\"}"), NULL},
    {"no-spec",   "{}", NULL},
    {"no-object", "{\"spec\":5}", NULL},
    {"no-list",   "{\"spec\":{\"flows\":{\"a\":1}}}", NULL},
    {"no-name",   STEPS("{\"jobTemplateName\":\"t\"}"), NULL},
    {"no-steps",  STEPS("1,null,\"a\",[]"), NULL},
    {"cases",     STEPS("{\"name\":\"a\",\"switch\":{\"cases\":[{\"name\":\"x\"}],\"default\":[\"y\"]}}"), NULL},
    {"terms",     STEPS("{\"name\":\"a\",\"if\":{\"terms\":[{\"target\":\"z\"},{}]}}"), NULL},
    {"many",      STEPS("{\"name\":\"a\",\"for\":{\"range\":{\"start\":0,\"end\":9223372036854775807,\"step\":1}}}"), NULL},
    {"no-step",   STEPS("{\"name\":\"a\",\"for\":{\"range\":{\"end\":5,\"step\":0}}}"), NULL},
    {"no-loop",   STEPS("{\"name\":\"a\",\"for\":{}}"), NULL},
    {"gang",      "{\"spec\":{\"flows\":[{\"name\":\"a\"}],\"gangs\":[{\"name\":\"g\",\"flows\":[\"a\",\"a\",\"x\"],\"minAvailable\":7}]}}", NULL},
    {"retry",     STEPS("{\"name\":\"a\",\"retry\":{\"maxRetry\":-4,\"backoffSeconds\":-1,\"backoffFactor\":0,\"exitCodes\":{\"values\":\"x\"}}}"), NULL},
    {"bound",     "{\"spec\":{\"flows\":[{\"name\":\"a\"}],\"activeDeadlineSeconds\":-1,\"ttlSecondsAfterFinished\":-5,\"maxRetry\":-1,\"scheduling\":{\"maxRunningJobs\":-1}}}", NULL},
    {"reference", STEPS("{\"name\":\"a\",\"patch\":{\"spec\":{\"queue\":\"$(steps.x.outputs.y) $(parameters.z) $(\"}}}"), NULL},
    {"status-1",  STEPS("{\"name\":\"a\"}"), "[]"},
    {"status-2",  STEPS("{\"name\":\"a\"}"), "{\"state\":7,\"nodes\":{},\"conditions\":[],\"jobStatusList\":\"x\",\"results\":1}"},
    {"status-3",  STEPS("{\"name\":\"a\"}"), "{\"state\":{\"phase\":\"Nonsense\",\"lastTransitionTime\":\"tomorrow\"},\"startTime\":5}"},
    {"status-4",  STEPS("{\"name\":\"a\"}"), NODES("[null,1,\"a\",{},{\"name\":5},{\"name\":\"a\",\"attempt\":-3,\"retries\":99999999999,\"attempts\":[1,{}],\"outputs\":[],\"phase\":3}]")},
    {"status-5",  STEPS("{\"name\":\"a\"}"), NODES("[{\"name\":\"a\",\"phase\":\"Retrying\",\"attempt\":70000,\"nextRetryTime\":\"9999-99-99\"},{\"name\":\"a\",\"phase\":\"Completed\"}]")},
    {"status-6",  STEPS("{\"name\":\"a\",\"for\":{\"items\":[\"x\"]}}"), NODES("[{\"name\":\"a\",\"phase\":\"Failed\",\"iterations\":-7},{\"name\":\"a-0\",\"phase\":\"Skipped\",\"case\":\"y\"},{\"name\":\"a-9\",\"phase\":\"Completed\"}]")},
    {"status-7",  STEPS("{\"name\":\"a\"}"), "{\"observedGeneration\":1,\"results\":{\"completed\":\"zz\",\"failed\":\"/////w==\",\"skipped\":8}}"},
};
/* clang-format on */

static void put_flows(struct flow_fixture *fixture)
{
    for (size_t i = 0; i < countof(flows); i++)
        store_put(fixture->store, sample_object(.kind = &kind_job_flow, .name = flows[i].name,
                                                .body = flows[i].body, .status = flows[i].status));
}

/* Stores jobs that claim this flow as owner in a malformed way. */
static void put_jobs(struct flow_fixture *fixture, const char *flow)
{
    static const char *const attempts[] = {"-1", "99999999999999999999", "x", "", "0"};

    for (size_t i = 0; i < countof(attempts); i++) {
        scoped_str name = mem_printf("%s-p%zu", flow, i);
        scoped_str uid = mem_strdup(object_uid(flow_fixture_get(fixture, &kind_job_flow, flow)));
        struct object *job = sample_object(.kind = &kind_job, .name = name, .owner_uid = uid,
                                           .body = "{\"spec\":[]}", .status = "{\"state\":[]}");
        const struct kv annotations[] = {{ANNOTATION_FLOW_ATTEMPT, attempts[i]},
                                         {ANNOTATION_FLOW_ITERATION, attempts[i]},
                                         {ANNOTATION_FLOW_STEP, ""}};
        struct meta draft = *job->meta;

        draft.annotations = annotations;
        draft.n_annotations = countof(annotations);
        store_put(fixture->store, object_with_meta(job, meta_new(&draft)));
        object_unref(job);
    }
}

static void check_good_flow(struct flow_fixture *fixture)
{
    flow_fixture_complete(fixture, "good-b");
    flow_fixture_complete(fixture, "good-c");
    flow_fixture_advance(fixture, 5000);
    check_str("the good flow", flow_fixture_at(fixture, "good", "state/phase"), "Succeed");
}

static void poisoned_objects_hurt_nobody_else(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_run(fixture, "good", "b, c<-b");
    flow_fixture_stop(fixture);
    put_flows(fixture);
    put_jobs(fixture, "good");
    flow_fixture_start(fixture);
    flow_fixture_advance(fixture, 120000);
    check_good_flow(fixture);
    flow_fixture_restart(fixture);
    flow_fixture_advance(fixture, 120000);
}

/* A flow with an unusable graph creates no job, and its status says why (INV-F7). */
static void a_flow_that_cannot_be_run_makes_nothing_and_says_why(void **state)
{
    static const char *const unusable[] = {"cycle",   "itself", "nobody",
                                           "no-name", "cases",  "twice"};
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_templates(fixture, "a b");
    put_flows(fixture);
    flow_fixture_advance(fixture, 5000);
    for (size_t i = 0; i < countof(unusable); i++) {
        scoped_str job = mem_printf("%s-a", unusable[i]);

        check(unusable[i], !flow_fixture_has_job(fixture, job));
        check_str(unusable[i], flow_fixture_at(fixture, unusable[i], "state/reason"),
                  "InvalidFlow");
        check(unusable[i], *flow_fixture_at(fixture, unusable[i], "state/message"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(poisoned_objects_hurt_nobody_else),
        cmocka_unit_test(a_flow_that_cannot_be_run_makes_nothing_and_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
