#pragma once
/*
 * Which of the forms an endpoint can give the client takes. Ref: spec/kube-api.md 2.1.
 */
#include <stdbool.h>

#include "base/error.h"

enum media_form {
    MEDIA_JSON,      /* the object, the list, the text */
    MEDIA_TABLE,     /* as=Table */
    MEDIA_PARTIAL,   /* as=PartialObjectMetadata or …List: metadata alone */
    MEDIA_DISCOVERY, /* as=APIGroupDiscoveryList */
};

struct media {
    enum media_form form;
    const char
        *version; /* of the form's group: "v1", "v1beta1"; discovery "v2", "v2beta1"; static */
};

enum accept_endpoint {
    ACCEPT_PLAIN, /* writes and fixed pages: JSON alone */
    ACCEPT_ITEM,  /* one object, or a watch */
    ACCEPT_LIST,
    ACCEPT_DISCOVERY,
};

/** The first clause of an Accept header (NULL = anything) that the endpoint can give; quality
 * values are not looked at. NOT_ACCEPTABLE when there is none. */
bool accept_negotiate(const char *accept, enum accept_endpoint endpoint, struct media *out,
                      struct error *err);
