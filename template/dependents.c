/*
 * A sorted list with lazy removal.
 */
#include "template/dependents.h"
#include "base/mem.h"
#include <string.h>

static int compare(const struct meta *a, const struct meta *b)
{
    int by_name;

    if (a->created_at_ms != b->created_at_ms)
        return a->created_at_ms < b->created_at_ms ? -1 : 1;
    by_name = strcmp(a->name, b->name);
    return by_name ? by_name : strcmp(a->uid, b->uid);
}

/* The first place whose job is not before `job`. */
static size_t lower_bound(const struct template_dependents *list, const struct meta *job)
{
    size_t low = 0, high = list->count;

    if (high && compare(list->items[high - 1], job) < 0)
        return high; /* the usual case: the newest */
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare(list->items[middle], job) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void make_room(struct template_dependents *list)
{
    if (list->count < list->cap)
        return;
    list->cap = list->cap ? list->cap * 2 : 8;
    list->items = mem_resize(list->items, list->cap * sizeof(struct meta *));
    list->removed = mem_resize(list->removed, list->cap * sizeof *list->removed);
}

bool template_dependents_add(struct template_dependents *list, const struct meta *job)
{
    size_t at = lower_bound(list, job);

    if (at < list->count && compare(list->items[at], job) == 0) {
        if (!list->removed[at])
            return false;
        list->removed[at] = false;
        list->live++;
        return true;
    }
    make_room(list);
    memmove(list->items + at + 1, list->items + at, (list->count - at) * sizeof(struct meta *));
    memmove(list->removed + at + 1, list->removed + at, (list->count - at) * sizeof *list->removed);
    list->items[at] = meta_ref(job);
    list->removed[at] = false;
    list->count++;
    list->live++;
    return true;
}

bool template_dependents_remove(struct template_dependents *list, const struct meta *job)
{
    size_t at = lower_bound(list, job);

    if (at == list->count || compare(list->items[at], job) != 0 || list->removed[at])
        return false;
    list->removed[at] = true;
    list->live--;
    return true;
}

static void close_gaps(struct template_dependents *list)
{
    size_t kept = 0;

    if (list->live == list->count)
        return;
    for (size_t i = 0; i < list->count; i++) {
        if (list->removed[i]) {
            meta_unref(list->items[i]);
            continue;
        }
        list->items[kept] = list->items[i];
        list->removed[kept++] = false;
    }
    list->count = kept;
}

void template_dependents_release(struct template_dependents *list)
{
    for (size_t i = 0; i < list->count; i++)
        meta_unref(list->items[i]);
    mem_free(list->items);
    mem_free(list->removed);
    memset(list, 0, sizeof *list);
}

struct blob *template_dependents_status(struct template_dependents *list)
{
    scoped(buf) struct buf text = {0};
    struct jsonw w = jsonw_to(&text);

    close_gaps(list);
    jsonw_open(&w);
    if (list->live) {
        jsonw_member_open_list(&w, "jobDependsOnList");
        for (size_t i = 0; i < list->count && i < TEMPLATE_DEPENDENTS_SHOWN; i++)
            jsonw_str(&w, list->items[i]->name);
        jsonw_close_list(&w);
    }
    jsonw_close(&w);
    return blob_from_buf(&text);
}
