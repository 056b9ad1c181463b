/*
 * Counts the requests in flight by class and the watches by user, and keeps the metrics of
 * requests.
 */
#include "api/server/rest/traffic.h"

#include <stdio.h>
#include <string.h>

#include "base/collections/hash.h"
#include "base/mem.h"

enum { UNREAD_BYTES = 512 << 20 };

struct traffic_user {
    UT_hash_handle hh;
    size_t watches;
    char name[];
};

static const double durations_s[] = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5};

/* clang-format off */
static const struct metric_def
    answers_def   = {"jobflow_api_requests_total", "Answers by method and status.", METRIC_COUNTER,
                     .labels = {"method", "code"}},
    took_def      = {"jobflow_api_request_duration_seconds",
                     "From the first byte of a request to the end of its answer.", METRIC_HISTOGRAM,
                     .ends = durations_s, .n_ends = countof(durations_s)},
    in_flight_def = {"jobflow_api_requests_in_flight", "Requests being answered.", METRIC_GAUGE,
                     .labels = {"kind"}},
    refused_def   = {"jobflow_api_requests_refused_total",
                     "Requests refused because too many were in flight.", METRIC_COUNTER},
    bytes_def     = {"jobflow_api_bytes_total", "Bytes of bodies.", METRIC_COUNTER,
                     .labels = {"direction"}};
/* clang-format on */

void traffic_init(struct traffic *traffic, struct metrics *metrics)
{
    static const char *const kinds[TRAFFIC_CLASS_N] = {"none", "reading", "changing", "watching"};
    struct metric_family *in_flight = metrics_family(metrics, &in_flight_def);
    struct metric_family *bytes = metrics_family(metrics, &bytes_def);

    *traffic = (struct traffic){
        .answers = metrics_family(metrics, &answers_def),
        .took = metric_of(metrics_family(metrics, &took_def), NULL),
        .refused = metric_of(metrics_family(metrics, &refused_def), NULL),
        .bytes_in = metric_of(bytes, (const char *const[]){"in"}),
        .bytes_out = metric_of(bytes, (const char *const[]){"out"}),
    };
    for (int i = TRAFFIC_READING; i < TRAFFIC_CLASS_N; i++)
        traffic->in_flight[i] = metric_of(in_flight, &kinds[i]);
    traffic_limit(traffic, &(const struct traffic_limits){0});
}

void traffic_limit(struct traffic *traffic, const struct traffic_limits *limits)
{
    traffic->limits = (struct traffic_limits){
        .reading = limits->reading ? limits->reading : 400,
        .changing = limits->changing ? limits->changing : 200,
        .watching = limits->watching ? limits->watching : 1000,
        .watching_per_user = limits->watching_per_user ? limits->watching_per_user : 200,
        .unread_bytes = limits->unread_bytes ? limits->unread_bytes : UNREAD_BYTES,
    };
}

void traffic_release(struct traffic *traffic)
{
    struct traffic_user *user, *next_user;

    HASH_ITER(hh, traffic->users, user, next_user)
    {
        HASH_DEL(traffic->users, user);
        mem_free(user);
    }
}

static size_t limit_of(const struct traffic *traffic, enum traffic_class kind)
{
    const size_t limits[TRAFFIC_CLASS_N] = {
        [TRAFFIC_READING] = traffic->limits.reading,
        [TRAFFIC_CHANGING] = traffic->limits.changing,
        [TRAFFIC_WATCHING] = traffic->limits.watching,
    };

    return limits[kind];
}

static struct traffic_user *user_by_name(struct traffic *traffic, const char *name)
{
    size_t len = strlen(name);
    struct traffic_user *user;

    HASH_FIND(hh, traffic->users, name, len, user);
    if (user)
        return user;
    user = mem_alloc(sizeof *user + len + 1);
    memcpy(user->name, name, len);
    HASH_ADD_KEYPTR(hh, traffic->users, user->name, len, user);
    return user;
}

bool traffic_enter(struct traffic *traffic, enum traffic_class kind, const char *user,
                   struct traffic_user **out_user, struct error *err)
{
    *out_user = NULL;
    if (kind == TRAFFIC_NONE)
        return true;
    if (traffic->now[kind] >= limit_of(traffic, kind)) {
        metric_add(traffic->refused, 1);
        return error_set(err, ERR_TOO_MANY, "", "too many requests, please try again later");
    }
    if (kind == TRAFFIC_WATCHING && user) {
        struct traffic_user *watcher = user_by_name(traffic, user);

        if (watcher->watches >= traffic->limits.watching_per_user) {
            metric_add(traffic->refused, 1);
            return error_set(err, ERR_TOO_MANY, "",
                             "user \"%s\" has %zu watches open, which is as many as one user may "
                             "have",
                             user, watcher->watches);
        }
        watcher->watches++;
        *out_user = watcher;
    }
    traffic->now[kind]++;
    metric_set(traffic->in_flight[kind], (double)traffic->now[kind]);
    return true;
}

void traffic_leave(struct traffic *traffic, enum traffic_class kind, struct traffic_user *user)
{
    if (kind == TRAFFIC_NONE)
        return;
    traffic->now[kind]--;
    metric_set(traffic->in_flight[kind], (double)traffic->now[kind]);
    if (!user || --user->watches > 0)
        return;
    HASH_DEL(traffic->users, user);
    mem_free(user);
}

void traffic_record(struct traffic *traffic, const struct request_record *record)
{
    const char *method = record->method == API_OTHER ? "other" : record->method_name;
    char code[16];

    snprintf(code, sizeof code, "%d", record->status);
    metric_add(metric_of(traffic->answers, (const char *const[]){method, code}), 1);
    metric_add(traffic->bytes_in, (double)record->bytes_in);
    metric_add(traffic->bytes_out, (double)record->bytes_out);
    if (!record->long_running)
        metric_observe(traffic->took, (double)record->duration_ns / 1e9);
}
