/*
 * Answers that are given on the command line of a run.
 */
#include "cli/run/approvals.h"

#include <string.h>

#include "api/types/text/doc.h"
#include "api/types/text/suggest.h"
#include "base/mem.h"
#include "base/user_name.h"

static bool answer_of(void *ctx, const struct object *flow, const char *step,
                      struct flow_answer *out)
{
    const struct approvals *approvals = ctx;

    *out = (struct flow_answer){0};
    for (size_t i = 0; i < approvals->steps->count; i++)
        if (strcmp(approvals->steps->items[i], step) == 0)
            return true;
    return false;
}

void approvals_init(struct approvals *approvals, const struct flag_list *steps)
{
    approvals->steps = steps;
    approvals->by = user_name();
    approvals->answers = (struct flow_answers){answer_of, approvals, approvals->by};
}

void approvals_release(struct approvals *approvals)
{
    mem_free(approvals->by);
}

/* Looks for a step among those of one manifest that can be approved. */
static bool is_in(const struct manifest *manifest, const char *name, struct suggest *near)
{
    const json_t *step;
    size_t i;

    json_array_foreach(doc_at(manifest->doc, "spec.flows"), i, step)
    {
        const char *its = doc_text(step, "name");

        if (!its || !json_object_get(step, "approve"))
            continue;
        if (strcmp(its, name) == 0)
            return true;
        suggest_offer(near, name, its);
    }
    return false;
}

static bool is_known(const char *name, const struct manifests *set)
{
    struct suggest near = {0};

    for (size_t i = 0; i < set->count; i++)
        if (set->items[i].kind == &kind_job_flow && is_in(&set->items[i], name, &near))
            return true;
    cli_errorf("--approve: no flow of the files has a step \"%.64s\" to approve%s%s%s", name,
               near.word ? "; near: \"" : "", near.word ? near.word : "", near.word ? "\"" : "");
    return false;
}

bool approvals_check(const struct flag_list *steps, const struct manifests *set)
{
    bool ok = true;

    for (size_t i = 0; i < steps->count; i++)
        ok = is_known(steps->items[i], set) && ok;
    return ok;
}
