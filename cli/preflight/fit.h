#pragma once
/*
 * Checks whether the pods of a job can ever run on a machine: requests against what there is and
 * against the capability of queues, named resources (GPUs), node selectors, and gangs against the
 * number of pods at once.
 */
#include "api/store/store.h"
#include "api/types/kinds/job/job.h"
#include "base/buf.h"
#include "base/scoped.h"
#include "cli/client/client.h"
#include "node/machine/amount.h"

struct fit; /* the machine that jobs must fit */

struct fit_options {
    int max_pods;               /* value of -j; 0: any number */
    const char *node_resources; /* value of --node-resources, checked before; NULL: none */
    const char *devices;        /* value of --devices, checked before; NULL: none */
    bool sim;                   /* a simulated machine has everything that is not limited above */
    bool any_resource;          /* do not ask for named resources */
    const struct store *live;   /* labels of its Node count, too; NULL: none */
};

/** Returns this machine, or a simulated one. Owned. Borrows the texts of `options`. */
struct fit *fit_new(const struct fit_options *options);
/** Returns the machine of a daemon, as its Node says. Owned; NULL when the client leads to no daemon
 * or may not read it. */
struct fit *fit_of_daemon(struct client *client);
void fit_free(struct fit *fit);
SCOPED_DEFINE_PTR(fit, struct fit *, fit_free)

/** Returns what the machine has. */
struct amount fit_room(const struct fit *fit);
/** Returns what must be free at once for the job: for its gang, or, when the pods of the gang depend
 * on what happens first, for its largest pod. */
struct amount fit_need(const struct fit *fit, const struct job_spec *job);
/** Returns why the job can never run on the machine, or in its queue as `queues` has it now, with
 * figures and the way out, as the end of a sentence about the job; owned. NULL when it can. `queues`
 * is a store with Queue objects; NULL = queues have no limits. */
char *fit_problem(const struct fit *fit, const struct store *queues, const struct job_spec *job);
/** Returns whether the job can run on the machine and in its queue. Otherwise `err` names the field
 * of the job that is to blame and says why as fit_problem does; the sentence begins with `subject`.
 */
bool fit_check(const struct fit *fit, const struct store *queues, const struct job_spec *job,
               const char *subject, struct error *err);
/** Returns why a queue, or one above it, can never give `need`, as fit_problem does; owned. NULL
 * when they can. `queue` is the name; NULL and "" stand for `default`. */
char *fit_queue_problem(const struct fit *fit, const struct store *queues, const char *queue,
                        struct amount need);
/** Appends an amount as text: "4 pods, 2 cpu, 512Mi, 1 nvidia.com/gpu". */
void fit_write(const struct fit *fit, struct amount amount, struct buf *out);
/** Returns the names of the machine's named resources. Borrowed. */
const struct resource_names *fit_resources(const struct fit *fit);
