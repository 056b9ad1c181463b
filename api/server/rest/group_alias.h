#pragma once
/*
 * Kinds under another group with other names for their members: events.k8s.io shows the core
 * group's Events. They are stored once; requests and answers are turned around at the edge. Ref:
 * spec/kube-api.md 6.9.
 */
#include "api/types/object.h"

struct group_alias {
    const char *group, *version; /* NULL ends the table */
    const struct kind *kind;     /* as it is stored */
    const struct group_alias_member {
        const char *stored, *shown;
    } * names; /* of members, ended by a zero row */
};
extern const struct group_alias group_aliases[];

const struct group_alias *group_alias_find(const char *group, const char *version,
                                           const char *plural);
/** Append "group/version". */
void group_alias_api_version(const struct group_alias *alias, struct buf *out);

/** Append the object as it is shown. */
void group_alias_write(const struct group_alias *alias, const struct object *object,
                       struct buf *out);
/** A body or merge patch in the view's names, in place: into the stored ones. */
void group_alias_to_stored(const struct group_alias *alias, json_t *doc);
/** The same for the paths of a JSON Patch. */
void group_alias_patch_to_stored(const struct group_alias *alias, json_t *operations);
