#pragma once
/*
 * Builds objects for tests from a few values. Members left out get a default: kind Job, namespace
 * "default", an empty body, no status; the uid is "uid-NAME".
 */
#include "api/types/object.h"

struct sample {
    const char *name;
    const struct kind *kind;
    const char *ns;
    const char *uid;
    const char *owner_uid, *owner_uid2;
    const char *body, *status; /* body and status of the object as JSON text */
    const char *finalizer;
};

struct object *sample_build(const struct sample *sample); /* Returns a new object; owned. */
#define sample_object(...) sample_build(&(const struct sample){__VA_ARGS__})

/** Returns a copy of the object with another status; owned. */
struct object *sample_with_status(const struct object *object, const char *status);
