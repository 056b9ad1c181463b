/*
 * Tests which versions of an object the cache accepts, and which changes it reports. covers:
 * cluster.md CLU-049 CLU-050 CLU-051 CLU-052 CLU-053
 */
#include "tests/unit.h"

#include <stdio.h>

#include "api/cluster_remote/cache.h"
#include "tests/support/objects.h"

struct fixture {
    struct clock *clock;
    struct loop *loop;
    struct cache *cache;
    struct buf told; /* "+a/u@1" added, "~" changed, "-" deleted */
    unsigned list;
    bool busy;
};

static void on_changed(void *ctx, enum cluster_change change, const struct object *old,
                       const struct object *object)
{
    static const char signs[] = {
        [CHANGE_ADDED] = '+', [CHANGE_MODIFIED] = '~', [CHANGE_DELETED] = '-'};
    struct fixture *fixture = ctx;

    check("old", (old == NULL) == (change == CHANGE_ADDED));
    buf_printf(&fixture->told, "%s%c%s/%s@%d", fixture->told.len ? " " : "", signs[change],
               object_name(object), object_uid(object), (int)object->revision);
}

static bool is_busy(void *ctx, const struct kind *kind, const char *ns, const char *name)
{
    return ((struct fixture *)ctx)->busy;
}

static const struct cache_ops ops = {on_changed, is_busy};

static void start(struct fixture *fixture)
{
    *fixture = (struct fixture){.clock = clock_virtual_new(1767225600000, 7)};
    fixture->loop = loop_new(fixture->clock);
    fixture->cache = cache_new(fixture->loop, &ops, fixture);
    buf_str(&fixture->told, "");
}

static void stop(struct fixture *fixture)
{
    cache_free(fixture->cache);
    loop_free(fixture->loop);
    clock_free(fixture->clock);
    buf_release(&fixture->told);
}

/* Carries out one step: "take a u 5", "answer a u 5", "item a u 5", "end a u 5", "absent a u",
 * "list", "listed 9". */
static void step(struct fixture *fixture, const char *text)
{
    char verb[16] = "", name[16] = "", uid[16] = "";
    int revision = 0;
    scoped(object) struct object *object = NULL;

    if (sscanf(text, "listed %d", &revision) == 1) {
        cache_list_end(fixture->cache, &kind_job, NULL, fixture->list, revision);
        return;
    }
    sscanf(text, "%15s %15s %15s %d", verb, name, uid, &revision);
    if (strcmp(verb, "list") == 0) {
        fixture->list = cache_list_begin(fixture->cache);
        return;
    }
    object = sample_object(.name = name, .uid = uid);
    object->revision = revision;
    if (strcmp(verb, "take") == 0)
        cache_take(fixture->cache, object, CACHE_FOLLOWED, 0);
    else if (strcmp(verb, "answer") == 0)
        cache_take(fixture->cache, object, CACHE_ANSWERED, 0);
    else if (strcmp(verb, "item") == 0)
        cache_take(fixture->cache, object, CACHE_FOLLOWED, fixture->list);
    else if (strcmp(verb, "end") == 0)
        cache_take_end(fixture->cache, object);
    else if (strcmp(verb, "absent") == 0)
        cache_forget(fixture->cache, &kind_job, "default", name, uid);
    else
        check_fail("no step: %s", text);
}

static void versions_never_go_back(void **state)
{
    static const struct {
        const char *name;
        const char *steps[6];
        const char *told;
    } cases[] = {
        {"the watch repeats an answer, and is late",
         {"take a u 100", "take a u 100", "take a u 98", "take a u 105"},
         "+a/u@100 ~a/u@105"},
        {"an answer after the end",
         {"take a u 100", "end a u 105", "take a u 104"},
         "+a/u@100 -a/u@105"},
        {"the end has a later state", {"take a u 100", "end a u 107"}, "+a/u@100 -a/u@107"},
        {"an end of an unknown object", {"end a u 7", "take a u 6"}, ""},
        {"a list that is older than an answer", {"take a u 205", "list", "listed 200"}, "+a/u@205"},
        {"a list that is younger", {"take a u 150", "list", "listed 200"}, "+a/u@150 -a/u@150"},
        {"a list with the object",
         {"take a u 150", "list", "item a u 150", "listed 200"},
         "+a/u@150"},
        {"an object of an earlier list",
         {"list", "item a u 3", "listed 9", "list", "listed 12"},
         "+a/u@3 -a/u@3"},
        {"a name that is used again",
         {"take a u 100", "list", "item a v 150", "listed 200"},
         "+a/u@100 -a/u@100 +a/v@150"},
        {"an answer about the name's earlier object", {"take a v 150", "take a u 100"}, "+a/v@150"},
        {"a write that found nothing",
         {"take a u 100", "absent a u", "take a u 101"},
         "+a/u@100 -a/u@100"},
        {"a write that found another object", {"take a u 100", "absent a v"}, "+a/u@100"},
        {"an answer that nothing follows", {"answer a u 100", "end a u 101"}, ""},
        {"an answer, then the watch", {"answer a u 100", "take a u 100"}, "+a/u@100"},
    };

    for (size_t i = 0; i < countof(cases); i++) {
        struct fixture fixture;

        start(&fixture);
        for (size_t k = 0; k < countof(cases[i].steps) && cases[i].steps[k]; k++)
            step(&fixture, cases[i].steps[k]);
        check_str(cases[i].name, fixture.told.data, cases[i].told);
        stop(&fixture);
    }
}

static void answers_are_kept_for_a_while(void **state)
{
    struct fixture fixture;

    start(&fixture);
    step(&fixture, "answer a u 100");
    check("known", cache_get(fixture.cache, &kind_job, "default", "a") != NULL);
    loop_advance(fixture.loop, CACHE_ANSWER_KEPT_MS - 1000);
    check("asked for", cache_get(fixture.cache, &kind_job, "default", "a") != NULL);
    loop_advance(fixture.loop, CACHE_ANSWER_KEPT_MS - 1000);
    check("still there", cache_get(fixture.cache, &kind_job, "default", "a") != NULL);
    loop_advance(fixture.loop, (int64_t)CACHE_ANSWER_KEPT_MS * 3);
    check("gone", cache_get(fixture.cache, &kind_job, "default", "a") == NULL);
    check_str("told", fixture.told.data, "");
    stop(&fixture);
}

static void deleted_objects_stay_deleted_while_a_request_is_under_way(void **state)
{
    struct fixture fixture;

    start(&fixture);
    fixture.busy = true;
    step(&fixture, "take a u 100");
    step(&fixture, "end a u 101");
    loop_advance(fixture.loop, (int64_t)CACHE_TOMBSTONE_MS * 5);
    step(&fixture, "take a u 100");
    check_str("told", fixture.told.data, "+a/u@100 -a/u@101");
    stop(&fixture);
}

static void count_one(void *arg, const struct object *object)
{
    ++*(unsigned *)arg;
}

static unsigned owned(struct fixture *fixture, const char *uid)
{
    unsigned count = 0;

    cache_each_owned(fixture->cache, &kind_pod, uid, count_one, &count);
    return count;
}

static void objects_are_found_by_their_owners(void **state)
{
    struct object *pods[] = {
        sample_object(.name = "p", .kind = &kind_pod, .owner_uid = "j", .owner_uid2 = "k"),
        sample_object(.name = "q", .kind = &kind_pod, .owner_uid = "j"),
        sample_object(.name = "q", .kind = &kind_pod, .owner_uid = "l"),
    };
    struct fixture fixture;

    start(&fixture);
    for (size_t i = 0; i < countof(pods); i++)
        pods[i]->revision = (int64_t)i + 1;
    cache_take(fixture.cache, pods[0], CACHE_FOLLOWED, 0);
    cache_take(fixture.cache, pods[1], CACHE_FOLLOWED, 0);
    check_int("of j", owned(&fixture, "j"), 2);
    check_int("of k", owned(&fixture, "k"), 1);
    cache_take(fixture.cache, pods[2], CACHE_FOLLOWED, 0);
    check_int("of j, when q has another owner", owned(&fixture, "j"), 1);
    check_int("of l", owned(&fixture, "l"), 1);
    cache_take_end(fixture.cache, pods[0]);
    check_int("of j, when p is gone", owned(&fixture, "j"), 0);
    check_int("of k, when p is gone", owned(&fixture, "k"), 0);
    for (size_t i = 0; i < countof(pods); i++)
        object_unref(pods[i]);
    stop(&fixture);
}

/* A server prints the members of a status in another order than the controller that wrote it. */
static void an_equal_status_keeps_its_text(void **state)
{
    struct object *first = sample_object(.name = "a", .status = "{\"b\":1,\"a\":2}");
    struct object *same = sample_object(.name = "a", .status = "{\"a\":2,\"b\":1}");
    struct object *other = sample_object(.name = "a", .status = "{\"a\":2,\"b\":3}");
    struct fixture fixture;

    start(&fixture);
    first->revision = 1;
    same->revision = 2;
    other->revision = 3;
    cache_take(fixture.cache, first, CACHE_FOLLOWED, 0);
    cache_take(fixture.cache, same, CACHE_FOLLOWED, 0);
    check_str("equal", cache_get(fixture.cache, &kind_job, "default", "a")->status->text,
              "{\"b\":1,\"a\":2}");
    cache_take(fixture.cache, other, CACHE_FOLLOWED, 0);
    check_str("other", cache_get(fixture.cache, &kind_job, "default", "a")->status->text,
              "{\"a\":2,\"b\":3}");
    object_unref(first);
    object_unref(same);
    object_unref(other);
    stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_never_go_back),
        cmocka_unit_test(answers_are_kept_for_a_while),
        cmocka_unit_test(deleted_objects_stay_deleted_while_a_request_is_under_way),
        cmocka_unit_test(objects_are_found_by_their_owners),
        cmocka_unit_test(an_equal_status_keeps_its_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
