/*
 * Names each step that is neither over nor waits for a step that is itself named; the steps behind
 * those are only counted.
 */
#include "cli/run/stall_report.h"

#include "api/types/text/doc.h"
#include "cli/command/command.h"

enum { STEPS_NAMED_MAX = 10 };

static bool waits_for_unfinished(const struct flow_view *view, uint32_t i)
{
    uint32_t open = 0, n = view->targets.first[i + 1] - view->targets.first[i];

    for (uint32_t t = view->targets.first[i]; t < view->targets.first[i + 1]; t++)
        open += !flow_view_step_over(&view->steps[view->targets.next[t]]);
    return view->steps[i].any ? n && open == n : open > 0;
}

static void write_reason(const struct flow_tracker *tracker, const struct flow_view_step *step,
                         struct buf *out)
{
    size_t before = out->len;

    flow_tracker_waits_for(tracker, step, out);
    if (out->len == before && step->message)
        flow_view_step_reason(step, out);
    else if (out->len == before && doc_at(flow_view_step_spec(step), "dependsOn.probe"))
        buf_str(out, "it waits for its probes, which nothing answers in a simulation");
    if (out->len == before)
        buf_str(out, "it waits for something that never comes");
}

static void print_flow(const struct flow_tracker *tracker, const struct flow_view *view)
{
    uint32_t named = 0, behind = 0;

    cli_errorf("jobflow \"%s\" can never go on: nothing comes of what is still under way%s%s",
               view->name, view->message ? "; " : "", view->message ? view->message : "");
    if (json_is_true(doc_at(view->doc, "spec.suspend")))
        fputs("  it is suspended\n", stderr);
    for (uint32_t i = 0; i < view->n_steps; i++) {
        const struct flow_view_step *step = &view->steps[i];
        scoped(buf) struct buf reason = {0};

        if (flow_view_step_over(step))
            continue;
        if (waits_for_unfinished(view, i) || named == STEPS_NAMED_MAX) {
            behind++;
            continue;
        }
        named++;
        write_reason(tracker, step, &reason);
        fprintf(stderr, "  %s is %s: %s\n", step->name, flow_view_step_state(step), reason.data);
    }
    if (behind)
        fprintf(stderr, "  %u more step%s behind %s\n", behind, behind == 1 ? " waits" : "s wait",
                named == 1 ? "it" : "them");
}

static void print_job(const struct flow_tracker *tracker, const struct flow_view *view)
{
    scoped(buf) struct buf reason = {0};

    flow_tracker_waits_for(tracker, &view->steps[0], &reason);
    cli_errorf("job \"%s\" can never go on: it is %s%s%s", view->name,
               flow_view_step_state(&view->steps[0]), reason.len ? ": " : "",
               reason.len ? reason.data : "");
}

void stall_report_print(struct flow_tracker *tracker)
{
    flow_tracker_complete(tracker);
    for (const struct flow_view *view = flow_tracker_flows(tracker); view; view = view->next) {
        if (flow_view_is_over(view))
            continue;
        if (view->bare_job)
            print_job(tracker, view);
        else
            print_flow(tracker, view);
    }
}
