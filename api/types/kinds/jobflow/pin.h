#pragma once
/*
 * Pinned templates: with `templatePolicy: pinned` a flow runs with the JobTemplates as they were
 * when it was accepted.
 *
 * The flow owns a copy of each template that it names. The copy is a JobTemplate of its own: it
 * outlives changes and the deletion of the original, survives restarts, and is deleted with the
 * flow. Bodies are interned, so a copy costs only its metadata. The name of a copy follows from the
 * flow's uid and the template's name.
 */
#include "api/types/kinds/jobflow/jobflow.h"

/* This annotation of a copy has the name of the original template. */
#define ANNOTATION_PINNED_TEMPLATE "volcano.sh/pinnedTemplate"
#define ANNOTATION_PINNED_REVISION                                                                 \
    "volcano.sh/pinnedResourceVersion" /* on a copy: the version of the original */

enum {
    PIN_NAME_MAX = 253,
    PINNED_TEMPLATES_MAX = 1000 /* templates of one flow */
};

/** Returns whether the flow pins its templates. */
bool jobflow_pins(const struct object *flow);

/** Writes the name of the copy that a flow keeps of a template: the beginning of the template's
 * name and sixteen hex digits. */
void jobflow_pin_name(const char *flow_uid, const char *template_name, char out[PIN_NAME_MAX + 1]);

/** Looks up an object; returns NULL when it does not exist. */
typedef const struct object *jobflow_pin_get(void *ctx, const struct kind *kind, const char *ns,
                                             const char *name);
/** Returns the template that jobs of `flow` are made from when a step names `name`: the flow's copy
 * if it pins and has one, else the template itself. NULL when neither exists. Borrowed from `get`. */
const struct object *jobflow_template(const struct object *flow, const char *name,
                                      jobflow_pin_get *get, void *ctx);

/** Returns the name of the original when `template` is a pinned copy, else NULL. Borrowed. */
const char *jobflow_pin_origin(const struct object *template);
/** Returns whether `template` is a pinned copy of the flow with this uid. */
bool jobflow_pin_is_of(const struct object *template, const char *flow_uid);
