#pragma once
/*
 * Objects for tests, made from a few words. Members left out get the obvious value: kind Job,
 * namespace "default", an empty body, no status; the uid is "uid-NAME".
 */
#include "api/types/object.h"

struct sample {
    const char *name;
    const struct kind *kind;
    const char *ns;
    const char *uid;
    const char *owner_uid, *owner_uid2;
    const char *body, *status; /* JSON */
    const char *finalizer;
};

struct object *sample_build(const struct sample *sample); /* owned */
#define sample_object(...) sample_build(&(const struct sample){__VA_ARGS__})

/** The object with another status; owned. */
struct object *sample_with_status(const struct object *object, const char *status);
