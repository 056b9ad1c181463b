#pragma once
/*
 * Continue tokens of lists: base64url of
 * {"v":"meta.k8s.io/v1","rv":R,"start":"ns/name","n":N}. Clients treat them as opaque; a token from
 * a client is checked like any input. Ref: spec/kube-api.md 8.4.
 */
#include "base/buf.h"
#include "base/error.h"

struct continue_token {
    int64_t revision;  /* revision of the list; -1: the rest is read from the present state */
    const char *after; /* key "ns/name" of the last object sent */
    int64_t given;     /* objects sent so far */
};

void continue_token_write(const struct continue_token *token, struct buf *out);

/** Decodes a token. `out->after` points into `scratch`, which is appended to. BAD_REQUEST when this
 * server did not make it. */
bool continue_token_read(const char *text, struct buf *scratch, struct continue_token *out,
                         struct error *err);
