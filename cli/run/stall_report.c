/*
 * Every step that is neither over nor waits for one that is itself told of; those behind it are
 * only counted.
 */
#include "cli/run/stall_report.h"

#include "api/types/text/doc.h"
#include "api/types/text/json_text.h"
#include "base/mem.h"
#include "cli/command/command.h"
#include "view/flow_view.h"

enum { STEPS_TOLD_MAX = 10 };

static bool waits_for_unfinished(const struct flowview *view, uint32_t i)
{
    bool any = view->steps[i].any;
    uint32_t open = 0, n = view->targets.first[i + 1] - view->targets.first[i];

    for (uint32_t t = view->targets.first[i]; t < view->targets.first[i + 1]; t++)
        open += !view->steps[view->targets.next[t]].settled;
    return any ? n && open == n : open > 0;
}

static void write_why(const struct follow *follow, const struct follow_flow *flow,
                      const struct flowview_step *step, struct buf *out)
{
    const struct follow_step *followed = follow_find_step(flow, step->name);
    size_t before = out->len;

    if (followed)
        follow_step_waits(follow, followed, out);
    if (out->len == before && step->message)
        buf_printf(out, "%s%s%s", step->reason ? step->reason : "", step->reason ? ": " : "",
                   step->message);
    else if (out->len == before && doc_at(flowview_step_spec(step), "dependsOn.probe"))
        buf_str(out, "it waits for its probes, which nothing answers in a simulation");
    if (out->len == before)
        buf_str(out, "it waits for something that never comes");
}

static void tell_flow(const struct follow *follow, const struct follow_flow *flow)
{
    scoped(json) json_t *doc = object_to_json(flow->object);
    scoped(flowview) struct flowview *view = flowview_new(doc, NULL);
    const char *message = doc_text(doc, "status.state.message");
    uint32_t told = 0, behind = 0;

    cli_errorf("jobflow \"%s\" can never go on: nothing comes of what is still under way%s%s",
               flow->name, message ? "; " : "", message ? message : "");
    if (json_is_true(doc_at(doc, "spec.suspend")))
        fputs("  it is suspended\n", stderr);
    for (uint32_t i = 0; view && i < view->n_steps; i++) {
        const struct flowview_step *step = &view->steps[i];
        scoped(buf) struct buf why = {0};

        if (!step->phase || step->settled)
            continue;
        if (waits_for_unfinished(view, i) || told == STEPS_TOLD_MAX) {
            behind++;
            continue;
        }
        told++;
        write_why(follow, flow, step, &why);
        fprintf(stderr, "  %s is %s: %s\n", step->name, step->phase, why.data);
    }
    if (behind)
        fprintf(stderr, "  %u more step%s behind %s\n", behind, behind == 1 ? " waits" : "s wait",
                told == 1 ? "it" : "them");
}

static void tell_job(const struct follow *follow, const struct follow_flow *flow)
{
    scoped(buf) struct buf why = {0};

    follow_step_waits(follow, &flow->steps[0], &why);
    cli_errorf("job \"%s\" can never go on: it is %s%s%s", flow->name,
               follow_step_state(&flow->steps[0]), why.len ? ": " : "", why.len ? why.data : "");
}

void stuck_tell(const struct follow *follow)
{
    for (const struct follow_flow *flow = follow_flows(follow); flow; flow = flow->next) {
        if (flow_phase_finished(flow->phase))
            continue;
        if (flow->bare_job)
            tell_job(follow, flow);
        else
            tell_flow(follow, flow);
    }
}
