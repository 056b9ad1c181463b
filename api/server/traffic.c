/*
 * Bounds and counts.
 */
#include "api/server/traffic.h"
#include "base/hash.h"
#include "base/mem.h"
#include <string.h>

struct traffic_user {
    UT_hash_handle hh;
    size_t watches;
    char name[];
};

/* The key is what the metric's labels say, so that no combination is listed that never came. */
struct traffic_count {
    UT_hash_handle hh;
    struct answer_key {
        int method, status;
    } key;
    const char *method_name;
    uint64_t n;
};

static const double bucket_ends_s[TRAFFIC_BUCKETS] = {0.001, 0.0025, 0.005, 0.01, 0.025,
                                                      0.05,  0.1,    0.5,   1,    5};

void traffic_init(struct traffic *traffic)
{
    *traffic = (struct traffic){0};
    traffic_limit(traffic, &(const struct traffic_limits){0});
}

void traffic_limit(struct traffic *traffic, const struct traffic_limits *limits)
{
    traffic->limits = (struct traffic_limits){
        .reading = limits->reading ? limits->reading : 400,
        .changing = limits->changing ? limits->changing : 200,
        .watching = limits->watching ? limits->watching : 1000,
        .watching_per_user = limits->watching_per_user ? limits->watching_per_user : 200,
    };
}

void traffic_release(struct traffic *traffic)
{
    struct traffic_user *user, *next_user;
    struct traffic_count *count, *next_count;

    HASH_ITER(hh, traffic->users, user, next_user)
    {
        HASH_DEL(traffic->users, user);
        mem_free(user);
    }
    HASH_ITER(hh, traffic->answers, count, next_count)
    {
        HASH_DEL(traffic->answers, count);
        mem_free(count);
    }
}

/* ---- bounds ---- */

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
        traffic->refused++;
        return error_set(err, ERR_TOO_MANY, "", "too many requests, please try again later");
    }
    if (kind == TRAFFIC_WATCHING && user) {
        struct traffic_user *watcher = user_by_name(traffic, user);

        if (watcher->watches >= traffic->limits.watching_per_user) {
            traffic->refused++;
            return error_set(err, ERR_TOO_MANY, "",
                             "user \"%s\" has %zu watches open, which is as many as one user may "
                             "have",
                             user, watcher->watches);
        }
        watcher->watches++;
        *out_user = watcher;
    }
    traffic->now[kind]++;
    return true;
}

void traffic_leave(struct traffic *traffic, enum traffic_class kind, struct traffic_user *user)
{
    if (kind == TRAFFIC_NONE)
        return;
    traffic->now[kind]--;
    if (!user || --user->watches > 0)
        return;
    HASH_DEL(traffic->users, user);
    mem_free(user);
}

/* ---- counts ---- */

void traffic_note(struct traffic *traffic, const struct record *record, bool endless)
{
    const struct answer_key key = {(int)record->method, record->status};
    double took_s = (double)record->duration_ns / 1e9;
    struct traffic_count *count;
    size_t bucket = 0;

    HASH_FIND(hh, traffic->answers, &key, sizeof key, count);
    if (!count) {
        count = mem_alloc(sizeof *count);
        count->key = key;
        count->method_name = record->method == API_OTHER ? "other" : record->method_name;
        HASH_ADD(hh, traffic->answers, key, sizeof count->key, count);
    }
    count->n++;
    traffic->bytes_in += record->bytes_in;
    traffic->bytes_out += record->bytes_out;
    if (endless)
        return;
    while (bucket < TRAFFIC_BUCKETS && took_s > bucket_ends_s[bucket])
        bucket++;
    traffic->took[bucket]++;
    traffic->took_sum_s += took_s;
}

static void write_head(struct buf *out, const char *name, const char *type, const char *help)
{
    buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void write_durations(const struct traffic *traffic, struct buf *out)
{
    static const char name[] = "jobflow_api_request_duration_seconds";
    uint64_t sum = 0;

    write_head(out, name, "histogram",
               "From the first byte of a request to the end of its answer.");
    for (size_t i = 0; i < TRAFFIC_BUCKETS; i++) {
        sum += traffic->took[i];
        buf_printf(out, "%s_bucket{le=\"%g\"} %llu\n", name, bucket_ends_s[i],
                   (unsigned long long)sum);
    }
    sum += traffic->took[TRAFFIC_BUCKETS];
    buf_printf(out, "%s_bucket{le=\"+Inf\"} %llu\n%s_sum %.6f\n%s_count %llu\n", name,
               (unsigned long long)sum, name, traffic->took_sum_s, name, (unsigned long long)sum);
}

void traffic_write(const struct traffic *traffic, struct buf *out)
{
    static const char *const names[TRAFFIC_CLASS_N] = {NULL, "reading", "changing", "watching"};

    write_head(out, "jobflow_api_requests_total", "counter", "Answers by method and status.");
    for (const struct traffic_count *count = traffic->answers; count; count = count->hh.next)
        buf_printf(out, "jobflow_api_requests_total{method=\"%s\",code=\"%d\"} %llu\n",
                   count->method_name, count->key.status, (unsigned long long)count->n);
    write_durations(traffic, out);
    write_head(out, "jobflow_api_requests_in_flight", "gauge", "Requests being answered.");
    for (int i = TRAFFIC_READING; i < TRAFFIC_CLASS_N; i++)
        buf_printf(out, "jobflow_api_requests_in_flight{kind=\"%s\"} %zu\n", names[i],
                   traffic->now[i]);
    write_head(out, "jobflow_api_requests_refused_total", "counter",
               "Requests refused for too many were under way.");
    buf_printf(out, "jobflow_api_requests_refused_total %llu\n",
               (unsigned long long)traffic->refused);
    write_head(out, "jobflow_api_bytes_total", "counter", "Bytes of bodies.");
    buf_printf(out,
               "jobflow_api_bytes_total{direction=\"in\"} %llu\n"
               "jobflow_api_bytes_total{direction=\"out\"} %llu\n",
               (unsigned long long)traffic->bytes_in, (unsigned long long)traffic->bytes_out);
}
