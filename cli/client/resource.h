#pragma once
/*
 * What a command line means by "jf", "jf x y", "jf/x", "jf,jt" and "all".
 */
#include "api/client/resource_path.h"

struct resource {
    const struct kind *kind;
    const char *name; /* NULL = all of them; borrowed from the command line */
};

struct resources {
    struct resource *items; /* [count]; those of one kind stand together */
    size_t count, cap;
    bool many_kinds; /* names are printed with their kind */
};
void resources_release(struct resources *resources);
SCOPED_DEFINE(resources, struct resources, resources_release)

/** BAD_REQUEST, with the nearest kind, for a word that names none; and for what does not fit
 * together ("jf/x y"). */
bool resources_parse(int n, char *const *words, struct resources *out, struct error *err);
/** One "KIND/NAME". */
bool resource_parse(const char *word, struct resource *out, struct error *err);

/** "jobflow.flow.volcano.sh/x", "pod/p": how kubectl names an object. */
void resource_write_name(const struct kind *kind, const char *name, struct buf *out);
