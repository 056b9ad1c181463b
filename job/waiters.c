/*
 * A hash table from the name waited for to the list of its jobs.
 */
#include "job/waiters.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "job/run.h"

struct waiter_list {
    char *key;
    struct job_run *first;
    UT_hash_handle hh;
};

static char *key_of(const struct kind *kind, const char *ns, const char *name)
{
    return mem_printf("%s/%s/%s", kind->name, ns, name);
}

static struct waiter_list *find(const struct job_waiters *waits, const char *key)
{
    struct waiter_list *list;

    HASH_FIND(hh, waits->lists, key, strlen(key), list);
    return list;
}

void job_wait_for(struct job_run *run, const struct kind *kind, const char *ns, const char *name)
{
    struct job_waiters *waits = &run->ctl->waits;
    char *key = key_of(kind, ns, name);
    struct waiter_list *list = find(waits, key);

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
    run->wait = (struct job_waiter){list, list->first, NULL};
    if (list->first)
        list->first->wait.prev = run;
    list->first = run;
}

void job_wait_end(struct job_run *run)
{
    struct job_waiter *wait = &run->wait;
    struct waiter_list *list = wait->list;

    if (!list)
        return;
    if (wait->prev)
        wait->prev->wait.next = wait->next;
    else
        list->first = wait->next;
    if (wait->next)
        wait->next->wait.prev = wait->prev;
    *wait = (struct job_waiter){0};
    if (!list->first) {
        HASH_DEL(run->ctl->waits.lists, list);
        mem_free(list->key);
        mem_free(list);
    }
}

void job_waiters_wake(struct job_waiters *waits, const struct kind *kind, const char *ns,
                      const char *name)
{
    struct waiter_list *list;
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
