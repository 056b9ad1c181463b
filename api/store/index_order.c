/*
 * Sorting when a page is asked for, not before: what came since the last page is sorted and merged
 * in, so a store that nobody lists never sorts.
 */
#include "api/store/index_order.h"

static int text_compare(const char *a, size_t a_len, const char *b, size_t b_len)
{
    int order = memcmp(a, b, a_len < b_len ? a_len : b_len);

    return order ? order : (a_len > b_len) - (a_len < b_len);
}

static int key_compare(const struct index_key *a, const struct index_key *b)
{
    int order = text_compare(a->ns, a->ns_len, b->ns, b->ns_len);

    return order ? order : text_compare(a->name, a->name_len, b->name, b->name_len);
}

/* Close the holes; keeps the order of the rest. */
static void order_compact(struct order *order)
{
    size_t kept = 0, sorted = 0;

    for (size_t i = 0; i < order->count; i++) {
        if (!order->items[i])
            continue;
        order->items[kept] = order->items[i];
        order->items[kept]->position = kept;
        kept++;
        if (i < order->sorted)
            sorted = kept;
    }
    order->count = kept;
    order->sorted = sorted;
    order->holes = 0;
}

void index_order_add(struct order *order, struct entry *entry)
{
    if (order->count == order->cap && order->holes > order->count / 2)
        order_compact(order);
    mem_grow(order->items, order->count, order->cap);
    entry->position = order->count;
    order->items[order->count++] = entry;
}

void index_order_remove(struct order *order, struct entry *entry)
{
    order->items[entry->position] = NULL;
    order->holes++;
}

static int entry_compare(const void *a, const void *b)
{
    const struct entry *x = *(struct entry *const *)a, *y = *(struct entry *const *)b;
    struct index_key x_key = index_key_of(x->object), y_key = index_key_of(y->object);

    return key_compare(&x_key, &y_key);
}

/* Sort what came since the last time and merge it in, from the back. */
static void order_update(struct order *order)
{
    struct entry **tail;
    size_t n_tail, i, j, to;

    if (order->holes)
        order_compact(order);
    n_tail = order->count - order->sorted;
    if (n_tail == 0)
        return;
    tail = mem_array(n_tail, sizeof *tail);
    memcpy(tail, order->items + order->sorted, n_tail * sizeof *tail);
    qsort(tail, n_tail, sizeof *tail, entry_compare);
    i = order->sorted;
    j = n_tail;
    to = order->count;
    while (j > 0) {
        bool from_sorted = i > 0 && entry_compare(&order->items[i - 1], &tail[j - 1]) > 0;
        struct entry *last = from_sorted ? order->items[--i] : tail[--j];

        order->items[--to] = last;
        last->position = to;
    }
    order->sorted = order->count;
    mem_free(tail);
}

/* ---- pages ---- */

/* The first position whose key is greater than `key` (or not less, when `inclusive`). */
static size_t order_after(const struct order *order, const struct index_key *key, bool inclusive)
{
    size_t low = 0, high = order->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        struct index_key at = index_key_of(order->items[middle]->object);
        int compared = key_compare(&at, key);

        if (compared < 0 || (compared == 0 && !inclusive))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* "namespace/name", or a name alone. */
static struct index_key key_parse(const char *text)
{
    const char *slash = strchr(text, '/');
    struct index_key key = index_key("", slash ? slash + 1 : text);

    if (slash) {
        key.ns = text;
        key.ns_len = (size_t)(slash - text);
    }
    return key;
}

size_t index_page(struct index *index, const struct kind *kind, const char *ns, const char *after,
                  size_t limit, struct object **out)
{
    struct order *order = &index->orders[kind->id];
    size_t at = 0, from_ns = 0, count = 0;
    struct index_key key;

    order_update(order);
    if (after) {
        key = key_parse(after);
        at = order_after(order, &key, false);
    }
    if (ns) {
        key = index_key(ns, "");
        from_ns = order_after(order, &key, true);
        at = at > from_ns ? at : from_ns;
    }
    for (; at < order->count && count < limit; at++) {
        struct object *object = order->items[at]->object;

        if (ns && strcmp(object_namespace(object), ns) != 0)
            break;
        out[count++] = object_ref(object);
    }
    return count;
}
