/*
 * Lists pods and kept logs, adds the logs that are chosen to a log tail, and watches for more.
 */
#include "cli/client/log_show.h"

#include <string.h>

#include "api/types/kinds/pod/pod.h"
#include "api/types/kinds/pod/pod_log.h"
#include "base/mem.h"
#include "cli/client/lister.h"
#include "cli/client/wait_condition.h"

struct printing {
    struct client *client;
    const struct log_request *request;
    struct logtail *tail;
    struct log_found *found;
    struct watcher pods, ends;
    bool ended;
};

/* What one listing has found so far. */
struct listing {
    struct printing *printing;
    struct log_select select;
};

static const char *job_label(const json_t *object)
{
    const json_t *labels = json_object_get(json_object_get(object, "metadata"), "labels");

    return json_string_value(json_object_get(labels, LABEL_JOB_NAME));
}

static bool is_wanted(const struct printing *printing, const json_t *object, const char *pod,
                      int64_t *out_rank)
{
    const struct log_request *request = printing->request;
    const char *job = job_label(object);
    const char *flow =
        json_string_value(json_object_get(json_object_get(object, "status"), "flow"));

    *out_rank = 0;
    if (request->jobs && (flow ? strcmp(flow, request->jobs->flow) != 0 : request->jobs->is_record))
        return false; /* a log of another run */
    if (request->pod && (!pod || strcmp(pod, request->pod) != 0))
        return false;
    return !request->jobs || (job && log_jobs_find(request->jobs, job, out_rank));
}

static bool take_job(void *ctx, json_t *job)
{
    log_select_add_job(&((struct listing *)ctx)->select, job);
    return true;
}

static bool take_pod(void *ctx, json_t *pod)
{
    struct listing *listing = ctx;
    const char *name = json_string_value(json_object_get(json_object_get(pod, "metadata"), "name"));
    int64_t rank;

    if (is_wanted(listing->printing, pod, name, &rank))
        log_select_add_pod(&listing->select, pod, rank);
    return true;
}

static bool take_kept(void *ctx, json_t *log)
{
    struct listing *listing = ctx;
    const char *name = json_string_value(json_object_get(json_object_get(log, "status"), "pod"));
    int64_t rank;

    if (is_wanted(listing->printing, log, name, &rank))
        log_select_add_kept(&listing->select, log, rank);
    return true;
}

/* A server that is not jobflow has no kept logs. */
static bool list_kept(struct listing *listing, struct error *err)
{
    const struct log_request *request = listing->printing->request;
    const struct list_query logs = {
        .kind = &kind_pod_log, .ns = request->ns, .labels = request->labels};

    if (!list_each(listing->printing->client, &logs, take_kept, listing, NULL, err) &&
        err->code != ERR_NOT_FOUND)
        return false;
    *err = (struct error){0};
    return true;
}

static bool list_sources(struct listing *listing, char **out_revision, struct error *err)
{
    struct client *client = listing->printing->client;
    const struct log_request *request = listing->printing->request;
    const struct list_query pods = {
        .kind = &kind_pod, .ns = request->ns, .labels = request->labels};
    const struct list_query jobs = {.kind = &kind_job, .ns = request->ns};

    return (!request->attempt || list_each(client, &jobs, take_job, listing, NULL, err)) &&
           list_each(client, &pods, take_pod, listing, out_revision, err) &&
           list_kept(listing, err);
}

static bool is_container_wanted(const struct log_request *request, const struct log_source *source,
                                const struct log_container *container)
{
    if (request->container)
        return strcmp(request->container, container->name) == 0;
    for (size_t i = 0; request->first_container && i < source->n_containers; i++)
        if (!source->containers[i].init)
            return &source->containers[i] == container;
    return true;
}

static void add_log(void *ctx, const struct log_source *source,
                    const struct log_container *container, bool earlier_run)
{
    struct printing *printing = ctx;

    if (!is_container_wanted(printing->request, source, container))
        return;
    printing->found->logs++;
    logtail_add(printing->tail,
                &(struct logtail_source){source->ns, source->pod, source->uid, source->kept,
                                         container->name, container->restarts, earlier_run});
}

static void note_attempts(struct log_found *found, const struct log_select *select)
{
    for (int64_t attempt = 1; found->n_attempts < countof(found->attempts); attempt++) {
        int64_t next = INT64_MAX;

        for (size_t i = 0; i < select->count; i++) {
            int64_t of = log_select_attempt(select, &select->items[i]);

            if (select->items[i].n_containers && of >= attempt && of < next)
                next = of;
        }
        if (next == INT64_MAX)
            return;
        found->attempts[found->n_attempts++] = attempt = next;
    }
}

/* Adds the logs that are asked for, of all pods that have run. */
static bool add_present(struct printing *printing, char **out_revision, struct error *err)
{
    struct listing listing = {.printing = printing};
    struct log_found *found = printing->found;
    bool ok = list_sources(&listing, out_revision, err);

    if (ok) {
        found->pods = listing.select.count;
        found->n_attempts = 0;
        if (printing->request->attempt)
            note_attempts(found, &listing.select);
        log_select_choose(&listing.select, printing->request->attempt, printing->request->previous,
                          add_log, printing);
    }
    log_select_release(&listing.select);
    return ok;
}

static bool on_pod(struct watcher *watcher, enum watch_event event, json_t *pod)
{
    struct listing listing = {.printing = container_of(watcher, struct printing, pods)};

    if (event != WATCH_DELETED)
        take_pod(&listing, pod);
    log_select_choose(&listing.select, 0, false, add_log, listing.printing);
    log_select_release(&listing.select);
    return true;
}

static bool on_subject(struct watcher *watcher, enum watch_event event, json_t *subject)
{
    const struct condition end = {.kind = CONDITION_END};
    struct printing *printing = container_of(watcher, struct printing, ends);

    printing->ended =
        event == WATCH_DELETED || condition_evaluate(&end, subject, NULL) != CONDITION_NOT_YET;
    return !printing->ended;
}

/* Restarts a watch that has fallen behind. Containers it reports again are recognised by uid, name
 * and restart count. */
static void on_watch_ended(struct watcher *watcher, const struct error *err)
{
    client_stop(watcher->call.client);
}

/* Adds pods as they start, until the subject has ended or the answering process has exited. */
static bool follow(struct printing *printing, struct error *err)
{
    const struct log_request *request = printing->request;
    const struct list_query pods = {
        .kind = &kind_pod, .ns = request->ns, .labels = request->labels};
    const struct list_query subject = {
        .kind = request->until, .ns = request->ns, .name = request->until_name};

    if (subject.kind)
        watcher_start(printing->client, &printing->ends, &subject, "0");
    while (!printing->ended && client_is_live(printing->client)) {
        scoped_str revision = NULL;

        if (!add_present(printing, &revision, err))
            break;
        watcher_start(printing->client, &printing->pods, &pods, revision);
        while (!printing->ended && client_call_in_flight(&printing->pods.call))
            client_run(printing->client, -1);
    }
    watcher_stop(&printing->ends);
    watcher_stop(&printing->pods);
    if (err->code == ERR_UNAVAILABLE)
        *err = (struct error){0}; /* the answering process has exited; not an error */
    return err->code == ERR_NONE;
}

static void wait_until_idle(struct printing *printing)
{
    while (!logtail_is_idle(printing->tail))
        client_run(printing->client, -1);
}

/* Reads the logs of all pods to their present end. */
static bool print_present(struct printing *printing, struct error *err)
{
    if (!add_present(printing, NULL, err))
        return false;
    wait_until_idle(printing);
    return true;
}

/* The process that ran the pods may exit before this command has seen the last ones. Their logs are
 * then read from the store and the files in the data directory. */
static bool print_rest(struct printing *printing, struct error *err)
{
    struct client *left;

    if (print_present(printing, err) ? !logtail_is_cut(printing->tail)
                                     : err->code != ERR_UNAVAILABLE)
        return err->code == ERR_NONE;
    *err = (struct error){0};
    wait_until_idle(printing); /* logs still being read are cut off too */
    left = client_open_at(printing->request->endpoint, CLIENT_LOOK, err);
    if (!left)
        return false;
    logtail_go_on(printing->tail, left);
    client_close(printing->client);
    printing->client = left;
    return print_present(printing, err);
}

bool log_show(struct client **client, const struct log_request *request,
              const struct logtail_options *tail, struct log_found *out, bool *out_failed,
              struct error *err)
{
    struct printing printing = {
        .client = *client,
        .request = request,
        .tail = logtail_new(*client, tail),
        .found = out,
        .pods = {.changed = on_pod, .ended = on_watch_ended},
        .ends = {.changed = on_subject, .ended = on_watch_ended},
        .ended = request->ended || request->attempt || request->pod,
    };
    bool ok = (!tail->follow || follow(&printing, err)) && print_rest(&printing, err);

    *out_failed = logtail_failed(printing.tail);
    logtail_free(printing.tail);
    *client = printing.client;
    return ok;
}
