"""Logs of pods that are gone: of earlier attempts, of jobs that were aborted, timed out, completed early or interrupted."""
import glob
import json
import os
import re
import signal
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_serve import Daemon  # noqa: E402: sys.path is set above

PROMPT = {"terminationGracePeriodSeconds": 1}
FOR_EVER = "echo %s says hello; exec sleep 1000"
PODS = "/api/v1/namespaces/default/pods"


def status_of(name):
    return json.loads(jobflow("get", "jf", name, "-o", "json").stdout).get("status", {})


def attempts_of(name, step_name):
    """The record of a step in the status; empty as long as there is none."""
    return sum((node.get("attempts", []) for node in status_of(name).get("nodes", []) if node["name"] == step_name), [])


def named_logs_exist(name, step_name):
    """The files that attempts[].logs names."""
    for attempt in attempts_of(name, step_name):
        for pod, uid in attempt.get("logs", {}).items():
            check(os.path.exists(".jobflow/node/logs/%s.log" % uid), "attempt %d: the log of %s" % (attempt["attempt"], pod))
    return attempts_of(name, step_name)


def the_hint_works(out, code=0):
    """Runs the command that the end of a run names."""
    hint = re.search(r"jobflow (logs .*)", out).group(1).split()
    return jobflow(*hint, code=code).stdout


def every_attempt_of_a_step_keeps_its_logs():
    script = "echo attempt $(wc -l < n); echo x >> n; test $(wc -l < n) -gt 2"
    write("n", "")
    manifest("f.yaml", template("t", script), flow("f", [step("a", template="t", retry={"maxRetry": 2, "backoffSeconds": 0})]))
    jobflow("run", "f.yaml")
    for attempt in (1, 2, 3):
        said = "[f-a-main-0/c] attempt %d\n" % (attempt - 1)
        for words in (("a",), ("jf/f",), ("jf/f", "a"), ("job/f-a",)):
            check_equal(str(words), jobflow("logs", *words, "--attempt", attempt).stdout, said)
        check_equal("of the pod", jobflow("logs", "f-a-main-0", "--attempt", attempt).stdout, "attempt %d\n" % (attempt - 1))
    check_equal("the newest", jobflow("logs", "a").stdout, "[f-a-main-0/c] attempt 2\n")
    check_equal("the one before", jobflow("logs", "--previous", "a").stdout, "[f-a-main-0/c] attempt 1\n")
    check_equal("the one before, of the pod", jobflow("logs", "--previous", "f-a-main-0").stdout, "attempt 1\n")
    check_in("no fourth", "there are logs of attempts 1, 2, 3", jobflow("logs", "a", "--attempt", 4, code=1).stderr)
    check_equal("all are named", [len(a["logs"]) for a in named_logs_exist("f", "a")], [1, 1, 1])
    jobflow("delete", "jf", "f")
    check_equal("gone with the flow", glob.glob(".jobflow/node/logs/*"), [])


def pods_ended_by_an_interrupt_keep_their_logs():
    manifest("f.yaml", template("t", tasks=[task("main", FOR_EVER % "main", **PROMPT)]), flow("f", [step("a", template="t")]))
    for attempt in (1, 2):
        run = Background("run", "-o", "plain", "f.yaml", name="run-%d" % attempt)
        wait_until("it speaks", lambda: "hello" in jobflow("logs", "a", "--attempt", attempt, code=None).stdout)
        wait_until("its attempt is recorded", lambda: len(attempts_of("f", "a")) == attempt)
        run.signal(signal.SIGINT)
        check_equal("interrupted", run.wait(), 130)
        for words in (("a",), ("jf/f",), ("job/f-a",), ("a", "--attempt", attempt)):
            check_equal(str(words), jobflow("logs", *words).stdout, "[f-a-main-0/c] main says hello\n")
        check_equal("of the pod", jobflow("logs", "f-a-main-0").stdout, "main says hello\n")
    first = named_logs_exist("f", "a")[0]
    check_equal("the record names it", list(first["logs"]), ["f-a-main-0"])
    check(first["endTime"] >= first["startTime"], "its end is known")
    check_equal("both are kept", len(glob.glob(".jobflow/node/logs/*.log")), 2)


def pods_ended_by_a_deadline_keep_their_logs():
    manifest("f.yaml", template("t", tasks=[task("main", FOR_EVER % "main", **PROMPT)]),
             flow("f", [step("a", template="t")], activeDeadlineSeconds=2 * SLOW))
    out = jobflow("run", "-o", "plain", "f.yaml", code=1).stdout
    check_in("the hint", "main says hello", the_hint_works(out))
    check_equal("the record names it", list(named_logs_exist("f", "a")[0]["logs"]), ["f-a-main-0"])


def pods_ended_by_a_policy_keep_their_logs():
    leader = task("leader", "echo leader ends; sleep 0.2", **PROMPT)
    leader["policies"] = [{"event": "TaskCompleted", "action": "CompleteJob"}]
    manifest("f.yaml", template("t", tasks=[leader, task("worker", FOR_EVER % "worker", **PROMPT)]), flow("f", [step("a", template="t")]))
    jobflow("run", "f.yaml")
    check_equal("both tasks", sorted(jobflow("logs", "jf/f").stdout.splitlines()),
                ["[f-a-leader-0/c] leader ends", "[f-a-worker-0/c] worker says hello"])
    check_equal("the record names both", sorted(named_logs_exist("f", "a")[0]["logs"]), ["f-a-leader-0", "f-a-worker-0"])


def pods_that_their_job_replaced_keep_their_logs():
    main = task("main", "echo run $(wc -l < n); echo x >> n; test $(wc -l < n) -gt 1", **PROMPT)
    main["policies"] = [{"event": "PodFailed", "action": "RestartJob"}]
    write("n", "")
    job = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "j"},
           "spec": {"minAvailable": 1, "maxRetry": 3, "tasks": [main]}}
    manifest("j.yaml", job)
    jobflow("run", "j.yaml")
    check_equal("the last pod", jobflow("logs", "job/j").stdout, "[j-main-0/c] run 1\n")
    check_equal("the pod before", jobflow("logs", "job/j", "--previous").stdout, "[j-main-0/c] run 0\n")


def jobs_deleted_after_their_time_leave_their_logs_to_the_flow():
    manifest("f.yaml", template("t", "echo hello", ttlSecondsAfterFinished=0), template("u", "sleep 2"),
             flow("f", [step("a", template="t"), step("b", ["a"], template="u")]))
    jobflow("run", "f.yaml")
    check("f-a" not in jobflow("get", "vcjob").stdout, "the job is gone")
    check_equal("its log", jobflow("logs", "a").stdout, "[f-a-main-0/c] hello\n")


def iterations_of_a_loop_keep_their_logs():
    manifest("f.yaml", template("t", "echo $VC_FLOW_INDEX"),
             flow("f", [step("a", template="t", **{"for": {"range": {"end": 11}, "parallelism": 1}})], jobRetainPolicy="delete"))
    jobflow("run", "f.yaml")
    check("f-a" not in jobflow("get", "vcjob", code=None).stdout, "the jobs are gone")
    check_equal("in order of time", [line.split()[1] for line in jobflow("logs", "a").stdout.splitlines()], [str(i) for i in range(11)])
    check_equal("one of them", jobflow("logs", "jf/f", "a-10").stdout, "[f-a-10-main-0/c] 10\n")


def the_logs_of_a_flow_come_in_order_of_time():
    names = ["z-first", "m-second", "a-third"]
    steps = [step(name, names[:i][-1:], template="t", script="echo %s" % name) for i, name in enumerate(names)]
    manifest("f.yaml", template("t", "true"), flow("f", list(reversed(steps))))
    jobflow("run", "f.yaml")
    check_equal("steps", [line.split()[1] for line in jobflow("logs", "jf/f").stdout.splitlines()], names)


def pods_that_ran_at_the_same_time_come_one_after_another():
    manifest("f.yaml", template("t", "true"), flow("f", [step("z", template="t", script="echo 1; sleep 1.5; echo 2"),
                                                         step("a", template="t", script="sleep 0.5; echo 3")]))
    jobflow("run", "f.yaml", "-j", 8)
    lines = [line.split() for line in jobflow("logs", "jf/f").stdout.splitlines()]
    check(lines in ([["[f-z-main-0/c]", "1"], ["[f-z-main-0/c]", "2"], ["[f-a-main-0/c]", "3"]],
                    [["[f-a-main-0/c]", "3"], ["[f-z-main-0/c]", "1"], ["[f-z-main-0/c]", "2"]]), str(lines))


def the_oldest_logs_go_first_beyond_the_limit():
    script = "head -c 20000 /dev/zero | tr '\\0' x; echo; echo x >> n; test $(wc -l < n) -gt 3"
    write("n", "")
    manifest("f.yaml", template("t", script), flow("f", [step("a", template="t", retry={"maxRetry": 3, "backoffSeconds": 0})]))
    jobflow("run", "f.yaml", "--keep-logs", "45k")
    check_equal("two attempts before the last", len(glob.glob(".jobflow/node/logs/*.log")), 3)
    gone = jobflow("logs", "a", "--attempt", 1, code=1).stderr
    check_in("what there is", "there are logs of attempts 2, 3, 4", gone)
    check_in("why", "--keep-logs", gone)
    check_equal("refused", jobflow("run", "f.yaml", "--keep-logs", "much", code=2).stderr.count("512Mi"), 1)


def a_daemon_keeps_logs_and_kubectl_reads_them():
    daemon = Daemon()
    manifest("f.yaml", template("t", tasks=[task("main", FOR_EVER % "main", **PROMPT)]), flow("f", [step("a", template="t")]))
    jobflow("apply", "-f", "f.yaml", "--data-dir", "d")
    logs = lambda *words, **rest: jobflow("logs", *words, "--data-dir", "d", **rest).stdout  # noqa: E731
    wait_until("it speaks", lambda: "hello" in logs("a", code=None))
    first = daemon.get(PODS + "/f-a-main-0")["metadata"]["uid"]
    jobflow("delete", "vcjob", "f-a", "--data-dir", "d")
    wait_until("another pod", lambda: daemon.ask("GET", PODS + "/f-a-main-0")[1].count('"running"')
               and daemon.get(PODS + "/f-a-main-0")["metadata"]["uid"] != first)
    wait_until("it speaks, too", lambda: "hello" in logs("a", "--attempt", 2, code=None))
    check_equal("the first attempt", logs("a", "--attempt", 1), "[f-a-main-0/c] main says hello\n")
    text = daemon.kubectl("logs", "f-a-main-0", "--previous").stdout
    check_equal("kubectl logs --previous", text, "main says hello\n")
    check_in("kubectl get podlogs", "f-a-main-0", daemon.kubectl("get", "podlogs", "-l", "volcano.sh/job-name=f-a").stdout)
    jobflow("abort", "jf/f", "--data-dir", "d")
    wait_until("no pod", lambda: not daemon.get(PODS)["items"])
    check_in("gone for kubectl", "NotFound", daemon.kubectl("logs", "f-a-main-0", code=1).stderr)
    check_equal("the second attempt", logs("a", "--attempt", 2), "[f-a-main-0/c] main says hello\n")
    check_equal("the newest", logs("f-a-main-0"), "main says hello\n")
    check_equal("stopped", daemon.stop(), 0)
    check_equal("from the store", logs("a", "--attempt", 1), "[f-a-main-0/c] main says hello\n")
    daemon = Daemon(name="again")
    check_equal("after a restart", logs("a", "--attempt", 2), "[f-a-main-0/c] main says hello\n")
    jobflow("delete", "jf", "f", "--data-dir", "d")
    wait_until("gone with the flow", lambda: not glob.glob("d/node/logs/*"))
    check_equal("stopped again", daemon.stop(), 0)


def logs_of_a_step_that_never_ran_say_so():
    manifest("f.yaml", template("t", "true", tasks=[task("main", "true")]), flow("f", [step("a", template="t")], suspend=True))
    daemon = Daemon()
    jobflow("apply", "-f", "f.yaml", "--data-dir", "d")
    check_in("no pod", "no pod of step a of flow f has run", jobflow("logs", "jf/f", "a", "--data-dir", "d", code=1).stderr)
    check_in("no step", "no step b in flow f", jobflow("logs", "jf/f", "b", "--data-dir", "d", code=1).stderr)
    check_in("no pod or step", 'pods "b" not found', jobflow("logs", "b", "--data-dir", "d", code=1).stderr)
    check_in("no job", 'jobs.batch.volcano.sh "b" not found', jobflow("logs", "job/b", "--data-dir", "d", code=1).stderr)
    check_equal("stopped", daemon.stop(), 0)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
