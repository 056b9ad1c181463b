/*
 * The sorted index. It sorts only when a page is read: entries added since the last page are sorted
 * and merged in, so a store that is never listed never sorts.
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

/* Closes the holes that removals left; keeps the order of the rest. */
static void sorted_compact(struct sorted_index *sorted)
{
    size_t kept = 0, kept_sorted = 0;

    for (size_t i = 0; i < sorted->count; i++) {
        if (!sorted->items[i])
            continue;
        sorted->items[kept] = sorted->items[i];
        sorted->items[kept]->position = kept;
        kept++;
        if (i < sorted->n_sorted)
            kept_sorted = kept;
    }
    sorted->count = kept;
    sorted->n_sorted = kept_sorted;
    sorted->holes = 0;
}

void index_order_add(struct sorted_index *sorted, struct entry *entry)
{
    if (sorted->count == sorted->cap && sorted->holes > sorted->count / 2)
        sorted_compact(sorted);
    mem_grow(sorted->items, sorted->count, sorted->cap);
    entry->position = sorted->count;
    sorted->items[sorted->count++] = entry;
}

void index_order_remove(struct sorted_index *sorted, struct entry *entry)
{
    sorted->items[entry->position] = NULL;
    sorted->holes++;
}

static int entry_compare(const void *a, const void *b)
{
    const struct entry *x = *(struct entry *const *)a, *y = *(struct entry *const *)b;
    struct index_key x_key = index_key_of(x->object), y_key = index_key_of(y->object);

    return key_compare(&x_key, &y_key);
}

/* Sorts the entries added since the last update and merges them in, from the back. */
static void sorted_update(struct sorted_index *sorted)
{
    struct entry **tail;
    size_t n_tail, i, j, to;

    if (sorted->holes)
        sorted_compact(sorted);
    n_tail = sorted->count - sorted->n_sorted;
    if (n_tail == 0)
        return;
    tail = mem_array(n_tail, sizeof *tail);
    memcpy(tail, sorted->items + sorted->n_sorted, n_tail * sizeof *tail);
    qsort(tail, n_tail, sizeof *tail, entry_compare);
    i = sorted->n_sorted;
    j = n_tail;
    to = sorted->count;
    while (j > 0) {
        bool from_sorted = i > 0 && entry_compare(&sorted->items[i - 1], &tail[j - 1]) > 0;
        struct entry *last = from_sorted ? sorted->items[--i] : tail[--j];

        sorted->items[--to] = last;
        last->position = to;
    }
    sorted->n_sorted = sorted->count;
    mem_free(tail);
}

/* Returns the first position whose key is greater than `key`, or not less when `inclusive`. */
static size_t sorted_after(const struct sorted_index *sorted, const struct index_key *key,
                           bool inclusive)
{
    size_t low = 0, high = sorted->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        struct index_key at = index_key_of(sorted->items[middle]->object);
        int compared = key_compare(&at, key);

        if (compared < 0 || (compared == 0 && !inclusive))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Parses "namespace/name", or a name alone. */
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
    struct sorted_index *sorted = &index->by_name[kind->id];
    size_t at = 0, from_ns = 0, count = 0;
    struct index_key key;

    sorted_update(sorted);
    if (after) {
        key = key_parse(after);
        at = sorted_after(sorted, &key, false);
    }
    if (ns) {
        key = index_key(ns, "");
        from_ns = sorted_after(sorted, &key, true);
        at = at > from_ns ? at : from_ns;
    }
    for (; at < sorted->count && count < limit; at++) {
        struct object *object = sorted->items[at]->object;

        if (ns && strcmp(object_namespace(object), ns) != 0)
            break;
        out[count++] = object_ref(object);
    }
    return count;
}
