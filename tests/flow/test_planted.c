/*
 * Bugs planted into the flow controller, each of which the random walks must find (SIM-08). How bugs are
 * planted and searched for is in tests/support/planted.h.
 */
#include "tests/unit.h"

#include <stdio.h>
#include <unistd.h>

#include "api/types/kinds/jobflow/pin.h"
#include "flow/decide.h"
#include "flow/graph/ready_queue.h"
#include "flow/internal.h"
#include "flow/model/condition.h"
#include "flow/model/control.h"
#include "flow/model/iteration_budget.h"
#include "flow/model/loop_items.h"
#include "flow/model/retry_policy.h"
#include "flow/model/spec_hash.h"
#include "template/job_meta.h"
#include "template/references.h"
#include "tests/support/flow_walk.h"
#include "tests/support/planted.h"

/* wraps: flow_condition_holds retry_policy_allows flow_decide_phase ready_queue_batch */
/* wraps: flow_loop_iteration_ended template_job_meta flow_control_run_finals */
/* wraps: flow_restore_missing_jobs */
/* wraps: jobflow_spec_of flow_update_ttl flow_model_waits_for_any retry_policy_delay_ms */
/* wraps: ready_queue_put ready_queue_skip job_results_output exit_code_matches flow_probing_run */
/* wraps: flow_model_mark_handled jobflow_pins flow_refs_replace template_instantiate */
/* wraps: jobflow_failure_policy flow_loop_skip flow_wake_waiters iteration_budget_renewed */
/* wraps: jobflow_parameter flow_spec_hash loop_items_of flow_model_unfinished */
/* wraps: flow_model_restart flow_model_prepare_retry template_resolve */
/* wraps: probe_tcp_start probe_tcp_cancel probe_http_start probe_http_cancel */
/* wraps: probe_http_client_new probe_http_client_free probe_address_of */

enum { SEEDS = 3000, CIRCLES = 200000 };

/* clang-format off */
#define BUGS(X)                                                                 \
    X(LATER_TRUE,      "after a restart every condition holds")                 \
    X(ONE_RETRY_MORE,  "there is one retry more than maxRetry")                 \
    X(NO_END_OF_RETRY, "a retry is never the last")                             \
    X(FAILS_ARE_FINE,  "a failed step does not fail the flow")                  \
    X(BACK_TO_LIFE,    "a flow that has ended runs again")                      \
    X(NO_ROOM_NEEDED,  "maxRunningJobs is not looked at")                       \
    X(LOOP_FORGETS,    "a loop does not hear of its iterations")                \
    X(SAME_ATTEMPT,    "every attempt is the first")                            \
    X(NO_END,          "final steps never run")                                 \
    X(LOST_IN_RESTART, "steps that lost their job are forgotten by a restart")  \
    X(NEVER_TRUE,      "no condition holds")                                    \
    X(NO_SUSPEND,      "suspend is not looked at")                              \
    X(NO_DEADLINE,     "a flow may take as long as it likes")                   \
    X(NO_TTL,          "a flow that has ended stays for ever")                  \
    X(JOBS_STAY,       "jobRetainPolicy is not looked at")                      \
    X(GOES_ON,         "a failure stops nothing")                               \
    X(ANY_IS_ALL,      "strategy any waits for all")                            \
    X(NO_BACK_OFF,     "a retry does not wait")                                 \
    X(NO_GANG,         "members of a gang go alone")                            \
    X(GANG_WAITS,      "a gang waits for members that are skipped")             \
    X(NO_OUTPUTS,      "outputs are lost")                                      \
    X(ANY_EXIT_CODE,   "every exit code is the one asked for")                  \
    X(NO_PROBES,       "probes are not looked at")                                \
    X(PORTS_ARE_SHUT,  "no port is ever tried")                                 \
    X(NOT_HANDLED,     "no step can handle a failure")                           \
    X(NOT_PINNED,      "templates are not pinned")                              \
    X(NO_REFERENCES,   "references stay as they are written")                   \
    X(TEMPLATE_AS_IT_IS, "references in templates stay as they are written")    \
    X(SHARED_VALUES,   "a job has the values of another job of its template")   \
    X(NO_PATCH,        "patches are lost")                                      \
    X(NO_CLASS,        "scheduling is not handed on")                           \
    X(LOOP_NOT_SKIPPED, "iterations of a skipped loop wait for ever")           \
    X(NO_WAKING,       "who waits for a template waits for ever")               \
    X(NO_MORE_ROUNDS,  "a retry gives a loop no more iterations")               \
    X(DEFAULTS_ONLY,   "parameters have their defaults")                        \
    X(HASH_CHANGES,    "a restart changes the hash of what a step was made from") \
    X(ALL_OF_GANG,     "of every gang all jobs are said to start together")     \
    X(LAST_ITEM,       "the last of the items that a step puts out is lost")    \
    X(ITEMS_ARE_CUT,   "items beyond maxIterations are left out")               \
    X(ABORT_IS_NO_END, "an aborted job is never tried again")                   \
    X(ABORT_IS_AN_END, "every aborted job is tried again")                      \
    X(ABORTED_ARE_GONE, "aborted jobs make room for others")                    \
    X(ONE_FAILS_ALL,   "a failed iteration drops the rest of its loop")         \
    X(RAN_ONCE,        "what has run once runs in every retry of the flow")     \
    X(NOT_ASKED_AGAIN, "a retry keeps what ran because of a failure")           \
    X(HANDLED_IS_FINE, "a handled failure does not fail the flow")
/* clang-format on */

#define BUG_ENUM(name, text) BUG_##name,
enum bug { BUG_NONE, BUGS(BUG_ENUM) BUG_N };
#undef BUG_ENUM
#define BUG_TEXT(name, text) text,
static const char *const texts[BUG_N] = {"none", BUGS(BUG_TEXT)};
#undef BUG_TEXT

static enum bug planted;
static unsigned opened; /* number of flows opened since the walk began */
/* Number of decisions about phases since then; a controller with more than CIRCLES never rests. */
static unsigned decisions;

#define WRAPPED(result, name, ...)                                                                 \
    result __real_##name(__VA_ARGS__);                                                             \
    result __wrap_##name(__VA_ARGS__);                                                             \
    result __wrap_##name(__VA_ARGS__)

WRAPPED(bool, flow_condition_holds, const struct flow_model *r,
        const struct flow_condition *condition)
{
    if (planted == BUG_NEVER_TRUE)
        return false;
    return __real_flow_condition_holds(r, condition) || (planted == BUG_LATER_TRUE && opened > 1);
}

WRAPPED(bool, retry_policy_allows, const struct jobflow_spec *spec, const struct flow_step *step,
        enum job_phase phase, const struct job_results *results, int retries)
{
    int seen = planted == BUG_ONE_RETRY_MORE ? retries - 1 : retries;

    if (phase == JOB_ABORTED && planted == BUG_ABORT_IS_NO_END)
        return false;
    if (phase == JOB_ABORTED && planted == BUG_ABORT_IS_AN_END)
        return true;
    return __real_retry_policy_allows(spec, step, phase, results,
                                      planted == BUG_NO_END_OF_RETRY ? 0 : seen);
}

WRAPPED(enum flow_phase, flow_decide_phase, enum flow_phase now, unsigned facts)
{
    if (++decisions > CIRCLES)
        _exit(0); /* no correct walk decides so often, so the bug is found */
    if (planted == BUG_FAILS_ARE_FINE && facts & FACT_STEP_FAILED && !(facts & FACT_CONTINUES) &&
        !flow_phase_finished(now))
        return FLOW_SUCCEED;
    if (planted == BUG_HANDLED_IS_FINE)
        facts &= ~(unsigned)FACT_HANDLED_FAILURE;
    if (planted == BUG_BACK_TO_LIFE && now == FLOW_SUCCEED)
        return FLOW_RUNNING;
    return __real_flow_decide_phase(now, facts);
}

WRAPPED(uint32_t, ready_queue_batch, const struct ready_queue *queue, uint32_t step)
{
    return planted == BUG_NO_ROOM_NEEDED ? 0 : __real_ready_queue_batch(queue, step);
}

WRAPPED(void, flow_loop_iteration_ended, struct flow_model *r, uint32_t child)
{
    const bool ended = r->retries_ended;

    if (planted == BUG_LOOP_FORGETS)
        return;
    r->retries_ended |= planted == BUG_ONE_FAILS_ALL; /* one failed iteration makes the loop believe
                                                       * that its flow has ended */
    __real_flow_loop_iteration_ended(r, child);
    r->retries_ended = ended;
}

WRAPPED(struct meta *, template_job_meta, const struct template_job *job)
{
    struct template_job same = *job;

    if (planted == BUG_SAME_ATTEMPT)
        same.attempt = 1;
    if (planted == BUG_ALL_OF_GANG)
        same.gang_least = NULL;
    return __real_template_job_meta(&same);
}

WRAPPED(void, flow_control_run_finals, struct flow_model *r)
{
    if (planted != BUG_NO_END)
        __real_flow_control_run_finals(r);
}

WRAPPED(void, flow_restore_missing_jobs, struct flow_model *r)
{
    __real_flow_restore_missing_jobs(r);
    opened++;
    for (uint32_t i = 0; planted == BUG_LOST_IN_RESTART && i < r->graph->steps; i++)
        if (r->steps[i].state == STEP_WAITING)
            r->steps[i].attempt = 0;
}

WRAPPED(uint32_t, flow_model_restart, struct flow_model *r, int64_t now_ms)
{
    const uint32_t count = __real_flow_model_restart(r, now_ms);

    for (uint32_t i = 0; planted == BUG_RAN_ONCE && i < r->graph->steps; i++)
        r->steps[i].ran = r->steps[i].attempt;
    return count;
}

WRAPPED(void, flow_model_prepare_retry, struct flow_model *r, const struct retry_request *request)
{
    if (planted != BUG_NOT_ASKED_AGAIN)
        __real_flow_model_prepare_retry(r, request);
}

/* Plants bugs that ignore a field: removes the field from the decoded spec. */
static void bend_spec(struct jobflow_spec *spec)
{
    if (planted == BUG_NO_SUSPEND)
        spec->suspend = false;
    if (planted == BUG_NO_DEADLINE)
        spec->deadline_s = (struct opt_i64){0};
    if (planted == BUG_JOBS_STAY)
        spec->retain_policy = RETAIN_POLICY_RETAIN;
}

/* Returns the same changed copy for the same spec; it is never freed. */
WRAPPED(const struct jobflow_spec *, jobflow_spec_of, const struct object *flow)
{
    static struct bent {
        const struct jobflow_spec *from;
        struct jobflow_spec spec;
        struct bent *next;
    } * all;
    const struct jobflow_spec *spec = __real_jobflow_spec_of(flow);
    struct bent *bent = all;

    if (planted < BUG_NO_SUSPEND || planted > BUG_JOBS_STAY)
        return spec;
    while (bent && bent->from != spec)
        bent = bent->next;
    if (!bent) {
        bent = mem_alloc(sizeof *bent);
        *bent = (struct bent){.from = spec, .next = all};
        all = bent;
    }
    bent->spec = *spec;
    bend_spec(&bent->spec);
    return &bent->spec;
}

WRAPPED(enum failure_policy, jobflow_failure_policy, const struct object *flow)
{
    return planted == BUG_GOES_ON ? FAILURE_CONTINUE : __real_jobflow_failure_policy(flow);
}

WRAPPED(void, flow_update_ttl, struct flow *flow)
{
    if (planted != BUG_NO_TTL)
        __real_flow_update_ttl(flow);
}

WRAPPED(bool, flow_model_waits_for_any, const struct flow_model *r, uint32_t i)
{
    return planted != BUG_ANY_IS_ALL && __real_flow_model_waits_for_any(r, i);
}

WRAPPED(int64_t, retry_policy_delay_ms, const struct flow_step *step, unsigned retry)
{
    return planted == BUG_NO_BACK_OFF ? 0 : __real_retry_policy_delay_ms(step, retry);
}

WRAPPED(void, ready_queue_put, struct ready_queue *queue, uint32_t step)
{
    if (planted == BUG_NO_GANG)
        ready_queue_gang_formed(queue, step);
    __real_ready_queue_put(queue, step);
}

WRAPPED(void, ready_queue_skip, struct ready_queue *queue, uint32_t step)
{
    if (planted != BUG_GANG_WAITS)
        __real_ready_queue_skip(queue, step);
}

WRAPPED(const char *, job_results_output, const struct job_results *results, const char *key)
{
    return planted == BUG_NO_OUTPUTS ? NULL : __real_job_results_output(results, key);
}

WRAPPED(bool, exit_code_matches, const struct exit_code_rule *rule, int32_t code)
{
    return planted == BUG_ANY_EXIT_CODE || __real_exit_code_matches(rule, code);
}

WRAPPED(void, flow_probing_run, struct flow *flow)
{
    if (planted != BUG_NO_PROBES)
        __real_flow_probing_run(flow);
}

WRAPPED(void, flow_model_mark_handled, struct flow_model *r, uint32_t step)
{
    if (planted != BUG_NOT_HANDLED)
        __real_flow_model_mark_handled(r, step);
}

WRAPPED(bool, jobflow_pins, const struct object *flow)
{
    return planted != BUG_NOT_PINNED && __real_jobflow_pins(flow);
}

WRAPPED(json_t *, flow_refs_replace, const struct schema *schema, json_t *value,
        const struct flow_ref_values *values, struct error *err)
{
    return planted == BUG_NO_REFERENCES ? json_incref(value)
                                        : __real_flow_refs_replace(schema, value, values, err);
}

WRAPPED(bool, template_resolve, struct template_cache *cache, const struct object *template,
        struct template_patch *patch, const struct flow_ref_values *refs,
        struct template_resolved *out, struct error *err)
{
    struct blob *owner = patch->owner;
    const bool ok = __real_template_resolve(cache, template, patch, refs, out, err);

    if (planted == BUG_TEMPLATE_AS_IT_IS)
        patch->template_spec = NULL;
    if (planted == BUG_SHARED_VALUES && !patch->job_spec && !patch->spec)
        patch->owner = owner;
    return ok;
}

WRAPPED(struct blob *, template_instantiate, struct template_cache *cache,
        const struct object *template, const struct template_patch *patch, struct error *err)
{
    struct template_patch bent = patch ? *patch : (struct template_patch){0};

    bent.owner = NULL; /* without an owner, the size limit of patches is not kept */
    if (planted == BUG_NO_PATCH)
        bent.spec = NULL;
    if (planted == BUG_NO_CLASS)
        bent.scheduling = NULL;
    return __real_template_instantiate(
        cache, template, planted == BUG_NO_PATCH || planted == BUG_NO_CLASS ? &bent : patch, err);
}

WRAPPED(void, flow_loop_skip, struct flow_model *r, uint32_t loop)
{
    if (planted != BUG_LOOP_NOT_SKIPPED)
        __real_flow_loop_skip(r, loop);
}

WRAPPED(void, flow_wake_waiters, struct flow_controller *controller, enum wait_kind kind,
        const char *ns, const char *name)
{
    if (planted != BUG_NO_WAKING || kind != WAIT_FOR_TEMPLATE)
        __real_flow_wake_waiters(controller, kind, ns, name);
}

WRAPPED(uint32_t *, iteration_budget_renewed, const struct flow_model *r)
{
    return planted == BUG_NO_MORE_ROUNDS ? NULL : __real_iteration_budget_renewed(r);
}

WRAPPED(const char *, jobflow_parameter, const struct jobflow_spec *spec, const char *name)
{
    return planted == BUG_DEFAULTS_ONLY && spec->parameters.count
               ? spec->parameters.items[0].fallback
               : __real_jobflow_parameter(spec, name);
}

WRAPPED(uint64_t, flow_spec_hash, struct flow_model *r, uint32_t step)
{
    return __real_flow_spec_hash(r, step) + (planted == BUG_HASH_CHANGES ? opened : 0);
}

/* Changes loop_items_of: a loop evaluates its output each time. */
WRAPPED(const struct loop_items *, loop_items_of, const struct flow_model *r, uint32_t loop)
{
    static struct loop_items bent;
    const struct loop_items *items = __real_loop_items_of(r, loop);

    if (!items || (planted != BUG_LAST_ITEM && planted != BUG_ITEMS_ARE_CUT))
        return items;
    bent = *items;
    if (planted == BUG_LAST_ITEM)
        bent.count -= bent.count > 0;
    else if (bent.count)
        bent.reason = NULL;
    return &bent;
}

WRAPPED(uint32_t, flow_model_unfinished, const struct flow_model *r)
{
    return __real_flow_model_unfinished(r) -
           (planted == BUG_ABORTED_ARE_GONE ? r->by_phase[JOB_ABORTED] : 0);
}

WRAPPED(bool, probe_address_of, const char *ip, int32_t port, const char *const *refused,
        struct probe_address *out, struct error *err)
{
    return planted != BUG_PORTS_ARE_SHUT && __real_probe_address_of(ip, port, refused, out, err);
}

static bool find(size_t bug)
{
    char violation[FLOW_WALK_TEXT];

    planted = (enum bug)bug;
    for (uint64_t seed = 1; seed <= (bug == BUG_NONE ? SEEDS / 10 : SEEDS); seed++) {
        opened = decisions = 0;
        if (!walk_flow(seed, NULL, violation))
            return true;
    }
    return false;
}

/* covers: see reliability.md SIM-08 */
static void every_planted_bug_is_found(void **unused)
{
    planted_bugs_are_found(&(struct planted_bugs){texts, BUG_N, find});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_planted_bug_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
