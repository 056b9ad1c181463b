#pragma once
/*
 * Creates the implementation of the cluster interface that runs on the registry and the store in
 * this process.
 */
#include "api/cluster.h"
#include "api/registry/registry.h"

struct cluster *cluster_embedded_new(struct loop *loop, struct registry *registry);
void cluster_embedded_free(struct cluster *cluster);
