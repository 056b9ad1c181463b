#pragma once
/*
 * What the parts of the gateway share. site.c decides which part answers a request; each part
 * returns a stream, which is the response under way.
 */
#include <sys/queue.h>

#include "api/server/message/request_target.h"
#include "api/types/text/json_text.h"
#include "web/assets.h"
#include "web/child/child.h"
#include "web/server.h"
#include "web/signin/signin.h"

struct page_stream;
struct topics;

/* Bytes of the requests that a site forwards: what they hold now, and how many they may. */
struct forward_budget {
    size_t held, max;
};

struct web_server {
    struct web_site *site;
    struct web_server_options options;
    struct loop *loop;
    struct signins *signins; /* the site's, as the following */
    const struct assets *assets;
    struct forward_budget *forwards;
    LIST_HEAD(, page_stream) streams;
    struct topics *topics;
    unsigned generation; /* generation of the upstream when the stream began */
    struct child_queue *children;
};
/** Returns the options of the site; borrowed. */
const struct web_site_options *web_site_options(const struct web_site *site);
/** Connects a server with the site whose requests it answers. */
void web_site_take(struct web_site *site, struct web_server *server);

/* First member of each kind of response. */
struct web_stream;
struct web_stream_ops {
    void (*cancel)(struct web_stream *stream);  /* frees it; nothing more may be sent */
    void (*drained)(struct web_stream *stream); /* the client has read everything; may be NULL */
    /* Ends a stream, which says why. NULL: it is broken off. */
    void (*finish)(struct web_stream *stream, const char *why);
    bool long_running;
};
struct web_stream {
    const struct web_stream_ops *ops;
    struct web_server *server;
    struct api_response *response;
};

/* exchange.c: an answer under way. It is the stream that the transport knows. */
struct web_exchange {
    struct api_response response; /* the part answers here */
    struct api_response *real;    /* the transport's */
    struct web_site *site;
    struct web_server *server;
    struct web_stream *stream; /* the part's */
    uint64_t signin;
    LIST_ENTRY(web_exchange) all;
};
struct web_exchange *web_exchange_new(struct api_response *real);
/** Drops an answer whose client is gone. */
void web_exchange_cancel(struct web_exchange *exchange);
/** Ends an answer that goes on. */
void web_exchange_finish(struct web_exchange *exchange, const char *why);
/** Called by exchange.c when an answer has ended. */
void web_exchange_ended(struct web_site *site);

/* A request, as far as the parts use it. */
struct web_request {
    const struct api_request *http;
    struct request_target target;
    struct request_head head;
    uint64_t signin; /* SIGNIN_NONE: the request has no key */
};

/* response.c: responses in one piece. */

enum { RESPONSE_HEADERS_MAX = 6 };
struct web_response {
    int status;
    const char *media_type;                    /* NULL: JSON; copied */
    struct buf body;                           /* taken over */
    const char *headers[RESPONSE_HEADERS_MAX]; /* "Name: value"; copied */
};
/** Sends the answer in the next turn. Data answers must not be kept: unless a header says
 * otherwise, the response has Cache-Control: no-store. */
void *web_respond(struct web_server *server, struct api_response *response,
                  struct web_response *answer);
void *web_respond_error(struct web_server *server, struct api_response *response,
                        const struct error *err);
/** Refuses a request with this error and sentence. */
void *web_refuse(struct web_server *server, struct api_response *response, enum error_code code,
                 const char *why);
void *web_refuse_method(struct web_server *server, struct api_response *response);
/** Passes an answer to the transport at once, for streams that end themselves. */
void web_respond_head_now(struct api_response *response, const struct web_response *answer);
void web_respond_now(struct api_response *response, struct web_response *answer);
void web_respond_error_now(struct api_response *response, const struct error *err);

/* page_files.c */

/** Every path below /ui/ that is the page's own: its HTML. */
void *web_shell(struct web_server *server, const struct web_request *request,
                struct api_response *response);
/** /ui/a/DIGEST/NAME: a file of the page */
void *web_asset(struct web_server *server, const struct web_request *request,
                struct api_response *response);

/* signin_requests.c */

/** /ui/signin: exchanges the ticket of a link, or a token, for a sign-in */
void *web_sign_in(struct web_server *server, const struct web_request *request,
                  struct api_response *response);
/** /ui/signout */
void *web_sign_out(struct web_server *server, const struct web_request *request,
                   struct api_response *response);
/** /ui/ticket: makes a ticket with exactly the rights of the client, which shows its credential as a
 * client of the API. A page of a browser cannot ask: its key is no such credential. */
void *web_ticket(struct web_server *server, const struct web_request *request,
                 struct api_response *response);

/* forward.c: /ui/api/… */
void *web_forward(struct web_server *server, const struct web_request *request,
                  struct api_response *response);

/* whoami.c: /ui/v1/me */
void *web_whoami(struct web_server *server, const struct web_request *request,
                 struct api_response *response);

/* stream.c: /ui/v1/stream */
void *web_stream(struct web_server *server, const struct web_request *request,
                 struct api_response *response);
/** Tells every page that there is another server, or that something new is known of it. */
void web_streams_tell_server(struct web_server *server);

/* flow_commands.c: what commands print of a flow */

/** …/jobflows/NAME/graph */
void *web_graph(struct web_server *server, const struct web_request *request,
                struct api_response *response);
/** A subresource of a flow in a store at rest: a child opens the whole store, which may be large. */
void *web_raw(struct web_server *server, const struct web_request *request,
              struct api_response *response);
/** /ui/v1/explain */
void *web_explain(struct web_server *server, const struct web_request *request,
                  struct api_response *response);
/** /ui/v1/foresee: which steps of an ended flow a rerun would run again */
void *web_foresee(struct web_server *server, const struct web_request *request,
                  struct api_response *response);

/** /ui/v1/report: the flow as one HTML file */
void *web_report(struct web_server *server, const struct web_request *request,
                 struct api_response *response);
/** /ui/v1/trace: the times of its attempts for Perfetto */
void *web_trace(struct web_server *server, const struct web_request *request,
                struct api_response *response);

/* manifest_plan.c: /ui/v1/plan */
void *web_plan(struct web_server *server, const struct web_request *request,
               struct api_response *response);

/** Writes the members "server", "timeMs" and "digest" of several answers. */
void web_write_server(const struct web_server *server, json_t *object);
