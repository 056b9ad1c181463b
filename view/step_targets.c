/*
 * Says which targets a waiting step still waits for, and finds steps that wait in vain: a probe that
 * waits for a failure does not pass any more once its target has completed.
 */
#include <string.h>

#include "api/types/text/doc.h"
#include "view/internal.h"

static bool is_satisfied(const struct flow_view_step *step, const char *target)
{
    size_t i;
    json_t *name;

    json_array_foreach(json_object_get(step->node, "satisfiedTargets"), i, name)
    {
        if (json_is_string(name) && strcmp(json_string_value(name), target) == 0)
            return true;
    }
    return false;
}

bool flow_view_target_open(const struct flow_view_step *step, const struct flow_view_step *target)
{
    bool done = flow_view_step_over(target);

    if (!json_object_get(flow_view_step_spec(step), "if"))
        done = done && !flow_view_step_failed(target);
    return !done && !is_satisfied(step, target->name);
}

static bool is_missed(const struct flow_view_step *step, const struct flow_view_step *target)
{
    return step->node && target->state == VIEW_COMPLETED &&
           doc_at(flow_view_step_spec(step), "dependsOn.probe") &&
           !is_satisfied(step, target->name);
}

const struct flow_view_step *flow_view_missed_target(const struct flow_view *view, uint32_t i)
{
    const struct flow_view_step *step = &view->steps[i], *missed = NULL;

    for (uint32_t t = view->targets.first[i]; t < view->targets.first[i + 1]; t++) {
        const struct flow_view_step *target = &view->steps[view->targets.next[t]];

        if (flow_view_target_open(step, target))
            return NULL;
        if (is_missed(step, target))
            missed = target;
    }
    return missed;
}
