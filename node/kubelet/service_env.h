#pragma once
/*
 * The variables by which a pod is told of Services that have addresses when it starts:
 *
 *   WEB_SERVICE_HOST=127.11.4.0  WEB_SERVICE_PORT=80  WEB_SERVICE_PORT_HTTP=80
 *   WEB_PORT=tcp://127.11.4.0:80  WEB_PORT_80_TCP=tcp://127.11.4.0:80
 *   WEB_PORT_80_TCP_PROTO=tcp  WEB_PORT_80_TCP_PORT=80  WEB_PORT_80_TCP_ADDR=127.11.4.0
 *
 * Ref: Kubernetes pkg/kubelet/envvars.
 */
#include "base/arena.h"
#include "node/kubelet/services.h"

enum { SERVICE_ENV_MAX = 500 }; /* ports: of later Services only files and names tell */

/** Names and values are the arena's. `services` NULL: none. */
void service_env(const struct services *services, const char *ns, struct arena *arena,
                 void (*define)(void *arg, const char *name, const char *value), void *arg);
