/*
 * Tests that …/jobflows/NAME/steps has an entry for every step, even if the flow's status omits it.
 */
#include "tests/unit.h"

#include <string.h>

#include "base/mem.h"
#include "tests/support/api.h"

#define FLOWS "/apis/flow.volcano.sh/v1alpha1/namespaces/default/jobflows"
#define JOBS  "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs"

/* A flow whose vertices have the numbers: a 0, b 1, l 2, l-0 3, l-1 4, u 5, u-0 6, u-1 7, u-2 8, z
 * 9. */
#define SPEC                                                                                       \
    "{\"flows\":[{\"name\":\"a\"},{\"name\":\"b\",\"jobTemplateName\":\"t\",\"dependsOn\":{"       \
    "\"targets\":[\"a\"]}},{\"name\":\"l\",\"for\":{\"items\":[\"x\",\"y\"]}},{\"name\":\"u\","    \
    "\"for\":{\"until\":{\"terms\":[{\"target\":\"u\",\"output\":{\"key\":\"k\",\"operator\":"     \
    "\"Exists\"}}]},\"maxIterations\":3}},{\"name\":\"z\"}]}"

static void make_flow(struct api_fixture *fixture, const char *name, const char *status)
{
    scoped(capture) struct api_capture capture = {0};
    scoped_str body = mem_printf(
        "{\"apiVersion\":\"flow.volcano.sh/v1alpha1\",\"kind\":\"JobFlow\",\"metadata\":{\"name\":"
        "\"%s\"},\"spec\":" SPEC "}",
        name);
    scoped_str target = mem_printf(FLOWS "/%s/status", name);
    scoped_str patch = mem_printf("{\"status\":%s}", status);

    check_int("flow", api_send(fixture, &capture, "POST", FLOWS, .body = body), 201);
    check_int("status",
              api_send(fixture, &capture, "PATCH", target, .body = patch,
                       .content_type = "application/merge-patch+json"),
              200);
}

/* Creates a job; with `owner` NULL it has no owner. */
static void make_job(struct api_fixture *fixture, const char *name, const char *owner_uid,
                     const char *phase)
{
    scoped(capture) struct api_capture capture = {0};
    scoped_str body = mem_printf(
        "{\"apiVersion\":\"batch.volcano.sh/v1alpha1\",\"kind\":\"Job\",\"metadata\":{\"name\":"
        "\"%s\",\"ownerReferences\":[{\"apiVersion\":\"flow.volcano.sh/v1alpha1\",\"kind\":"
        "\"JobFlow\",\"name\":\"f\",\"uid\":\"%s\",\"controller\":true}]},\"spec\":{\"tasks\":[{"
        "\"name\":\"m\",\"replicas\":1,\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\","
        "\"command\":[\"x\"]}]}}}]}}",
        name, owner_uid);
    scoped_str target = mem_printf(JOBS "/%s/status", name);
    scoped_str patch = mem_printf("{\"status\":{\"state\":{\"phase\":\"%s\"}}}", phase);

    check_int(name, api_send(fixture, &capture, "POST", JOBS, .body = body), 201);
    check_int(name,
              api_send(fixture, &capture, "PATCH", target, .body = patch,
                       .content_type = "application/merge-patch+json"),
              200);
}

static char *uid_of(struct api_fixture *fixture, const char *flow)
{
    scoped(capture) struct api_capture capture = {0};
    scoped_str target = mem_printf(FLOWS "/%s", flow);

    api_send(fixture, &capture, "GET", target, .body = NULL);
    return api_capture_at(&capture, "metadata.uid");
}

/* Returns the entries of the response as text: "a:Completed b:Waiting …". */
static char *phases(const struct api_capture *capture)
{
    scoped(json) json_t *doc = api_capture_json(capture);
    scoped(buf) struct buf text = {0};
    json_t *item;
    size_t i;

    json_array_foreach(json_object_get(doc, "items"), i, item)
        buf_printf(&text, "%s%s:%s", i ? " " : "", json_string_value(json_object_get(item, "name")),
                   json_string_value(json_object_get(item, "phase")));
    return mem_strdup(text.data ? text.data : "");
}

/* covers: reliability.md L-11; see decisions DC-05 */
static void every_step_has_an_entry(void **state)
{
    static const struct {
        const char *name, *status, *want;
    } cases[] = {
        {"without a status", "{}",
         "a:Waiting b:Waiting l:Waiting l-0:Waiting l-1:Waiting u:Waiting z:Waiting"},
        {"in full",
         "{\"nodes\":[{\"name\":\"a\",\"phase\":\"Completed\"},{\"name\":\"b\",\"phase\":"
         "\"Retrying\"},{\"name\":\"u-1\",\"phase\":\"Running\"}]}",
         "a:Completed b:Retrying l:Waiting l-0:Waiting l-1:Waiting u:Waiting u-1:Running "
         "z:Waiting"},
        /* These bits say: completed: a, l-0 and u-0; failed: b; skipped: z. */
        {"in bits",
         "{\"results\":{\"completed\":\"SQ==\",\"failed\":\"Ag==\",\"skipped\":\"AAI=\"}}",
         "a:Completed b:Failed l:Waiting l-0:Completed l-1:Waiting u:Waiting u-0:Completed "
         "z:Skipped"},
        {"in what is no bits", "{\"results\":{\"completed\":\"*\",\"failed\":\"!\"}}",
         "a:Waiting b:Waiting l:Waiting l-0:Waiting l-1:Waiting u:Waiting z:Waiting"},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        scoped(capture) struct api_capture capture = {0};
        struct api_fixture fixture;

        api_fixture_start(&fixture, NULL);
        make_flow(&fixture, "f", cases[i].status);
        check_int(cases[i].name,
                  api_send(&fixture, &capture, "GET", FLOWS "/f/steps", .body = NULL), 200);
        scoped_str got = phases(&capture);
        scoped_str kind = api_capture_at(&capture, "kind");

        check_str(cases[i].name, got, cases[i].want);
        check_str(cases[i].name, kind, "JobFlowStepList");
        api_capture_release(&capture);
        api_fixture_stop(&fixture);
    }
}

static void steps_absent_from_the_status_are_read_from_jobs(void **state)
{
    scoped(capture) struct api_capture capture = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    make_flow(&fixture, "f", "{}");
    scoped_str uid = uid_of(&fixture, "f");

    make_job(&fixture, "f-a", uid, "Completed");
    make_job(&fixture, "f-b", uid, "Running");
    make_flow(&fixture, "g", "{}");
    scoped_str other = uid_of(&fixture, "g");
    make_job(&fixture, "f-z", other, "Completed");
    api_send(&fixture, &capture, "GET", FLOWS "/f/steps", .body = NULL);
    scoped_str got = phases(&capture);
    scoped_str template = api_capture_at(&capture, "items.1.template");
    scoped_str job = api_capture_at(&capture, "items.1.jobs.0");

    check_str("its own", got,
              "a:Completed b:Running l:Waiting l-0:Waiting l-1:Waiting u:Waiting z:Waiting");
    check_str("its template", template, "t");
    check_str("its job", job, "f-b");
    api_capture_release(&capture);
    api_fixture_stop(&fixture);
}

static void a_page_continues_where_the_last_one_ended(void **state)
{
    static const char *const want[] = {"a:Waiting b:Waiting", "l:Waiting l-0:Waiting",
                                       "l-1:Waiting u:Waiting", "z:Waiting"};
    scoped(capture) struct api_capture capture = {0};
    scoped_str next = NULL;
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    make_flow(&fixture, "f", "{}");
    make_flow(&fixture, "g", "{}");
    for (size_t i = 0; i < countof(want); i++) {
        scoped_str target =
            mem_printf(FLOWS "/f/steps?limit=2%s%s", next ? "&continue=" : "", next ? next : "");

        check_int("page", api_send(&fixture, &capture, "GET", target, .body = NULL), 200);
        scoped_str got = phases(&capture);

        check_str("page", got, want[i]);
        if (i + 1 < countof(want)) {
            mem_free(next);
            next = api_capture_at(&capture, "metadata.continue");
            check("there is more", next != NULL);
        }
    }
    scoped_str last = api_capture_at(&capture, "metadata.continue");
    scoped_str other = mem_printf(FLOWS "/g/steps?continue=%s", next);

    check("nothing more", !last);
    check_int("of another flow", api_send(&fixture, &capture, "GET", other, .body = NULL), 410);
    check_int("no token",
              api_send(&fixture, &capture, "GET", FLOWS "/f/steps?continue=x", .body = NULL), 400);
    check_int("no number",
              api_send(&fixture, &capture, "GET", FLOWS "/f/steps?limit=x", .body = NULL), 400);
    check_int("no flow", api_send(&fixture, &capture, "GET", FLOWS "/h/steps", .body = NULL), 404);
    check_int("not of a job", api_send(&fixture, &capture, "GET", JOBS "/h/steps", .body = NULL),
              404);
    check_int("only read", api_send(&fixture, &capture, "DELETE", FLOWS "/f/steps", .body = NULL),
              405);
    api_capture_release(&capture);
    api_fixture_stop(&fixture);
}

static void a_table_has_a_row_for_each_step(void **state)
{
    scoped(capture) struct api_capture capture = {0};
    struct api_fixture fixture;

    api_fixture_start(&fixture, NULL);
    make_flow(&fixture, "f", "{\"nodes\":[{\"name\":\"a\",\"phase\":\"Failed\",\"attempt\":3}]}");
    api_send(&fixture, &capture, "GET", FLOWS "/f/steps",
             .accept = "application/json;as=Table;v=v1;g=meta.k8s.io");
    scoped_str kind = api_capture_at(&capture, "kind");
    scoped_str name = api_capture_at(&capture, "rows.0.cells.0");
    scoped_str phase = api_capture_at(&capture, "rows.0.cells.1");
    scoped_str attempts = api_capture_at(&capture, "rows.0.cells.2");
    scoped_str title = api_capture_at(&capture, "columnDefinitions.1.name");

    check_str("kind", kind, "Table");
    check_str("title", title, "Status");
    check_str("name", name, "a");
    check_str("phase", phase, "Failed");
    check_str("attempts", attempts, "3");
    api_capture_release(&capture);
    api_fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_step_has_an_entry),
        cmocka_unit_test(steps_absent_from_the_status_are_read_from_jobs),
        cmocka_unit_test(a_page_continues_where_the_last_one_ended),
        cmocka_unit_test(a_table_has_a_row_for_each_step),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
