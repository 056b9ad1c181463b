/*
 * The heap of the waiting lines.
 */
#include "tests/unit.h"

#include "node/scheduler/indexed_heap.h"

struct entry {
    int key;
    struct order_item place;
};

static bool before(const struct order_item *a, const struct order_item *b)
{
    return container_of(a, struct entry, place)->key < container_of(b, struct entry, place)->key;
}

static int first_key(struct order *order)
{
    return container_of(order_first(order), struct entry, place)->key;
}

enum { N = 500 };

static void comes_out_in_order_whatever_the_order_of_adding(void **state)
{
    struct order order = {.before = before};
    struct entry entries[N];

    for (int i = 0; i < N; i++) {
        entries[i] = (struct entry){.key = i * 7919 % N};
        order_add(&order, &entries[i].place);
    }
    for (int i = 0; i < N; i++) {
        check_int("first", first_key(&order), i);
        order_remove(&order, order_first(&order));
    }
    assert_null(order_first(&order));
    order_release(&order);
}

static void any_entry_can_be_removed_or_moved(void **state)
{
    struct order order = {.before = before};
    struct entry entries[N];

    for (int i = 0; i < N; i++) {
        entries[i] = (struct entry){.key = i};
        order_add(&order, &entries[i].place);
    }
    for (int i = 0; i < N; i += 2)
        order_remove(&order, &entries[i].place);
    for (int i = 1; i < N; i += 2) {
        entries[i].key = N - i;
        order_moved(&order, &entries[i].place);
    }
    for (int last = 0; order_first(&order);
         last = first_key(&order), order_remove(&order, order_first(&order)))
        check("sorted", first_key(&order) >= last);
    order_release(&order);
}

static void removing_what_is_in_no_order_does_nothing(void **state)
{
    struct order order = {.before = before};
    struct entry entry = {0};

    order_remove(&order, &entry.place);
    order_moved(&order, &entry.place);
    check("not in it", !order_has(&entry.place));
    order_add(&order, &entry.place);
    check("in it", order_has(&entry.place));
    order_remove(&order, &entry.place);
    check("out of it", !order_has(&entry.place));
    order_release(&order);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_out_in_order_whatever_the_order_of_adding),
        cmocka_unit_test(any_entry_can_be_removed_or_moved),
        cmocka_unit_test(removing_what_is_in_no_order_does_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
