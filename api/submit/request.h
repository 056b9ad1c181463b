#pragma once
/*
 * A submission: many items, checked as a whole and created in one commit, with an answer for each.
 * An item whose deduplication id is known gets the id of the first job and creates nothing. Ref:
 * armada-submit.md B.2, B.7.
 */
#include "api/registry/registry.h"
#include "api/submit/fields.h"
#include "api/submit/ids.h"

enum { SUBMIT_ITEMS_MAX = 10000, SUBMIT_JOB_SET_MAX = 1023 /* bytes */ };

struct submit_options {
    enum registry_dry_run dry_run;
    enum submit_unknown unknown;
    size_t items_max;  /* 0: SUBMIT_ITEMS_MAX */
    const char *owner; /* name of the user, or NULL */
    /** Returns whether the sender may create objects of the kind in the namespace. */
    bool (*may_create)(void *arg, const struct kind *kind, const char *ns);
    /** Called once for each namespace in which jobs are about to be created, before the first of
     * them. False, with the reason, refuses the request. NULL: nothing is refused. */
    bool (*before_create)(void *arg, const char *ns, struct error *err);
    void *arg;
    struct clock *clock;
    struct submit_ids *ids;
};

/**
 * Creates the jobs of a request with their objects: all of them in one commit, or none. Returns the
 * body of the answer (owned), which may be sent when that commit is durable. When the request is
 * refused, returns NULL, and `problems` has everything that is wrong with it.
 */
json_t *submit_request(struct registry *registry, const json_t *request,
                       const struct submit_options *options, struct submit_problems *problems);
