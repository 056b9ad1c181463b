#pragma once
/*
 * What the parts of a connection share. connection.c owns the state, the deadline and the decision
 * when to take further requests; connection_exchange.c keeps the order of its exchanges;
 * connection_request.c fills an exchange's request from received bytes; connection_response.c
 * sends an exchange's response.
 */
#include <llhttp.h>

#include "api/server/http/connection.h"
#include "api/server/rest/watch_batcher.h"

enum {
    HEAD_MS = 10000,     /* time from the first byte of a head to its end */
    BODY_MS = 30000,     /* time from the end of the head to the end of the body */
    IDLE_MS = 60000,     /* how long a connection may rest between requests (L-24) */
    RESPONSE_MS = 60000, /* L-24: until a response begins */
    STALL_MS = 30000,    /* the client reads none of the bytes that wait for it */
    LINGER_MS = 1000,    /* time in which the client may read the response before its input is
                          * dropped */
    AUDIT_ID_MAX = 20,
};

/* RESPONDING: no further request is taken until the pending ones have their responses. */
enum connection_state { READING_HEAD, READING_BODY, RESPONDING, LINGERING, CLOSING };

/* What happens to the connection once the response has been sent. */
enum after_response { KEEP_OPEN, CLOSE_AFTER, LINGER_AFTER };

/* How far the API has come with a response; a member only moves on. */
enum response_progress { RESPONSE_NOT_BEGUN, RESPONSE_BEGUN, RESPONSE_ENDED };

/* Bytes shared with other connections, in the order in which they are to be sent. */
struct exchange_blobs {
    struct blob **at; /* references to the blobs, [n] */
    size_t n, cap, bytes;
};

/* A request and its response, from the end of the request's head until the last byte of the
 * response is handed to the socket. */
struct exchange {
    struct connection *connection;
    struct exchange *next; /* the request that came after this one */

    /* The request, as far as it outlives the call of the API. */
    struct buf target, user_agent;
    enum api_method method;
    const char *method_name;
    struct identity *identity; /* the sender; a reference */
    int64_t began_ms, began_ns;
    uint64_t bytes_in;

    /* The members from here on belong to the response. */
    struct http_handler *handler; /* makes the response */
    struct api_response response;
    void *stream;                /* the handler's; NULL: the response is complete or not begun */
    struct buf head, out;        /* status line and headers; body bytes: not yet handed over */
    struct exchange_blobs blobs; /* blobs that follow the bytes in `out` */
    struct watch_batch_entry batch_entry;
    enum response_progress progress;
    enum after_response after;
    bool head_only, chunked, long_running;
    int status;
    char id[AUDIT_ID_MAX];
    struct buf object; /* "namespace/name" of the object that a write changed */
    int64_t revision;
    uint64_t bytes_out;
};

/* What is known about the certificate of a connection. */
enum certificate_check {
    CERTIFICATE_UNCHECKED, /* the handshake is not over, or there is no TLS */
    CERTIFICATE_CHECKED,   /* the client has no certificate, or a good one */
    CERTIFICATE_UNKNOWN    /* the certificate is not signed by our authority */
};

/* What the one timer of a connection is running for. */
enum connection_awaits {
    AWAITS_NOTHING,
    AWAITS_HANDSHAKE,
    AWAITS_REQUEST,
    AWAITS_HEAD,
    AWAITS_BODY,
    AWAITS_RESPONSE,  /* waits for the response of the API */
    AWAITS_WRITE,     /* the client reads what was sent */
    AWAITS_PEER_CLOSE /* waits until the client closes */
};

struct connection {
    struct connection_io io;
    const struct connection_env *env;
    struct loop *loop;
    enum connection_state state;
    enum connection_awaits awaits;
    struct timer deadline;

    /* The members from here on describe the peer. */
    char *peer;
    struct identity *socket_identity; /* identity by the peer's uid, on a unix socket; else NULL */
    struct identity *certificate;     /* identity by the certificate, with TLS; else NULL */
    enum certificate_check certificate_check;
    struct identity *known; /* identity of the first authenticated request, which is counted; NULL:
                             * none yet */
    char group[PEER_GROUP_MAX];
    uint64_t number; /* number of the connection, in the order of arrival */

    /* The members from here on belong to the request that is being read. */
    struct http_handler *handler; /* answers the request; the listener's until its path is known */
    llhttp_t parser;
    struct buf in;   /* bytes received and not yet consumed */
    size_t searched; /* number of bytes that are known to contain no end of a head */
    struct buf accept, accept_encoding, content_type, authorization, body;
    struct buf head; /* the head as received, for a handler that keeps it */
    size_t head_len, body_max;
    size_t parsed;              /* bytes of the request's head, body and framing so far */
    int64_t began_ms, began_ns; /* time of the request's first byte */
    bool message_done, wants_continue, is_large, has_received;
    struct error *refusal;    /* what is wrong with the request; NULL: nothing */
    struct exchange *reading; /* exchange of the request; NULL until its head is complete */

    /* The pending exchanges in order: read, and not yet answered. */
    struct exchange *first, **last;
    struct exchange *spare; /* kept for its buffers; NULL */
    struct task flush;
    enum after_response after; /* what follows the last response that was sent */
    bool draining, peer_ended;
};

/* Defined in http/connection.c. */

/** Reacts to any change: takes further requests if there is room, closes the connection if it is
 * finished, and sets the deadline of what it waits for now. */
void connection_advance(struct connection *c);
/** Restarts the deadline, because some of what was waited for has come. */
void connection_progress(struct connection *c);

/** Takes note of who has sent a request on this connection. */
void connection_take_identity(struct connection *c, struct identity *identity);

/* Defined in http/connection_exchange.c. */

/** Starts the exchange of the request whose head is complete, as c->reading. */
struct exchange *exchange_begin(struct connection *c);
/** Makes c->reading the last of the pending exchanges. */
void exchange_enqueue(struct connection *c);
/** Removes the first pending exchange, whose response is sent. */
void exchange_pop(struct connection *c);
/** Drops blobs that are not being sent yet. */
void exchange_drop_blobs(struct exchange_blobs *blobs);
/** Drops all exchanges without a response. */
void exchange_drop_all(struct connection *c);
/** Returns whether one more request may be taken before the pending ones have their responses. */
bool exchange_has_room(const struct connection *c);
/** Reports the exchange to the metrics and the logs; once. */
void exchange_record(struct exchange *x);

/* Defined in http/connection_request.c. */

/** Prepares for the next request; the buffers are emptied. */
void request_reset(struct connection *c);
void request_release(struct connection *c);
/** Reads requests from the received bytes as far as the state allows, and hands complete ones to
 * the API. */
void request_consume(struct connection *c);
/** Sends 100 Continue if the client expects it and no earlier request is pending. */
void request_send_continue(struct connection *c);

/* Defined in http/connection_response.c. */

void response_init_connection(struct connection *c);
/** Sets the callbacks by which the API responds in this exchange. */
void response_init(struct exchange *x);
/** Sends the bytes that are ready, without waiting for the end of the turn. */
void response_flush(struct connection *c);
/** Refuses a malformed request and then closes the connection. */
void response_refuse(struct connection *c, const struct error *err);
/** Sends the API's refusal of a request whose body was not read to its end, then closes. */
void response_end_early(struct connection *c);
/** Sends 408 for a request that did not arrive in time, then closes. */
void response_refuse_slow(struct connection *c);
/** Sends an error because the API has not begun to respond in time, then closes. */
void response_refuse_late(struct connection *c);
