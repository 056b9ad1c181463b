/*
 * Checks the annotations that ask for a rerun: every name is a step of the flow or an iteration of one
 * of its loops, and the flow has ended. Ref: spec/everyday.md 7.1.
 */
#include <stdlib.h>
#include <string.h>

#include "api/types/checks.h"
#include "api/types/kinds/jobflow/internal.h"
#include "api/types/kinds/jobflow/step_names.h"
#include "base/mem.h"

struct rerun_check {
    const struct jobflow_spec *spec;
    const struct name_index *names; /* names of the steps to their positions */
    struct error_list *errors;
};

/* Returns whether the name is `<loop>-<i>`. `*out_loop` is the loop. */
static bool is_iteration(const struct rerun_check *c, const char *name,
                         const struct flow_loop **out_loop)
{
    const char *dash = strrchr(name, '-');
    scoped_str loop = dash ? mem_printf("%.*s", (int)(dash - name), name) : NULL;
    uint32_t at = loop ? name_index_get(c->names, loop) : NAME_NONE;

    *out_loop = at == NAME_NONE ? NULL : c->spec->steps.items[at].loop;
    return *out_loop && dash[1] && strspn(dash + 1, "0123456789") == strlen(dash + 1) &&
           strtoul(dash + 1, NULL, 10) < flow_loop_iterations(*out_loop);
}

static void check_name(const struct rerun_check *c, const char *annotation, const char *name)
{
    const struct flow_loop *loop;
    scoped_str near = NULL;

    if (name_index_get(c->names, name) != NAME_NONE)
        return;
    if (!is_iteration(c, name, &loop)) {
        near = jobflow_near_step(c->spec, name, c->errors);
        FINDING(c->errors, ("metadata.annotations[%s]", annotation),
                "the flow has no step \"%s\"%s", name, near);
    } else if (loop->until) {
        FINDING(
            c->errors, ("metadata.annotations[%s]", annotation),
            "%s is an iteration of a loop with until, which runs them one after the other: name "
            "the loop",
            name);
    }
}

static void check_names(const struct rerun_check *c, const char *annotation, const char *names)
{
    const char *at = names, *name;
    size_t len;

    while (names && flow_rerun_next_name(&at, &name, &len)) {
        scoped_str text = mem_printf("%.*s", (int)len, name);

        check_name(c, annotation, text);
    }
}

/* Returns whether two annotations are equal; NULL equals only NULL. */
static bool same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* A new request must come when the flow has ended. One that repeats the names of the request before,
 * or only forgot to remove them, is carried out with a warning. */
static void check_request(const struct admission *adm, const struct object *old,
                          const struct object *flow, const struct flow_rerun *rerun,
                          struct error_list *errors)
{
    const char *asked = meta_annotation(flow->meta, ANNOTATION_FLOW_RETRY);
    const struct flow_rerun before = jobflow_rerun_of(old);
    const char *phase = flow_phase_text(jobflow_phase_of(old));

    if (!asked || same(asked, meta_annotation(old->meta, ANNOTATION_FLOW_RETRY)))
        return;
    if (!flow_phase_finished(jobflow_phase_of(old)))
        FINDING_CODE(errors, ERR_CONFLICT, ("metadata.annotations[%s]", ANNOTATION_FLOW_RETRY),
                     "jobflow \"%s\" is %s: only a flow that has ended can be run again",
                     object_name(flow), *phase ? phase : "not begun");
    else if (same(rerun->from, before.from) && same(rerun->only, before.only))
        WARNING(adm,
                ("metadata.annotations[%s]",
                 rerun->from ? ANNOTATION_FLOW_RETRY_FROM : ANNOTATION_FLOW_RETRY_ONLY),
                "still names %s: these steps run again; remove the annotation to retry what failed",
                rerun->from ? rerun->from : rerun->only);
}

void jobflow_check_rerun(const struct admission *adm, const struct object *old,
                         const struct object *flow, struct error_list *errors)
{
    const struct flow_rerun rerun = jobflow_rerun_of(flow);
    scoped(name_index) struct name_index names = {0};
    const struct rerun_check check = {jobflow_spec_of(flow), &names, errors};

    if (!flow_rerun_is_selective(&rerun) && !rerun.edited)
        return;
    if (rerun.from && rerun.only)
        FINDING(errors, ("metadata.annotations[%s]", ANNOTATION_FLOW_RETRY_ONLY),
                "write %s or %s, and not both", ANNOTATION_FLOW_RETRY_FROM,
                ANNOTATION_FLOW_RETRY_ONLY);
    jobflow_index_names(check.spec, &names, NULL, NULL);
    check_names(&check, ANNOTATION_FLOW_RETRY_FROM, rerun.from);
    check_names(&check, ANNOTATION_FLOW_RETRY_ONLY, rerun.only);
    check_names(&check, ANNOTATION_FLOW_RETRY_EDITED, rerun.edited);
    if (old && flow_rerun_is_selective(&rerun))
        check_request(adm, old, flow, &rerun, errors);
}
