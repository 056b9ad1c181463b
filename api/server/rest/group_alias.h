#pragma once
/*
 * Kinds that are also served under another group with other member names: events.k8s.io serves the
 * core group's Events. The objects are stored once; requests and responses are converted on the way
 * in and out. Ref: spec/kube-api.md 6.9.
 */
#include "api/types/object.h"

struct group_alias {
    const char *group, *version; /* group and version of the alias; NULL ends the table */
    const struct kind *kind;     /* the kind as stored */
    const struct group_alias_member {
        const char *stored, *shown;
    } * members; /* names that differ, ended by a zero row */
};
extern const struct group_alias group_aliases[];

const struct group_alias *group_alias_find(const char *group, const char *version,
                                           const char *plural);
/** Appends "group/version". */
void group_alias_api_version(const struct group_alias *alias, struct buf *out);

/** Appends the object under the names of the alias. */
void group_alias_write(const struct group_alias *alias, const struct object *object,
                       struct buf *out);
/** Renames the members of a body or merge patch, in place, to the stored names. */
void group_alias_to_stored(const struct group_alias *alias, json_t *doc);
/** Renames the members in the paths of a JSON Patch, in place. */
void group_alias_patch_to_stored(const struct group_alias *alias, json_t *operations);
