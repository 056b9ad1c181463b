#pragma once
/*
 * Content negotiation: which of the forms that an endpoint can produce the client accepts. Ref:
 * spec/kube-api.md 2.1.
 */
#include <stdbool.h>

#include "base/error.h"

enum media_form {
    MEDIA_JSON,      /* the object, the list or the text itself */
    MEDIA_TABLE,     /* requested with as=Table */
    MEDIA_PARTIAL,   /* requested with as=PartialObjectMetadata or …List: the metadata alone */
    MEDIA_DISCOVERY, /* requested with as=APIGroupDiscoveryList */
    MEDIA_PROTOBUF,  /* the object or the list, of a kind that has this form */
};

#define PROTOBUF_TYPE "application/vnd.kubernetes.protobuf"

struct media {
    enum media_form form;
    /* Version of the form's group: "v1", "v1beta1"; for discovery "v2", "v2beta1". A constant. */
    const char *version;
};

enum accept_endpoint {
    ACCEPT_PLAIN, /* writes and fixed pages: the object itself */
    ACCEPT_ITEM,  /* one object, or a watch */
    ACCEPT_LIST,
    ACCEPT_DISCOVERY,
};

enum accept_protobuf { PROTOBUF_UNKNOWN, PROTOBUF_POSSIBLE };

/** Chooses the first clause of an Accept header (NULL = anything) that the endpoint can produce;
 * quality values are ignored. Protobuf, where it is possible, comes last: JSON is what is stored.
 * NOT_ACCEPTABLE when there is none. */
bool accept_negotiate(const char *accept, enum accept_endpoint endpoint,
                      enum accept_protobuf protobuf, struct media *out, struct error *err);
