#pragma once
/*
 * Raw bytes over a socket pair: one end is a connection of ours, the other the test's. The clock is
 * virtual, so deadlines cost no time.
 */
#include "api/server/http/connection.h"
#include "tests/support/api.h"

struct http_fixture {
    struct api_fixture fixture;
    struct connection_env env;
    struct connection *connection;
    int fd;
    bool closed; /* the connection is gone */
    struct buf in;
};

void http_fixture_open(struct http_fixture *http);
void http_fixture_start(struct http_fixture *http);
void http_fixture_stop(struct http_fixture *http);
/** Take in what there is; false at the end. */
bool http_fixture_read(struct http_fixture *http);
void http_fixture_put(struct http_fixture *http, const char *text);
bool http_fixture_send(struct http_fixture *http, const char *text);
/** Send and give back what has come, from the start. */
const char *http_fixture_exchange(struct http_fixture *http, const char *text);

#define HOST "Host: x\r\n"
#define CM   "/api/v1/namespaces/default/configmaps"
#define JF   "/apis/flow.volcano.sh/v1alpha1/namespaces/default/jobflows"
