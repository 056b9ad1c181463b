#pragma once
/*
 * The gangs of schedulers other than Volcano's: their objects, and the marks of their pods. Ref:
 * spec/cluster.md 1.6.
 */
#include "job/model/model.h"

/** Returns the form of a gang. */
const struct job_gang_form *job_gang_form(enum job_gang gang);

/**
 * Returns why a job cannot be run as such a gang (owned), or NULL when it can. Only a gang whose pods
 * are created all at once refuses jobs: those with tasks that wait for others, and those that were
 * scaled after their pods were made.
 */
char *job_gang_refusal(const struct job_model *model);
