#pragma once
/*
 * Hosts files: the names of a job's pods, and of the Services that select them. A line has an
 * address and all names for it, here shortened:
 *
 *   127.0.0.1   localhost
 *   127.10.4.2  j-master-0.j.n.svc.cluster.local … j-master-0.j j-master-0     a pod
 *   127.10.4.2  j.n.svc.cluster.local j.n.svc j.n j                 a headless Service: its pods
 *   127.11.4.0  web.n.svc.cluster.local web.n.svc web.n web         a Service with an address
 *
 * Every pod of the job that has an address is listed as soon as its object exists, ready or not,
 * because retry loops handle a refused connection better than an unknown name. Then follow running
 * pods of other jobs that a Service selects. Running pods get a new text at most once per turn.
 * Ref: spec/local-runtime.md 3.4.
 */
#include <sys/queue.h>

#include "api/cluster.h"

struct hosts;
struct host_group;

/* A pod in hosts files; a member of the kubelet's record. The caller fills it before hosts_join. */
struct host_entry {
    const struct meta *meta; /* names and labels of the pod; borrowed while joined */
    const char *hostname;
    const char *subdomain; /* subdomain of the pod; NULL = none */
    const char *address; /* address of the pod; "" = the pod has a file and is not listed in any */
    const char *aliases; /* complete lines that only the pod's own file gets, at its end; NULL =
                          * none */
    bool running;        /* set by hosts_run: the pod gets changes, and is listed for other jobs */
    struct host_group *group; /* private: group of the pod; NULL = not joined */
    TAILQ_ENTRY(host_entry) in_group;
};

/** Creates the hosts files. `changed` is called once per turn for each running entry whose file has
 * another text. */
struct hosts *hosts_new(struct loop *loop,
                        void (*changed)(void *ctx, struct host_entry *entry, const char *text),
                        void *ctx);
void hosts_free(struct hosts *hosts);

void hosts_join(struct hosts *hosts, struct host_entry *entry);
/** Does nothing for an entry that is not joined. */
void hosts_leave(struct hosts *hosts, struct host_entry *entry);
void hosts_run(struct hosts *hosts, struct host_entry *entry, bool running);
/** Returns the current text of the pod's file; borrowed until the next call. */
const char *hosts_text(struct hosts *hosts, struct host_entry *entry);

/** Returns whether the namespace has a Service whose name a pod could look up. */
bool hosts_serves(const struct hosts *hosts, const char *ns);

/** Handles a Service that was created, changed or deleted. `address` NULL: its name leads to its
 * pods. */
void hosts_service(struct hosts *hosts, enum cluster_change change, const struct object *service,
                   const char *address);
