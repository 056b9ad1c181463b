/*
 * The pages /healthz, /livez, /readyz, /version and /metrics. The checks of the health pages are
 * rows of a table.
 */
#include "api/server/rest/internal.h"

#include <string.h>

#include "base/loop/metrics.h"
#include "base/version.h"

static bool check_ping(const struct api *api, struct error *err)
{
    return true; /* the process responds, so it is alive */
}

static bool check_store(const struct api *api, struct error *err)
{
    return store_writable(api->store, err);
}

static bool check_shutdown(const struct api *api, struct error *err)
{
    return !api->stopping || error_set(err, ERR_UNAVAILABLE, "", "the server is stopping");
}

typedef bool (*check_fn)(const struct api *api, struct error *err);

static const struct {
    const char *name;
    check_fn check;
    bool live; /* part of /livez, too: restart the process when it fails */
} checks[] = {
    {"ping", check_ping, true},
    {"store", check_store, false},
    {"shutdown", check_shutdown, false},
};

static bool is_excluded(const struct api_call *call, const char *name)
{
    for (size_t i = 0; i < call->target.n_pairs; i++)
        if (strcmp(call->target.keys[i], "exclude") == 0 &&
            strcmp(call->target.values[i], name) == 0)
            return true;
    return false;
}

static struct api_stream *answer_health(const struct api_call *call)
{
    const char *page = call->target.segments[0];
    bool live_only = strcmp(page, "livez") == 0, healthy = true;
    bool verbose = request_query(&call->target, "verbose") != NULL;
    struct reply reply = {.content_type = "text/plain; charset=utf-8"};
    scoped(buf) struct buf details = {0};

    for (size_t i = 0; i < countof(checks); i++) {
        struct error err = {0};
        bool ok = (live_only && !checks[i].live) || is_excluded(call, checks[i].name) ||
                  checks[i].check(call->api, &err);

        healthy = healthy && ok;
        if (ok)
            buf_printf(&details, "[+]%s ok\n", checks[i].name);
        else
            buf_printf(&details, "[-]%s failed: %s\n", checks[i].name, err.message);
    }
    reply.status = healthy ? 200 : 500;
    if (verbose || !healthy)
        buf_printf(&reply.body, "%s%s check %s\n", details.data, page,
                   healthy ? "passed" : "failed");
    else
        buf_str(&reply.body, "ok");
    return reply_send(call, &reply, STREAM_NOW);
}

static struct api_stream *answer_version(const struct api_call *call)
{
    struct reply reply = {.status = 200};

    buf_str(&reply.body,
            "{\n  \"major\": \"1\",\n  \"minor\": \"32\",\n"
            "  \"gitVersion\": \"v1.32.0+jobflow-" JOBFLOW_VERSION "\",\n"
            "  \"gitCommit\": \"" JOBFLOW_COMMIT "\",\n  \"gitTreeState\": \"clean\",\n"
            "  \"buildDate\": \"1970-01-01T00:00:00Z\",\n  \"goVersion\": \"none\",\n"
            "  \"compiler\": \"cc\",\n  \"platform\": \"linux/amd64\"");
    if (call->api->is_daemon)
        buf_str(&reply.body, ",\n  \"jobflowMode\": \"serve\"");
    buf_str(&reply.body, "\n}\n");
    return reply_send(call, &reply, STREAM_NOW);
}

static struct api_stream *answer_metrics(const struct api_call *call)
{
    struct reply reply = {.status = 200,
                          .content_type = "text/plain; version=0.0.4; charset=utf-8"};

    metrics_write(loop_metrics(call->api->loop), &reply.body);
    return reply_send(call, &reply, STREAM_NOW);
}

static const struct {
    const char *name;
    struct api_stream *(*response)(const struct api_call *call);
} pages[] = {
    {"version", answer_version}, {"healthz", answer_health},  {"livez", answer_health},
    {"readyz", answer_health},   {"metrics", answer_metrics},
};

struct api_stream *page_health(const struct api_call *call)
{
    bool reads = call->request->method == API_GET || call->request->method == API_HEAD;

    if (call->target.n_segments != 1 || !reads)
        return NULL;
    for (size_t i = 0; i < countof(pages); i++)
        if (strcmp(pages[i].name, call->target.segments[0]) == 0)
            return pages[i].response(call);
    return NULL;
}
