"""Steps that wait for an approval: who may answer, what is told, answers given beforehand, and answers of a process that is killed.

# covers: everyday.md EVD-208 EVD-209 EVD-211
"""
import getpass
import json
import os
import signal
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403
from lib_kill import kill_before_writes, killed_before_write  # noqa: E402
from lib_serve import Daemon  # noqa: E402

COMMANDS = "/apis/bus.volcano.sh/v1alpha1/namespaces/default/commands"
FLOWS = "/apis/flow.volcano.sh/v1alpha1/namespaces/default/jobflows"


def release(**approve):
    approve.setdefault("message", "deploy $(steps.check.outputs.acc)?")
    return flow("f", [step("check", run="echo acc=0.9 > /dev/termination-log"), step("gate", ["check"], approve=approve),
                      step("deploy", ["gate"], run='echo "$BY" >> %s' % os.path.abspath("deployed"),
                           env=[{"name": "BY", "value": "$(steps.gate.outputs.approvedBy)"}])])


def gate(*place):
    done = jobflow("get", "jf/f", "-o", "json", *place, code=None)
    nodes = json.loads(done.stdout).get("status", {}).get("nodes", []) if done.returncode == 0 else []
    return next((node for node in nodes if node["name"] == "gate"), {})


def asks(*place):
    return gate(*place).get("reason") == "WaitingForApproval"


def a_run_asks_and_goes_on():
    manifest("f.yaml", release())
    run = Background("run", "-o", "plain", "f.yaml")
    wait_until("it asks", asks)
    wait_until("the run says how to answer", lambda: "gate waits: jobflow approve jf/f gate\n" in run.output())
    check_in("the question", "gate  Waiting  (WaitingForApproval: deploy 0.9?)", run.output())
    told = jobflow("explain", "jf/f").stdout
    check_in("explain", "(deploy 0.9?): jobflow approve jf/f gate", told)
    check_in("explain", "Expected end: not known, for gate waits for approval.", told)
    check_in("describe", "WaitingForApproval", jobflow("describe", "jf/f").stdout)
    check_in("another step", 'f has no step "gat" to approve; near: "gate"', jobflow("approve", "jf/f", "gat", code=1).stderr)
    for text in ("\x1b[2J", "one\ntwo", "\x9b2J"):
        check_in("a text for the terminal", "the text must be one line without control characters",
                 jobflow("approve", "jf/f", "gate", "-m", text, code=1).stderr)
    check_equal("approved", jobflow("approve", "jf/f", "gate", "-m", "go on").stdout, "step gate of f approved\n")
    check_equal("exit code", run.wait(), 0)
    check_in("the answer", "gate  Completed  (approved by %s: go on)" % getpass.getuser(), run.output())
    check_equal("its outputs", read("deployed"), getpass.getuser() + "\n")
    check_in("too late", "step gate of f does not wait for approval: it is Completed", jobflow("approve", "jf/f", "gate", code=1).stderr)


def a_rejected_step_fails_the_flow():
    manifest("f.yaml", release())
    run = Background("run", "-o", "plain", "f.yaml")
    wait_until("it asks", asks)
    jobflow("reject", "jf/f", "gate", "-m", "not this week")
    check_equal("exit code", run.wait(), 1)
    check_in("why", "Rejected: by %s: not this week" % getpass.getuser(), jobflow("explain", "jf/f").stdout)
    check(not os.path.exists("deployed"), "nothing is deployed")


def steps_are_approved_beforehand():
    manifest("f.yaml", release())
    jobflow("run", "--approve", "gate", "f.yaml")
    check_equal("deployed", read("deployed"), getpass.getuser() + "\n")
    check_in("a wrong name", 'error: --approve: no flow of the files has a step "gat" to approve; near: "gate"',
             jobflow("run", "--fresh", "--approve", "gat", "f.yaml", code=2).stderr)
    check_equal("it never ran", read("deployed"), getpass.getuser() + "\n")


def a_flow_that_made_no_job_has_no_long_duration():
    manifest("f.yaml", flow("f", [step("gate", approve={})]))
    check_in("it took no time", "f Succeed in 0.00s", jobflow("run", "-o", "plain", "--approve", "gate", "f.yaml").stdout)


def what_an_approval_cannot_have_is_refused():
    for more, text in (({"run": "true"}, "spec.flows[0].run: Forbidden: a step with approve makes no job"),
                       ({"jobTemplateName": "t"}, "spec.flows[0].jobTemplateName: Forbidden: a step with approve makes no job"),
                       ({"for": {"items": ["a"]}}, "spec.flows[0].for: Forbidden: a step with approve makes no job"),
                       ({"retry": {}}, "spec.flows[0].retry: Forbidden: a step with approve makes no job"),
                       ({"cache": {}}, "spec.flows[0].cache: Invalid value: an approval makes no job"),
                       ({"approve": {"timeoutSeconds": 0}}, "spec.flows[0].approve.timeoutSeconds: Invalid value: 0"),
                       ({"approve": {"onTimeout": "wait"}}, 'supported values: "fail", "skip"'),
                       ({"approve": {"message": "x" * 1025}}, "spec.flows[0].approve.message: Too long"),
                       ({"approve": {"message": "$(steps.none.outputs.a)"}}, "spec.flows[0].approve.message: Invalid value"),
                       ({"gate": {}}, "write approve: {message: TEXT}")):
        manifest("f.yaml", flow("f", [step("g", **dict({"approve": {}}, **more))]))
        check_in(str(more)[:60], text, jobflow("validate", "f.yaml", code=2).stderr)
    manifest("f.yaml", release())
    check_in("Volcano", "spec.flows[1].approve: Volcano's JobFlow has nothing like it: ",
             jobflow("convert", "--upstream", "f.yaml", code=2).stderr)


def EVD_208__the_server_says_who_has_approved():
    daemon = Daemon()
    manifest("f.yaml", release())
    jobflow("apply", "--data-dir", "d", "f.yaml")
    wait_until("it asks", lambda: asks("--data-dir", "d"))
    tokens = {role: jobflow("token", "create", role, "--data-dir", "d", "--role", role, "--namespace", "default").stdout.split()[-1]
              for role in ("viewer", "editor")}
    uid = daemon.get(FLOWS + "/f")["metadata"]["uid"]
    order = {"apiVersion": "bus.volcano.sh/v1alpha1", "kind": "Command", "action": "ApproveStep", "message": json.dumps({"step": "gate", "text": "fine"}),
             "metadata": {"generateName": "forged-", "annotations": {"volcano.sh/requested-by": "root"}},
             "target": {"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow", "name": "f", "uid": uid}}
    check_equal("a viewer answers", daemon.ask("POST", COMMANDS, order, token=tokens["viewer"])[0], 403)
    check_equal("nobody answers", daemon.ask("POST", COMMANDS, order, token=None)[0], 403)
    status, text = daemon.ask("POST", COMMANDS, dict(order, message="gate"), token=tokens["editor"])
    check_equal("no order", status, 422)
    check_in("no order", "message: Invalid value: must be", json.loads(text)["message"])
    status, text = daemon.ask("POST", COMMANDS, order, token=tokens["editor"])
    check_equal("an editor answers", status, 201)
    check_equal("the sender", json.loads(text)["metadata"]["annotations"]["volcano.sh/requested-by"], "editor")
    wait_until("approved", lambda: gate("--data-dir", "d").get("phase") == "Completed")
    check_equal("who", {k: v for k, v in gate("--data-dir", "d")["outputs"].items() if k != "approvedAt"}, {"approvedBy": "editor", "text": "fine"})
    wait_until("the command is gone", lambda: not daemon.get(COMMANDS)["items"])
    check_in("run", "--approve is for flows of this process", jobflow("run", "--data-dir", "d", "--approve", "gate", "f.yaml", code=2).stderr)


def answered_and_killed(n):
    """Kills a run that carries an answer out before its n-th write; false when it ended before that write."""
    fresh_dir("write")
    manifest("f.yaml", release())
    run = Background("run", "-o", "quiet", "f.yaml")
    wait_until("it asks", asks)
    run.signal(signal.SIGKILL)
    run.wait()
    jobflow("approve", "jf/f", "gate", "-m", "once")
    if not killed_before_write(n, "run", "-o", "quiet", "f.yaml"):
        return False
    if json.loads(jobflow("get", "jf/f", "-o", "json").stdout)["status"]["state"]["phase"] != "Succeed":  # else it would be a new run
        jobflow("run", "-o", "quiet", "f.yaml")
    node = gate()
    check_equal("killed before write %d" % n, (node["phase"], node["outputs"]["text"]), ("Completed", "once"))
    check_equal("killed before write %d: deployed once" % n, read("deployed"), getpass.getuser() + "\n")
    check_equal("killed before write %d: no command is left" % n, json.loads(jobflow("get", "commands", "-o", "json").stdout)["items"], [])
    return True


def EVD_209__an_answer_has_its_effect_once():
    kill_before_writes(answered_and_killed, 20)


def EVD_211__a_flow_test_answers():
    manifest("f.yaml", release(timeoutSeconds=86400))
    write("t.yaml", """
manifests: [f.yaml]
tests:
- name: approved
  steps: {check: {outputs: {acc: "1"}}, gate: {approve: true, duration: 2h}}
  expect: {phase: Succeed, duration: 2h, steps: {gate: Completed}}
- name: rejected
  steps: {check: {outputs: {acc: "1"}}, gate: {approve: false}}
  expect: {phase: Failed, reason: Rejected, steps: {gate: {phase: Failed, reason: Rejected}}, notRun: [deploy]}
- name: nobody answers
  steps: {check: {outputs: {acc: "1"}}}
  expect: {phase: Failed, duration: 24h, steps: {gate: {phase: Failed, reason: ApprovalTimedOut}}}
- name: too late
  steps: {check: {outputs: {acc: "1"}}, gate: {approve: true, duration: 25h}}
  expect: {phase: Failed, steps: {gate: {phase: Failed, reason: ApprovalTimedOut}}}
""")
    check_in("the tests", "4 passed", jobflow("test", "t.yaml").stdout)
    write("t.yaml", "manifests: [f.yaml]\ntests:\n- name: x\n  steps: {check: {approve: true}}\n  expect: {phase: Succeed}\n")
    check_in("a step without approve", "tests[0].steps.check.approve: step check has no approve", jobflow("test", "t.yaml", code=2).stderr)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
