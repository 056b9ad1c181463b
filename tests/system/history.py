"""Runs of one flow are kept and listed: history, records, their logs, their limits.

# covers: everyday.md EVD-235..EVD-239 EVD-241..EVD-245
"""
import json
import sys
import time

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403
from lib_kill import *  # noqa: E402,F403
from lib_kubectl import *  # noqa: E402,F403
from lib_serve import *  # noqa: E402,F403


def numbered(annotations=None, **metadata):
    """A flow of two steps that write down the number in the file n; with 2 the second one fails."""
    made = flow("f", [step("a", run="echo a $(cat n)"), step("b", ["a"], run="echo b $(cat n); test $(cat n) != 2")])
    if annotations:
        made["metadata"]["annotations"] = annotations
    made["metadata"].update(metadata)
    return made


def run_number(n, *args, code=0):
    write("n", str(n))
    jobflow("run", "-o", "quiet", *args, "f.yaml", code=code)


def history(name="f", *args):
    """The runs of a flow as (name, status) pairs, the last one first."""
    lines = jobflow("history", name, *args).stdout.splitlines()
    return [tuple(line.split()[:2]) for line in lines[1:]]


def logs(name):
    return [line.split("] ", 1)[1] for line in jobflow("logs", "jf/" + name).stdout.splitlines()]


def EVD_235__a_new_run_keeps_the_record_of_the_old_one():
    manifest("f.yaml", numbered())
    for n, code in ((1, 0), (2, 1), (3, 0)):
        run_number(n, code=code)
    runs = history()
    check_equal("the last run has the name of the flow", runs[0], ("f", "Succeed"))
    check_equal("the earlier ones stand behind it", sorted(status for _, status in runs[1:]), ["Failed", "Succeed"])
    for name, status in runs[1:]:
        record = json.loads(jobflow("get", "jf/" + name, "-o", "json").stdout)
        check_equal("its series", record["metadata"]["labels"]["flow.volcano.sh/series"], "f")
        check(name.startswith("f.") and record["metadata"]["annotations"]["flow.volcano.sh/record-of"].startswith(name[2:]), name)
        check_equal("its steps", record["status"]["nodes"][1]["phase"], "Failed" if status == "Failed" else "Completed")


def EVD_236__a_record_has_the_logs_of_its_run():
    manifest("f.yaml", numbered())
    for n, code in ((1, 0), (2, 1), (3, 0)):
        run_number(n, code=code)
    by_status = {status: name for name, status in history()[1:]}
    check_equal("the last run", logs("f"), ["a 3", "b 3"])
    check_equal("the one that failed", logs(by_status["Failed"]), ["a 2", "b 2"])
    check_equal("the first one", logs(by_status["Succeed"]), ["a 1", "b 1"])
    check_in("one step of it", "b 2", jobflow("logs", "jf/" + by_status["Failed"], "b").stdout)
    check_in("why it failed", "Failed", jobflow("explain", "jf/" + by_status["Failed"], "b").stdout)


def EVD_237__records_beyond_the_limit_go_with_their_logs():
    manifest("f.yaml", numbered({"flow.volcano.sh/history-limit": "2"}))
    for n in (1, 3, 4, 5):
        run_number(n)
    check_equal("the last run and two records", len(history()), 3)
    check_equal("kept logs", len(json.loads(jobflow("get", "podlogs", "-o", "json").stdout)["items"]), 4)
    manifest("f.yaml", numbered({"flow.volcano.sh/history-limit": "0"}))
    run_number(6)
    run_number(7)
    check_equal("without records", history(), [("f", "Succeed")])
    for value in ("-1", "1001", "many"):
        manifest("g.yaml", numbered({"flow.volcano.sh/history-limit": value}))
        check_in(value, "must be a number from 0 to 1000", jobflow("validate", "g.yaml", code=2).stderr)


def EVD_238__old_records_go():
    manifest("f.yaml", numbered({"flow.volcano.sh/history-max-age": "1ms"}))
    for n in (1, 3):
        run_number(n)
    born = json.loads(jobflow("get", "jf/f", "-o", "json").stdout)["metadata"]["creationTimestamp"]
    wait_until("a second has passed", lambda: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()) > born)
    run_number(4)
    check_equal("records that are too old are gone", history(), [("f", "Succeed")])
    manifest("g.yaml", numbered({"flow.volcano.sh/history-max-age": "soon"}))
    check_in("a duration", "must be a duration above 0", jobflow("validate", "g.yaml", code=2).stderr)


def EVD_239__fresh_and_delete_leave_no_record():
    manifest("f.yaml", numbered())
    run_number(1)
    run_number(3, "--fresh")
    check_equal("forgotten", history(), [("f", "Succeed")])
    run_number(4)
    check_equal("kept", len(history()), 2)
    jobflow("delete", "jf/f")
    check_equal("the record outlives the flow", [status for _, status in history()], ["Succeed"])
    jobflow("delete", "jf/" + history()[0][0])
    check_in("no run is left", "no run of f is known", jobflow("history", "f", code=1).stderr)


def without_a_name_every_flow_has_a_line():
    manifest("f.yaml", numbered())
    manifest("g.yaml", dict(flow("g-x", [step("a", run="true")]), metadata={"generateName": "g-"}))
    check_in("nothing here", "no data directory", jobflow("history", code=1).stderr)
    run_number(1)
    run_number(2, code=1)
    jobflow("run", "g.yaml")
    rows = [line.split()[:4] for line in jobflow("history").stdout.splitlines()]
    check_equal("lines", sorted(rows), [["NAME", "RUNS", "STATUS", "STEPS"], ["f", "2", "Failed", "1/2"], ["g", "1", "Succeed", "1/1"]])
    check_equal("all runs", len(jobflow("history", "-o", "name").stdout.splitlines()), 3)
    check_in("the way out", "'jobflow history' lists the flows", jobflow("history", "h", code=1).stderr)


def EVD_241__a_record_never_runs():
    manifest("f.yaml", numbered())
    run_number(1)
    run_number(3)
    record = history()[1][0]
    text = "%s is the record of an earlier run of jf/f" % record
    check_in("rerun", text, jobflow("rerun", "--from", "a", "jf/" + record, code=1).stderr)
    check_in("its phase stays", "Succeed", jobflow("get", "jf/" + record).stdout)


def EVD_242__generated_names_form_a_series():
    made = numbered()
    made["metadata"] = {"generateName": "f-"}
    manifest("f.yaml", made)
    run_number(1)
    run_number(3)
    check_equal("with the dash and without", history("f-"), history("f"))
    check_equal("two runs, no records", [("." in name, status) for name, status in history()], [(False, "Succeed")] * 2)


def EVD_243__a_daemon_keeps_runs_of_its_clients():
    daemon = Daemon()
    manifest("f.yaml", flow("f", [step("a", run="echo hello")]))
    jobflow("run", "--data-dir", "d", "-o", "quiet", "f.yaml")
    jobflow("run", "--data-dir", "d", "-o", "quiet", "f.yaml")
    k = newest(daemon)
    check_in("by series", "jobflow.flow.volcano.sh/f.", k.out("get", "jf", "-l", "flow.volcano.sh/series=f", "-o", "name"))
    record = history("f", "--data-dir", "d")[1][0]
    wait_until("its log is kept", lambda: "hello" in jobflow("logs", "jf/" + record, "--data-dir", "d", code=None).stdout)
    k.says("must be a number from 0 to 1000", "annotate", "jf", "f", "flow.volcano.sh/history-limit=many", code=1)
    k.run("annotate", "jf", "f", "flow.volcano.sh/history-limit=3")
    k.run("delete", "jf", "f")
    check_equal("kubectl delete keeps no record", len(history("f", "--data-dir", "d")), 1)


def EVD_244__a_rerun_is_no_new_run():
    manifest("f.yaml", numbered())
    run_number(1)
    run_number(2, "--only", "a")
    check_equal("one run", history(), [("f", "Succeed")])
    run_number(3)
    record = history()[1][0]
    check_equal("its newest attempts", sorted(logs(record)), ["a 2", "b 1"])


def killed_at(n):
    """Kills a second run before its n-th write; false when it ended before that write."""
    fresh_dir("write")
    manifest("f.yaml", numbered())
    run_number(1)
    write("n", "3")
    if not killed_before_write(n, "run", "-o", "quiet", "f.yaml"):
        return False
    runs = history()
    check(len(runs) in (1, 2), "killed before write %d: %s" % (n, runs))
    if len(runs) == 1:
        check_equal("killed before write %d: the old run is whole" % n, (runs, logs("f")), ([("f", "Succeed")], ["a 1", "b 1"]))
        return True
    if runs[0][1] != "Succeed":
        jobflow("run", "-o", "quiet", "f.yaml")
    check_equal("killed before write %d" % n, [status for _, status in history()], ["Succeed", "Succeed"])
    check_equal("killed before write %d: the record's logs" % n, logs(history()[1][0]), ["a 1", "b 1"])
    check_equal("killed before write %d: the last run's logs" % n, logs("f"), ["a 3", "b 3"])
    return True


def EVD_245__a_run_killed_at_any_write_has_its_record_once():
    kill_before_writes(killed_at, 25)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
