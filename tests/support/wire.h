#pragma once
/*
 * Raw bytes over a socket pair: one end is a connection of ours, the other the test's. The clock is
 * virtual, so deadlines cost no time.
 */
#include "api/server/http/connection.h"
#include "tests/support/api.h"

struct wire {
    struct api_rig rig;
    struct connection_env env;
    struct connection *connection;
    int fd;
    bool closed; /* the connection is gone */
    struct buf in;
};

void wire_open(struct wire *wire);
void wire_start(struct wire *wire);
void wire_stop(struct wire *wire);
/** Take in what there is; false at the end. */
bool wire_read(struct wire *wire);
void wire_put(struct wire *wire, const char *text);
bool wire_send(struct wire *wire, const char *text);
/** Send and give back what has come, from the start. */
const char *wire_exchange(struct wire *wire, const char *text);

#define HOST "Host: x\r\n"
#define CM   "/api/v1/namespaces/default/configmaps"
#define JF   "/apis/flow.volcano.sh/v1alpha1/namespaces/default/jobflows"
