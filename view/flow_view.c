/*
 * Questions about a view, and its end. The files that fill one are named in flow_view.h.
 */
#include "view/flow_view.h"

#include <ctype.h>
#include <string.h>

#include "api/types/text/doc.h"
#include "api/types/text/suggest.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "flow/model/flow_model.h"

/* How a state counts: for the numbers of steps, and for steps that wait. */
enum standing {
    STANDING_IDLE,   /* the step has no job, or one that is suspended */
    STANDING_ACTIVE, /* a job that is not over */
    STANDING_DONE,
    STANDING_FAILED,
};

static const enum standing standings[VIEW_STATE_N] = {
    /* clang-format off */
    [VIEW_PENDING]     = STANDING_ACTIVE, [VIEW_RUNNING]     = STANDING_ACTIVE,
    [VIEW_RESTARTING]  = STANDING_ACTIVE, [VIEW_ABORTING]    = STANDING_ACTIVE,
    [VIEW_COMPLETING]  = STANDING_ACTIVE, [VIEW_TERMINATING] = STANDING_ACTIVE,
    [VIEW_UNKNOWN]     = STANDING_ACTIVE,
    [VIEW_COMPLETED]   = STANDING_DONE,   [VIEW_SKIPPED]     = STANDING_DONE,
    [VIEW_FAILED]      = STANDING_FAILED, [VIEW_TERMINATED]  = STANDING_FAILED,
    /* clang-format on */
};

static const char *const state_texts[VIEW_STATE_N] = {
#define VIEW_TEXT(name, text) [VIEW_##name] = text,
    JOB_PHASES(VIEW_TEXT) VIEW_STATES(VIEW_TEXT)
#undef VIEW_TEXT
};

const char *view_state_text(enum view_state state)
{
    return state == VIEW_NONE ? NULL : state_texts[state];
}

enum view_state view_state_parse(const char *text)
{
    for (int i = 1; i < VIEW_STATE_N; i++)
        if (strcmp(state_texts[i], text) == 0)
            return (enum view_state)i;
    return VIEW_UNKNOWN;
}

void flow_view_set_state(struct flow_view_step *step, enum view_state state)
{
    if (!step->loop) {
        step->flow->n_in[step->state]--;
        step->flow->n_in[state]++;
    }
    step->state = (uint8_t)state;
}

bool flow_view_step_cached(const struct flow_view_step *step)
{
    if (step->state != VIEW_COMPLETED || !step->node)
        return false;
    return json_object_get(step->node, "cachedFrom") ||
           (step->loops && step->reason && strcmp(step->reason, STEP_CACHED_TEXT) == 0);
}

const char *flow_view_step_state(const struct flow_view_step *step)
{
    const char *text = view_state_text((enum view_state)step->state);

    if (flow_view_step_cached(step))
        return STEP_CACHED_TEXT;
    return text ? jobflow_step_state(text, step->flow->phase) : NULL;
}

static enum standing standing_of(const struct flow_view_step *step)
{
    return standings[step->state];
}

bool flow_view_step_over(const struct flow_view_step *step)
{
    return standing_of(step) == STANDING_DONE || standing_of(step) == STANDING_FAILED;
}

bool flow_view_step_failed(const struct flow_view_step *step)
{
    return standing_of(step) == STANDING_FAILED;
}

bool flow_view_step_active(const struct flow_view_step *step)
{
    return standing_of(step) == STANDING_ACTIVE;
}

bool flow_view_step_jobless(const struct flow_view_step *step)
{
    return step->loops || !step->template;
}

bool flow_view_step_serves(const struct flow_view_step *step)
{
    return json_object_get(flow_view_step_spec(step), "until") != NULL;
}

bool flow_view_step_asks(const struct flow_view_step *step)
{
    static const char asks[] = "WaitingForApproval";
    const char *why = step->told ? step->told : step->reason;

    return step->state == VIEW_WAITING && !step->template && why &&
           strncmp(why, asks, sizeof asks - 1) == 0;
}

struct flow_view_counts flow_view_count(const struct flow_view *view)
{
    uint32_t by_standing[] = {0, 0, 0, 0};

    for (int i = 0; i < VIEW_STATE_N; i++)
        by_standing[standings[i]] += view->n_in[i];
    return (struct flow_view_counts){
        .steps = view->n_steps,
        .completed = view->n_in[VIEW_COMPLETED],
        .skipped = view->n_in[VIEW_SKIPPED],
        .failed = by_standing[STANDING_FAILED],
        .active = by_standing[STANDING_ACTIVE],
        .waiting = by_standing[STANDING_IDLE],
    };
}

/* Steps that have no job at work, by state; what each is called among the counts. */
static const enum view_state idle_states[] = {VIEW_WAITING, VIEW_BLOCKED, VIEW_RETRYING,
                                              VIEW_ABORTED, VIEW_STOPPED};

void flow_view_write_counts(const struct flow_view *view, struct buf *out)
{
    const struct flow_view_counts counts = flow_view_count(view);

    buf_printf(out, "%u of %u step%s completed", counts.completed, counts.steps,
               counts.steps == 1 ? "" : "s");
    if (counts.failed)
        buf_printf(out, ", %u failed", counts.failed);
    if (counts.skipped)
        buf_printf(out, ", %u skipped", counts.skipped);
    if (counts.active)
        buf_printf(out, ", %u at work", counts.active);
    for (size_t i = 0; i < countof(idle_states); i++) {
        uint32_t count = view->n_in[idle_states[i]];
        const char *word = jobflow_step_state(state_texts[idle_states[i]], view->phase);

        if (count)
            buf_printf(out, ", %u %c%s", count, tolower((unsigned char)word[0]), word + 1);
    }
}

bool flow_view_is_over(const struct flow_view *view)
{
    return flow_phase_finished(view->phase);
}

int64_t flow_view_ms(const struct flow_view *view, int64_t now_ms)
{
    if (flow_view_is_over(view) && view->took_ms >= 0)
        return view->took_ms;
    if (!view->began_ms)
        return -1;
    return (view->ended_ms ? view->ended_ms : now_ms) - view->began_ms;
}

void flow_view_remark(const struct flow_view *view, struct buf *out)
{
    static const char *const remarkable[] = {
        "Suspended",        "DeadlineExceeded", "Aborted",         "HandledFailure",
        "TemplateNotFound", "JobNameConflict",  "AdmissionDenied", "CreateFailed"};

    for (size_t i = 0; view->reason && i < countof(remarkable); i++)
        if (strcmp(view->reason, remarkable[i]) == 0)
            buf_printf(out, "%s: %s", view->reason, view->message ? view->message : "");
    if (view->reason && strcmp(view->reason, "Suspended") == 0 && !flow_view_is_over(view))
        buf_printf(out, "; 'jobflow resume jf/%s' goes on", view->name);
}

void flow_view_took(const struct flow_view *view, int64_t now_ms, struct buf *out)
{
    int64_t ms = flow_view_ms(view, now_ms);
    char text[TIME_TEXT_MAX];

    if (ms < 0)
        return;
    if (flow_view_is_over(view) && (view->took_ms >= 0 || view->object))
        duration_precise(ms, text);
    else
        duration_human(ms, text);
    buf_str(out, text);
}

uint32_t flow_view_find(const struct flow_view *view, const char *name)
{
    return name ? name_index_get(&view->names, name) : UINT32_MAX;
}

enum { SUGGEST_STEPS_MAX = 10000 }; /* names that are compared with a mistyped one */

bool flow_view_no_step(const struct flow_view *view, const char *name, struct error *err)
{
    struct suggest near = {0};

    for (uint32_t i = 0; i < view->n_steps && i < SUGGEST_STEPS_MAX; i++)
        suggest_offer(&near, name, view->steps[i].name);
    return error_set(err, ERR_NOT_FOUND, "", "no step %s in flow %s%s%s%s", name, view->name,
                     near.word ? "; did you mean \"" : "", near.word ? near.word : "",
                     near.word ? "\"?" : "");
}

void flow_view_free(struct flow_view *view)
{
    if (!view)
        return;
    for (uint32_t i = 0; i < view->n_steps; i++) {
        struct flow_view_step *step = &view->steps[i];

        for (uint32_t k = 0; k < step->n_iterations; k++)
            if (step->iterations[k]) {
                mem_free((char *)(size_t)step->iterations[k]->name);
                mem_free(step->iterations[k]->told);
                mem_free(step->iterations[k]);
            }
        mem_free(step->iterations);
        mem_free(step->told);
        json_decref(step->spec);
    }
    json_decref(view->doc);
    json_decref(view->status);
    mem_free(view->steps);
    mem_free(view->order);
    mem_free(view->path);
    dag_release(&view->dag);
    dag_release(&view->targets);
    name_index_release(&view->names);
    buf_release(&view->text);
    arena_free(view->words);
    object_unref((struct object *)(size_t)view->object);
    object_unref((struct object *)(size_t)view->source);
    mem_free(view);
}

uint32_t flow_view_position(const struct flow_view_step *step)
{
    return (uint32_t)((step->loop ? step->loop : step) - step->flow->steps);
}

/* Returns the entry of the step, which is parsed at the first call. */
const json_t *flow_view_step_spec(const struct flow_view_step *step)
{
    struct flow_view_step *own = (struct flow_view_step *)(size_t)step;

    if (!own->spec && own->text)
        own->spec = json_loadb(own->text, own->text_len, 0, NULL);
    return own->spec;
}

int64_t flow_view_step_ms(const struct flow_view_step *step, int64_t now_ms)
{
    int64_t since_ms = step->started_ms && !step->loops ? step->started_ms : step->created_ms;

    if (step->state == VIEW_SKIPPED) /* its times are those of an earlier attempt */
        return -1;
    if (flow_view_step_over(step) && !step->template)
        return since_ms ? 0 : -1;
    if (flow_view_step_over(step) && step->ran_ms >= 0)
        return step->ran_ms;
    if (!since_ms || (flow_view_step_over(step) && !step->ended_ms))
        return -1;
    if (flow_view_step_over(step)) /* stored times are whole seconds */
        return (step->ended_ms / 1000 - since_ms / 1000) * 1000;
    return (step->ended_ms ? step->ended_ms : now_ms) - since_ms;
}

void flow_view_write_ms(int64_t ms, struct buf *out)
{
    char text[TIME_TEXT_MAX];

    duration_precise(ms, text);
    buf_str(out, text);
}

/* Appends how long a step took. Stored times are whole seconds; only the time that a job ran, and
 * times that a tracker saw, are finer. */
void flow_view_step_took(const struct flow_view_step *step, int64_t now_ms, struct buf *out)
{
    int64_t ms = flow_view_step_ms(step, now_ms);
    bool fine = flow_view_step_over(step) && step->ran_ms >= 0;
    char text[TIME_TEXT_MAX];

    if (ms >= 0 && fine) {
        flow_view_write_ms(ms, out);
    } else if (ms >= 0) {
        duration_human(ms, text);
        buf_str(out, text);
    }
}

/* A reason that names the action that a Command asked for says less than the message, which says what
 * was done and why. */
void flow_view_step_reason(const struct flow_view_step *step, struct buf *out)
{
    enum job_action action;
    bool is_action = step->message && step->reason && job_action_parse(step->reason, &action);

    if (step->told) {
        buf_str(out, step->told);
        return;
    }
    if (step->reason && !is_action)
        buf_printf(out, "%s%s", step->reason, step->message ? ": " : "");
    if (step->message)
        buf_str(out, step->message);
}

uint32_t flow_view_step_iterations(const struct flow_view_step *step)
{
    const json_t *loop = step->loops ? json_object_get(flow_view_step_spec(step), "for") : NULL;
    const json_t *range = json_object_get(loop, "range"), *by = json_object_get(range, "step");
    struct flow_range as_read = {
        .start = json_integer_value(json_object_get(range, "start")),
        .end = json_integer_value(json_object_get(range, "end")),
        .step = {.set = by != NULL, .value = json_integer_value(by)},
    };

    if (range)
        return flow_loop_iterations(&(struct flow_loop){.range = &as_read});
    if (json_object_get(loop, "until") || json_object_get(loop, "itemsFrom"))
        return (uint32_t)json_integer_value(json_object_get(loop, "maxIterations"));
    return (uint32_t)json_array_size(json_object_get(loop, "items"));
}

uint32_t flow_view_step_iterations_known(const struct flow_view_step *step)
{
    const json_t *loop = step->loops ? json_object_get(flow_view_step_spec(step), "for") : NULL;

    return step->iterations_listed && json_object_get(loop, "itemsFrom")
               ? step->iterations_listed
               : flow_view_step_iterations(step);
}

void flow_view_step_progress(const struct flow_view_step *step, struct buf *out)
{
    if (step->loops)
        buf_printf(out, "%u/%u", step->iterations_over, flow_view_step_iterations_known(step));
}

void flow_view_step_marks(const struct flow_view_step *step, struct buf *out)
{
    const json_t *spec = step->plain ? NULL : flow_view_step_spec(step);
    const json_t *loop = json_object_get(spec, "for");
    size_t before = out->len;

    if (step->any)
        buf_str(out, "any of");
    if (doc_text(spec, "when"))
        buf_printf(out, "%salways", out->len > before ? ", " : "");
    if (doc_at(spec, "dependsOn.probe"))
        buf_printf(out, "%sprobe", out->len > before ? ", " : "");
    if (json_object_get(spec, "if"))
        buf_printf(out, "%sif", out->len > before ? ", " : "");
    if (json_object_get(spec, "switch"))
        buf_printf(out, "%sswitch", out->len > before ? ", " : "");
    if (json_object_get(spec, "approve"))
        buf_printf(out, "%sapprove", out->len > before ? ", " : "");
    if (json_object_get(spec, "until"))
        buf_printf(out, "%sserves", out->len > before ? ", " : "");
    if (json_object_get(loop, "until"))
        buf_printf(out, "%suntil", out->len > before ? ", " : "");
    else if (json_object_get(loop, "itemsFrom"))
        buf_printf(out, "%sfor %s.%s", out->len > before ? ", " : "",
                   doc_text(loop, "itemsFrom.target"), doc_text(loop, "itemsFrom.key"));
    else if (loop)
        buf_printf(out, "%sfor %u", out->len > before ? ", " : "", flow_view_step_iterations(step));
}
