/*
 * Compares the in-memory index with a plain list over a few thousand random changes. covers:
 * reliability.md INV-S8
 */
#include "tests/unit.h"

#include "api/store/index.h"
#include "base/clock.h"
#include "tests/support/objects.h"

enum { NAMES = 40, STEPS = 4000 };

static const char *const spaces[] = {"a", "a-b", "a.b", "b"};

/* The model: the objects that the index should have. */
static struct object *model[NAMES];

static struct object *make(struct clock *clock, int n, int life)
{
    char name[32], uid[32], owner[32], owner2[32];
    bool owned = n > 0 && clock_random(clock) % 2;

    snprintf(name, sizeof name, "n%d", n % 13);
    snprintf(uid, sizeof uid, "u%d-%d", n, life);
    snprintf(owner, sizeof owner, "u%d-0", n / 2);
    snprintf(owner2, sizeof owner2, "u%d-1", n / 3);
    return sample_object(.name = name, .kind = n % 3 ? &kind_job : &kind_pod,
                         .ns = spaces[n % countof(spaces)], .uid = uid,
                         .owner_uid = owned ? owner : NULL,
                         .owner_uid2 = owned && n % 5 == 0 ? owner2 : NULL);
}

static bool same_name(const struct object *a, const struct object *b)
{
    return a->kind == b->kind && strcmp(object_name(a), object_name(b)) == 0 &&
           strcmp(object_namespace(a), object_namespace(b)) == 0;
}

static bool taken(const struct object *object)
{
    for (int i = 0; i < NAMES; i++)
        if (model[i] &&
            (same_name(model[i], object) || strcmp(object_uid(model[i]), object_uid(object)) == 0))
            return true;
    return false;
}

static void count_visit(void *arg, const struct object *object)
{
    ++*(size_t *)arg;
}

static bool owned_by(const struct object *object, const char *uid)
{
    for (uint32_t i = 0; i < object->meta->n_owners; i++)
        if (strcmp(object->meta->owners[i].uid, uid) == 0)
            return true;
    return false;
}

static void compare_owned(const struct index *index, const char *uid)
{
    size_t want = 0, got = 0;

    for (int i = 0; i < NAMES; i++)
        if (model[i] && owned_by(model[i], uid))
            want++;
    index_each_owned(index, NULL, uid, count_visit, &got);
    check_int(uid, got, want);
}

static int by_name(const struct object *a, const struct object *b)
{
    int order = strcmp(object_namespace(a), object_namespace(b));

    return order ? order : strcmp(object_name(a), object_name(b));
}

/* Compares a kind that is read in pages of three with the model. */
static void compare_pages(struct index *index, const struct kind *kind, const char *ns)
{
    struct object *page[3];
    char after[64] = "";
    size_t want = 0, got = 0, count;
    scoped(object) struct object *last = NULL;

    for (int i = 0; i < NAMES; i++)
        if (model[i] && model[i]->kind == kind &&
            (!ns || strcmp(object_namespace(model[i]), ns) == 0))
            want++;
    check_int("count", index_count(index, kind, ns), want);
    while ((count = index_page(index, kind, ns, got ? after : NULL, 3, page))) {
        for (size_t i = 0; i < count; i++) {
            if (last)
                check("pages ascend", by_name(last, page[i]) < 0);
            object_unref(last);
            last = page[i];
        }
        got += count;
        snprintf(after, sizeof after, "%s/%s", object_namespace(last), object_name(last));
    }
    check_int("paged", got, want);
}

static void compare(struct index *index)
{
    size_t total = 0;

    for (int i = 0; i < NAMES; i++) {
        struct entry *entry;

        if (!model[i])
            continue;
        total++;
        entry = index_get(index, model[i]->kind, object_namespace(model[i]), object_name(model[i]));
        assert_non_null(entry);
        check("by name", entry->object == model[i]);
        check("by uid", index_get_uid(index, object_uid(model[i])) == entry);
    }
    check_int("total", index_count(index, NULL, NULL), total);
    for (int i = 0; i < NAMES; i++) {
        char uid[32];

        snprintf(uid, sizeof uid, "u%d-%d", i, i % 2);
        compare_owned(index, uid);
    }
    compare_pages(index, &kind_job, NULL);
    compare_pages(index, &kind_pod, NULL);
    for (size_t i = 0; i < countof(spaces); i++)
        compare_pages(index, &kind_job, spaces[i]);
}

static void step(struct index *index, struct clock *clock, int n, int life)
{
    struct object *object = make(clock, n, life);
    struct entry *entry;

    if (!model[n]) {
        bool free_name = !taken(object);

        entry = index_add(index, object);
        check_int("added", entry != NULL, free_name);
        if (entry)
            model[n] = object;
        else
            object_unref(object);
        return;
    }
    entry = index_get_uid(index, object_uid(model[n]));
    if (strcmp(object_uid(model[n]), object_uid(object)) == 0) {
        model[n] = object;
        object_unref(index_replace(index, entry, object));
    } else {
        object_unref(object);
        object_unref(index_remove(index, entry));
        model[n] = NULL;
    }
}

static void the_index_agrees_with_a_list(void **state)
{
    struct clock *clock = clock_virtual_new(0, 7);
    struct index index = {0};

    for (int i = 0; i < STEPS; i++) {
        step(&index, clock, (int)(clock_random(clock) % NAMES), (int)(clock_random(clock) % 3));
        if (i % 40 == 0)
            compare(&index);
    }
    compare(&index);
    index_release(&index);
    clock_free(clock);
}

struct remover {
    struct index *index;
    size_t visits;
};

static void remove_visit(void *arg, const struct object *object)
{
    struct remover *remover = arg;
    struct entry *entry = index_get_uid(remover->index, object_uid(object));

    remover->visits++;
    object_unref(index_remove(remover->index, entry));
}

static void a_visitor_may_remove_what_it_visits(void **state)
{
    struct index index = {0};
    struct remover remover = {&index, 0};

    for (int i = 0; i < 200; i++) {
        char name[16];

        snprintf(name, sizeof name, "n%d", i);
        assert_non_null(index_add(&index, sample_object(.name = name, .owner_uid = "boss")));
    }
    index_each_owned(&index, NULL, "boss", remove_visit, &remover);
    check_int("visits", remover.visits, 200);
    check_int("left", index_count(&index, NULL, NULL), 0);
    check("the owner is forgotten", index.identities.count == 0 && index.spaces == NULL);
    index_release(&index);
}

static void names_beyond_any_limit_are_not_found(void **state)
{
    struct index index = {0};
    char name[700];

    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_null(index_get(&index, &kind_job, "default", name));
    check_int("page", index_page(&index, &kind_job, NULL, name, 1, NULL), 0);
    index_release(&index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_index_agrees_with_a_list),
        cmocka_unit_test(a_visitor_may_remove_what_it_visits),
        cmocka_unit_test(names_beyond_any_limit_are_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
