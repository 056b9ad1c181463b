#pragma once
/*
 * Endpoints and EndpointSlices: who is behind each Service, for kubectl and other clients. Nothing
 * of ours reads them.
 *
 *   Service ── members: the pods it selects that have been started and not ended
 *      └─ written a moment after a change: what comes and goes within it costs no write
 *
 * They are owned by their Service and go with it. A Service without a selector has those that
 * somebody else writes. Ref: spec/local-runtime.md 3.5; Kubernetes pkg/controller/endpoint.
 */
#include "api/cluster.h"

struct endpoints;

struct endpoints *endpoints_controller_start(struct cluster *cluster, const char *node_name);
void endpoints_controller_stop(struct endpoints *endpoints); /* NULL is fine; frees */
