#pragma once
/*
 * What the parts of a connection share. The connection itself (connection.c) owns the state, the
 * deadline and the order of its exchanges; connection_request.c fills an exchange's request from
 * the bytes that come, connection_response.c empties its answer into the socket.
 */
#include <llhttp.h>

#include "api/server/http/connection.h"
#include "api/server/rest/watch_batcher.h"

enum {
    HEAD_MS = 10000,   /* from the first byte of a head to its end */
    BODY_MS = 30000,   /* from the end of the head to the end of the body */
    IDLE_MS = 60000,   /* L-24 */
    ANSWER_MS = 60000, /* L-24: until an answer begins */
    STALL_MS = 30000,  /* bytes wait and none goes out */
    LINGER_MS = 1000,  /* for the answer to be read before what was sent is dropped */
    AUDIT_ID_MAX = 20,
};

/* ANSWERING: no further request is taken until what was asked has been answered. */
enum connection_state { READING_HEAD, READING_BODY, ANSWERING, LINGERING, CLOSING };

/* Bytes that go to many, in the order in which they are to be sent. */
struct exchange_lines {
    struct blob **at; /* [n] references */
    size_t n, cap, bytes;
};

/* A request and its answer, from the end of its head to the last byte handed to the socket. */
struct exchange {
    struct connection *connection;
    struct exchange *next; /* asked after this one, answered after it */

    /* the request, as far as it outlives the call of the API */
    struct buf target, user_agent;
    enum api_method method;
    const char *method_name;
    struct identity *identity; /* who asks; a reference */
    int64_t began_ms, began_ns;
    uint64_t bytes_in;

    /* the answer */
    struct api_response response;
    struct api_stream *request;  /* being answered; NULL: all is said */
    struct buf head, out;        /* status line and headers; body bytes: not yet handed over */
    struct exchange_lines lines; /* go after `out` */
    struct watch_batch_entry batch_entry;
    bool head_only, keep_alive, lingers, has_head, chunked, ended, long_running;
    int status;
    char id[AUDIT_ID_MAX];
    struct buf object; /* what a change was about: "namespace/name" */
    int64_t revision;
    uint64_t bytes_out;
};

/* What the one timer of a connection is running for. */
enum connection_awaits {
    AWAITS_NOTHING,
    AWAITS_HANDSHAKE,
    AWAITS_REQUEST,
    AWAITS_HEAD,
    AWAITS_BODY,
    AWAITS_ANSWER,
    AWAITS_READER,
    AWAITS_GOODBYE
};

struct connection {
    struct connection_io io;
    const struct connection_env *env;
    struct loop *loop;
    enum connection_state state;
    enum connection_awaits awaits;
    struct timer deadline;

    /* the peer */
    char *peer;
    struct identity *socket_identity; /* unix socket; NULL */
    struct identity *certificate;     /* TLS; NULL */
    bool looked_at_certificate, certificate_refused;
    bool is_admin; /* somebody who came this way */

    /* the request that is being read */
    llhttp_t parser;
    struct buf in;   /* bytes not yet consumed */
    size_t searched; /* of them, for the end of a head */
    struct buf accept, accept_encoding, content_type, authorization, body;
    size_t head_len, body_max;
    size_t parsed;              /* bytes of its head, body and framing so far */
    int64_t began_ms, began_ns; /* its first byte */
    bool message_done, wants_continue, is_large, heard;
    struct error *refused;   /* what is wrong with it; NULL: nothing */
    struct exchange *asking; /* NULL: its head is not there yet */

    /* those that have been asked and not yet answered, in order */
    struct exchange *first, **last;
    struct exchange *spare; /* kept for its buffers; NULL */
    struct task flush;
    bool parting, lingers; /* the last answer has been sent */
    bool draining, peer_ended;
};

/* ---- connection.c ---- */

/** Something has changed: take further requests if there is room for them, part if all is done, and
 * set the deadline of what is waited for now. */
void connection_advance(struct connection *c);
/** Some of what was waited for has come: its time begins anew. */
void connection_progress(struct connection *c);

/* ---- connection_exchange.c ---- */

/** The exchange of the request whose head has been read. */
struct exchange *exchange_begin(struct connection *c);
/** It has been asked: it takes its place in the order. */
void exchange_enqueue(struct connection *c);
/** The first is over. */
void exchange_pop(struct connection *c);
/** All of them end without an answer, so do those that were being asked. */
void exchange_drop_all(struct connection *c);
/** Whether one more may be asked before the others are answered. */
bool exchange_has_room(const struct connection *c);
/** Those who keep a record are told, once. */
void exchange_record(struct exchange *x);

/* ---- connection_request.c ---- */

/** Be ready for the next one; its buffers are empty. */
void request_reset(struct connection *c);
void request_release(struct connection *c);
/** Bytes came: take what is there of requests, as far as the state allows. Complete ones are handed
 * to the API. */
void request_consume(struct connection *c);
/** Whoever waits with his body may send it. */
void request_continue(struct connection *c);

/* ---- connection_response.c ---- */

void response_init_connection(struct connection *c);
/** How the API answers in this exchange. */
void response_init(struct exchange *x);
/** Send what has gathered, whether the turn is over or not. */
void response_flush(struct connection *c);
/** A request that cannot be understood: say why, then close. */
void response_refuse(struct connection *c, const struct error *err);
/** The API has refused what has not been read to its end: answer, then close. */
void response_end_early(struct connection *c);
/** It did not come to its end in time: 408, then close. */
void response_refuse_slow(struct connection *c);
/** The API has not begun to answer the first in time. */
void response_refuse_late(struct connection *c);
