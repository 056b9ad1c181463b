#pragma once
/*
 * The controller that writes the Endpoints and EndpointSlice of each Service with a selector, for
 * kubectl and other clients. No part of jobflow reads them.
 *
 *   Service ── endpoints: the pods it selects that have started and not ended
 *      └─ written a moment after a change, so that pods that come and go within it cost no write
 *
 * The objects are owned by their Service and deleted with it. A Service without a selector has the
 * endpoints that a client writes.
 *
 * Ref: spec/local-runtime.md 3.5; Kubernetes pkg/controller/endpoint.
 */
#include "api/cluster.h"

struct endpoints_controller;

struct endpoints_controller *endpoints_controller_start(struct cluster *cluster,
                                                        const char *node_name);
/** NULL is ignored; frees the controller. */
void endpoints_controller_stop(struct endpoints_controller *controller);
