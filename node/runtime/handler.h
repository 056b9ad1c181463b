#pragma once
/*
 * Handlers of a container's probes and lifecycle hooks: run a program, send an HTTP or gRPC
 * request, open a TCP connection, sleep. Probes and hooks share this decoded form.
 */
#include "api/types/kinds/jobflow/jobflow.h"
#include "api/types/kinds/pod/pod.h"

enum handler_kind {
    HANDLER_NONE,
    HANDLER_EXEC,
    HANDLER_HTTP,
    HANDLER_TCP,
    HANDLER_GRPC,
    HANDLER_SLEEP
};

struct handler {
    enum handler_kind kind;
    const char **argv; /* EXEC: the command, [n_argv] */
    size_t n_argv;
    int32_t port;           /* HTTP, TCP, GRPC: port number; a port name has been resolved */
    const char *service;    /* GRPC: name of the service; NULL = none */
    struct probe_http http; /* HTTP: the request */
    int64_t sleep_s;        /* SLEEP: duration */
};

/**
 * Reads the handler of a probe or hook of `container`. `doc` NULL gives HANDLER_NONE. Texts live in
 * `doc` and `arena`. Returns false with INVALID when the handler cannot work here: it names another
 * host, or a port that the container does not declare.
 */
bool handler_read(const struct pod_container *container, const json_t *doc, struct arena *arena,
                  struct handler *out, struct error *err);

/* The probes and hooks that a container may have; probes come first. */
enum handler_use {
    STARTUP_PROBE,
    LIVENESS_PROBE,
    READINESS_PROBE,
    POST_START_HOOK,
    PRE_STOP_HOOK,
    HANDLER_USE_N
};
const json_t *handler_doc(const struct pod_container *container, enum handler_use use);
/** Returns the field's name, such as "livenessProbe". */
const char *handler_use_text(enum handler_use use);
/** Returns whether the container has a probe or hook. It costs no look-up. */
bool container_has_handlers(const struct pod_container *container);

/** Checks all handlers of a pod. Returns false with the first one that cannot work here. */
bool handlers_check(const struct pod_spec *spec, struct error *err);
