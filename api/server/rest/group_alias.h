#pragma once
/*
 * Kinds under another group with other names for their members: events.k8s.io shows the core
 * group's Events. They are stored once; requests and answers are turned around at the edge. Ref:
 * spec/kube-api.md 6.9.
 */
#include "api/types/object.h"

struct kind_view {
    const char *group, *version; /* NULL ends the table */
    const struct kind *kind;     /* as it is stored */
    const struct view_name {
        const char *stored, *shown;
    } * names; /* of members, ended by a zero row */
};
extern const struct kind_view kind_views[];

const struct kind_view *view_find(const char *group, const char *version, const char *plural);
/** Append "group/version". */
void view_api_version(const struct kind_view *view, struct buf *out);

/** Append the object as it is shown. */
void view_write(const struct kind_view *view, const struct object *object, struct buf *out);
/** A body or merge patch in the view's names, in place: into the stored ones. */
void view_take(const struct kind_view *view, json_t *doc);
/** The same for the paths of a JSON Patch. */
void view_take_patch(const struct kind_view *view, json_t *operations);
