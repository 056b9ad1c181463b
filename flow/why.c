/*
 * Why a flow is in its phase: the reason and message of a phase that is not final.
 */
#include "base/mem.h"
#include "flow/internal.h"
#include <string.h>

enum { LOOKED_AT = 100 }; /* unusual jobs searched for an aborted one */

static void replace(char **text, const char *with)
{
    if (*text && with && strcmp(*text, with) == 0)
        return;
    mem_free(*text);
    *text = mem_strdup(with);
}

static uint32_t first_aborted(const struct flow_record *r)
{
    uint32_t looked = 0;

    if (!r->by_phase[JOB_ABORTED])
        return STEP_NONE;
    step_set_each(&r->lists[FLOW_LIST_UNKNOWN], step)
    {
        if (r->steps[step].phase == JOB_ABORTED)
            return step;
        if (++looked == LOOKED_AT)
            break;
    }
    return STEP_NONE;
}

void flow_explain(struct flow *flow)
{
    const struct flow_record *r = &flow->record;
    scoped(buf) struct buf message = {0};
    const char *reason = NULL;
    uint32_t step;

    if (flow->opening != FLOW_OPEN || flow_phase_finished(flow->state.phase))
        return; /* said when the phase was entered */
    step = first_aborted(r);
    if (r->blocked.count) {
        const struct flow_block *block = r->steps[step_set_next(&r->blocked, 0)].block;

        reason = block ? block_reason_text(block->reason) : NULL;
        buf_str(&message, block ? block->message : "");
    } else if (step != STEP_NONE) {
        reason = "JobAborted";
        buf_str(&message, "job ");
        flow_record_job_name(r, step, &message);
        buf_str(&message, " is aborted; resume it to go on");
    }
    replace(&flow->state.reason, reason);
    replace(&flow->state.message, message.len ? message.data : NULL);
}
