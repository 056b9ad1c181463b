#pragma once
/*
 * An HTTP connection of the server over a socket pair; the test writes and reads raw bytes at the
 * other end. The clock is virtual, so waiting for deadlines costs no time.
 */
#include "api/server/http/connection.h"
#include "tests/support/api.h"

struct http_fixture {
    struct api_fixture fixture;
    struct api_handler handler;
    struct connection_env env;
    struct connection *connection;
    int fd;
    bool closed; /* the connection has been closed */
    struct buf in;
};

void http_fixture_open(struct http_fixture *http);
void http_fixture_start(struct http_fixture *http);
void http_fixture_stop(struct http_fixture *http);
/** Reads the bytes that have arrived. Returns false at the end of the stream. */
bool http_fixture_read(struct http_fixture *http);
void http_fixture_put(struct http_fixture *http, const char *text);
bool http_fixture_send(struct http_fixture *http, const char *text);
/** Sends `text` and returns everything received since. */
const char *http_fixture_exchange(struct http_fixture *http, const char *text);

#define HOST "Host: x\r\n"
#define CM   "/api/v1/namespaces/default/configmaps"
#define JF   "/apis/flow.volcano.sh/v1alpha1/namespaces/default/jobflows"
