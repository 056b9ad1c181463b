/*
 * A server that does not know the subresource answers NOT_FOUND, as it does when the flow does not
 * exist. Which of both it is shows when the flow itself is read.
 */
#include "cli/client/step_fetch.h"

#include <stdlib.h>
#include <string.h>

#include "api/client/resource_path.h"
#include "api/types/kinds/jobflow/jobflow.h"
#include "api/types/kinds/jobflow/step_list.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cli/client/lister.h"

#define TABLE_ACCEPT "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"

enum { PAGE_STEPS = 5000 };

/* The jobs of the flow, in the order of their names. */
struct jobs {
    struct object **items; /* the jobs, [count] */
    size_t count, cap;
    const char *flow_uid;
};

static void jobs_release(struct jobs *jobs)
{
    for (size_t i = 0; i < jobs->count; i++)
        object_unref(jobs->items[i]);
    mem_free(jobs->items);
}
SCOPED_DEFINE(jobs, struct jobs, jobs_release)

static struct object *decode(const struct kind *kind, json_t *doc, struct error *err)
{
    struct error_list errors = {0};
    struct object *object;

    json_object_set_new(doc, "apiVersion", json_string(kind_api_version(kind)));
    json_object_set_new(doc, "kind", json_string(kind->name)); /* a list leaves them out */
    object = object_from_json(doc, &errors);
    error_list_ok(&errors, err);
    error_list_release(&errors);
    return object;
}

/* Keeps a job that the flow controls. A job that cannot be read is left out. */
static bool take_job(void *ctx, json_t *doc)
{
    struct jobs *jobs = ctx;
    scoped(object) struct object *job = decode(&kind_job, doc, NULL);
    const struct owner_ref *owner = job ? meta_controller(job->meta) : NULL;

    if (!owner || strcmp(owner->uid, jobs->flow_uid) != 0)
        return true;
    mem_grow(jobs->items, jobs->count, jobs->cap);
    jobs->items[jobs->count++] = take(job);
    return true;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(object_name(*(struct object *const *)a), object_name(*(struct object *const *)b));
}

static int to_name(const void *key, const void *item)
{
    return strcmp(key, object_name(*(struct object *const *)item));
}

static const struct object *find_job(void *ctx, const char *name)
{
    const struct jobs *jobs = ctx;
    struct object **found =
        jobs->count ? bsearch(name, jobs->items, jobs->count, sizeof *jobs->items, to_name) : NULL;

    return found ? *found : NULL;
}

/* Lists the jobs of a flow. A long name is shortened in the label, so then the jobs of all flows
 * are listed. */
static bool list_jobs(struct client *client, const struct object *flow, struct jobs *out,
                      struct error *err)
{
    enum { LABEL_MAX = 63 };
    const char *ns = object_namespace(flow), *name = object_name(flow);
    scoped_str whole = mem_printf(LABEL_CREATED_BY_FLOW "=%s.%s", ns, name);
    bool fits = strlen(ns) + strlen(name) < LABEL_MAX;
    const struct list_query query = {
        .kind = &kind_job, .ns = ns, .labels = fits ? whole : LABEL_CREATED_BY_FLOW};

    out->flow_uid = object_uid(flow);
    if (!list_each(client, &query, take_job, out, NULL, err))
        return false;
    if (out->count)
        qsort(out->items, out->count, sizeof *out->items, by_name);
    return true;
}

static json_t *make_page(struct step_list *list, uint32_t *at)
{
    scoped(buf) struct buf text = {0};
    struct jsonw w = jsonw_to(&text);

    jsonw_open(&w);
    *at = step_list_write(list, *at, PAGE_STEPS, &w);
    jsonw_close(&w);
    return json_loadb(text.data, text.len, 0, NULL);
}

/* Makes the list from the flow and its jobs. */
static bool make_list(struct client *client, json_t *doc, bool as_table,
                      bool (*page)(void *ctx, json_t *page), void *ctx, struct error *err)
{
    scoped(object) struct object *flow = decode(&kind_job_flow, doc, err);
    scoped(jobs) struct jobs jobs = {0};
    const struct step_list_options options = {.find_job = find_job,
                                              .ctx = &jobs,
                                              .now_ms = clock_wall_ms(clock_real()),
                                              .as_table = as_table};
    scoped(step_list) struct step_list *list = NULL;
    bool goes_on = true;

    if (!flow || !list_jobs(client, flow, &jobs, err))
        return false;
    list = step_list_new(flow, &options);
    for (uint32_t at = 0; goes_on;) {
        scoped(json) json_t *made = make_page(list, &at);

        goes_on = page(ctx, made) && at;
    }
    return true;
}

bool step_fetch(struct client *client, const char *ns, const char *flow, bool as_table,
                bool (*page)(void *ctx, json_t *page), void *ctx, struct error *err)
{
    /* The server walks over the whole flow for each page, so few pages are asked for. */
    struct list_query query = {.accept = as_table ? TABLE_ACCEPT : NULL, .limit = PAGE_STEPS};
    scoped(buf) struct buf path = {0};
    scoped_str flow_path = NULL;
    scoped(json) json_t *doc = NULL;
    struct error own = {0};

    resource_write_path(&kind_job_flow, ns, flow, &path);
    flow_path = mem_strdup(path.data);
    buf_str(&path, "/steps");
    query.path = path.data;
    if (list_pages(client, &query, page, ctx, NULL, &own))
        return true;
    if (own.code == ERR_NOT_FOUND) {
        own = (struct error){0};
        doc = client_get(client, flow_path, &own);
    }
    if (doc)
        return make_list(client, doc, as_table, page, ctx, err);
    if (err)
        *err = own;
    return false;
}
