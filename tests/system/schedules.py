"""CronJobs and FlowTriggers under `jobflow serve`: kubectl, the commands, kill -9.

# covers: everyday.md EVD-004 EVD-020 EVD-026 EVD-034 EVD-046 EVD-313
"""
import json
import signal
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_kubectl import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_serve import *  # noqa: E402,F403: sys.path is set above; cases use all names

CRONJOBS = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/cronjobs"


def cronjob(name="c", schedule="30 2 * * *", script="true", **spec):
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "CronJob", "metadata": {"name": name},
            "spec": dict({"schedule": schedule, "timeZone": "Europe/Berlin",
                          "jobTemplate": {"spec": {"tasks": [task("main", script)]}}}, **spec)}


def jobs_of(daemon):
    return json.loads(daemon.ask("GET", JOBS)[1])["items"]


def phase(job):
    return job.get("status", {}).get("state", {}).get("phase")


def kubectl_knows_cronjobs_as_any_other_kind():
    daemon = Daemon()
    manifest("c.yaml", cronjob())
    for k in oldest_and_newest(daemon):
        k.says("cronjob.batch.volcano.sh/c created", "apply", "-f", "c.yaml")
        k.says("cronjob.batch.volcano.sh/c unchanged", "apply", "-f", "c.yaml")
        check_equal("columns", k.out("get", "cronvj").split("\n")[0].split(), ["NAME", "SCHEDULE", "SUSPEND", "ACTIVE", "LAST", "SCHEDULE", "AGE"])
        check_in("wide", "Europe/Berlin", k.out("get", "cronvcjob", "-o", "wide"))
        check_in("describe", "30 2 * * *", k.out("describe", "cronjobs.batch.volcano.sh", "c"))
        check_in("explain", "jobTemplate", k.out("explain", "cronjobs.spec", "--api-version", "batch.volcano.sh/v1alpha1"))
        k.run("create", "job", "x", "--from=cronjob.batch.volcano.sh/c", code=1)
        k.run("patch", "cronvj", "c", "--type=merge", "-p", '{"spec":{"suspend":true}}')
        check_equal("suspended", k.at("cronvj/c", ".spec.suspend"), "true")
        k.says("field 2 (hour): 25 is above 23", "patch", "cronvj", "c", "--type=merge", "-p", '{"spec":{"schedule":"0 25 * * *"}}', code=1)
        k.says("deleted", "delete", "cronvj", "c")


def a_mistake_is_named_with_file_and_line():
    manifest("c.yaml", cronjob(schedule="0 25 * * *"))
    write("c.yaml", "apiVersion: batch.volcano.sh/v1alpha1\nkind: CronJob\nmetadata: {name: c}\nspec:\n  timeZone: UTC\n"
          "  schedule: 0 25 * * *\n  jobTemplate: {spec: {tasks: [{name: t, replicas: 1, template: {spec: "
          "{restartPolicy: Never, containers: [{name: c, command: [a]}]}}}]}}\n")
    done = jobflow("validate", "c.yaml", code=2)
    check_in("the mistake", "c.yaml:6: spec.schedule: field 2 (hour): 25 is above 23", done.stderr)


def a_run_fires_no_schedule():
    manifest("c.yaml", cronjob(schedule="@every 1s"))
    check_in("nothing to run", "nothing to run", jobflow("run", "c.yaml", code=2).stderr)


def nightly(**spec):
    """A pattern, and a FlowTrigger that makes flows of it."""
    pattern = flow("pattern", [step("a", run="true")], suspend=True, parameters=[{"name": "day", "default": ""}])
    trigger = {"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "FlowTrigger", "metadata": {"name": "nightly"},
               "spec": dict({"flowName": "pattern", "schedule": {"cron": "30 2 * * *", "timeZone": "Europe/Berlin"}}, **spec)}
    return [pattern, trigger]


def a_run_does_not_wait_for_the_pattern_of_a_trigger():
    """A pattern never runs by itself: a run of its file ends, and so does every later run in the directory."""
    manifest("n.yaml", *nightly())
    check_in("nothing else", "'jobflow serve'", jobflow("run", "n.yaml", code=2).stderr)
    manifest("both.yaml", *nightly(), flow("f", [step("a", run="true")]))
    done = jobflow("run", "both.yaml")
    check_in("the flow", "f Succeed", done.stdout)
    check_in("the pattern", "pattern is the pattern of a FlowTrigger and does not run by itself", done.stdout)
    check_in("the trigger", "warning: a run fires no FlowTrigger and no CronJob", done.stderr)
    manifest("f.yaml", flow("f", [step("a", run="true")]))
    check("pattern" not in jobflow("run", "f.yaml").stdout, "a later run leaves it alone")
    for command in ("explain", "describe"):
        check_in(command, "no process runs in .jobflow: only 'jobflow serve' makes anything of it", jobflow(command, "ft/nightly").stdout)


def a_parameter_that_the_flow_does_not_have_is_refused():
    manifest("both.yaml", *nightly(), flow("f", [step("a", run="true")]))
    jobflow("run", "both.yaml")
    check_in("named", '-p dya: the flow has no such parameter; did you mean "day"?', jobflow("trigger", "ft/nightly", "-p", "dya=1", code=1).stderr)
    check_in("taken", "triggered", jobflow("trigger", "ft/nightly", "-p", "day=1").stdout)


def commands_trigger_suspend_and_explain_a_cronjob():
    daemon = Daemon()
    manifest("c.yaml", cronjob(script="echo by hand"))
    place = ["--data-dir", "d"]
    jobflow("apply", *place, "c.yaml")
    check_in("explain", "next in ", jobflow("explain", *place, "cronvj/c").stdout)
    check_in("describe", "T02:30:00+0", jobflow("describe", *place, "cronvj/c").stdout)
    check_equal("trigger", jobflow("trigger", *place, "cronvj/c").stdout, "cronjob.batch.volcano.sh/c triggered\n")
    wait_until("the job has ended", lambda: [phase(j) for j in jobs_of(daemon)] == ["Completed"])
    check_in("its name", "c-manual-", jobs_of(daemon)[0]["metadata"]["name"])
    check_in("suspend", "cronjob.batch.volcano.sh/c suspended", jobflow("suspend", *place, "cronvj/c").stdout)
    check_in("explain", "suspended", jobflow("explain", *place, "cronvj/c").stdout)
    check_in("resume", "cronjob.batch.volcano.sh/c resumed", jobflow("resume", *place, "cronvj/c").stdout)
    check_in("abort", "cannot be aborted", jobflow("abort", *place, "cronvj/c", code=1).stderr)
    check_in("another kind", "only CronJobs and FlowTriggers are triggered", jobflow("trigger", *place, "jf/c", code=2).stderr)
    check_in("not there", "not found", jobflow("trigger", *place, "cronvj/x", code=1).stderr)


def roles_decide_who_fires_a_cronjob():
    """A viewer reads and creates nothing; an editor fires by hand."""
    daemon = Daemon()
    check_equal("created", daemon.ask("POST", CRONJOBS, cronjob())[0], 201)
    uid = daemon.get(CRONJOBS + "/c")["metadata"]["uid"]
    order = {"apiVersion": "bus.volcano.sh/v1alpha1", "kind": "Command", "metadata": {"name": "x"}, "action": "FireJob",
             "target": {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "CronJob", "name": "c", "uid": uid}}
    commands = "/apis/bus.volcano.sh/v1alpha1/namespaces/default/commands"
    tokens = {role: jobflow("token", "create", role, "--data-dir", "d", "--role", role, "--namespace", "default").stdout.split()[-1]
              for role in ("viewer", "editor")}
    check_equal("a viewer reads", daemon.ask("GET", CRONJOBS, token=tokens["viewer"])[0], 200)
    check_equal("a viewer writes", daemon.ask("POST", CRONJOBS, cronjob("d"), token=tokens["viewer"])[0], 403)
    check_equal("a viewer fires", daemon.ask("POST", commands, order, token=tokens["viewer"])[0], 403)
    check_equal("nobody reads", daemon.ask("GET", CRONJOBS, token=None)[0], 403)


def killed_again_and_again_each_time_runs_at_most_once():
    manifest("c.yaml", cronjob(schedule="@every 1s", script="echo $$ >> %s" % os.path.abspath("out"),
                               successfulJobsHistoryLimit=1000, failedJobsHistoryLimit=1000))
    daemon = Daemon()
    jobflow("apply", "--data-dir", "d", "c.yaml")
    for made in (2, 4, 6, 8):
        wait_until("%d jobs" % made, lambda: len(read("out").splitlines()) >= made)
        daemon.signal(signal.SIGKILL)
        daemon.wait()
        daemon = Daemon(name="serve-%d" % made)
    jobflow("suspend", "--data-dir", "d", "cronvj/c")
    wait_until("all have ended", lambda: all(phase(j) in ("Completed", "Failed") for j in jobs_of(daemon)))
    jobs = jobs_of(daemon)
    check_equal("each job ran once", len(read("out").splitlines()), len(jobs))
    times = [j["metadata"]["annotations"]["volcano.sh/cronjob-scheduled-timestamp"] for j in jobs]
    check_equal("each time has one job", len(set(times)), len(jobs))


def a_flowtrigger_makes_flows_of_a_suspended_pattern():
    daemon = Daemon()
    pattern = flow("etl", [{"name": "s", "run": 'echo "day $DAY" > %s' % os.path.abspath("day"), "env": [{"name": "DAY", "value": "$(params.day)"}]}],
                   suspend=True, parameters=[{"name": "day", "default": "none"}])
    nightly = {"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "FlowTrigger", "metadata": {"name": "nightly"},
               "spec": {"flowName": "etl", "schedule": {"cron": "30 2 * * *", "timeZone": "Europe/Berlin"}}}
    manifest("etl.yaml", pattern, nightly)
    place = ["--data-dir", "d"]
    jobflow("apply", *place, "etl.yaml")
    check_in("explain", "next in ", jobflow("explain", *place, "ft/nightly").stdout)
    said = jobflow("trigger", *place, "ft/nightly", "-p", "day=2026-10-01 $(DAY); x", "--id", "one").stdout
    check_in("trigger", "flowtrigger.flow.volcano.sh/nightly triggered: jobflow nightly-", said)
    made = said.split()[-1]
    jobflow("wait", *place, "jf/" + made)
    check_equal("the value is text", read("day"), "day 2026-10-01 $(DAY); x\n")
    jobflow("trigger", *place, "ft/nightly", "-p", "day=other", "--id", "one")
    wait_until("the duplicate is told", lambda: "the id was used before" in jobflow("describe", *place, "ft/nightly").stdout)
    check_equal("once", read("day"), "day 2026-10-01 $(DAY); x\n")
    check_in("the pattern is protected", "is the pattern of flowtrigger nightly", jobflow("delete", *place, "jf/etl", code=1).stderr)
    newest(daemon).says("nightly", "get", "ft", "-o", "wide")
    jobflow("delete", *place, "ft/nightly")
    wait_until("its flows go with it", lambda: made not in jobflow("get", *place, "jf").stdout)


def EVD_313__trigger_waits_for_the_end_of_what_it_makes():
    place = ["--data-dir", "d"]
    script = "while [ ! -e %s ]; do sleep 0.02; done; exit $CODE" % os.path.abspath("go")
    pattern = flow("etl", [{"name": "s", "run": script, "env": [{"name": "CODE", "value": "$(params.code)"}]}], suspend=True,
                   parameters=[{"name": "code", "default": "0"}])
    trigger = {"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "FlowTrigger", "metadata": {"name": "ft"},
               "spec": {"flowName": "etl", "concurrencyPolicy": "Forbid"}}
    cronjob = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "CronJob", "metadata": {"name": "c"},
               "spec": {"schedule": "0 0 1 1 *", "timeZone": "Etc/UTC", "jobTemplate": {"spec": {"minAvailable": 1, "tasks": [task("main", "exit 3")]}}}}
    manifest("all.yaml", pattern, trigger, cronjob)
    daemon = Daemon()
    jobflow("apply", *place, "all.yaml")
    timed = jobflow("trigger", *place, "ft/ft", "--id", "one", "--wait", "--timeout", "100ms", code=4)
    check_in("a time limit", "timed out", timed.stderr)
    check_in("the policy", "a flow is active and the policy is Forbid", jobflow("trigger", *place, "ft/ft", "--wait", code=1).stderr)
    write("go", "")
    check_in("the id is that of the first", "Succeed", jobflow("wait", *place, "jf/" + timed.stdout.split()[-1]).stdout)
    check_in("success", "Succeed", jobflow("trigger", *place, "ft/ft", "--wait").stdout)
    check_in("failure", "Failed", jobflow("trigger", *place, "ft/ft", "-p", "code=3", "--wait", code=1).stderr)
    check_in("a job", "c-manual-", jobflow("trigger", *place, "cronvj/c", "--wait", code=1).stderr)
    daemon.stop()
    check_in("no process", "start 'jobflow serve', or leave out --wait", jobflow("trigger", *place, "ft/ft", "--wait", code=2).stderr)
    check_equal("nothing is sent", json.loads(jobflow("get", *place, "commands", "-o", "json").stdout)["items"], [])


def EVD_073__a_backfill_makes_the_flows_of_past_times():
    daemon = Daemon()
    pattern = flow("etl", [{"name": "s", "run": 'echo "$DAY" >> %s' % os.path.abspath("days"), "env": [{"name": "DAY", "value": "$(params.day)"}]}],
                   suspend=True, parameters=[{"name": "day", "default": "none"}])
    trigger = {"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "FlowTrigger", "metadata": {"name": "nightly"},
               "spec": {"flowName": "etl", "schedule": {"cron": "30 2 * * *", "timeZone": "Europe/Berlin"}, "successfulFlowsHistoryLimit": 9,
                        "parameters": [{"name": "day", "value": "$(trigger.date)"}]}}
    manifest("etl.yaml", pattern, trigger)
    place = ["--data-dir", "d"]
    jobflow("apply", *place, "etl.yaml")
    days = ["ft/nightly", "--from", "2025-10-25", "--to", "2025-10-27"]
    plan = jobflow("backfill", *place, *days, "--dry-run").stdout
    check_in("the plan", "2025-10-26T02:30:00+02:00   nightly-29357310", plan)
    check_in("the plan", "3 times: 3 to make, 0 to keep", plan)
    check_equal("nothing is made", os.path.exists("days"), False)
    said = jobflow("backfill", *place, *days).stdout
    check_in("begun", "backfill nightly-backfill-", said)
    wait_until("it has ended", lambda: " Done " in jobflow("describe", *place, "ft/nightly").stdout)
    check_equal("each day once, in order", read("days"), "2025-10-25\n2025-10-26\n2025-10-27\n")
    check_in("again", "3 times: 0 to make, 3 to keep", jobflow("backfill", *place, *days, "--dry-run").stdout)
    check_in("no time", "no scheduled time has come", jobflow("backfill", *place, "ft/nightly", "--from", "2099-01-01", "--to", "2099-01-02", code=1).stderr)
    check_in("a word", '--from: "soon" is no time', jobflow("backfill", *place, "ft/nightly", "--from", "soon", "--to", "2099-01-02", code=2).stderr)
    check_in("cancel", "no backfill x of flowtrigger nightly is running; running: none", jobflow("backfill", *place, "ft/nightly", "--cancel", "x", code=1).stderr)
    bad = {"apiVersion": "bus.volcano.sh/v1alpha1", "kind": "Command", "metadata": {"name": "x"}, "action": "BackfillFlow", "message": "{}",
           "target": {"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "FlowTrigger", "name": "nightly", "uid": "u"}}
    status, text = daemon.ask("POST", "/apis/bus.volcano.sh/v1alpha1/namespaces/default/commands", bad)
    check_equal("refused", status, 422)
    check_in("with the member", "message.from: Invalid value: Required value", text)


def sources_that_are_not_there_are_refused_by_name():
    for member, text in (("webhook", "receives no webhooks"), ("files", "watches no files")):
        write("t.yaml", "apiVersion: flow.volcano.sh/v1alpha1\nkind: FlowTrigger\nmetadata: {name: t}\nspec:\n  flowName: p\n  %s: {path: /x}\n" % member)
        check_in(member, "t.yaml:6: spec.%s: Forbidden: this version %s" % (member, text), jobflow("validate", "t.yaml", code=2).stderr)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
