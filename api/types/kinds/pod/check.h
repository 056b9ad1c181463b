#pragma once
/*
 * The rules of a pod's spec that a field table cannot say. They hold for pods and for the templates
 * of tasks, so that a broken template is refused where it is written and not when its pod is made.
 */
#include "api/types/admission.h"
#include "api/types/kinds/pod/pod.h"

/** Check a spec whose path is `path`: "spec", "spec.tasks[0].template.spec". */
void pod_check_spec(const struct admission *adm, const struct pod_spec *spec, const char *path,
                    struct error_list *errors);

/* Which containers of a template get their command from somebody else. */
struct pod_commands {
    bool (*given)(const void *ctx, const char *container);
    const void *ctx;
};

/** The same for a PodTemplateSpec; NULL is a template that is missing altogether. `commands` NULL:
 * every container has to say itself what it runs. */
void pod_check_template(const struct admission *adm, const json_t *template,
                        const struct pod_commands *commands, const char *path,
                        struct error_list *errors);

/** What the field table cannot decode: the volumes' sources. `doc` is the spec's document, which
 * the spec then borrows from. Has the form of decoded_type.finish. */
void pod_spec_finish(void *spec, const json_t *doc, struct arena *arena);
