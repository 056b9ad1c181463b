#pragma once
/*
 * What `--gang` asks of the cluster: an API that it must have, and further rights. Ref:
 * spec/cluster.md 1.6.
 */
#include "cli/controller/rights.h"
#include "cli/controller/server.h"
#include "job/model/gang.h"

/* The values of the flag; ends with NULL. */
extern const char *const gang_names[];

/** Returns the rights that a gang adds to those of the mode, a set of right_mode. */
unsigned gang_rights(const char *name);

/**
 * Finds what the cluster has for a gang of this name. Returns false when it lacks what the gang
 * needs, or when the server was not reached.
 */
bool gang_choose(struct server *server, const char *name, enum job_gang *out, struct error *err);
