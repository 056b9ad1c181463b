/*
 * Tests steps with `approve`: the questions, the answers that Commands bring, the time to answer,
 * with restarts at any point.
 *
 * covers: everyday.md EVD-205 EVD-206 EVD-207 EVD-210
 */
#include "tests/unit.h"

#include <stdio.h>

#include "api/types/kinds/answer.h"
#include "tests/support/flow_fixture.h"

#define GATE(more)                                                                                 \
    "flows: [{name: a, jobTemplateName: t}, {name: gate, approve: {" more                          \
    "}, dependsOn: {targets: [a]}}, "                                                              \
    "{name: b, jobTemplateName: t, dependsOn: {targets: [gate]}}]"

/* Creates a Command of a user, as the API server stores it. */
static void answer(struct flow_fixture *fixture, const char *action, const char *step,
                   const char *text)
{
    static unsigned number;
    const struct object *flow = flow_fixture_get(fixture, &kind_job_flow, "f");
    char yaml[1024];

    snprintf(yaml, sizeof yaml,
             "apiVersion: bus.volcano.sh/v1alpha1\nkind: Command\n"
             "metadata: {name: c%u, annotations: {volcano.sh/requested-by: ana}}\naction: %s\n"
             "message: '{\"step\": \"%s\", \"text\": \"%s\"}'\n"
             "target: {apiVersion: flow.volcano.sh/v1alpha1, kind: JobFlow, name: f, uid: %s}\n",
             number++, action, step, text, object_uid(flow));
    flow_fixture_apply(fixture, yaml);
    flow_fixture_settle(fixture);
}

static void count(void *arg, const struct object *object)
{
    ++*(int *)arg;
}

static void check_no_command(struct flow_fixture *fixture)
{
    int left = 0;

    store_each(fixture->store, &kind_command, NULL, count, &left);
    check_int("commands", left, 0);
}

static const char *at(struct flow_fixture *fixture, const char *path)
{
    flow_fixture_advance(fixture, 1000); /* statuses are collected for a moment */
    return flow_fixture_at(fixture, "f", path);
}

struct answer_case {
    const char *name;
    const char *approve; /* members of approve */
    const char *actions; /* "a" approves, "r" rejects, "w" approves a step that does not wait */
    const char *phase, *reason, *message; /* of the step */
    const char *flow_phase;
    const char *created;
    int ineffective; /* Commands with no effect */
};

/* clang-format off */
static const struct answer_case answers[] = {
    {"approved", "message: go?", "a", "Completed", "", "", "Succeed", "f-a f-b", 0},
    {"rejected", "message: go?", "r", "Failed", "Rejected", "by ana: a remark", "Failed", "f-a", 0},
    {"approved twice", "", "aa", "Completed", "", "", "Succeed", "f-a f-b", 1},
    {"the first answer counts", "", "ra", "Failed", "Rejected", "by ana: a remark", "Failed", "f-a", 1},
    {"the wrong step, then the right one", "", "wa", "Completed", "", "", "Succeed", "f-a f-b", 1},
    {"after the end", "", "araw", "Completed", "", "", "Succeed", "f-a f-b", 3},
};
/* clang-format on */

static void act(struct flow_fixture *fixture, char action)
{
    answer(fixture, action == 'r' ? COMMAND_REJECT_STEP : COMMAND_APPROVE_STEP,
           action == 'w' ? "b" : "gate", "a remark");
}

/* Runs a flow whose step "gate" waits for approval, gives the answers of one row, and compares what
 * becomes of the flow with the row. `restarts`: the controller is restarted after each event, which
 * must change nothing. Ref: spec/everyday.md EVD-205. */
static void play(const struct answer_case *c, bool restarts)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
    scoped(buf) struct buf spec = {0};
    bool started = false;

    buf_printf(&spec, GATE("%s"), c->approve);
    flow_fixture_spec(fixture, "f", "t", spec.data);
    check_str(c->name, at(fixture, "nodes/1/reason"), "");
    flow_fixture_complete(fixture, "f-a");
    flow_fixture_restart_if(fixture, restarts);
    check_str(c->name, at(fixture, "nodes/1/phase"), "Waiting");
    check_str(c->name, at(fixture, "nodes/1/reason"), "WaitingForApproval");
    check_str(c->name, at(fixture, "state/reason"), "WaitingForApproval");
    check_int(c->name, flow_fixture_events(fixture, "WaitingForApproval"), 1);
    for (const char *action = c->actions; *action; action++) {
        act(fixture, *action);
        flow_fixture_restart_if(fixture, restarts);
        if (!started && flow_fixture_has_job(fixture, "f-b")) {
            started = true;
            flow_fixture_complete(fixture, "f-b");
        }
    }
    flow_fixture_advance(fixture, 5000);
    check_str(c->name, at(fixture, "nodes/1/phase"), c->phase);
    check_str(c->name, at(fixture, "nodes/1/reason"), c->reason);
    check_str(c->name, at(fixture, "nodes/1/message"), c->message);
    check_str(c->name, at(fixture, "state/phase"), c->flow_phase);
    check_str(c->name, flow_fixture_created(fixture), c->created);
    check_int(c->name, flow_fixture_events(fixture, "NothingToApprove"), c->ineffective);
    if (strcmp(c->phase, "Completed") == 0) {
        check_str(c->name, at(fixture, "nodes/1/outputs/approvedBy"), "ana");
        check_str(c->name, at(fixture, "nodes/1/outputs/text"), "a remark");
    }
    check_no_command(fixture);
}

static void an_answer_ends_the_wait(void **state)
{
    for (size_t i = 0; i < countof(answers); i++) {
        play(&answers[i], false);
        play(&answers[i], true);
    }
}

/* EVD-206 */
static void each_gate_waits_for_its_own_answer(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_spec(fixture, "f", "t",
                      "flows: [{name: g1, approve: {message: one}}, {name: g2, approve: {}}, "
                      "{name: b, jobTemplateName: t, dependsOn: {targets: [g1, g2]}}]");
    check_str("message", at(fixture, "state/message"), "steps g1, g2 wait for approval");
    answer(fixture, COMMAND_APPROVE_STEP, "g1", "");
    check_str("x", at(fixture, "nodes/0/phase"), "Completed");
    check_str("y", at(fixture, "nodes/1/phase"), "Waiting");
    check_str("message", at(fixture, "state/message"), "step g2 waits for approval");
    check_str("nothing runs", flow_fixture_created(fixture), "");
    answer(fixture, COMMAND_APPROVE_STEP, "g2", "");
    check_str("it runs", flow_fixture_created(fixture), "f-b");
}

/* EVD-207: the daemon is not there when the time is over. */
static void the_time_to_answer_ends_once(void **state)
{
    static const struct {
        const char *how, *phase, *flow;
    } cases[] = {{"fail", "Failed", "Failed"}, {"skip", "Skipped", "Succeed"}};

    for (size_t i = 0; i < 2 * countof(cases); i++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
        const bool away = i % 2;
        scoped(buf) struct buf spec = {0};

        buf_printf(&spec, GATE("timeoutSeconds: 60, onTimeout: %s"), cases[i / 2].how);
        flow_fixture_spec(fixture, "f", "t", spec.data);
        flow_fixture_complete(fixture, "f-a");
        flow_fixture_advance(fixture, 40000);
        check_str("waits", at(fixture, "nodes/1/phase"), "Waiting");
        flow_fixture_restart(fixture);
        flow_fixture_advance(fixture, 5000);
        check_str("waits", at(fixture, "nodes/1/phase"), "Waiting");
        if (away)
            flow_fixture_stop(fixture);
        flow_fixture_advance(fixture, 60000);
        if (away)
            flow_fixture_start(fixture);
        flow_fixture_settle(fixture);
        check_str("phase", at(fixture, "nodes/1/phase"), cases[i / 2].phase);
        check_str("reason", at(fixture, "nodes/1/reason"), "ApprovalTimedOut");
        check_str("message", at(fixture, "nodes/1/message"), "no answer came within 60 s");
        check_str("flow", at(fixture, "state/phase"), cases[i / 2].flow);
        flow_fixture_restart(fixture);
        check_str("still", at(fixture, "nodes/1/phase"), cases[i / 2].phase);
        check_str("jobs", flow_fixture_created(fixture), "f-a");
    }
}

/* EVD-210 */
static void a_suspended_flow_waits_on(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_spec(fixture, "f", "t", GATE("timeoutSeconds: 60"));
    flow_fixture_complete(fixture, "f-a");
    flow_fixture_spec(fixture, "f", "t", "suspend: true, " GATE("timeoutSeconds: 60"));
    flow_fixture_advance(fixture, 100000);
    check_str("waits", at(fixture, "nodes/1/phase"), "Waiting");
    check_str("flow", at(fixture, "state/phase"), "Running");
    answer(fixture, COMMAND_APPROVE_STEP, "gate", "");
    check_str("approved", at(fixture, "nodes/1/phase"), "Completed");
    check_str("nothing starts", flow_fixture_created(fixture), "f-a");
    flow_fixture_spec(fixture, "f", "t", GATE("timeoutSeconds: 60"));
    check_str("resumed", flow_fixture_created(fixture), "f-a f-b");
}

/* EVD-210 */
static void the_end_of_the_flow_takes_the_question_back(void **state)
{
    for (int i = 0; i < 2; i++) {
        scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);
        bool aborted = i == 0;

        flow_fixture_spec(fixture, "f", "t", "activeDeadlineSeconds: 600, " GATE(""));
        flow_fixture_complete(fixture, "f-a");
        if (aborted)
            flow_fixture_annotate(fixture, "f", "volcano.sh/jobFlowAbort", "1");
        flow_fixture_advance(fixture, aborted ? 1000 : 700000);
        check_str("flow", at(fixture, "state/phase"), "Failed");
        check_str("reason", at(fixture, "state/reason"), aborted ? "Aborted" : "DeadlineExceeded");
        check_str("step", at(fixture, "nodes/1/phase"), "Waiting");
        check_str("not asked", at(fixture, "nodes/1/reason"), "");
        answer(fixture, COMMAND_APPROVE_STEP, "gate", "");
        check_int("no effect", flow_fixture_events(fixture, "NothingToApprove"), 1);
        flow_fixture_annotate(fixture, "f", "volcano.sh/jobFlowAbort", NULL);
        flow_fixture_annotate(fixture, "f", "volcano.sh/jobFlowRetry", "1");
        check_str("asked again", at(fixture, "nodes/1/reason"), "WaitingForApproval");
        check_no_command(fixture);
    }
}

/* A rejected step is asked again by a retry; what it was told before is forgotten. */
static void a_retry_asks_again(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_spec(fixture, "f", "t", GATE("message: go?"));
    flow_fixture_complete(fixture, "f-a");
    answer(fixture, COMMAND_REJECT_STEP, "gate", "no");
    check_str("flow", at(fixture, "state/phase"), "Failed");
    check_str("reason", at(fixture, "state/reason"), "Rejected");
    check_str("message", at(fixture, "state/message"), "step gate: by ana: no");
    flow_fixture_annotate(fixture, "f", "volcano.sh/jobFlowRetry", "1");
    check_str("asked", at(fixture, "nodes/1/message"), "go?");
    answer(fixture, COMMAND_APPROVE_STEP, "gate", "");
    flow_fixture_complete(fixture, "f-b");
    check_str("flow", at(fixture, "state/phase"), "Succeed");
    flow_fixture_annotate(fixture, "f", "volcano.sh/jobFlowRetryFrom", "gate");
    flow_fixture_annotate(fixture, "f", "volcano.sh/jobFlowRetry", "2");
    check_str("a rerun asks", at(fixture, "nodes/1/reason"), "WaitingForApproval");
    check_str("no output", at(fixture, "nodes/1/outputs/approvedBy"), "");
}

static void questions_and_steps_use_outputs(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_spec(
        fixture, "f", "t",
        "flows: [{name: a, jobTemplateName: t}, {name: gate, approve: {message: deploy "
        "$(steps.a.outputs.acc)?}, dependsOn: {targets: [a]}}, {name: b, jobTemplateName: t, "
        "dependsOn: {targets: [gate]}, if: {terms: [{target: gate, output: {key: text, values: "
        "[fast]}}]}}, {name: c, jobTemplateName: t, dependsOn: {targets: [gate]}, if: {terms: "
        "[{target: gate, phases: [Failed]}]}}]");
    flow_fixture_end(fixture, "f-a", 0, "acc=0.9");
    check_str("message", at(fixture, "nodes/1/message"), "deploy 0.9?");
    check_str("event", flow_fixture_event_text(fixture, "WaitingForApproval"),
              "step gate waits for approval: deploy 0.9?");
    flow_fixture_restart(fixture);
    answer(fixture, COMMAND_APPROVE_STEP, "gate", "fast");
    check_str("jobs", flow_fixture_created(fixture), "f-a f-b");
    check_str("skipped", at(fixture, "nodes/3/phase"), "Skipped");
}

static void a_missing_output_fails_the_question(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_spec(fixture, "f", "t", GATE("message: $(steps.a.outputs.acc)"));
    flow_fixture_end(fixture, "f-a", 0, NULL);
    check_str("reason", at(fixture, "nodes/1/reason"), "MissingOutput");
    check_str("flow", at(fixture, "state/phase"), "Failed");
}

/* A Command of another namespace or to another flow of the name does nothing. */
static void only_the_flow_itself_is_answered(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_spec(fixture, "f", "t", GATE(""));
    flow_fixture_complete(fixture, "f-a");
    flow_fixture_apply(
        fixture,
        "apiVersion: bus.volcano.sh/v1alpha1\nkind: Command\nmetadata: {name: other}\n"
        "action: ApproveStep\nmessage: '{\"step\": \"gate\"}'\n"
        "target: {apiVersion: flow.volcano.sh/v1alpha1, kind: JobFlow, name: f, uid: u}\n");
    check_str("waits", at(fixture, "nodes/1/phase"), "Waiting");
    check_int("refused", flow_fixture_events(fixture, "CommandRejected"), 1);
    check_no_command(fixture);
}

/* In a cluster nobody vouches for the sender. */
static void an_unknown_sender_is_not_named(void **state)
{
    static const struct flow_options options = {.senders_unknown = true};
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(&options);

    flow_fixture_spec(fixture, "f", "t", GATE(""));
    flow_fixture_complete(fixture, "f-a");
    answer(fixture, COMMAND_APPROVE_STEP, "gate", "");
    check_str("by", at(fixture, "nodes/1/outputs/approvedBy"), "unknown");
}

static void a_final_step_may_be_approved(void **state)
{
    scoped(flow_fixture) struct flow_fixture *fixture = flow_fixture_new(NULL);

    flow_fixture_spec(fixture, "f", "t",
                      "flows: [{name: a, jobTemplateName: t}, {name: x, approve: {}}, {name: "
                      "gate, when: always, approve: {}}]");
    check_str("x asks", at(fixture, "nodes/1/reason"), "WaitingForApproval");
    flow_fixture_end(fixture, "f-a", 1, NULL);
    check_str("x does not", at(fixture, "nodes/1/reason"), "");
    check_str("asks", at(fixture, "nodes/2/reason"), "WaitingForApproval");
    check_str("flow", at(fixture, "state/phase"), "Running");
    answer(fixture, COMMAND_APPROVE_STEP, "gate", "");
    check_str("flow", at(fixture, "state/phase"), "Failed");
    check_str("gate", at(fixture, "nodes/2/phase"), "Completed");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_ends_the_wait),
        cmocka_unit_test(each_gate_waits_for_its_own_answer),
        cmocka_unit_test(the_time_to_answer_ends_once),
        cmocka_unit_test(a_suspended_flow_waits_on),
        cmocka_unit_test(the_end_of_the_flow_takes_the_question_back),
        cmocka_unit_test(a_retry_asks_again),
        cmocka_unit_test(questions_and_steps_use_outputs),
        cmocka_unit_test(a_missing_output_fails_the_question),
        cmocka_unit_test(only_the_flow_itself_is_answered),
        cmocka_unit_test(an_unknown_sender_is_not_named),
        cmocka_unit_test(a_final_step_may_be_approved),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
