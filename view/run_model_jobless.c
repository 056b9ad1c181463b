/*
 * What no job tells: loops and switches, and why a flow is held or was ended. A loop begins with
 * its first iteration; that it is over, and what a switch has chosen, is in the flow's status,
 * which is read as long as one of them is open. Their times are those of what decided them: the
 * status is written a little later.
 */
#include <string.h>

#include "api/types/text/doc.h"
#include "base/mem.h"
#include "view/run_model_internal.h"

struct follow_step *follow_iteration(struct follow_step *loop, const char *number)
{
    char *name = mem_printf("%s-%s", loop->name, number);
    struct follow_step *step = follow_named(loop->flow, name);

    if (step) {
        mem_free(name);
        return step;
    }
    step = mem_alloc(sizeof *step);
    step->index = loop->index;
    step->loop = loop;
    step->next_iteration = loop->iterations;
    loop->iterations = step;
    follow_name_step(loop->flow, step, name);
    return step;
}

static void come_to(struct follow *follow, struct follow_step *step, enum job_phase phase,
                    bool tell)
{
    enum job_phase before = step->phase;

    if (phase == before)
        return;
    follow_set_phase(follow, step, phase);
    if (tell)
        follow->events.step(follow->events.ctx, step, before);
}

void follow_loop_goes_on(struct follow *follow, struct follow_step *iteration, bool tell)
{
    come_to(follow, iteration->loop, JOB_RUNNING, tell);
}

/* When what decided the end was over. */
static int64_t decided_ms(const struct follow_step *step, const struct flow_step *spec)
{
    int64_t last_ms = 0;

    for (const struct follow_step *one = step->iterations; one; one = one->next_iteration)
        last_ms = one->ended_ms > last_ms ? one->ended_ms : last_ms;
    for (size_t i = 0; spec->choice && spec->depends && i < spec->depends->targets.count; i++) {
        const struct follow_step *target =
            follow_named(step->flow, spec->depends->targets.items[i]);

        if (target && target->ended_ms > last_ms)
            last_ms = target->ended_ms;
    }
    return last_ms;
}

static void end_jobless(struct follow *follow, struct follow_step *step,
                        const struct flow_step *spec, const json_t *node, enum job_phase phase,
                        bool tell)
{
    const char *chosen = doc_text(node, "case");
    int64_t end_ms = decided_ms(step, spec), now_ms = loop_wall_ms(follow->loop);
    const char *why = doc_text(node, "reason"), *message = doc_text(node, "message");
    scoped_str reason = chosen && *chosen ? mem_printf("chose %s", chosen)
                        : chosen          ? mem_strdup("chose the default")
                        : why             ? mem_printf("%s: %s", why, message ? message : "")
                                          : NULL;
    enum job_phase before = step->phase;

    follow_set_text(&step->reason, reason);
    follow_set_phase(follow, step, phase);
    step->ended_ms = end_ms ? end_ms : now_ms;
    if (spec->choice || !step->started_ms || step->started_ms > step->ended_ms)
        step->started_ms = step->ended_ms;
    step->resumed = !tell;
    if (step->resumed)
        step->started_ms = step->ended_ms = 0;
    if (tell)
        follow->events.step(follow->events.ctx, step, before);
}

void follow_read_jobless(struct follow *follow, struct follow_flow *flow, bool tell)
{
    const struct jobflow_spec *spec = jobflow_spec_of(flow->object);
    scoped(json) json_t *status = NULL;
    const json_t *node;
    size_t i;

    if (!flow->n_jobless || !flow->object->status)
        return;
    status = object_status_json(flow->object);
    json_array_foreach(json_object_get(status, "nodes"), i, node)
    {
        const char *name = doc_text(node, "name"), *text = doc_text(node, "phase");
        struct follow_step *step = name ? follow_named(flow, name) : NULL;
        enum job_phase phase;

        if (!step || !step->jobless || step->index >= spec->steps.count || !text ||
            !job_phase_parse(text, &phase) || phase == step->phase)
            continue;
        if (job_phase_finished(phase))
            end_jobless(follow, step, &spec->steps.items[step->index], node, phase, tell);
        else if (follow_step_over(step)) /* it was retried */
            come_to(follow, step, phase, tell);
    }
}

bool follow_read_reason(struct follow_flow *flow)
{
    static const char *const told[] = {"Suspended", "DeadlineExceeded", "Aborted"};
    const struct jobflow_summary *summary = jobflow_summary_of(flow->object);
    const char *reason = summary ? summary->reason : NULL;
    scoped(buf) struct buf text = {0};
    bool news;

    for (size_t i = 0; reason && i < countof(told); i++)
        if (strcmp(reason, told[i]) == 0)
            buf_printf(&text, "%s: %s", reason, summary->message ? summary->message : "");
    if (text.len && !flow_phase_finished(flow->phase) && strcmp(reason, told[0]) == 0)
        buf_printf(&text, "; 'jobflow resume jf/%s' goes on", flow->name);
    news = strcmp(text.data ? text.data : "", flow->reason ? flow->reason : "") != 0;
    if (news)
        follow_set_text(&flow->reason, text.data);
    return news;
}
