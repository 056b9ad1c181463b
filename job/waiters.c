/*
 * A hash table from the name of an object to the list of jobs that wait for it. A list is freed
 * with its last job.
 */
#include "job/waiters.h"

#include <string.h>

#include "base/collections/hash.h"
#include "base/mem.h"
#include "job/run.h"

struct waiter_list {
    char *key;
    LIST_HEAD(, job_run) jobs;
    UT_hash_handle hh;
};

static char *key_of(const struct kind *kind, const char *ns, const char *name)
{
    return mem_printf("%s/%s/%s", kind->name, ns, name);
}

static struct waiter_list *find(const struct job_waiters *waiters, const char *key)
{
    struct waiter_list *list;

    HASH_FIND(hh, waiters->lists, key, strlen(key), list);
    return list;
}

void job_wait_for(struct job_run *run, const struct kind *kind, const char *ns, const char *name)
{
    struct job_waiters *waiters = &run->ctl->waiters;
    char *key = key_of(kind, ns, name);
    struct waiter_list *list = find(waiters, key);

    if (list && run->waiter.list == list) {
        mem_free(key);
        return;
    }
    job_wait_end(run);
    list = find(waiters, key); /* job_wait_end frees an empty list */
    if (list) {
        mem_free(key);
    } else {
        list = mem_alloc(sizeof *list);
        list->key = key;
        HASH_ADD_KEYPTR(hh, waiters->lists, list->key, strlen(list->key), list);
    }
    run->waiter.list = list;
    LIST_INSERT_HEAD(&list->jobs, run, waiter.all);
}

void job_wait_end(struct job_run *run)
{
    struct waiter_list *list = run->waiter.list;

    if (!list)
        return;
    LIST_REMOVE(run, waiter.all);
    run->waiter.list = NULL;
    if (LIST_EMPTY(&list->jobs)) {
        HASH_DEL(run->ctl->waiters.lists, list);
        mem_free(list->key);
        mem_free(list);
    }
}

void job_waiters_wake(struct job_waiters *waiters, const struct kind *kind, const char *ns,
                      const char *name)
{
    struct waiter_list *list;
    char *key;

    if (!waiters->lists)
        return;
    key = key_of(kind, ns, name);
    list = find(waiters, key);
    mem_free(key);
    for (struct job_run *run = list ? LIST_FIRST(&list->jobs) : NULL, *next; run; run = next) {
        next = LIST_NEXT(run, waiter.all);
        job_wait_end(run); /* frees the list with its last job */
        job_run_wake(run);
    }
}
