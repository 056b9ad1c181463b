#pragma once
/*
 * What the parts of a connection share. The connection itself (connection.c) owns the state, the
 * deadline and the way from one request to the next; connection_request.c fills "the request" from
 * the bytes that come, connection_answer.c empties "the answer" into the socket.
 */
#include "api/server/connection.h"
#include <llhttp.h>

enum {
    HEAD_MS = 10000,   /* from the first byte of a head to its end */
    BODY_MS = 30000,   /* from the end of the head to the end of the body */
    IDLE_MS = 60000,   /* L-24 */
    ANSWER_MS = 60000, /* L-24: until an answer begins */
    STALL_MS = 30000,  /* bytes wait and none goes out */
    LINGER_MS = 1000,  /* for the answer to be read before what was sent is dropped */
    AUDIT_ID_MAX = 20,
};

enum state { READING_HEAD, READING_BODY, ANSWERING, LINGERING, CLOSING };

struct connection {
    struct connection_io io;
    const struct connection_env *env;
    struct loop *loop;
    enum state state;
    struct timer deadline;

    /* the peer */
    char *peer;
    struct identity *socket_identity; /* unix socket; NULL */
    struct identity *certificate;     /* TLS; NULL */
    bool looked_at_certificate, certificate_refused;
    bool is_admin; /* somebody who came this way */

    /* the request */
    llhttp_t parser;
    llhttp_settings_t settings;
    struct buf in;   /* bytes not yet consumed */
    size_t searched; /* of them, for the end of a head */
    struct buf target, accept, accept_encoding, content_type, authorization, user_agent, body;
    size_t head_len, body_max;
    bool message_done, wants_continue, is_large;
    struct error refused;      /* what is wrong with it */
    struct identity *identity; /* who asks; a reference */
    int64_t began_ms, began_ns;

    /* the answer */
    struct api_answer answer;
    struct api_stream *request; /* being answered */
    struct task flush;
    struct buf head, out; /* status line and headers; body bytes: not yet handed over */
    bool head_only, keep_alive, lingers, has_head, chunked, ended, endless, draining;
    int status;
    char id[AUDIT_ID_MAX];
    struct buf object; /* what a change was about: "namespace/name" */
    int64_t revision;
    uint64_t bytes_out;
};

/* ---- connection.c ---- */

/** The answer is out: go on to what the client sends next, or close. */
void connection_next(struct connection *c);

/* ---- connection_request.c ---- */

void request_init(struct connection *c);
/** Be ready for the next one; its buffers are empty. */
void request_reset(struct connection *c);
/** Bytes came: take what is there of a request, as far as the state allows. A complete one is
 * handed to the API. */
void request_consume(struct connection *c);
enum api_method request_method(const struct connection *c);

/* ---- connection_answer.c ---- */

void answer_init(struct connection *c);
void answer_reset(struct connection *c);
/** The kernel has taken what was in flight, or some of it. */
void answer_written(struct connection *c);
/** Send bytes that are no part of an answer; consumed. */
void answer_send(struct connection *c, struct buf *bytes);
/** Send what has gathered, whether the turn is over or not. */
void answer_flush(struct connection *c);
/** The request is over, one way or the other: tell those who keep a record. Once. */
void answer_tell(struct connection *c);
/** A request that cannot be understood: say why, then close. */
void answer_refuse(struct connection *c, const struct error *err);
/** The API has refused what has not been read to its end: answer, then close. */
void answer_early(struct connection *c);
/** It did not come to its end in time: 408, then close. */
void answer_refuse_slow(struct connection *c);
/** The API has not begun to answer in time. */
void answer_refuse_late(struct connection *c);
