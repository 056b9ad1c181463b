"""`jobflow suspend`, `resume` and `abort`: for flows they change the spec, for jobs they create Commands.

# covers: job.md CMD-02 CMD-03; jobflow.md 178
"""
import json
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names


def phase(name):
    done = jobflow("get", name, "-o", "jsonpath={.status.state.phase}", code=None)
    return done.stdout if done.returncode == 0 else ""


def gated(*steps, **spec):
    """A flow whose steps run until the test creates files with their names."""
    manifest("f.yaml", flow("f", list(steps), **spec),
             *[template(s["name"], "touch began-%s; while [ ! -e go-%s ]; do sleep 0.02; done" % (s["name"], s["name"])) for s in steps])
    run = Background("run", "f.yaml", "-o", "plain")
    wait_until("the first step runs", lambda: os.path.exists("began-a") and phase("vcjob/f-a") == "Running")
    return run


def a_suspended_flow_starts_nothing_more_until_it_is_resumed():
    run = gated(step("a"), step("b", ["a"]))
    check_equal("stdout", jobflow("suspend", "jf/f").stdout, "jobflow.flow.volcano.sh/f suspended\n")
    check_equal("spec", jobflow("get", "jf/f", "-o", "jsonpath={.spec.suspend}").stdout, "true")
    write("go-a", "")
    wait_until("a ends", lambda: phase("vcjob/f-a") == "Completed")
    text = wait_until("b is held", lambda: (lambda t: t if "suspended" in t.lower() else "")(jobflow("explain", "jf/f", "b").stdout))
    check("began-b" not in os.listdir("."), "b has begun:\n" + text)
    check_equal("stdout", jobflow("resume", "jf/f").stdout, "jobflow.flow.volcano.sh/f resumed\n")
    wait_until("b runs", lambda: os.path.exists("began-b"))
    write("go-b", "")
    check_equal("exit code\n" + run.errors(), run.wait(), 0)


def a_suspended_run_names_the_command_that_resumes_it():
    manifest("f.yaml", flow("f", [step("a")], suspend=True), template("a"))
    run = Background("run", "f.yaml", "-o", "plain")
    held = "flow f  Pending  (Suspended: no step starts while spec.suspend is true; 'jobflow resume jf/f' goes on)"
    wait_until("it says so", lambda: held in run.output())
    rows = [line.split() for line in jobflow("get", "jf", "-o", "wide").stdout.splitlines()]
    check_equal("titles", rows[0], ["NAME", "STATUS", "AGE", "COMPLETED", "STEPS", "REASON"])
    check_equal("wide", rows[1][:2] + rows[1][3:], ["f", "Pending", "0", "1", "Suspended"])
    jobflow("resume", "jf/f")
    check_equal("exit code", run.wait(), 0)
    check_equal("wide", jobflow("get", "jf", "-o", "wide").stdout.splitlines()[1].split()[3:], ["1", "1"])


def a_blocked_step_is_counted_as_such_and_has_no_end():
    run = gated(step("a"), step("b", ["a"]))
    jobflow("delete", "--force", "jt/b")
    write("go-a", "")
    wait_until("b is blocked", lambda: "TemplateNotFound" in jobflow("explain", "jf/f").stdout)
    check_in("end", "Expected end: not known, for b is blocked.\n", jobflow("explain", "jf/f").stdout)
    check_in("counts", "1 of 2 steps completed, 1 blocked\n", jobflow("describe", "jf/f").stdout)
    run.signal(signal.SIGINT)
    check_equal("exit code", run.wait(), 130)


def a_step_whose_probe_did_not_pass_is_not_said_to_start():
    probed = dict(step("b"), dependsOn={"targets": ["a"], "probe": {"taskStatusList": [{"taskName": "main", "phase": "Failed"}]}})
    run = gated(step("a"), probed)
    check_in("before", "waits for a (Running), or until its probes pass", jobflow("explain", "jf/f", "b").stdout)
    write("go-a", "")
    wait_until("a ends", lambda: "never starts: its probe did not pass before a was Completed" in jobflow("explain", "jf/f", "b").stdout)
    said = "b never starts: its probe did not pass before a was Completed; f stays Running (Ctrl-C ends it)"
    wait_until("the run says so", lambda: said in run.output())
    check_in("before the start", "dependsOn.probe: it passes only when a pod fails", jobflow("validate", "f.yaml").stderr)
    run.signal(signal.SIGINT)
    check_equal("exit code", run.wait(), 130)


def a_passed_deadline_is_told_with_the_step_and_the_flow():
    manifest("f.yaml", flow("f", [step("a")], activeDeadlineSeconds=1), template("a", "while :; do sleep 0.02; done"))
    done = jobflow("run", "f.yaml", "-o", "plain", code=1)
    check_in("the step", "Terminated  (terminated: the flow's deadline (1 s) passed)", done.stdout)
    check_in("the flow", "\nDeadlineExceeded: the flow's deadline (1 s) passed.\n", done.stdout)


def jobs_of_a_flow_are_suspended_with_it():
    run = gated(step("a"), step("b", ["a"]))
    check_in("stdout", "f suspended, with 1 job\n", jobflow("suspend", "jf/f", "--jobs").stdout)
    wait_until("a is aborted", lambda: phase("vcjob/f-a") == "Aborted")
    check_equal("no pod is left", json.loads(jobflow("get", "pods", "-o", "json").stdout)["items"], [])
    wait_until("it is explained", lambda: "'jobflow resume job/f-a' goes on with it" in jobflow("explain", "jf/f", "a").stdout)
    write("go-a", "")
    write("go-b", "")
    check_in("stdout", "f resumed, with 1 job\n", jobflow("resume", "jf/f", "--jobs").stdout)
    check_equal("exit code\n" + run.errors(), run.wait(), 0)


def a_job_is_suspended_and_resumed_by_commands():
    run = gated(step("a"))
    check_equal("stdout", jobflow("suspend", "job/f-a").stdout, "job.batch.volcano.sh/f-a suspended\n")
    wait_until("it is aborted", lambda: phase("vcjob/f-a") == "Aborted")
    check_in("twice", 'job "f-a" is Aborted', jobflow("suspend", "job/f-a", code=1).stderr)
    write("go-a", "")
    check_equal("stdout", jobflow("resume", "job/f-a").stdout, "job.batch.volcano.sh/f-a resumed\n")
    check_equal("exit code", run.wait(), 0)
    check_in("events", "CommandIssued", jobflow("events").stdout)
    check_in("over", 'job "f-a" is Completed: it cannot be resumed', jobflow("resume", "job/f-a", code=1).stderr)


def an_aborted_flow_ends_for_good():
    run = gated(step("a"), step("b", ["a"]), failurePolicy="continue")
    check_equal("stdout", jobflow("abort", "jf/f").stdout, "jobflow.flow.volcano.sh/f aborted\n")
    check_equal("exit code", run.wait(), 1)
    check_equal("phases", (phase("jf/f"), phase("vcjob/f-a")), ("Failed", "Terminated"))
    check_in("why", "Aborted", jobflow("explain", "jf/f").stdout)
    check_in("why its job", "message: 'terminated: the flow was aborted'", jobflow("get", "vcjob/f-a", "-o", "yaml").stdout)
    check_in("the run says so", "Aborted: it was aborted.", run.output())
    check_in("again", 'jobflow "f" is Failed: it cannot be aborted', jobflow("abort", "jf/f", code=1).stderr)
    nothing_left()
    write("go-a", "")
    write("go-b", "")
    jobflow("retry", "jf/f")
    jobflow("run", "f.yaml", "--retry-failed")
    check_equal("retried", phase("jf/f"), "Succeed")


def an_aborted_job_ends_for_good():
    run = gated(step("a"))
    check_equal("stdout", jobflow("abort", "job/f-a").stdout, "job.batch.volcano.sh/f-a aborted\n")
    check_equal("exit code", run.wait(), 1)
    check_equal("phase", phase("vcjob/f-a"), "Terminated")


def a_failed_flow_is_aborted_while_a_job_of_it_runs():
    manifest("f.yaml", flow("f", [step("a"), step("b")]), template("a", "sleep 1000"), template("b", "exit 3"))
    run = Background("run", "f.yaml", "-o", "plain")
    wait_until("a runs", lambda: os.path.exists(".jobflow") and phase("vcjob/f-a") == "Running")
    wait_until("the flow has failed", lambda: phase("jf/f") == "Failed")
    check_equal("a runs", phase("vcjob/f-a"), "Running")
    check_equal("stdout", jobflow("abort", "jf/f").stdout, "jobflow.flow.volcano.sh/f aborted\n")
    check_equal("exit code", run.wait(), 1)
    check_equal("phase", phase("vcjob/f-a"), "Terminated")


def wrong_targets_of_suspend_resume_and_abort_are_refused():
    manifest("f.yaml", flow("f", [step("a")]), template("a"))
    jobflow("run", "f.yaml")
    for args, code, text in ((["suspend", "pod/x"], 2, "name flows, jobs, CronJobs and FlowTriggers"), (["suspend", "jf"], 2, "name flows, jobs, CronJobs and FlowTriggers"),
                             (["suspend"], 2, "needs"), (["abort", "jf/f"], 1, "is Succeed: it cannot be aborted"),
                             (["resume", "jf/x"], 1, "not found"), (["suspend", "jf/f"], 1, "it cannot be suspended"),
                             (["abort", "--jobs", "jf/f"], 2, "--jobs: no such flag"),
                             (["suspend", "f"], 2, "is not of the form jf/NAME or job/NAME"), (["retry", "f"], 2, "is not of the form jf/NAME")):
        check_in(" ".join(args), text, jobflow(*args, code=code).stderr)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
