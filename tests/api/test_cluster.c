/*
 * Tests the embedded cluster from a controller's view, the wrapper that injects faults, and events.
 * covers: reliability.md L-40 INV-S6; kube-api.md 140
 */
#include "tests/unit.h"

#include "api/cluster_embedded.h"
#include "tests/fake/faulty.h"
#include "tests/support/registry_fixture.h"

struct fixture {
    struct registry_fixture *fixture;
    struct cluster *cluster;
};

static struct fixture fixture_new(void)
{
    struct fixture fixture = {.fixture = registry_fixture_new(NULL, NULL)};

    fixture.cluster = cluster_embedded_new(fixture.fixture->loop, fixture.fixture->registry);
    return fixture;
}

static void fixture_free(struct fixture *fixture)
{
    cluster_embedded_free(fixture->cluster);
    registry_fixture_free(fixture->fixture);
}

SCOPED_DEFINE(fixture, struct fixture, fixture_free)

struct notes {
    char text[8192];
    struct cluster *cluster;
    struct cluster_watcher watcher;
    bool stop_at_first;
};

struct noted_call {
    struct cluster_call call;
    struct notes *notes;
    const char *name;
};

static void note(struct notes *notes, const char *format, ...) PRINTF_LIKE(2, 3);
static void note(struct notes *notes, const char *format, ...)
{
    size_t used = strlen(notes->text);
    va_list args;

    va_start(args, format);
    vsnprintf(notes->text + used, sizeof notes->text - used, format, args);
    va_end(args);
}

static void on_done(struct cluster_call *call, const struct object *result, const struct error *err)
{
    struct noted_call *noted = container_of(call, struct noted_call, call);

    note(noted->notes, "%s:%s ", noted->name,
         err      ? error_reason(err->code)
         : result ? object_name(result)
                  : "gone");
}

static void on_change(struct cluster_watcher *watcher, enum cluster_change change,
                      const struct object *old, const struct object *object)
{
    struct notes *notes = container_of(watcher, struct notes, watcher);

    note(notes, "%c%s ", "+~-"[change], object_name(object));
    if (notes->stop_at_first)
        cluster_unwatch(notes->cluster, watcher);
}

static void watch(struct fixture *fixture, struct notes *notes)
{
    notes->cluster = fixture->cluster;
    notes->watcher = (struct cluster_watcher){.kind = &kind_config_map, .changed = on_change};
    cluster_watch(fixture->cluster, &notes->watcher);
}

static struct object *draft(const char *name)
{
    const struct meta meta = {.namespace = "default", .name = name, .deletion_grace_s = -1};

    return object_new(&kind_config_map, meta_new(&meta), blob_intern("{}", 2), NULL);
}

static void create(struct cluster *cluster, struct notes *notes, struct noted_call *call,
                   const char *name)
{
    *call = (struct noted_call){{on_done}, notes, "create"};
    cluster_create(cluster, &call->call, draft(name));
}

static void remove_(struct cluster *cluster, struct notes *notes, struct noted_call *call,
                    const char *name)
{
    *call = (struct noted_call){{on_done}, notes, "remove"};
    cluster_remove(cluster, &call->call, &kind_config_map, "default", name,
                   &(struct cluster_removal){.grace_s = -1});
}

static void answers_come_later_and_in_order(void **state)
{
    scoped(fixture) struct fixture fixture = fixture_new();
    struct notes notes = {0};
    struct noted_call calls[5];

    create(fixture.cluster, &notes, &calls[0], "a");
    create(fixture.cluster, &notes, &calls[1], "a");
    create(fixture.cluster, &notes, &calls[2], "b");
    remove_(fixture.cluster, &notes, &calls[3], "a");
    remove_(fixture.cluster, &notes, &calls[4], "a");
    check_str("not inside the call", notes.text, "");
    check("in the cache at once", cluster_get(fixture.cluster, &kind_config_map, "default", "b"));
    loop_settle(fixture.fixture->loop);
    check_str("in order", notes.text,
              "create:a create:AlreadyExists create:b remove:gone remove:NotFound ");
}

static void a_stale_write_conflicts(void **state)
{
    scoped(fixture) struct fixture fixture = fixture_new();
    struct notes notes = {0};
    struct noted_call call = {{on_done}, &notes, "update"};
    struct noted_call status = {{on_done}, &notes, "status"};
    const struct object *object;
    struct object *stale, *other;
    struct meta meta;

    object = registry_fixture_create(fixture.fixture,
                                     "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':"
                                     "'a','namespace':'default'}}");
    stale = object_with_body(object, blob_intern("{\"data\":{\"x\":\"1\"}}", 18));
    meta = *object->meta;
    meta.uid = "another";
    other = object_with_meta(object, meta_new(&meta));
    check("patch",
          registry_fixture_patch(fixture.fixture, &kind_config_map, "a", "{'data':{'x':'2'}}"));
    cluster_update(fixture.cluster, &call.call, object_ref(stale));
    stale->revision = 0;
    cluster_update(fixture.cluster, &call.call, stale);
    other->revision = 0;
    cluster_update_status(fixture.cluster, &status.call, other, blob_intern("{}", 2));
    loop_settle(fixture.fixture->loop);
    check_str("answers", notes.text, "update:Conflict update:a status:Conflict ");
    object_unref(other);
}

static void a_watcher_hears_everything_once(void **state)
{
    scoped(fixture) struct fixture fixture = fixture_new();
    struct notes early = {0}, late = {0}, quitter = {.stop_at_first = true};
    struct noted_call calls[4];

    create(fixture.cluster, &early, &calls[0], "a");
    loop_settle(fixture.fixture->loop);
    early.text[0] = '\0';
    watch(&fixture, &early);
    watch(&fixture, &quitter);
    check_str("not inside the call", early.text, "");
    /* Created before the watch gets the existing objects. */
    create(fixture.cluster, &late, &calls[1], "b");
    loop_settle(fixture.fixture->loop);
    check_str("what is there", early.text, "+a +b ");
    check_str("quitter", quitter.text, "+a ");
    watch(&fixture, &late);
    create(fixture.cluster, &early, &calls[2], "c");
    remove_(fixture.cluster, &early, &calls[3], "a");
    loop_settle(fixture.fixture->loop);
    check_str("early", early.text, "+a +b +c -a create:c remove:gone ");
    check_str("late, which may have read a before", late.text, "create:b +a -a +b +c ");
    cluster_unwatch(fixture.cluster, &early.watcher);
    cluster_unwatch(fixture.cluster, &late.watcher);
}

/* Creates a flow as a client does. `settles` says that the client may write it again. */
static void create_flow(struct fixture *fixture, const char *name, bool settles)
{
    scoped_str text = mem_printf("{'apiVersion':'flow.volcano.sh/v1alpha1','kind':'JobFlow',"
                                 "'metadata':{'name':'%s','namespace':'default'},"
                                 "'spec':{'flows':[{'name':'a'}]}}",
                                 name);
    scoped(json) json_t *doc = registry_fixture_json(text);
    struct error_list errors = {0};

    check(name, registry_create(fixture->fixture->registry, doc,
                                &(struct registry_write){.settles = settles}, NULL, &errors));
    error_list_release(&errors);
    loop_settle(fixture->fixture->loop);
}

static void an_object_that_settles_is_delivered_later_as_it_is_then(void **state)
{
    scoped(fixture) struct fixture fixture = fixture_new();
    struct notes notes = {.watcher = {.kind = &kind_job_flow, .changed = on_change}};
    struct loop *loop = fixture.fixture->loop;

    cluster_watch(fixture.cluster, &notes.watcher);
    loop_settle(loop);
    create_flow(&fixture, "now", false);
    check_str("at once", notes.text, "+now ");
    create_flow(&fixture, "later", true);
    check("labelled", registry_fixture_patch(fixture.fixture, &kind_job_flow, "later",
                                             "{'metadata':{'labels':{'a':'b'}}}"));
    check_str("held back", notes.text, "+now ");
    loop_advance(loop, 25);
    check_str("still", notes.text, "+now ");
    loop_advance(loop, 1);
    check_str("settled: one event", notes.text, "+now +later ");
    check("labelled again", registry_fixture_patch(fixture.fixture, &kind_job_flow, "later",
                                                   "{'metadata':{'labels':{'a':'c'}}}"));
    check_str("like any other", notes.text, "+now +later ~later ");
    create_flow(&fixture, "gone", true);
    check("deleted", registry_fixture_delete_with(fixture.fixture, &kind_job_flow, "gone",
                                                  .grace_s = -1, .internal = true));
    check_str("whole life", notes.text, "+now +later ~later +gone -gone ");
    create_flow(&fixture, "unfinished", true); /* the fixture ends before the flow settles */
    cluster_unwatch(fixture.cluster, &notes.watcher);
}

static void faults_hit_the_nth_write(void **state)
{
    scoped(fixture) struct fixture fixture = fixture_new();
    struct cluster *faulty = faulty_new(fixture.cluster);
    struct notes notes = {0};
    struct noted_call calls[6];

    faulty_expect(faulty, .ops = FAULTY_CREATE, .skip = 1, .times = 1, .code = ERR_TIMEOUT);
    faulty_expect(faulty, .ops = FAULTY_CREATE, .skip = 1, .times = 1, .way = FAULTY_LOSE,
                  .code = ERR_INTERNAL);
    faulty_expect(faulty, .ops = FAULTY_REMOVE, .kind = &kind_config_map, .times = 1,
                  .way = FAULTY_DELAY, .delay_ms = 100);
    create(faulty, &notes, &calls[0], "a"); /* the creations of a and d succeed */
    create(faulty, &notes, &calls[1], "b"); /* the creation of b is refused */
    create(faulty, &notes, &calls[2], "c"); /* the answer to the creation of c is lost */
    create(faulty, &notes, &calls[3], "d");
    remove_(faulty, &notes, &calls[4], "a"); /* the deletion of a is delayed */
    remove_(faulty, &notes, &calls[5], "d");
    loop_settle(fixture.fixture->loop);
    check("b", !cluster_get(faulty, &kind_config_map, "default", "b"));
    check("c", cluster_get(faulty, &kind_config_map, "default", "c"));
    check("a still", cluster_get(faulty, &kind_config_map, "default", "a"));
    loop_advance(fixture.fixture->loop, 100);
    check("a gone", !cluster_get(faulty, &kind_config_map, "default", "a"));
    check_str("answers", notes.text,
              "create:a create:InternalError create:d remove:gone create:Timeout remove:gone ");
    check_int("writes", faulty_writes(faulty), 6);
    check_int("hits", faulty_hits(faulty), 3);
    faulty_free(faulty);
}

static void count_visit(void *arg, const struct object *event)
{
    scoped(json) json_t *body = object_body_json(event);
    int64_t *counts = arg;

    counts[0]++;
    counts[1] += json_integer_value(json_object_get(body, "count"));
}

/* Checks how many Event objects there are, and the sum of their counts. */
static void check_events(struct fixture *fixture, const char *name, int64_t objects, int64_t times)
{
    int64_t counts[2] = {0};

    loop_settle(fixture->fixture->loop);
    cluster_each(fixture->cluster, &kind_event, NULL, count_visit, counts);
    check_int(name, counts[0], objects);
    check_int(name, counts[1], times);
}

static void equal_events_are_counted(void **state)
{
    scoped(fixture) struct fixture fixture = fixture_new();
    const struct object *about;

    about = registry_fixture_create(fixture.fixture,
                                    "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a',"
                                    "'namespace':'default'}}");
    cluster_event(fixture.cluster, about, EVENT_NORMAL, "Made", "test", "made %s", "it");
    check_events(&fixture, "one", 1, 1);
    cluster_event(fixture.cluster, about, EVENT_NORMAL, "Made", "test", "made %s", "it");
    cluster_event(fixture.cluster, about, EVENT_WARNING, "Made", "test", "made it");
    cluster_event(fixture.cluster, about, EVENT_NORMAL, "Made", "test", "made that");
    check_events(&fixture, "three", 3, 4);

    /* Another process continues the count. */
    cluster_embedded_free(fixture.cluster);
    fixture.cluster = cluster_embedded_new(fixture.fixture->loop, fixture.fixture->registry);
    cluster_event(fixture.cluster, about, EVENT_NORMAL, "Made", "test", "made it");
    check_events(&fixture, "after a restart", 3, 5);

    about = registry_fixture_get(fixture.fixture, &kind_queue, "default");
    cluster_event(fixture.cluster, about, EVENT_NORMAL, "Opened", "test", "x");
    check_events(&fixture, "cluster-scoped", 4, 6);
    check_int("in default", store_count(fixture.fixture->store, &kind_event, "default"), 4);
}

static const struct object *subject(struct fixture *fixture)
{
    return registry_fixture_create(fixture->fixture,
                                   "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a',"
                                   "'namespace':'default'}}");
}

static void an_event_names_what_it_is_about(void **state)
{
    scoped(fixture) struct fixture fixture = fixture_new();
    struct object *page[1];
    const struct object *about = subject(&fixture);

    cluster_event(fixture.cluster, about, EVENT_WARNING, "Why", "me", "what \"it\" was");
    loop_settle(fixture.fixture->loop);
    check_int("one", store_page(fixture.fixture->store, &kind_event, NULL, NULL, 1, page), 1);
    check_int("name", strncmp(object_name(page[0]), "a.", 2), 0);
    check_has("uid", page[0]->body->text, object_uid(about));
    check_has("kind", page[0]->body->text, "\"kind\":\"ConfigMap\"");
    check_has("version", page[0]->body->text, "\"apiVersion\":\"v1\"");
    check_has("message", page[0]->body->text, "\"message\":\"what \\\"it\\\" was\"");
    check_has("type", page[0]->body->text, "\"type\":\"Warning\"");
    check_has("times", page[0]->body->text, "\"firstTimestamp\":\"2026-01-02T03:04:05Z\"");
    check_has("component", page[0]->body->text, "\"source\":{\"component\":\"me\"}");
    object_unref(page[0]);
}

static void a_flood_about_one_object_is_told_as_one(void **state)
{
    scoped(fixture) struct fixture fixture = fixture_new();
    struct store_stats before, after;
    const struct object *about = subject(&fixture);

    store_stats(fixture.fixture->store, &before);
    for (int i = 0; i < 10000; i++)
        cluster_event(fixture.cluster, about, EVENT_NORMAL, "Created", "test", "created %d", i);
    loop_settle(fixture.fixture->loop);
    store_stats(fixture.fixture->store, &after);
    check_int("burst and one", after.changes - before.changes, 26);
    loop_advance(fixture.fixture->loop, 2000);
    check_events(&fixture, "all counted", 26, 10000);
    check("nothing is left to do", loop_drain(fixture.fixture->loop, 1000));
}

static void repeats_are_written_once_a_second(void **state)
{
    scoped(fixture) struct fixture fixture = fixture_new();
    struct store_stats before, after;
    const struct object *about = subject(&fixture);

    store_stats(fixture.fixture->store, &before);
    for (int i = 0; i < 1000; i++) {
        cluster_event(fixture.cluster, about, EVENT_NORMAL, "Again", "test", "again");
        loop_advance(fixture.fixture->loop, 10);
    }
    store_stats(fixture.fixture->store, &after);
    check("25 and one a second", after.changes - before.changes <= 36);
    loop_advance(fixture.fixture->loop, 2000);
    check_events(&fixture, "all", 1, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_come_later_and_in_order),
        cmocka_unit_test(a_stale_write_conflicts),
        cmocka_unit_test(a_watcher_hears_everything_once),
        cmocka_unit_test(an_object_that_settles_is_delivered_later_as_it_is_then),
        cmocka_unit_test(faults_hit_the_nth_write),
        cmocka_unit_test(equal_events_are_counted),
        cmocka_unit_test(an_event_names_what_it_is_about),
        cmocka_unit_test(a_flood_about_one_object_is_told_as_one),
        cmocka_unit_test(repeats_are_written_once_a_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
