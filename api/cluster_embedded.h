#pragma once
/*
 * The cluster interface on the embedded registry and store.
 */
#include "api/cluster.h"
#include "api/registry/registry.h"

struct cluster *cluster_embedded_new(struct loop *loop, struct registry *registry);
void cluster_embedded_free(struct cluster *cluster);
