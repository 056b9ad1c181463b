#pragma once
/*
 * Resource usage of pods as quotas count it, for the minResources of a PodGroup. Ref: spec/job.md
 * 15.3.
 */
#include "api/types/kinds/job/job.h"
#include "api/types/text/quantity.h"

struct usage_item {
    char *name; /* name of the resource; owned */
    quantity_nano value;
    bool binary; /* written with a binary suffix (Mi), and printed with one */
};

/* A sum of resource lists. It is meant for few names. A zeroed struct is an empty sum. */
struct usage {
    struct usage_item *items;
    size_t count, cap;
};

void usage_release(struct usage *usage);
SCOPED_DEFINE(usage, struct usage, usage_release)

/** Usage of one pod of the template: pods, count/pods, and each resource as NAME, requests.NAME and
 * (native ones) limits.NAME. */
void usage_of_template(const json_t *template, struct usage *out);
/** Adds `what`, taken `times` times, to `sum`. */
void usage_add(struct usage *sum, const struct usage *what, int64_t times);
/** Returns 0 for a resource that is not mentioned. */
quantity_nano usage_get(const struct usage *usage, const char *name);
/** Returns the list as text quantities, in name order; memory of the arena. */
struct str_map usage_map(const struct usage *usage, struct arena *arena);
