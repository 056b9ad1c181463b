#pragma once
/*
 * References in scripts: strings that a container hands to an interpreter as a program, such as the
 * third word of [sh, -c, "echo $(params.x)"].
 *
 * A value that is pasted into a script is code, so no reference is replaced there. The script reads
 * an environment variable instead, or an argument behind the script. Ref: spec/everyday.md 3.2,
 * DC-26.
 */
#include <jansson.h>
#include <stdbool.h>

#include "api/types/schema/flow_reference.h"
#include "base/buf.h"

struct script_reference {
    const char *path;   /* path of the string in the JobSpec: "tasks[0].template.spec…args[0]" */
    const char *script; /* the string */
    const struct flow_ref *ref;
};

/** Calls `visit` for the references in scripts of a JobSpec or of a part of one, such as a patch. A
 * container without `command` is passed over: what reads its arguments is not known. */
void script_references_each(const json_t *job_spec,
                            void (*visit)(void *arg, const struct script_reference *found),
                            void *arg);

/** Appends why the reference is refused, and the way out. */
void script_reference_refusal(const struct flow_ref *ref, struct buf *out);
