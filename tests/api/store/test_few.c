/*
 * Tests kinds with few objects. Their rows are together, with numbers below zero, and can be loaded
 * alone.
 */
#include "tests/unit.h"

#include "tests/support/objects.h"
#include "tests/support/store_fixture.h"

enum { LONG = 40000 };

enum use { LOOKED_AT, WORKED_IN };

static const struct object *get_flow(const struct store *store, const char *name)
{
    return store_get(store, &kind_job_flow, "default", name);
}

/* Returns a status so long that it is stored apart from its object. */
static char *long_status(char letter)
{
    char *text = mem_printf("{\"a\":\"%*s\"}", LONG, "");

    memset(text + strlen("{\"a\":\""), letter, LONG);
    return text;
}

/* Returns a store with a flow that has two jobs and a long status, and another flow that was
 * created later. */
static struct store_fixture store_with_flows(const char *name)
{
    struct store_fixture fixture = store_fixture_new(name);
    scoped_str first = long_status('x');
    scoped_str second = long_status('y');

    store_put(fixture.store, sample_object(.name = "f", .kind = &kind_job_flow, .body = "{\"x\":1}",
                                           .status = first));
    store_put(fixture.store, sample_object(.name = "f-a", .owner_uid = "uid-f"));
    store_put(fixture.store, sample_object(.name = "f-b", .owner_uid = "uid-f"));
    store_put(fixture.store, sample_object(.name = "g", .kind = &kind_job_flow));
    loop_settle(fixture.loop);
    store_put(fixture.store, sample_object(.name = "f", .kind = &kind_job_flow, .body = "{\"x\":1}",
                                           .status = second));
    store_fixture_close(&fixture);
    return fixture;
}

static void check_flow(const struct store *store)
{
    scoped_str status = long_status('y');
    const struct object *flow = get_flow(store, "f");

    assert_non_null(flow);
    check_str("its body", flow->body->text, "{\"x\":1}");
    check_str("its status", flow->status->text, status);
}

static void they_are_read_alone(void **unused)
{
    struct store_fixture fixture = store_with_flows("few");
    const struct store_options look = {
        .directory = fixture.directory, .read_only = true, .few_only = true};
    struct error err;
    struct store *store = store_open(fixture.loop, &look, &err);

    check_ok("look", store, err);
    check_flow(store);
    check("the other", get_flow(store, "g"));
    check_int("no jobs", (long)store_count(store, &kind_job, NULL), 0);
    check("in the order they came", get_flow(store, "f")->row < get_flow(store, "g")->row);
    store_close(store);
    store_fixture_free(&fixture);
}

/* Objects with a name can be loaded alone: with their dependents and without objects of similar
 * names. */
static void what_has_a_name_is_read_alone(void **unused)
{
    static const char *const jobs[] = {"f-ab", "f-a-b", "f-a.b", "F-A"};
    static const char *const asked[] = {"f-a", "f-a-b", "nobody", "f-a' OR '1'='1", "%"};
    static const long found[] = {2, 1, 0, 0, 0};
    struct store_fixture fixture = store_with_flows("named");
    struct error err;

    check_ok("open", store_fixture_open(&fixture, &err), err);
    for (size_t i = 0; i < countof(jobs); i++)
        store_put(fixture.store, sample_object(.name = jobs[i], .body = "{\"own\":1}"));
    store_fixture_close(&fixture);
    for (size_t i = 0; i < countof(asked); i++) {
        const struct store_options look = {
            .directory = fixture.directory, .read_only = true, .name_only = asked[i]};
        struct store *store = store_open(fixture.loop, &look, &err);

        check_ok("look", store, err);
        check_int(asked[i], (long)store_count(store, &kind_job, NULL), found[i]);
        check("no flows", !get_flow(store, "f"));
        if (i == 1)
            check_str("with its body", store_get(store, &kind_job, "default", "f-a-b")->body->text,
                      "{\"own\":1}");
        store_close(store);
    }
    store_fixture_free(&fixture);
}

static void what_comes_after_a_restart_lies_behind(void **unused)
{
    struct store_fixture fixture = store_with_flows("behind");
    struct error err;

    check_ok("open", store_fixture_open(&fixture, &err), err);
    check_flow(fixture.store);
    check_int("the jobs", (long)store_count(fixture.store, &kind_job, NULL), 2);
    store_put(fixture.store, sample_object(.name = "h", .kind = &kind_job_flow));
    store_put(fixture.store, sample_object(.name = "c"));
    store_fixture_reopen(&fixture);
    check("a flow", get_flow(fixture.store, "g")->row < get_flow(fixture.store, "h")->row &&
                        get_flow(fixture.store, "h")->row < 0);
    check("a job", store_fixture_get(&fixture, "c")->row > store_fixture_get(&fixture, "f-b")->row);
    store_fixture_free(&fixture);
}

/* Opens a file of schema version 2, in which rows of all kinds are one sequence, and checks that
 * flows are moved below zero. With LOOKED_AT it is opened for reading only first. */
static void move_rows(enum use first)
{
    struct store_fixture fixture = store_with_flows(first == LOOKED_AT ? "looked-at" : "worked-in");
    const struct store_options look = {.directory = fixture.directory, .read_only = true};
    struct error err;
    struct store *store;

    store_fixture_sql(&fixture,
                      "UPDATE objects SET id = id + 281474976710656 + 1000 WHERE id < 0;"
                      "UPDATE statuses SET id = id + (281474976710656 + 1000) * 256 WHERE id < 0");
    store_fixture_make_older(&fixture, 2);
    if (first == LOOKED_AT) {
        store = store_open(fixture.loop, &look, &err);
        check_ok("look", store, err);
        check_flow(store);
        store_close(store);
    }
    check_ok("open", store_fixture_open(&fixture, &err), err);
    check_flow(fixture.store);
    check("flows are below zero", get_flow(fixture.store, "f")->row < 0);
    check("in their order", get_flow(fixture.store, "f")->row < get_flow(fixture.store, "g")->row);
    check("jobs are not", store_fixture_get(&fixture, "f-a")->row > 0);
    store_fixture_free(&fixture);
}

static void rows_of_an_older_file_are_moved(void **unused)
{
    move_rows(LOOKED_AT);
    move_rows(WORKED_IN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_are_read_alone),
        cmocka_unit_test(what_has_a_name_is_read_alone),
        cmocka_unit_test(what_comes_after_a_restart_lies_behind),
        cmocka_unit_test(rows_of_an_older_file_are_moved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
