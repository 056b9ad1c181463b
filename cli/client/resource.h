#pragma once
/*
 * Parses resource operands of a command line: "jf", "jf x y", "jf/x", "jf,jt" and "all".
 */
#include "api/client/resource_path.h"

struct resource {
    const struct kind *kind;
    const char *name; /* name of the object, borrowed from the command line; NULL = every object of
                       * the kind */
};

struct resources {
    struct resource *items; /* the resources, [count]; those of one kind are adjacent */
    size_t count, cap;
    bool of_all;     /* "all" was asked for: kinds that the server does not have are left out */
    bool many_kinds; /* names are printed with their kind */
};
void resources_release(struct resources *resources);
SCOPED_DEFINE(resources, struct resources, resources_release)

/** Parses operands. Returns false with BAD_REQUEST for a word that names no kind (the message
 * suggests the nearest one) and for combinations that conflict ("jf/x y"). */
bool resources_parse(int n, char *const *words, struct resources *out, struct error *err);
/** Parses one "KIND/NAME". Returns false with BAD_REQUEST when it is invalid. */
bool resource_parse(const char *word, struct resource *out, struct error *err);

/** Appends an object's name in kubectl's form: "jobflow.flow.volcano.sh/x", "pod/p". */
void resource_write_name(const struct kind *kind, const char *name, struct buf *out);
