/*
 * A sorted list of jobs, and two unsorted ones: jobs to be merged into it and jobs to be taken out.
 * They are sorted and merged when the status is asked for.
 */
#include "template/dependents.h"

#include <string.h>

#include "base/mem.h"

static int compare(const struct meta *a, const struct meta *b)
{
    int by_name;

    if (a->created_at_ms != b->created_at_ms)
        return a->created_at_ms < b->created_at_ms ? -1 : 1;
    by_name = strcmp(a->name, b->name);
    return by_name ? by_name : strcmp(a->uid, b->uid);
}

static int compare_items(const void *a, const void *b)
{
    return compare(*(struct meta *const *)a, *(struct meta *const *)b);
}

static void push(struct meta_list *list, struct meta *job)
{
    mem_grow(list->items, list->count, list->cap); /* NOLINT(bugprone-sizeof-expression) */
    list->items[list->count++] = job;
}

static void release(struct meta_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        meta_unref(list->items[i]);
    mem_free(list->items);
    memset(list, 0, sizeof *list);
}

void template_dependents_add(struct template_dependents *list, const struct meta *job)
{
    push(&list->added, meta_ref(job));
}

void template_dependents_remove(struct template_dependents *list, const struct meta *job)
{
    push(&list->removed, meta_ref(job));
}

void template_dependents_release(struct template_dependents *list)
{
    release(&list->ordered);
    release(&list->added);
    release(&list->removed);
}

size_t template_dependents_count(const struct template_dependents *list)
{
    size_t known = list->ordered.count + list->added.count;

    return known > list->removed.count ? known - list->removed.count : 0;
}

static void sort(struct meta_list *list)
{
    if (list->count > 1)
        qsort(list->items, list->count, sizeof(struct meta *), compare_items);
}

/* Returns the next job of two sorted lists, NULL at the end. A job that is in both lists comes
 * once. */
static struct meta *next_of(struct meta_list *a, size_t *at_a, struct meta_list *b, size_t *at_b)
{
    int order;

    if (*at_a == a->count && *at_b == b->count)
        return NULL;
    if (*at_a == a->count)
        order = 1;
    else if (*at_b == b->count)
        order = -1;
    else
        order = compare(a->items[*at_a], b->items[*at_b]);
    if (order == 0)
        meta_unref(b->items[(*at_b)++]);
    return order <= 0 ? a->items[(*at_a)++] : b->items[(*at_b)++];
}

static void merge_changes(struct template_dependents *list)
{
    struct meta_list merged = {0};
    size_t at_old = 0, at_new = 0, at_gone = 0;
    struct meta *job;

    if (!list->added.count && !list->removed.count)
        return;
    sort(&list->added);
    sort(&list->removed);
    while ((job = next_of(&list->ordered, &at_old, &list->added, &at_new))) {
        while (at_gone < list->removed.count && compare(list->removed.items[at_gone], job) < 0)
            at_gone++;
        if (at_gone < list->removed.count && compare(list->removed.items[at_gone], job) == 0)
            meta_unref(job);
        else
            push(&merged, job);
    }
    list->ordered.count = list->added.count = 0; /* `merged` has the references now */
    release(&list->ordered);
    release(&list->added);
    release(&list->removed);
    list->ordered = merged;
}

struct blob *template_dependents_status(struct template_dependents *list)
{
    scoped(buf) struct buf text = {0};
    struct jsonw w = jsonw_to(&text);

    merge_changes(list);
    jsonw_open(&w);
    if (list->ordered.count) {
        jsonw_member_open_list(&w, "jobDependsOnList");
        for (size_t i = 0; i < list->ordered.count && i < TEMPLATE_DEPENDENTS_SHOWN; i++)
            jsonw_str(&w, list->ordered.items[i]->name);
        jsonw_close_list(&w);
    }
    jsonw_close(&w);
    return blob_from_buf(&text);
}
