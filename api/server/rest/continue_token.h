#pragma once
/*
 * The continue tokens of lists: base64url of
 * {"v":"meta.k8s.io/v1","rv":R,"start":"ns/name","n":N}. Opaque to clients; what they send back is
 * checked like any input. Ref: spec/kube-api.md 8.4.
 */
#include "base/buf.h"
#include "base/error.h"

struct continue_token {
    int64_t revision;  /* the list's; -1: of no fixed state, goes on with whatever is there now */
    const char *after; /* "ns/name" of the last object given out */
    int64_t given;     /* objects given out so far */
};

void continue_token_write(const struct continue_token *token, struct buf *out);

/** `out->after` points into `scratch` (appended to). BAD_REQUEST when it is no token of ours. */
bool continue_token_read(const char *text, struct buf *scratch, struct continue_token *out,
                         struct error *err);
