/*
 * Tests writes to an API server in the same process: their order, what follows when answers are
 * lost, and the fence. covers: cluster.md CLU-064 CLU-067 CLU-068 CLU-071 CLU-072 CLU-073 CLU-166
 */
#include "tests/unit.h"

#include "api/types/kinds/jobflow/jobflow.h"
#include "tests/support/api_objects.h"
#include "tests/support/remote_fixture.h"

static struct object *config_map(const char *name, const char *data)
{
    const struct meta meta = {.namespace = "default", .name = name, .deletion_grace_s = -1};
    scoped_str body = mem_printf("{\"data\":{%s}}", data);

    return object_new(&kind_config_map, meta_new(&meta), blob_intern(body, strlen(body)), NULL);
}

static struct object *changed(const struct object *object, const char *data)
{
    scoped_str body = mem_printf("{\"data\":{%s}}", data);

    return object_with_body(object, blob_intern(body, strlen(body)));
}

/* Creates an object and returns it as stored; owned. */
static struct object *created(struct remote_fixture *fixture, const char *name, const char *data)
{
    struct remote_write made = REMOTE_WRITE;
    struct object *object;

    cluster_create(fixture->cluster, &made.call, config_map(name, data));
    loop_settle(fixture->api.loop);
    check("created", made.result != NULL);
    object = object_ref(made.result);
    remote_write_release(&made);
    return object;
}

static void an_answer_is_in_the_cache_before_its_controller_hears_of_it(void **state)
{
    struct remote_fixture fixture;
    struct object *object;
    const struct object *known;

    remote_fixture_start(&fixture);
    object = created(&fixture, "a", "\"k\":\"v\"");
    known = cluster_get(fixture.cluster, &kind_config_map, "default", "a");
    check("known", known != NULL);
    check_int("revision", known->revision, object->revision);
    check_str("told once", fixture.told.data, "+a");
    object_unref(object);
    remote_fixture_stop(&fixture);
}

static void an_update_that_changes_nothing_is_not_sent(void **state)
{
    struct remote_fixture fixture;
    struct remote_write call = REMOTE_WRITE;
    struct object *object;

    remote_fixture_start(&fixture);
    object = created(&fixture, "a", "\"k\":\"v\"");
    cluster_update(fixture.cluster, &call.call, changed(object, "\"k\":\"v\""));
    check_int("not inside the call", call.ended, 0);
    loop_settle(fixture.api.loop);
    check_int("ended", call.ended, 1);
    check("with the object", call.result != NULL);
    check_int("patches", (int)api_transport_count(fixture.transport, "PATCH", NULL), 0);
    remote_write_release(&call);
    object_unref(object);
    remote_fixture_stop(&fixture);
}

static void writes_to_one_object_follow_one_another(void **state)
{
    struct remote_fixture fixture;
    struct remote_write first = REMOTE_WRITE, stale = REMOTE_WRITE;
    struct object *object;

    remote_fixture_start(&fixture);
    object = created(&fixture, "a", "\"k\":\"v\"");
    cluster_update(fixture.cluster, &first.call, changed(object, "\"k\":\"w\""));
    cluster_update(fixture.cluster, &stale.call, changed(object, "\"k\":\"x\""));
    loop_settle(fixture.api.loop);
    check_int("first", first.err.code, ERR_NONE);
    check_int("decided on an older version", stale.err.code, ERR_CONFLICT);
    check_int("patches", (int)api_transport_count(fixture.transport, "PATCH", NULL), 1);
    remote_write_release(&first);
    remote_write_release(&stale);
    object_unref(object);
    remote_fixture_stop(&fixture);
}

/* Makes JobFlow `f` and returns it; borrowed. */
static const struct object *make_flow(struct remote_fixture *fixture)
{
    scoped(capture) struct api_capture capture = {0};
    const struct object *flow;

    api_make_template(&fixture->api);
    api_send(&fixture->api, &capture, "POST",
             "/apis/flow.volcano.sh/v1alpha1/namespaces/default/jobflows",
             .body = API_FLOW("f", ""));
    check_int("made", capture.status, 201);
    flow = cluster_get(fixture->cluster, &kind_job_flow, "default", "f");
    check("flow", flow != NULL);
    return flow;
}

/* A status that was decided before another write of this process was answered is based on that
 * answer, because the other write did not touch the status. */
static void a_status_is_rebased_on_the_write_before_it(void **state)
{
    static const char status[] = "{\"state\":{\"phase\":\"Running\"}}";
    struct remote_fixture fixture;
    struct remote_write mark = REMOTE_WRITE, write = REMOTE_WRITE;
    const struct object *flow;
    const struct kv annotation = {"a", "b"};
    struct meta meta;

    remote_fixture_start(&fixture);
    flow = make_flow(&fixture);
    meta = *flow->meta;
    meta.annotations = &annotation;
    meta.n_annotations = 1;
    cluster_update(fixture.cluster, &mark.call, object_with_meta(flow, meta_new(&meta)));
    cluster_update_status(fixture.cluster, &write.call, flow, blob_new(status, strlen(status)));
    loop_settle(fixture.api.loop);
    check_int("mark", mark.err.code, ERR_NONE);
    check_int("status", write.err.code, ERR_NONE);
    check_str("text as sent", write.result->status->text, status);
    check_str("mark stays", meta_annotation(write.result->meta, "a"), "b");
    remote_write_release(&mark);
    remote_write_release(&write);
    remote_fixture_stop(&fixture);
}

static struct object *with_owner(const char *name, const struct object *flow)
{
    const struct owner_ref owner = {kind_api_version(flow->kind),
                                    flow->kind->name,
                                    object_name(flow),
                                    object_uid(flow),
                                    true,
                                    false};
    const struct meta meta = {.namespace = "default",
                              .name = name,
                              .deletion_grace_s = -1,
                              .owners = &owner,
                              .n_owners = 1};

    return object_new(&kind_config_map, meta_new(&meta), blob_intern("{}", 2), NULL);
}

/* A write of each verb to the ConfigMap `object`, or the create of another one. */
static void write_something(struct remote_fixture *fixture, const char *method,
                            const struct object *object, struct cluster_call *call)
{
    const struct cluster_removal removal = {.uid = object_uid(object), .grace_s = -1};

    if (strcmp(method, "POST") == 0)
        cluster_create(fixture->cluster, call, with_owner("b", make_flow(fixture)));
    else if (strcmp(method, "PATCH") == 0)
        cluster_update(fixture->cluster, call, changed(object, "\"k\":\"w\""));
    else
        cluster_remove(fixture->cluster, call, &kind_config_map, "default", "a", &removal);
}

static void lost_requests_and_answers_change_no_outcome(void **state)
{
    static const char *const methods[] = {"POST", "PATCH", "DELETE"};
    static const struct {
        const char *name;
        enum api_fate fate;
        bool reads; /* the object is read, because the write may have happened */
    } fates[] = {
        {"unreachable", API_UNREACHABLE, false},
        {"request lost", API_REQUEST_LOST, true},
        {"answer lost", API_ANSWER_LOST, true},
        {"busy", API_BUSY, false},
        {"fails", API_FAILS, false},
        {"hangs", API_HANGS, true},
    };

    for (size_t m = 0; m < countof(methods); m++) {
        for (size_t f = 0; f < countof(fates); f++) {
            scoped_str name = mem_printf("%s %s", methods[m], fates[f].name);
            struct remote_fixture fixture;
            struct remote_write call = REMOTE_WRITE;
            struct object *object;

            remote_fixture_start(&fixture);
            object = created(&fixture, "a", "\"k\":\"v\"");
            fixture.method = methods[m];
            fixture.fate = fates[f].fate;
            fixture.times = fates[f].fate == API_HANGS ? 1 : 2; /* each takes half a minute */
            write_something(&fixture, methods[m], object, &call.call);
            loop_advance(fixture.api.loop, 120000);
            check_int(name, call.ended, 1);
            check_int(name, call.err.code, ERR_NONE);
            check_int(name, cluster_remote_stats(fixture.cluster).reads > 0, fates[f].reads);
            check_str(name, fixture.told.data, m == 0 ? "+a +b" : m == 1 ? "+a ~a" : "+a -a");
            remote_write_release(&call);
            object_unref(object);
            remote_fixture_stop(&fixture);
        }
    }
}

static void a_taken_name_is_told_with_its_object(void **state)
{
    struct remote_fixture fixture;
    struct remote_write call = REMOTE_WRITE;

    remote_fixture_start(&fixture);
    object_unref(created(&fixture, "a", "\"k\":\"v\""));
    cluster_create(fixture.cluster, &call.call, config_map("a", "\"k\":\"w\""));
    loop_settle(fixture.api.loop);
    check_int("code", call.err.code, ERR_EXISTS);
    check("known", cluster_get(fixture.cluster, &kind_config_map, "default", "a") != NULL);
    remote_write_release(&call);
    remote_fixture_stop(&fixture);
}

static struct object *job_of_attempt(const struct object *flow, const char *attempt)
{
    static const char body[] =
        "{\"spec\":{\"tasks\":[{\"name\":\"t\",\"replicas\":1,\"template\":{\"spec\":{"
        "\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"command\":[\"x\"]}]}}}]}}";
    const struct owner_ref owner = {"flow.volcano.sh/v1alpha1", "JobFlow", "f",
                                    object_uid(flow),           true,      false};
    const struct kv label = {LABEL_CREATED_BY_FLOW, "default.f"};
    const struct kv annotation = {ANNOTATION_FLOW_ATTEMPT, attempt};
    const struct meta meta = {.namespace = "default",
                              .name = "f-a",
                              .deletion_grace_s = -1,
                              .owners = &owner,
                              .n_owners = 1,
                              .labels = &label,
                              .n_labels = 1,
                              .annotations = &annotation,
                              .n_annotations = 1};

    return object_new(&kind_job, meta_new(&meta), blob_intern(body, strlen(body)), NULL);
}

/* The create of an earlier leader arrives late, when the next attempt is to be made. */
static void a_late_create_of_an_earlier_attempt_is_removed_first(void **state)
{
    struct remote_fixture fixture;
    struct remote_write late = REMOTE_WRITE, next = REMOTE_WRITE;
    const struct object *job, *flow;

    remote_fixture_start(&fixture);
    flow = make_flow(&fixture);
    cluster_create(fixture.cluster, &late.call, job_of_attempt(flow, "1"));
    loop_settle(fixture.api.loop);
    check_str("late", late.err.message, "");
    cluster_create(fixture.cluster, &next.call, job_of_attempt(flow, "2"));
    loop_advance(fixture.api.loop, 10000);
    check_int("next", next.err.code, ERR_NONE);
    check("result", next.result != NULL);
    job = cluster_get(fixture.cluster, &kind_job, "default", "f-a");
    check_str("attempt", meta_annotation(job->meta, ANNOTATION_FLOW_ATTEMPT), "2");
    check("another object", strcmp(object_uid(job), object_uid(late.result)) != 0);
    check_int("removals", (int)api_transport_count(fixture.transport, "DELETE", "jobs/f-a"), 1);
    remote_write_release(&late);
    remote_write_release(&next);
    remote_fixture_stop(&fixture);
}

/* A large flow does not keep a small one waiting: its requests leave in turns of a few. */
static void roots_take_turns(void **state)
{
    enum { MANY = 200, EARLY = 24 };
    struct remote_fixture fixture;
    struct remote_write calls[MANY], one = REMOTE_WRITE;
    const struct object *flow;
    int before = 0;

    remote_fixture_start(&fixture);
    flow = make_flow(&fixture);
    for (int i = 0; i < MANY; i++) {
        scoped_str name = mem_printf("large-%d", i);

        calls[i] = (struct remote_write)REMOTE_WRITE;
        cluster_create(fixture.cluster, &calls[i].call, with_owner(name, flow));
    }
    cluster_create(fixture.cluster, &one.call, config_map("small", ""));
    loop_settle(fixture.api.loop);
    check_int("small", one.err.code, ERR_NONE);
    for (int i = 0; i < MANY; i++)
        before += calls[i].result && calls[i].result->revision < one.result->revision;
    check("large ones before the small one", before < EARLY);
    for (int i = 0; i < MANY; i++)
        remote_write_release(&calls[i]);
    remote_write_release(&one);
    remote_fixture_stop(&fixture);
}

static void a_fence_ends_everything_and_lets_nothing_leave(void **state)
{
    enum { MANY = 40 };
    struct remote_fixture fixture;
    struct remote_write calls[MANY], later = REMOTE_WRITE;
    unsigned sent;

    remote_fixture_start(&fixture);
    fixture.method = "POST";
    fixture.fate = API_HANGS;
    fixture.times = MANY;
    for (int i = 0; i < MANY; i++) {
        scoped_str name = mem_printf("a%d", i);

        calls[i] = (struct remote_write)REMOTE_WRITE;
        cluster_create(fixture.cluster, &calls[i].call, config_map(name, ""));
    }
    loop_settle(fixture.api.loop);
    sent = api_transport_count(fixture.transport, "POST", NULL);
    cluster_remote_fence(fixture.cluster, "this process does not lead any more");
    cluster_create(fixture.cluster, &later.call, config_map("later", ""));
    check_int("not inside the call", later.ended, 0);
    loop_advance(fixture.api.loop, 60000);
    for (int i = 0; i < MANY; i++) {
        check_int("ended", calls[i].ended, 1);
        check_int("code", calls[i].err.code, ERR_UNAVAILABLE);
    }
    check_int("later", later.err.code, ERR_UNAVAILABLE);
    check_int("nothing is sent", (int)api_transport_count(fixture.transport, "POST", NULL),
              (int)sent);
    check_int("nothing is under way", (int)cluster_remote_stats(fixture.cluster).in_flight, 0);

    remote_write_release(&later);
    fixture.method = NULL;
    cluster_remote_unfence(fixture.cluster);
    cluster_create(fixture.cluster, &later.call, config_map("again", ""));
    loop_settle(fixture.api.loop);
    check_int("after the fence", later.err.code, ERR_NONE);
    check("created", later.result != NULL);
    for (int i = 0; i < MANY; i++)
        remote_write_release(&calls[i]);
    remote_write_release(&later);
    remote_fixture_stop(&fixture);
}

static void a_broken_watch_loses_nothing(void **state)
{
    struct remote_fixture fixture;

    remote_fixture_start(&fixture);
    object_unref(created(&fixture, "a", ""));
    api_transport_break(fixture.transport);
    api_make_config_map(&fixture.api, "b", "");
    loop_advance(fixture.api.loop, 60000);
    check_str("told", fixture.told.data, "+a +b");
    remote_fixture_stop(&fixture);
}

static void a_watcher_that_comes_later_gets_everything_once(void **state)
{
    struct remote_fixture fixture;

    remote_fixture_start(&fixture);
    cluster_unwatch(fixture.cluster, &fixture.watcher);
    object_unref(created(&fixture, "a", ""));
    object_unref(created(&fixture, "b", ""));
    check_str("not watching", fixture.told.data, "");
    cluster_watch(fixture.cluster, &fixture.watcher);
    check_str("not inside the call", fixture.told.data, "");
    loop_settle(fixture.api.loop);
    object_unref(created(&fixture, "c", ""));
    check_str("told", fixture.told.data, "+a +b +c");
    remote_fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_is_in_the_cache_before_its_controller_hears_of_it),
        cmocka_unit_test(an_update_that_changes_nothing_is_not_sent),
        cmocka_unit_test(writes_to_one_object_follow_one_another),
        cmocka_unit_test(a_status_is_rebased_on_the_write_before_it),
        cmocka_unit_test(lost_requests_and_answers_change_no_outcome),
        cmocka_unit_test(a_taken_name_is_told_with_its_object),
        cmocka_unit_test(a_late_create_of_an_earlier_attempt_is_removed_first),
        cmocka_unit_test(roots_take_turns),
        cmocka_unit_test(a_fence_ends_everything_and_lets_nothing_leave),
        cmocka_unit_test(a_broken_watch_loses_nothing),
        cmocka_unit_test(a_watcher_that_comes_later_gets_everything_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
