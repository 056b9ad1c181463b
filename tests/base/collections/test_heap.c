/*
 * Tests of base/collections/heap: order, and removal and repositioning of any item.
 */
#include "tests/unit.h"

#include "base/collections/heap.h"

struct entry {
    int key;
    struct heap_item place;
};

static bool before(const struct heap_item *a, const struct heap_item *b)
{
    return container_of(a, struct entry, place)->key < container_of(b, struct entry, place)->key;
}

static int first_key(struct heap *order)
{
    return container_of(heap_first(order), struct entry, place)->key;
}

enum { N = 500 };

static void comes_out_in_order_whatever_the_order_of_adding(void **state)
{
    struct heap order = {.before = before};
    struct entry entries[N];

    for (int i = 0; i < N; i++) {
        entries[i] = (struct entry){.key = i * 7919 % N};
        heap_add(&order, &entries[i].place, 0);
    }
    for (int i = 0; i < N; i++) {
        check_int("first", first_key(&order), i);
        heap_remove(&order, heap_first(&order));
    }
    assert_null(heap_first(&order));
    heap_release(&order);
}

static void any_entry_can_be_removed_or_moved(void **state)
{
    struct heap order = {.before = before};
    struct entry entries[N];

    for (int i = 0; i < N; i++) {
        entries[i] = (struct entry){.key = i};
        heap_add(&order, &entries[i].place, 0);
    }
    for (int i = 0; i < N; i += 2)
        heap_remove(&order, &entries[i].place);
    for (int i = 1; i < N; i += 2) {
        entries[i].key = N - i;
        heap_moved(&order, &entries[i].place);
    }
    for (int last = 0; heap_first(&order);
         last = first_key(&order), heap_remove(&order, heap_first(&order)))
        check("sorted", first_key(&order) >= last);
    heap_release(&order);
}

static void removing_what_is_in_no_order_does_nothing(void **state)
{
    struct heap order = {.before = before};
    struct entry entry = {0};

    heap_remove(&order, &entry.place);
    heap_moved(&order, &entry.place);
    check("not in it", !heap_has(&entry.place));
    heap_add(&order, &entry.place, 0);
    check("in it", heap_has(&entry.place));
    heap_remove(&order, &entry.place);
    check("out of it", !heap_has(&entry.place));
    heap_release(&order);
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
