#pragma once
/*
 * The environment variables that describe, to a starting pod, the Services with addresses:
 *
 *   WEB_SERVICE_HOST=127.11.4.0  WEB_SERVICE_PORT=80  WEB_SERVICE_PORT_HTTP=80
 *   WEB_PORT=tcp://127.11.4.0:80  WEB_PORT_80_TCP=tcp://127.11.4.0:80
 *   WEB_PORT_80_TCP_PROTO=tcp  WEB_PORT_80_TCP_PORT=80  WEB_PORT_80_TCP_ADDR=127.11.4.0
 *
 * Ref: Kubernetes pkg/kubelet/envvars.
 */
#include "base/collections/arena.h"
#include "node/kubelet/services.h"

/* Limit on the number of ports; Services beyond it have no variables, only their names. */
enum { SERVICE_ENV_MAX = 500 };

/** Calls `define` for each variable. Names and values live in the arena. `services` NULL: there are
 * no variables. */
void service_env(const struct services *services, const char *ns, struct arena *arena,
                 void (*define)(void *arg, const char *name, const char *value), void *arg);
