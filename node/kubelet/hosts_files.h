#pragma once
/*
 * Hosts files: the names of a job's pods, and of the Services that select them.
 *
 *   127.0.0.1 localhost
 *   127.10.4.2 j-master-0.j.n.svc.cluster.local j-master-0.j.n.svc j-master-0.j.n j-master-0.j
 * j-master-0 127.10.4.2 j.n.svc.cluster.local j.n.svc j.n j
 *
 * A Service with an address of its own has a line for it, whoever is behind it:
 *   127.11.4.0 web.n.svc.cluster.local web.n.svc web.n web
 *
 * Every pod of the job that has an address is listed as soon as its object exists, ready or not: a
 * refused connection is easier on retry loops than an unknown name. Running pods get the new text
 * once per turn, however many pods came and went in it. Running pods of other jobs follow if a
 * Service selects them. Ref: spec/local-runtime.md 3.4.
 */
#include "api/cluster.h"

struct hosts;
struct host_group;

/* A pod in a hosts file; a member of the kubelet's record. Filled before hosts_join. */
struct host_entry {
    const struct meta *meta; /* borrowed while joined: names, labels */
    const char *hostname;
    const char *subdomain;    /* NULL = none */
    const char *address;      /* "" = only reads the file */
    const char *aliases;      /* whole lines of its own, behind all others; NULL = none */
    bool running;             /* hosts_run: is told of changes, and seen by other jobs */
    struct host_group *group; /* private; NULL = not joined */
    struct host_entry *next, *prev;
};

/** `changed` is called once per turn for each running entry whose file has another text. */
struct hosts *hosts_new(struct loop *loop,
                        void (*changed)(void *ctx, struct host_entry *entry, const char *text),
                        void *ctx);
void hosts_free(struct hosts *hosts);

void hosts_join(struct hosts *hosts, struct host_entry *entry);
void hosts_leave(struct hosts *hosts, struct host_entry *entry); /* no-op when not joined */
void hosts_run(struct hosts *hosts, struct host_entry *entry, bool running);
/** The text of the file as it is now; borrowed until the next call. */
const char *hosts_text(struct hosts *hosts, struct host_entry *entry);

/** Is there a Service in the namespace whose name a pod could want to look up? */
bool hosts_serves(const struct hosts *hosts, const char *ns);

/** A Service came, changed or went. `address`: its own; NULL: its name is that of its pods. */
void hosts_service(struct hosts *hosts, enum cluster_change change, const struct object *service,
                   const char *address);
