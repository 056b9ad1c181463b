/*
 * Tests of the fit queue: its order, and that a search finds what looking at each item in turn
 * would find, in few steps.
 */
#include "tests/unit.h"

#include "node/machine/fit_queue.h"
#include "tests/support/dice.h"

enum { ITEMS = 300, STEPS = 20000, SIZES = 6 };

struct entry {
    int key;
    struct fit_item item;
};

static bool before(const struct fit_item *a, const struct fit_item *b)
{
    return container_of(a, struct entry, item)->key < container_of(b, struct entry, item)->key;
}

static int key_of(const struct fit_item *item)
{
    return item ? container_of(item, struct entry, item)->key : -1;
}

static struct amount cpus(int64_t cpu)
{
    return (struct amount){.cpu_milli = cpu, .pods = 1};
}

/* Returns what a search would find by looking at each item in turn. entries[i] has the key i. */
static int first_fit(const struct entry *entries, int after, struct amount room)
{
    for (int i = after + 1; i < ITEMS; i++)
        if (fit_queue_has(&entries[i].item) &&
            amount_fits(entries[i].item.need, (struct amount){0}, room))
            return i;
    return -1;
}

static struct amount any_amount(struct dice *dice)
{
    return (struct amount){.cpu_milli = dice_roll(dice, SIZES),
                           .memory_bytes = dice_roll(dice, SIZES),
                           .pods = 1,
                           .extra = {dice_roll(dice, 2)}};
}

static void check_order(const struct fit_queue *queue, const struct entry *entries)
{
    const struct fit_item *item = fit_queue_first(queue);
    size_t n = 0;

    for (int i = 0; i < ITEMS; i++) {
        if (!fit_queue_has(&entries[i].item))
            continue;
        check_int("next", key_of(item), i);
        item = fit_queue_next(item);
        n++;
    }
    check("no more", !item);
    check_int("count", queue->count, n);
}

static void a_search_finds_what_looking_at_each_item_would_find(void **state)
{
    struct fit_queue queue = {.before = before};
    struct dice dice = {7};
    struct entry entries[ITEMS] = {0};

    for (int i = 0; i < ITEMS; i++)
        entries[i].key = i;
    for (int step = 0; step < STEPS; step++) {
        struct entry *entry = &entries[dice_roll(&dice, ITEMS)];
        int after = dice_roll(&dice, ITEMS);
        struct amount room = any_amount(&dice);

        if (!fit_queue_has(&entry->item))
            fit_queue_add(&queue, &entry->item, any_amount(&dice));
        else if (dice_roll(&dice, 2))
            fit_queue_set_need(&entry->item, any_amount(&dice));
        else
            fit_queue_remove(&queue, &entry->item);
        check_int("from the beginning", key_of(fit_queue_find(&queue, NULL, room)),
                  first_fit(entries, -1, room));
        if (fit_queue_has(&entries[after].item))
            check_int("behind an item", key_of(fit_queue_find(&queue, &entries[after].item, room)),
                      first_fit(entries, after, room));
        if (step % 100 == 0)
            check_order(&queue, entries);
    }
}

static void equal_items_leave_in_the_order_they_came_in(void **state)
{
    struct fit_queue queue = {.before = before};
    struct entry entries[ITEMS] = {0};

    for (int i = 0; i < ITEMS; i++)
        fit_queue_add(&queue, &entries[i].item, cpus(1));
    for (int i = 0; i < ITEMS; i++) {
        check("in turn", fit_queue_first(&queue) == &entries[i].item);
        fit_queue_remove(&queue, fit_queue_first(&queue));
        fit_queue_remove(&queue, &entries[i].item); /* the item is in no queue now */
    }
    check_int("none is left", queue.count, 0);
    check("nor found", !fit_queue_find(&queue, NULL, cpus(10)));
}

static void what_nobody_needs_may_be_overdrawn(void **state)
{
    struct fit_queue queue = {.before = before};
    struct entry big = {.key = 1}, small = {.key = 2}, none = {.key = 3};

    fit_queue_add(&queue, &big.item, cpus(1500));
    fit_queue_add(&queue, &small.item, cpus(100));
    fit_queue_add(&queue, &none.item, cpus(0));
    check_int("less than nothing is left", key_of(fit_queue_find(&queue, NULL, cpus(-1000))), 3);
    check_int("a little is left", key_of(fit_queue_find(&queue, NULL, cpus(500))), 2);
    check_int("enough is left", key_of(fit_queue_find(&queue, NULL, cpus(1500))), 1);
    check("no slot is left", !fit_queue_find(&queue, NULL, (struct amount){.cpu_milli = 1500}));
}

enum { MANY = 100000 };

/* The number of calls of `before`, as a measure of steps. */
static size_t compared;

static bool counted_before(const struct fit_item *a, const struct fit_item *b)
{
    compared++;
    return before(a, b);
}

static void a_queue_in_order_costs_a_few_comparisons_an_item(void **state)
{
    struct fit_queue queue = {.before = counted_before};
    struct entry *entries = mem_array(MANY, sizeof *entries);

    compared = 0;
    for (int i = 0; i < MANY; i++) {
        entries[i].key = i;
        fit_queue_add(&queue, &entries[i].item, cpus(i < MANY - 1 ? 2000 : 100));
    }
    check("each is added at the end", compared <= MANY);
    check_int("the last is found", key_of(fit_queue_find(&queue, NULL, cpus(100))), MANY - 1);
    while (fit_queue_first(&queue))
        fit_queue_remove(&queue, fit_queue_first(&queue));
    check("removing compares nothing", compared <= MANY);
    mem_free(entries);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_search_finds_what_looking_at_each_item_would_find),
        cmocka_unit_test(equal_items_leave_in_the_order_they_came_in),
        cmocka_unit_test(what_nobody_needs_may_be_overdrawn),
        cmocka_unit_test(a_queue_in_order_costs_a_few_comparisons_an_item),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
