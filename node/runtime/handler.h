#pragma once
/*
 * What probes and hooks of a container do: run a program in it, ask its server, open a connection,
 * sleep. One form for both, read from their documents.
 */
#include "api/types/kinds/jobflow/jobflow.h"
#include "api/types/kinds/pod/pod.h"
#include "base/arena.h"

enum action_kind { ACTION_NONE, ACTION_EXEC, ACTION_HTTP, ACTION_TCP, ACTION_GRPC, ACTION_SLEEP };

struct action {
    enum action_kind kind;
    const char **argv; /* EXEC: [n_argv] */
    size_t n_argv;
    int32_t port;           /* HTTP, TCP, GRPC; names are resolved */
    const char *service;    /* GRPC; NULL = none */
    struct probe_http http; /* HTTP: all of it */
    int64_t sleep_s;        /* SLEEP */
};

/**
 * Read the handler in a probe or hook of `container`. `doc` NULL is no action. Texts live in `doc`
 * and `arena`. False with INVALID for what cannot be done here: another host, a port name
 * that the container does not declare.
 */
bool action_of(const struct pod_container *container, const json_t *doc, struct arena *arena,
               struct action *out, struct error *err);

/* The probes and hooks a container may have, with the words people know them by. */
enum action_place { AT_STARTUP, AT_LIVENESS, AT_READINESS, AT_POST_START, AT_PRE_STOP, AT_N };
const json_t *action_doc(const struct pod_container *container, enum action_place place);
const char *action_place_text(enum action_place place); /* "livenessProbe" */
/** Has it any probe or hook? Free of look-ups. */
bool action_any(const struct pod_container *container);

/** Checks them all: false with the first thing that cannot be done, and where. */
bool action_check(const struct pod_spec *spec, struct error *err);
