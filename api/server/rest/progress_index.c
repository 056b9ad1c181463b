/*
 * A version of the flow is read when a reader makes a line, so at the pace of the fastest reader and
 * not at that of the changes. What differs from the version before is found by comparing statuses;
 * the steps of the spec are gone through only when the flow is read for the first time or its spec
 * has changed.
 */
#include "api/server/rest/progress_index.h"

#include <stdio.h>
#include <string.h>

#include "api/types/kinds/jobflow/jobflow.h"
#include "base/mem.h"

enum { KEY_MAX = 512 }; /* bytes of a namespace and a name with a slash between */

struct progress_table {
    struct api *api;
    struct progress_index *indexes; /* by key */
    struct store_watch *flows, *jobs;
};

static const struct metric_def reads_def = {
    "jobflow_progress_flow_reads_total",
    "Versions of flows that were read for the watchers of their progress.", METRIC_COUNTER};
static const struct metric_def flows_def = {"jobflow_progress_flows",
                                            "Flows whose progress is watched.", METRIC_GAUGE};

static struct metric *metric_for(struct api *api, const struct metric_def *def)
{
    return metric_of(metrics_family(loop_metrics(api->loop), def), NULL);
}

/* Chapter: what a change concerns. */

static void mark(struct progress_index *index, uint32_t vertex)
{
    struct progress_reader *reader;

    LIST_FOREACH(reader, &index->readers, all)
    bitset_add(&reader->untold, vertex);
}

static void wake_all(struct progress_index *index)
{
    struct progress_reader *reader;

    LIST_FOREACH(reader, &index->readers, all)
    reader->wake(reader);
}

/* Marks the step, or the iteration and its loop, of this name. */
static void mark_named(void *ctx, const char *name)
{
    struct progress_index *index = ctx;
    uint32_t step = name_index_get(&index->names, name);
    const char *dash = strrchr(name, '-');
    scoped_str loop = NULL;
    unsigned long iteration;
    char *end;

    if (step != NAME_NONE) {
        mark(index, index->first[step]);
        return;
    }
    if (!dash || dash[1] < '0' || dash[1] > '9')
        return;
    loop = mem_printf("%.*s", (int)(dash - name), name);
    step = name_index_get(&index->names, loop);
    iteration = strtoul(dash + 1, &end, 10);
    if (step == NAME_NONE || *end || iteration >= index->first[step + 1] - index->first[step] - 1)
        return;
    mark(index, index->first[step]);
    mark(index, index->first[step] + 1 + (uint32_t)iteration);
}

static void mark_at(void *ctx, uint32_t vertex)
{
    mark(ctx, vertex);
}

static struct progress_index *find_index(const struct progress_table *table, const char *ns,
                                         const char *name)
{
    struct progress_index *index = NULL;
    char key[KEY_MAX];
    int len = snprintf(key, sizeof key, "%s/%s", ns, name);

    if (len > 0 && len < KEY_MAX)
        HASH_FIND(hh, table->indexes, key, (unsigned)len, index);
    return index;
}

static bool on_flow(void *ctx, enum store_change change, const struct object *old,
                    const struct object *flow)
{
    struct progress_index *index = find_index(ctx, object_namespace(flow), object_name(flow));

    if (!index)
        return true;
    index->stale = true;
    wake_all(index);
    return true;
}

static bool on_job(void *ctx, enum store_change change, const struct object *old,
                   const struct object *job)
{
    const struct owner_ref *owner = meta_controller(job->meta);
    struct progress_index *index =
        owner ? find_index(ctx, object_namespace(job), owner->name) : NULL;
    size_t prefix = index ? strlen(index->name) : 0;

    if (!index || !index->flow || strcmp(owner->uid, object_uid(index->flow)) != 0 ||
        strncmp(object_name(job), index->name, prefix) != 0 || object_name(job)[prefix] != '-')
        return true;
    mark_named(index, object_name(job) + prefix + 1);
    wake_all(index);
    return true;
}

/* Chapter: the flow. */

static const struct object *find_job(void *ctx, const char *name)
{
    const struct progress_index *index = ctx;

    return store_get(index->api->store, &kind_job, index->ns, name);
}

static void forget_flow(struct progress_index *index)
{
    step_list_free(take(index->list));
    object_unref(take(index->flow));
    name_index_release(&index->names);
    mem_free(take(index->first));
    mem_free(take(index->loops));
    index->steps = index->n_loops = 0;
}

uint32_t progress_index_count(const struct progress_index *index)
{
    return index->first ? index->first[index->steps] : 0;
}

/* Lets a reader begin anew: all of the flow is to be told. */
static void begin(struct progress_reader *reader)
{
    uint32_t n = progress_index_count(reader->index);

    bitset_init(&reader->untold, n);
    for (uint32_t i = 0; i < n; i++)
        bitset_add(&reader->untold, i);
    reader->tell_reset = reader->tell_flow = reader->tell_ready = true;
    reader->tell_gone = false;
    reader->n_phases_told = 0;
}

static void begin_gone(struct progress_reader *reader)
{
    bitset_release(&reader->untold);
    reader->tell_reset = reader->tell_flow = reader->tell_ready = false;
    reader->tell_gone = true;
}

/* Takes a flow that was replaced or whose steps have changed. */
static void take_flow(struct progress_index *index, const struct object *flow,
                      struct step_list *list)
{
    const struct jobflow_spec *spec = jobflow_spec_of(flow);
    uint32_t n = (uint32_t)spec->steps.count, vertex = 0;
    struct progress_reader *reader;

    forget_flow(index);
    index->flow = object_ref(flow);
    index->list = list;
    index->steps = n;
    index->first = mem_array((size_t)n + 1, sizeof *index->first);
    index->loops = mem_array((size_t)n + 1, sizeof *index->loops);
    name_index_init(&index->names, n);
    for (uint32_t i = 0; i < n; i++) {
        name_index_put(&index->names, spec->steps.items[i].name, i);
        if (spec->steps.items[i].loop)
            index->loops[index->n_loops++] = i;
        index->first[i] = vertex;
        vertex += 1 + step_list_iterations(list, i);
    }
    index->first[n] = vertex;
    LIST_FOREACH(reader, &index->readers, all)
    begin(reader);
}

static bool same_steps(const struct progress_index *index, const struct object *flow,
                       const struct step_list *list)
{
    if (!index->flow || strcmp(object_uid(index->flow), object_uid(flow)) != 0 ||
        index->flow->meta->generation != flow->meta->generation)
        return false;
    for (uint32_t i = 0; i < index->n_loops; i++) {
        uint32_t step = index->loops[i];

        if (step_list_iterations(list, step) != index->first[step + 1] - index->first[step] - 1)
            return false;
    }
    return true;
}

static void lose_flow(struct progress_index *index)
{
    bool was_gone = index->was_read && !index->flow;
    struct progress_reader *reader;

    forget_flow(index);
    if (was_gone)
        return;
    LIST_FOREACH(reader, &index->readers, all)
    begin_gone(reader);
}

static void compare_flow(struct progress_index *index, const struct object *flow,
                         struct step_list *list)
{
    struct progress_reader *reader;

    step_list_compare(index->list, list, mark_named, mark_at, index);
    step_list_free(index->list);
    index->list = list;
    object_unref(index->flow);
    index->flow = object_ref(flow);
    LIST_FOREACH(reader, &index->readers, all)
    reader->tell_flow = true;
}

void progress_index_refresh(struct progress_index *index)
{
    const struct step_list_options options = {.find_job = find_job, .ctx = index};
    const struct object *flow;

    if (!index->stale)
        return;
    flow = store_get(index->api->store, &kind_job_flow, index->ns, index->name);
    if (!flow) {
        lose_flow(index);
    } else {
        struct step_list *list = step_list_new(flow, &options);

        metric_add(metric_for(index->api, &reads_def), 1);
        if (same_steps(index, flow, list))
            compare_flow(index, flow, list);
        else
            take_flow(index, flow, list);
    }
    index->stale = false;
    index->was_read = true;
}

uint32_t progress_index_step(const struct progress_index *index, uint32_t vertex)
{
    uint32_t low = 0, high = index->steps;

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        if (index->first[middle] <= vertex)
            low = middle;
        else
            high = middle;
    }
    return low;
}

uint32_t progress_index_phase(struct progress_index *index, const char *phase)
{
    for (uint32_t i = 0; i < index->n_phases; i++)
        if (strcmp(index->phases[i], phase) == 0)
            return i;
    if (index->n_phases == PROGRESS_PHASES_MAX)
        return 0;
    index->phases[index->n_phases] = mem_strdup(phase);
    return index->n_phases++;
}

/* Chapter: life. */

static struct store_watch *watch_kind(struct progress_table *table, const struct kind *kind,
                                      bool (*changed)(void *, enum store_change,
                                                      const struct object *, const struct object *))
{
    const struct store_watch_options options = {
        .kind = kind, .since_revision = -1, .changed = changed, .ctx = table};

    return store_watch_open(table->api->store, &options, NULL);
}

/* Returns the table of the API, which exists while there are shared indexes. */
static struct progress_table *table_of(struct api *api)
{
    struct progress_table *table = api->progress;

    if (table)
        return table;
    table = api->progress = mem_alloc(sizeof *table);
    table->api = api;
    table->flows = watch_kind(table, &kind_job_flow, on_flow);
    table->jobs = watch_kind(table, &kind_job, on_job);
    return table;
}

static void count_indexes(struct api *api)
{
    unsigned n = api->progress ? HASH_COUNT(api->progress->indexes) : 0;

    metric_set(metric_for(api, &flows_def), n);
}

static struct progress_index *index_new(struct api *api, const char *ns, const char *name)
{
    struct progress_index *index = mem_alloc(sizeof *index);

    *index = (struct progress_index){
        .api = api, .ns = mem_strdup(ns), .name = mem_strdup(name), .stale = true};
    LIST_INIT(&index->readers);
    return index;
}

static struct progress_index *share_index(struct api *api, const char *ns, const char *name)
{
    struct progress_table *table = table_of(api);
    struct progress_index *index = find_index(table, ns, name);

    if (index)
        return index;
    index = index_new(api, ns, name);
    index->is_shared = true;
    index->key = mem_printf("%s/%s", ns, name);
    HASH_ADD_KEYPTR(hh, table->indexes, index->key, (unsigned)strlen(index->key), index);
    count_indexes(api);
    return index;
}

static void leave_table(struct progress_index *index)
{
    struct api *api = index->api;
    struct progress_table *table = api->progress;

    HASH_DEL(table->indexes, index);
    if (!table->indexes) {
        store_watch_close(table->flows);
        store_watch_close(table->jobs);
        mem_free(take(api->progress));
    }
    count_indexes(api);
}

static void index_free(struct progress_index *index)
{
    if (index->is_shared)
        leave_table(index);
    forget_flow(index);
    for (uint32_t i = 0; i < index->n_phases; i++)
        mem_free(index->phases[i]);
    mem_free(index->ns);
    mem_free(index->name);
    mem_free(index->key);
    mem_free(index);
}

void progress_reader_open(struct progress_reader *reader, struct api *api, const char *ns,
                          const char *name, bool follows)
{
    struct progress_index *index = follows ? share_index(api, ns, name) : index_new(api, ns, name);

    reader->index = index;
    LIST_INSERT_HEAD(&index->readers, reader, all);
    if (index->flow)
        begin(reader);
    else if (index->was_read)
        begin_gone(reader);
}

void progress_reader_close(struct progress_reader *reader)
{
    struct progress_index *index = take(reader->index);

    bitset_release(&reader->untold);
    if (!index)
        return;
    LIST_REMOVE(reader, all);
    if (LIST_EMPTY(&index->readers))
        index_free(index);
}
