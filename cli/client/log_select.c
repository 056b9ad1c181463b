/*
 * Takes what it needs from the documents of pods and PodLogs, sorts, and walks over the groups of
 * equal names.
 */
#include "cli/client/log_select.h"

#include <stdlib.h>
#include <string.h>

#include "api/types/kinds/jobflow/jobflow.h"
#include "api/types/kinds/pod/pod.h"
#include "base/mem.h"
#include "base/timefmt.h"

static const char *text_of(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));

    return text ? text : "";
}

static int64_t time_of(const json_t *object, const char *member)
{
    int64_t at_ms = 0;

    return time_parse(text_of(object, member), &at_ms, NULL) ? at_ms : 0;
}

static void source_release(struct log_source *source)
{
    char *const texts[] = {source->ns,   source->pod, source->uid,
                           source->kept, source->job, source->job_uid};

    for (size_t i = 0; i < countof(texts); i++)
        mem_free(texts[i]);
    for (size_t i = 0; i < source->n_containers; i++)
        mem_free(source->containers[i].name);
    mem_free(source->containers);
}

void log_select_release(struct log_select *select)
{
    for (size_t i = 0; i < select->count; i++)
        source_release(&select->items[i]);
    mem_free(select->items);
    json_decref(select->uids);
    json_decref(select->attempts);
}

void log_select_add_job(struct log_select *select, const json_t *job)
{
    const json_t *metadata = json_object_get(job, "metadata");
    const char *attempt =
        text_of(json_object_get(metadata, "annotations"), ANNOTATION_FLOW_ATTEMPT);

    if (!select->attempts)
        select->attempts = json_object();
    json_object_set_new(select->attempts, text_of(metadata, "uid"),
                        json_integer(*attempt ? atoll(attempt) : 1));
}

static struct log_source *source_new(struct log_select *select, const json_t *metadata,
                                     int64_t rank)
{
    struct log_source *source;

    mem_grow(select->items, select->count, select->cap);
    source = &select->items[select->count++];
    *source = (struct log_source){.ns = mem_strdup(text_of(metadata, "namespace")), .rank = rank};
    source->revision = atoll(text_of(metadata, "resourceVersion"));
    return source;
}

static void add_container(struct log_source *source, const struct log_container *container)
{
    source->containers =
        mem_resize(source->containers, (source->n_containers + 1) * sizeof *source->containers);
    source->containers[source->n_containers] = *container;
    source->containers[source->n_containers++].name = mem_strdup(container->name);
}

/* Adds the containers that run or have run. */
static void add_statuses(struct log_source *source, const json_t *statuses, bool init)
{
    size_t i;
    json_t *status;

    json_array_foreach(statuses, i, status)
    {
        const json_t *state = json_object_get(status, "state");
        int64_t restarts = json_integer_value(json_object_get(status, "restartCount"));

        if (json_object_get(state, "running") || json_object_get(state, "terminated") || restarts)
            add_container(source,
                          &(struct log_container){(char *)text_of(status, "name"), restarts, init});
    }
}

static const char *job_uid_of(const json_t *metadata)
{
    size_t i;
    json_t *owner;

    json_array_foreach(json_object_get(metadata, "ownerReferences"), i, owner)
    {
        if (json_is_true(json_object_get(owner, "controller")))
            return text_of(owner, "uid");
    }
    return "";
}

void log_select_add_pod(struct log_select *select, const json_t *pod, int64_t rank)
{
    const json_t *metadata = json_object_get(pod, "metadata");
    const json_t *status = json_object_get(pod, "status");
    struct log_source *source = source_new(select, metadata, rank);

    source->pod = mem_strdup(text_of(metadata, "name"));
    source->uid = mem_strdup(text_of(metadata, "uid"));
    source->job = mem_strdup(text_of(json_object_get(metadata, "labels"), LABEL_JOB_NAME));
    source->job_uid = mem_strdup(job_uid_of(metadata));
    source->start_ms = time_of(status, "startTime");
    add_statuses(source, json_object_get(status, "initContainerStatuses"), true);
    add_statuses(source, json_object_get(status, "containerStatuses"), false);
    if (!select->uids)
        select->uids = json_object();
    json_object_set_new(select->uids, source->uid, json_true());
}

void log_select_add_kept(struct log_select *select, const json_t *pod_log, int64_t rank)
{
    const json_t *metadata = json_object_get(pod_log, "metadata");
    const json_t *status = json_object_get(pod_log, "status");
    struct log_source *source;
    size_t i;
    json_t *container;

    if (json_object_get(select->uids, text_of(status, "uid")))
        return;
    source = source_new(select, metadata, rank);
    source->kept = mem_strdup(text_of(metadata, "name"));
    source->pod = mem_strdup(text_of(status, "pod"));
    source->uid = mem_strdup(text_of(status, "uid"));
    source->job = mem_strdup(text_of(status, "job"));
    source->job_uid = mem_strdup(text_of(status, "jobUID"));
    source->attempt = json_integer_value(json_object_get(status, "attempt"));
    source->start_ms = time_of(status, "startTime");
    json_array_foreach(json_object_get(status, "containers"), i, container) add_container(
        source, &(struct log_container){(char *)text_of(container, "name"),
                                        json_integer_value(json_object_get(container, "restarts")),
                                        json_is_true(json_object_get(container, "init"))});
}

static int by_number(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Compares two pods of one name by age: the one that exists is newer, else the one that started
 * later. */
static int by_age(const struct log_source *a, const struct log_source *b)
{
    int order = (a->kept == NULL) - (b->kept == NULL);

    if (!order)
        order = by_number(a->start_ms, b->start_ms);
    if (!order)
        order = by_number(a->attempt, b->attempt);
    return order ? order : by_number(a->revision, b->revision);
}

/* Orders sources by name, those of one name by the newest pod. */
static int by_name(const void *a, const void *b)
{
    const struct log_source *x = *(const struct log_source *const *)a;
    const struct log_source *y = *(const struct log_source *const *)b;
    int order = strcmp(x->ns, y->ns);

    if (!order)
        order = strcmp(x->pod, y->pod);
    return order ? order : by_age(y, x);
}

/* Orders sources by job, those of one job by the newest pod. */
static int by_job(const void *a, const void *b)
{
    const struct log_source *x = *(const struct log_source *const *)a;
    const struct log_source *y = *(const struct log_source *const *)b;
    int order = strcmp(x->ns, y->ns);

    if (!order)
        order = strcmp(x->job, y->job);
    return order ? order : by_age(y, x);
}

struct chosen {
    const struct log_source *source;
    const struct log_container *container;
    bool earlier_run;
};

struct choice {
    const struct log_source **items; /* candidates, [count] */
    size_t count;
    struct chosen *chosen;
    size_t n_chosen, cap_chosen;
};

static void choose(struct choice *choice, const struct log_source *source,
                   const struct log_container *container, bool earlier_run)
{
    mem_grow(choice->chosen, choice->n_chosen, choice->cap_chosen);
    choice->chosen[choice->n_chosen++] = (struct chosen){source, container, earlier_run};
}

/* Keeps the candidates of the newest job of each name. Pods without a job stay. */
static void keep_newest_jobs(struct choice *choice)
{
    const struct log_source *newest = NULL;
    size_t kept = 0;

    if (choice->count)
        qsort(choice->items, choice->count, sizeof(struct log_source *), by_job);
    for (size_t i = 0; i < choice->count; i++) {
        const struct log_source *source = choice->items[i];

        if (!newest || strcmp(newest->job, source->job) != 0 || strcmp(newest->ns, source->ns) != 0)
            newest = source;
        if (!*source->job || strcmp(newest->job_uid, source->job_uid) == 0)
            choice->items[kept++] = source;
    }
    choice->count = kept;
}

/* Chooses the log before the present one of a container: of its earlier run, else of the earlier
 * pod. */
static void choose_previous(struct choice *choice, const struct log_source *present,
                            const struct log_source *earlier)
{
    for (size_t i = 0; i < present->n_containers; i++)
        if (present->containers[i].restarts)
            choose(choice, present, &present->containers[i], true);
    if (choice->n_chosen && choice->chosen[choice->n_chosen - 1].source == present)
        return;
    for (size_t i = 0; earlier && i < earlier->n_containers; i++)
        choose(choice, earlier, &earlier->containers[i], false);
}

static void choose_of_name(struct choice *choice, const struct log_source *const *items,
                           size_t count, bool previous)
{
    if (previous)
        choose_previous(choice, items[0], count > 1 ? items[1] : NULL);
    else
        for (size_t i = 0; i < items[0]->n_containers; i++)
            choose(choice, items[0], &items[0]->containers[i], false);
}

static bool same_name(const struct log_source *a, const struct log_source *b)
{
    return strcmp(a->pod, b->pod) == 0 && strcmp(a->ns, b->ns) == 0;
}

static void choose_by_name(struct choice *choice, bool previous)
{
    size_t end;

    if (choice->count)
        qsort(choice->items, choice->count, sizeof(struct log_source *), by_name);
    for (size_t i = 0; i < choice->count; i = end) {
        end = i + 1;
        while (end < choice->count && same_name(choice->items[i], choice->items[end]))
            end++;
        choose_of_name(choice, choice->items + i, end - i, previous);
    }
}

/* Compares two logs by time; pods of one second by rank and name. Containers of a pod stay in
 * order. */
static int by_time(const void *a, const void *b)
{
    const struct chosen *x = a, *y = b;
    int order = by_number(x->source->start_ms, y->source->start_ms);

    if (!order)
        order = by_number(x->source->rank, y->source->rank);
    if (!order)
        order = strverscmp(x->source->pod, y->source->pod);
    return order ? order
                 : by_number(x->container - x->source->containers,
                             y->container - y->source->containers);
}

int64_t log_select_attempt(const struct log_select *select, const struct log_source *source)
{
    return source->kept ? source->attempt
                        : json_integer_value(json_object_get(select->attempts, source->job_uid));
}

void log_select_choose(const struct log_select *select, int64_t attempt, bool previous,
                       void (*each)(void *ctx, const struct log_source *source,
                                    const struct log_container *container, bool earlier_run),
                       void *ctx)
{
    struct choice choice = {.items = mem_array(select->count + 1, sizeof(struct log_source *))};

    for (size_t i = 0; i < select->count; i++)
        if (select->items[i].n_containers &&
            (!attempt || log_select_attempt(select, &select->items[i]) == attempt))
            choice.items[choice.count++] = &select->items[i];
    if (!previous)
        keep_newest_jobs(&choice);
    choose_by_name(&choice, previous);
    if (choice.n_chosen)
        qsort(choice.chosen, choice.n_chosen, sizeof *choice.chosen, by_time);
    for (size_t i = 0; i < choice.n_chosen; i++)
        each(ctx, choice.chosen[i].source, choice.chosen[i].container,
             choice.chosen[i].earlier_run);
    mem_free(choice.items);
    mem_free(choice.chosen);
}
