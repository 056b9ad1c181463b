#pragma once
/*
 * Pinned templates: with `templatePolicy: pinned` a flow runs with the JobTemplates as they were
 * when it was accepted.
 *
 * Each template such a flow names is kept as a copy of its own, a JobTemplate that the flow owns:
 * it outlives changes and the deletion of the original, survives restarts with everything else that
 * is stored, and goes with the flow. Bodies are interned, so a copy costs its metadata. Its name
 * follows from the flow's uid and the template's name, so whoever knows both finds it.
 */
#include "api/types/kinds/jobflow/jobflow.h"

#define ANNOTATION_PINNED_TEMPLATE                                                                 \
    "volcano.sh/pinnedTemplate" /* of a copy: name of the original                                 \
                                 */
#define ANNOTATION_PINNED_REVISION                                                                 \
    "volcano.sh/pinnedResourceVersion" /* … and the version of it that was taken */

enum {
    PIN_NAME_MAX = 253,
    PINNED_TEMPLATES_MAX = 1000 /* of one flow */
};

/** The flow runs with its templates as they were. */
bool jobflow_pins(const struct object *flow);

/** The name of the copy that the flow of that uid keeps of a template: the template's own, as far
 * as it fits, and sixteen hex digits. */
void jobflow_pin_name(const char *flow_uid, const char *template_name, char out[PIN_NAME_MAX + 1]);

/** The template that jobs of `flow` are made from where it names `name`: its own copy if it pins
 * and has one, else the template itself; NULL when neither is there. `get` looks up. */
typedef const struct object *jobflow_pin_get(void *ctx, const struct kind *kind, const char *ns,
                                             const char *name);
const struct object *jobflow_template(const struct object *flow, const char *name,
                                      jobflow_pin_get *get, void *ctx);

/** Whether `template` is a copy: the name of its original, else NULL. */
const char *jobflow_pin_origin(const struct object *template);
/** It is a copy that this flow keeps. */
bool jobflow_pin_is_of(const struct object *template, const char *flow_uid);
