#pragma once
/*
 * Bounds on the requests in flight (L-25, L-26), and the metrics of requests.
 */
#include "api/server/rest/request_record.h"
#include "base/error.h"
#include "base/loop/metrics.h"

enum traffic_class { TRAFFIC_NONE, TRAFFIC_READING, TRAFFIC_CHANGING, TRAFFIC_WATCHING };
enum { TRAFFIC_CLASS_N = TRAFFIC_WATCHING + 1 };

struct traffic_limits {
    size_t reading, changing, watching; /* requests in flight; 0 = 400, 200, 1,000 */
    size_t watching_per_user;           /* watches of one user; 0 = 200 */
    size_t unread_bytes; /* data of all watches that clients have not read; 0 = 512 MiB */
};

struct traffic_user; /* a user with open watches */

struct traffic {
    struct traffic_limits limits;
    size_t now[TRAFFIC_CLASS_N];
    struct traffic_user *users; /* hash table by name */
    struct metric_family *answers;
    struct metric *in_flight[TRAFFIC_CLASS_N], *refused, *took, *bytes_in, *bytes_out;
};

void traffic_init(struct traffic *traffic, struct metrics *metrics);
void traffic_release(struct traffic *traffic);
/** Limits of 0 become the defaults. */
void traffic_limit(struct traffic *traffic, const struct traffic_limits *limits);

/** Counts one more request of its class; TOO_MANY when its bound is reached. Pass `*out_user` to
 * traffic_leave. */
bool traffic_enter(struct traffic *traffic, enum traffic_class kind, const char *user,
                   struct traffic_user **out_user, struct error *err);
void traffic_leave(struct traffic *traffic, enum traffic_class kind, struct traffic_user *user);
/** Counts a complete request. */
void traffic_record(struct traffic *traffic, const struct request_record *record);
