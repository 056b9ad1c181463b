"""Submission files without a daemon, what is remembered of submissions, and what the command tells of them."""
import os
import signal
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_serve import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_submit import *  # noqa: E402,F403: sys.path is set above; cases use all names


def training(script):
    """A database, a coordinator with a ConfigMap, and workers that never end by themselves."""
    here = os.getcwd()
    db = subset("db", "touch %s/up; trap 'exit 0' TERM; while :; do sleep 0.05; done" % here, keepAlive=True)
    db["template"]["containers"][0]["readinessProbe"] = {"exec": {"command": ["test", "-e", here + "/up"]}, "periodSeconds": 1}
    coordinator = subset("coordinator", script, dependsOn=["db"])
    coordinator["template"]["containers"][0]["volumeMounts"] = [{"name": "in", "mountPath": "/in"}]
    coordinator["template"]["volumes"] = [{"name": "in", "configMap": {"name": "settings"}}]
    worker = subset("worker", "exec sleep 600", minMember=1, maxMember=2)
    return group(db, coordinator, worker, objects=[{"configMap": {"metadata": {"name": "settings"}, "data": {"k": "v"}}}])


def nothing_runs():
    return not any(word in command_line(int(pid)) for pid in descendants() for word in ("sleep 600", os.getcwd() + "/up"))


# covers: armada-submit.md S-124
def run_takes_a_submission_to_its_end_without_a_daemon():
    one = training("until [ -e %s/up ]; do sleep 0.05; done; sleep 0.2; test $(cat /in/k) = v && test $JOB_SET_ID = s" % os.getcwd())
    form(one, item(), item("true", deduplicationId="d"), item("exit 9", deduplicationId="d"))
    for _ in range(2):  # what is over runs again from the start
        jobflow("run", "jobs.yaml", "--data-dir", "state")
        found = json.loads(jobflow("get", "vcjob", "-o", "json", "--data-dir", "state").stdout)["items"]
        check_equal("jobs", [j["status"]["state"]["phase"] for j in found], ["Completed"] * 3)
        check_equal("ConfigMap", jobflow("get", "cm/settings", "--data-dir", "state", code=1).stdout, "")
        wait_until("nothing runs", nothing_runs)
    form(item("exit 3"), item(), jobSetId="t")
    failed = jobflow("run", "jobs.yaml", "--data-dir", "other", code=1)
    check_in("why", "exit code 3", failed.stdout + failed.stderr)


# covers: armada-submit.md S-124
def a_killed_run_of_a_submission_goes_on_with_the_same_jobs():
    here = os.getcwd()
    form(item("echo x >> %s/starts; while [ ! -e %s/go ]; do sleep 0.05; done" % (here, here)))
    run = Background("run", "jobs.yaml", "--data-dir", "state")
    wait_until("it runs", lambda: os.path.exists("starts"))
    run.signal(signal.SIGKILL)
    run.wait()
    write("go", "")
    jobflow("run", "jobs.yaml", "--data-dir", "state")
    check_equal("starts", read("starts"), "x\n")


# covers: armada-submit.md S-120
def a_file_is_checked_without_a_server():
    form(item(), dict(item(priority=-1), fooBar=1), {"mainObject": {"podSpec": {"containers": [{"name": "c", "command": 3}]}}})
    lines = read("jobs.yaml").split("\n")
    for words in (("validate", "jobs.yaml"), ("plan", "jobs.yaml"), ("run", "jobs.yaml"), ("submit", "jobs.yaml", "--dry-run=client")):
        refused = jobflow(*words, code=2).stderr
        for field in ("priority", "fooBar"):
            number = next(n for n, line in enumerate(lines, 1) if '"%s"' % field in line)
            check_in("place in " + words[0], "jobs.yaml:%d: jobs[1].%s: " % (number, field), refused)
    check_equal("nothing is left", os.path.exists(".jobflow"), False)
    form({"mainObject": {"podSpec": {"containers": [{"name": "c", "command": 3}]}}}, group({"template": pod("true", restartPolicy="x")}))
    for words in (("validate", "jobs.yaml"), ("submit", "jobs.yaml", "--dry-run=client")):
        refused = jobflow(*words, code=2).stderr
        check_in("field of the file", "jobs[0].mainObject.podSpec.containers[0].command: ", refused)
        check_in("field of the file", "jobs[1].mainObject.podGroupSpec.subsets[0].template", refused)
    form(item(), training("true"))
    check_in("validate", "3 objects valid", jobflow("validate", "jobs.yaml").stdout)
    check_in("plan", "+ ConfigMap default/settings", jobflow("plan", "jobs.yaml").stdout)
    check_equal("dry run", jobflow("submit", "jobs.yaml", "--dry-run=client").stdout, "2 jobs would be submitted\n")
    check_equal("program", jobflow("submit", "--dry-run=client", "--", "true").stdout, "1 job would be submitted\n")
    for command in ("run", "validate", "plan"):
        check_in("help of " + command, "'jobflow submit'", jobflow(command, "--help").stdout)
    check_in("apply", "this is a submission", jobflow("apply", "-f", "jobs.yaml", code=2).stderr)


# covers: armada-submit.md S-124
def each_job_of_each_file_runs():
    for name in ("a.yaml", "b.yaml", "c/a.yaml"):
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
        form(item("echo %s >> %s/done" % (name, os.getcwd())), item("true", deduplicationId="d"), jobSetId="s")
        os.rename("jobs.yaml", name)
    check_in("validate", "4 objects valid", jobflow("validate", "a.yaml", "b.yaml", "c/a.yaml").stdout)
    jobflow("run", "a.yaml", "b.yaml", "c/a.yaml", "--data-dir", "state")
    check_equal("what ran", sorted(read("done").split()), ["a.yaml", "b.yaml", "c/a.yaml"])
    check_equal("jobs", len(jobflow("get", "vcjob", "-o", "name", "--data-dir", "state").stdout.split()), 4)
    jobflow("run", "b.yaml", "--data-dir", "state")
    check_equal("jobs of a file alone", len(jobflow("get", "vcjob", "-o", "name", "--data-dir", "state").stdout.split()), 4)


# covers: armada-submit.md S-120
def a_program_is_checked_without_a_server():
    for word in ("a\x7fb", "\u00a0\u2028", "x" * 30000):
        refused = jobflow("submit", "--dry-run=client", "-n", "Not a name", "--", "echo", word, code=2).stderr
        check_in("field", "jobs[0].mainObject: ", refused)


# covers: see B.8
def jobs_are_listed_by_their_set():
    daemon = serve()
    ids = sorted("aj-" + i["jobId"] for i in submit(daemon, item(), item(), job_set="night 7/ü"))
    submit(daemon, item(), job_set="other")
    for words in ((), ("vcjob",), ("vcjob", "-l", PREFIX + "queue=default")):
        check_equal("jobs", sorted(cli(daemon, "get", *words, "--job-set", "night 7/ü", "-o", "name").stdout.split()),
                    ["job.batch.volcano.sh/" + i for i in ids])
    check_equal("no label", cli(daemon, "get", "vcjob", "-l", "", "--job-set", "other", "-o", "name").stdout.count("\n"), 1)
    check_equal("another label", cli(daemon, "get", "vcjob", "-l", "a=b", "--job-set", "other", "--no-headers").stdout, "")
    check_equal("dry run", cli(daemon, "submit", "--dry-run", "-o", "name", "--", "true").stdout.count("\n"), 1)
    check_equal("jobs", len(jobs(daemon)), 3)
    daemon.stop()


# covers: armada-submit.md S-119
def a_failure_in_another_namespace_is_explained():
    daemon = serve()
    check_equal("namespace", daemon.ask("POST", "/api/v1/namespaces", {"metadata": {"name": "other"}})[0], 201)
    form(item("exit 7", namespace="other", deduplicationId="d"))
    check_in("why", "exit code 7", cli(daemon, "submit", "jobs.yaml", "--wait", code=1).stderr)
    form(item("exit 8", deduplicationId="d"))
    check_in("why of a duplicate", "exit code 7", cli(daemon, "submit", "jobs.yaml", "--wait", code=1).stderr)
    daemon.stop()


# covers: armada-submit.md S-15 S-23
def ids_are_remembered_as_long_as_the_settings_say():
    daemon = serve("--submission-retention", "1s", "--max-submission-items", "10")
    first = submit(daemon, item("sleep 2", deduplicationId="d"))[0]["jobId"]
    check_equal("while it runs", submit(daemon, item(deduplicationId="d"))[0]["jobId"], first)
    ends(daemon, first, "SUCCEEDED")
    wait_until("it is forgotten", lambda: daemon.get("/apis/jobflow.dev/v1/submissions")["items"] == [])
    again = submit(daemon, item(deduplicationId="d"))[0]
    check_equal("a new job", (again["duplicate"], again["jobId"] == first), (False, False))
    check_equal("items", reasons(submit(daemon, *[item()] * 11, code=413)), [("", "TooManyItems")])
    daemon.stop()


# covers: armada-submit.md S-109
def ids_come_back_with_a_backup():
    daemon = serve()
    first = submit(daemon, item(deduplicationId="d"))[0]["jobId"]
    jobflow("backup", "--data-dir", daemon.data_dir, "b.db")
    later = submit(daemon, item(deduplicationId="e"))[0]["jobId"]
    ends(daemon, later, "SUCCEEDED")
    daemon.stop()
    jobflow("repair", "--data-dir", "d", "--from", "b.db", "--yes", code=1)  # the commits after the backup are lost
    daemon = serve()
    again = submit(daemon, item(deduplicationId="d"), item(deduplicationId="e"))
    check_equal("first", (again[0]["jobId"], again[0]["duplicate"]), (first, True))
    check_equal("what came after the backup", again[1]["duplicate"], False)
    daemon.stop()


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
