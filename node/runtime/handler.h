#pragma once
/*
 * What probes and hooks of a container do: run a program in it, ask its server, open a connection,
 * sleep. One form for both, read from their documents.
 */
#include "api/types/kinds/jobflow/jobflow.h"
#include "api/types/kinds/pod/pod.h"
#include "base/arena.h"

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
    const char **argv; /* EXEC: [n_argv] */
    size_t n_argv;
    int32_t port;           /* HTTP, TCP, GRPC; names are resolved */
    const char *service;    /* GRPC; NULL = none */
    struct probe_http http; /* HTTP: all of it */
    int64_t sleep_s;        /* SLEEP */
};

/**
 * Read the handler in a probe or hook of `container`. `doc` NULL is no handler. Texts live in `doc`
 * and `arena`. False with INVALID for what cannot be done here: another host, a port name
 * that the container does not declare.
 */
bool handler_read(const struct pod_container *container, const json_t *doc, struct arena *arena,
                  struct handler *out, struct error *err);

/* The probes and hooks a container may have, with the words people know them by. */
enum handler_use {
    STARTUP_PROBE,
    LIVENESS_PROBE,
    READINESS_PROBE,
    POST_START_HOOK,
    PRE_STOP_HOOK,
    HANDLER_USE_N
};
const json_t *handler_doc(const struct pod_container *container, enum handler_use use);
const char *handler_use_text(enum handler_use use); /* "livenessProbe" */
/** Has it any probe or hook? Free of look-ups. */
bool container_has_handlers(const struct pod_container *container);

/** Checks them all: false with the first thing that cannot be done, and where. */
bool handlers_check(const struct pod_spec *spec, struct error *err);
