#pragma once
/*
 * What may be done to submitted jobs: cancel, reprioritize, and asking for their states. Ref:
 * armada-submit.md B.2, B.6.
 */
#include "api/registry/registry.h"
#include "api/submit/problems.h"

/* Who asks. */
struct submit_sender {
    /** Returns whether the sender may change jobs of the namespace, or read them. NULL: any. */
    bool (*may)(void *arg, const char *verb, const char *ns);
    /** Called before a job of the namespace is changed. False refuses the change. NULL: nothing is
     * refused. */
    bool (*before_change)(void *arg, const char *ns);
    void *arg;
};

/** Cancels the jobs of `jobIds`. Returns the body of the answer (owned), or NULL with problems. */
json_t *submit_cancel(struct registry *registry, const json_t *request,
                      const struct submit_sender *sender, struct submit_problems *problems);
/** Cancels the jobs of a set, of the states in filter.states or of all that have not ended. */
json_t *submit_cancel_set(struct registry *registry, const json_t *request,
                          const struct submit_sender *sender, struct submit_problems *problems);
/** Sets the number of jobs in their queue: of `jobIds`, or of the whole set. */
json_t *submit_reprioritize(struct registry *registry, const json_t *request,
                            const struct submit_sender *sender, struct submit_problems *problems);
/** Tells the states of jobs by name. */
json_t *submit_status(struct registry *registry, const json_t *request,
                      const struct submit_sender *sender, struct submit_problems *problems);

/** Returns the state of a submitted job: QUEUED, RUNNING, SUCCEEDED, …. Static text. */
const char *submit_state_of(const struct registry *registry, const struct object *job);
