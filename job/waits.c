/*
 * A hash table from the name waited for to the list of its jobs.
 */
#include "job/waits.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "job/run.h"

struct wait_list {
    char *key;
    struct job_run *first;
    UT_hash_handle hh;
};

static char *key_of(const struct kind *kind, const char *ns, const char *name)
{
    return mem_printf("%s/%s/%s", kind->name, ns, name);
}

static struct wait_list *find(const struct job_waits *waits, const char *key)
{
    struct wait_list *list;

    HASH_FIND(hh, waits->lists, key, strlen(key), list);
    return list;
}

void job_wait_for(struct job_run *run, const struct kind *kind, const char *ns, const char *name)
{
    struct job_waits *waits = &run->ctl->waits;
    char *key = key_of(kind, ns, name);
    struct wait_list *list = find(waits, key);

    if (list && run->wait.list == list) {
        mem_free(key);
        return;
    }
    job_wait_end(run);
    list = find(waits, key); /* the last waiter may have taken it along */
    if (list) {
        mem_free(key);
    } else {
        list = mem_alloc(sizeof *list);
        list->key = key;
        HASH_ADD_KEYPTR(hh, waits->lists, list->key, strlen(list->key), list);
    }
    run->wait = (struct job_wait){list, list->first, NULL};
    if (list->first)
        list->first->wait.prev = run;
    list->first = run;
}

void job_wait_end(struct job_run *run)
{
    struct job_wait *wait = &run->wait;
    struct wait_list *list = wait->list;

    if (!list)
        return;
    if (wait->prev)
        wait->prev->wait.next = wait->next;
    else
        list->first = wait->next;
    if (wait->next)
        wait->next->wait.prev = wait->prev;
    *wait = (struct job_wait){0};
    if (!list->first) {
        HASH_DEL(run->ctl->waits.lists, list);
        mem_free(list->key);
        mem_free(list);
    }
}

void job_waits_wake(struct job_waits *waits, const struct kind *kind, const char *ns,
                    const char *name)
{
    struct wait_list *list;
    char *key;

    if (!waits->lists)
        return;
    key = key_of(kind, ns, name);
    list = find(waits, key);
    mem_free(key);
    for (struct job_run *run = list ? list->first : NULL, *next; run; run = next) {
        next = run->wait.next;
        job_wait_end(run); /* with the last one the list goes */
        job_run_wake(run);
    }
}
