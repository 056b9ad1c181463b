#pragma once
/*
 * A response that is made from what a child prints. The child ends with its request.
 */
#include "web/internal.h"

/* First member of the caller's struct, which is allocated. The caller fills `child.arguments` and
 * `child.in` before the start. */
struct child_response {
    struct web_stream stream;
    struct child child;
    /* Sends the response, once the child has ended; child.err has a code when it has failed. */
    void (*write)(struct child_response *answer);
    /* Frees the caller's struct, at the end of the response or of the request. */
    void (*release)(struct child_response *answer);
};

void child_response_init(struct child_response *answer, struct web_server *server,
                         struct api_response *response);
/** Starts the child. Returns the response under way; a refusal when too many children wait. */
void *child_response_start(struct child_response *answer);
/** Refuses the request instead of starting the child, and frees the caller's struct. */
void *child_response_refuse(struct child_response *answer, const struct error *err);
