#pragma once
/*
 * The API in process: a store in memory, the registry and the API on a loop with virtual time, and
 * taps that keep what a request is answered.
 */
#include "api/server/api.h"
#include "base/buf.h"

struct api_rig {
    struct clock *clock;
    struct loop *loop;
    struct store *store;
    struct registry *registry;
    struct api *api;
};

struct api_rig_options {
    const struct api_logs *logs;
    int64_t watch_window;
    const char *directory; /* of the store; NULL: in memory */
    bool deletion_protection;
};

void api_rig_start(struct api_rig *rig, const struct api_rig_options *options); /* NULL: defaults */
void api_rig_stop(struct api_rig *rig);

struct api_tap {
    struct api_answer answer;
    struct api_stream *stream; /* NULL once ended */
    int status;
    char *content_type;
    struct buf headers, body;
    size_t backlog; /* what the tap says is waiting */
    bool ended, cut;
};

struct api_ask {
    const char *body, *accept, *content_type, *accept_encoding, *user_agent;
    size_t body_len;                 /* 0: the body is text */
    const struct identity *identity; /* NULL: this process itself */
};

/** Begin a request ("GET", …) on an empty or used tap, let the loop settle; the answer's status. */
int api_tap_start(struct api_rig *rig, struct api_tap *tap, const char *method, const char *target,
                  const struct api_ask *ask);
/** Cancels what has not ended. */
void api_tap_release(struct api_tap *tap);
SCOPED_DEFINE(tap, struct api_tap, api_tap_release)

/* api_request(&rig, &tap, "POST", "/api/v1/…", .body = "{}") */
#define api_request(rig, tap, method, target, ...)                                                 \
    api_tap_start((rig), (tap), (method), (target), &(const struct api_ask){__VA_ARGS__})

/** What has come so far, as a document (owned); NULL when it is no JSON. */
json_t *api_tap_json(const struct api_tap *tap);
/** The text at a dotted path of the answer, list indexes as numbers ("items.0.metadata.name");
 * numbers as text. Owned; NULL if absent. */
char *api_tap_at(const struct api_tap *tap, const char *path);
/** The n-th line of a watch: its type and a text in its object at `path` as "TYPE text" (owned);
 * NULL when there are fewer lines. */
char *api_tap_event(const struct api_tap *tap, size_t n, const char *path);
size_t api_tap_lines(const struct api_tap *tap);
