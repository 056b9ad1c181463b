#pragma once
/*
 * The API server in process: a store in memory, the registry and the API on a loop with virtual
 * time. A capture records the response to a request.
 */
#include "api/server/api.h"
#include "base/buf.h"

struct api_fixture {
    struct clock *clock;
    struct loop *loop;
    struct store *store;
    struct registry *registry;
    struct api *api;
};

struct api_fixture_options {
    const struct api_logs *logs;
    int64_t watch_window;
    const char *directory; /* directory of the store; NULL: a store in memory */
    bool deletion_protection;
    size_t objects_max; /* limit of the registry; 0: its default */
    uint64_t lives;     /* earlier servers on this directory: uids differ from theirs */
};

/** Starts the API in this process. `options` NULL: the defaults. */
void api_fixture_start(struct api_fixture *fixture, const struct api_fixture_options *options);
void api_fixture_stop(struct api_fixture *fixture);

struct api_capture {
    struct api_response response;
    struct api_stream *stream; /* NULL once the response has ended */
    int status;
    char *content_type;
    struct buf headers, body;
    size_t backlog; /* the number of unsent bytes that the capture reports to the server */
    bool ended, aborted;
};

struct api_request_options {
    const char *body, *accept, *content_type, *accept_encoding, *user_agent;
    size_t body_len;                 /* length of the body; 0: the body is text */
    const struct identity *identity; /* the user who sends it; NULL: this process itself */
};

/** Starts a request ("GET", …) on an empty or used capture and lets the loop settle. Returns the
 * status of the response, 0 if there is none yet. */
int api_capture_start(struct api_fixture *fixture, struct api_capture *capture, const char *method,
                      const char *target, const struct api_request_options *options);
/** Cancels a response that has not ended. */
void api_capture_release(struct api_capture *capture);
SCOPED_DEFINE(capture, struct api_capture, api_capture_release)

/* Sends a request and returns its status. Example: api_send(&fixture, &capture, "POST",
 * "/api/v1/…", .body = "{}") */
#define api_send(fixture, capture, method, target, ...)                                            \
    api_capture_start((fixture), (capture), (method), (target),                                    \
                      &(const struct api_request_options){__VA_ARGS__})

/** Returns the body received so far as a document (owned); NULL when it is not JSON. */
json_t *api_capture_json(const struct api_capture *capture);
/** Returns the text at a dotted path of the body, with list indexes as numbers
 * ("items.0.metadata.name"). Numbers are returned as text. Owned; NULL if absent. */
char *api_capture_at(const struct api_capture *capture, const char *path);
/** Returns the n-th line of a watch as "TYPE text" (owned), with the text at `path` of its object;
 * NULL when there are fewer lines. */
char *api_capture_event(const struct api_capture *capture, size_t n, const char *path);
size_t api_capture_lines(const struct api_capture *capture);
