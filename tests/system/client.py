"""get, describe, logs, delete, events, wait and apply: through the socket of a run, and directly on the store when no run or daemon is active.

# covers: kube-api.md 61 62 63 64 65 68 87 113 122 125 126 127 129; reliability.md SEC-01
"""
import fcntl
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names

GATE = "until [ -e go ]; do sleep 0.02; done"  # each step waits until the test creates a file
LIBRARY = os.environ.get("JOBFLOW_SYSCALLS", "")  # built from tests/preload/syscalls.c


def gated(*more):
    """A flow whose step a waits for the file `go`; step b follows it."""
    here = os.getcwd()
    return manifest("f.yaml", flow("f", [step("a"), step("b", ["a"])]),
                    template("a", "cd %s; echo a begins; %s; echo a ends" % (here, GATE)),
                    template("b", "echo b at work"), *more)


def at_work():
    """Starts a run and returns once the pod of step a is running."""
    run = Background("run", gated())
    wait_until("a runs", lambda: "Running" in jobflow("get", "pods", "f-a-main-0", code=None).stdout)
    return run


def let_go(run, code=0):
    write("go", "")
    check_equal("exit code of the run", run.wait(), code)


def finished():
    write("go", "")
    jobflow("run", gated(), code=0)


def lines(text):
    return text.splitlines()


def clients_read_from_a_run_at_work():
    run = at_work()
    check_equal("mode", stat.S_IMODE(os.lstat(".jobflow/api.sock").st_mode), 0o600)
    table = lines(jobflow("get", "jf").stdout)
    check_equal("header", table[0].split(), ["NAME", "STATUS", "AGE"])
    check_equal("row", table[1].split()[:2], ["f", "Running"])
    check_equal("gap", table[0].index("STATUS"), 7)  # header "NAME" and the column gap of three spaces
    jobs = lines(jobflow("get", "vcjob", "-o", "wide").stdout)
    check_equal("header", jobs[0].split(), ["NAME", "STATUS", "MINAVAILABLE", "RUNNINGS", "AGE", "QUEUE"])
    pods = lines(jobflow("get", "pods", "-o", "wide", "-A").stdout)
    check_equal("columns", pods[0].split()[:9],
                ["NAMESPACE", "NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP", "NODE", "NOMINATED"])
    check_equal("name", jobflow("get", "jf", "-o", "name").stdout, "jobflow.flow.volcano.sh/f\n")
    check_equal("no headers", len(lines(jobflow("get", "jf", "--no-headers").stdout)), 1)
    check_equal("a path", jobflow("get", "--raw", "/healthz").stdout, "ok")
    check_in("labels", "volcano.sh/job-name=f-a", jobflow("get", "pods", "--show-labels").stdout)
    check_equal("selected", jobflow("get", "pods", "-l", "volcano.sh/job-name=f-a", "-o", "name").stdout, "pod/f-a-main-0\n")
    check_equal("by field", jobflow("get", "pods", "--field-selector", "status.phase=Running", "-o", "name").stdout,
                "pod/f-a-main-0\n")
    let_go(run)
    check(not os.path.exists(".jobflow/api.sock"), "socket gone")


def stop(process):
    """Stops a process as Ctrl-Z does, and returns once it is stopped."""
    process.signal(signal.SIGSTOP)
    wait_until("it is stopped", lambda: read("/proc/%d/stat" % process.pid).rpartition(") ")[2][:1] == "T")


def store_files(directory):
    """Size and time of each file that belongs to the store."""
    return {name: (os.stat(path).st_size, os.stat(path).st_mtime_ns) for name in ("store.db", "store.db-wal", "lock")
            for path in [os.path.join(directory, name)] if os.path.exists(path)}


def a_stopped_run_is_read_from_its_store():
    run = at_work()
    stop(run)
    files = store_files(".jobflow")
    said = "warning: process %d, which runs in .jobflow, is stopped" % run.pid
    for args, text in ((("get", "jf,vcjob,pods"), "f-a-main-0"), (("get", "jf", "-w"), "Running"),
                       (("logs", "jf/f"), "a begins"), (("logs", "-f", "job/f-a"), "a begins"),
                       (("describe", "jf/f"), "Running"), (("explain", "jf/f"), "waits for a"),
                       (("graph", "jf/f"), "Running"), (("events",), "create a job named f-a!"),
                       (("plan", "f.yaml"), "Flow default/f")):
        done = jobflow(*args)
        check_in(" ".join(args), text, done.stdout)
        check_in(" ".join(args), said, done.stderr)
        check_equal("%s: said once" % args[0], done.stderr.count("is stopped; "), 1)
    done = jobflow("wait", "jf/f", code=1)
    check_in("wait", "the process that runs in .jobflow is stopped: jobflows/f stays Running", done.stderr)
    check_equal("wait: said once", done.stderr.count("is stopped; "), 1)
    why = "is in use by process %d, which is stopped: 'fg' in its terminal or 'kill -CONT %d' continues it" % (run.pid, run.pid)
    for args in (("delete", "jf/f"), ("apply", "f.yaml"), ("suspend", "job/f-a"), ("retry", "jf/f"),
                 ("backup", "copy.db", "--data-dir", ".jobflow"), ("run", "f.yaml"), ("serve", "--data-dir", ".jobflow")):
        check_in(" ".join(args), why, jobflow(*args, code=None).stderr)
    check_equal("nothing was written", store_files(".jobflow"), files)
    run.signal(signal.SIGCONT)
    let_go(run)
    check_in("afterwards", "Succeed", jobflow("get", "jf").stdout)


def _held(*args):
    """Starts the program so that it takes its directory and answers no request until the file "answer" is there."""
    if not os.path.exists(LIBRARY):
        raise Skip("nothing is preloaded into a program with sanitizers")
    process = Background(*args, name="held", env={"LD_PRELOAD": LIBRARY, "SYSCALLS_LISTEN_AT": os.path.abspath("answer")})
    wait_until("it has its directory", lambda: read(".jobflow/lock") == "%d\n" % process.pid)
    return process


def a_run_that_does_not_answer_yet_is_waited_for():
    """A look at a directory whose run has begun and does not answer yet waits, says so, and then shows the run."""
    run = _held("run", gated())
    looks = [Background(*args, name=args[0]) for args in (("get", "jf"), ("describe", "jf/f"), ("run", "f.yaml"))]
    said = "warning: process %d has .jobflow and does not answer yet: waiting until it does or ends\n" % run.pid
    for look in looks:
        wait_until("it says so", lambda look=look: said in look.errors())
        check(look.running(), "it waits")
    write("answer", "")
    check_equal("codes", [look.wait() for look in looks], [0, 0, 2])
    check_in("table", "\nf   ", looks[0].output())
    check_in("run", "is in use by process %d" % run.pid, looks[2].errors())
    let_go(run)


def a_run_that_ends_without_an_answer_is_waited_for():
    """When the process that was waited for has ended, its store is read, and a run goes on from there."""
    finished()
    os.remove("go")
    run = _held("run", gated())
    looks = [Background(*args, name=args[0]) for args in (("get", "jt", "-o", "name"), ("run", "f.yaml"))]
    for look in looks:
        wait_until("it waits", lambda look=look: "does not answer yet" in look.errors())
    run.signal(signal.SIGKILL)
    run.wait()
    check_equal("code", looks[0].wait(), 0)
    check_in("stored", "jobtemplate.flow.volcano.sh/", looks[0].output())
    let_go(looks[1])


def a_process_that_ends_before_it_answers_is_read_from_its_store():
    """A look that reaches a process which ends before it answers is answered from what it had stored."""
    finished()
    with open(".jobflow/lock") as lock, socket.socket(socket.AF_UNIX) as server:
        fcntl.flock(lock, fcntl.LOCK_EX)
        server.bind(".jobflow/api.sock")
        server.listen()
        looks = [Background(*args, name=args[0]) for args in (("get", "jf"), ("describe", "jf/f"), ("logs", "jf/f"), ("history", "f"))]
        asking = set()
        while len(asking) < len(looks):  # a client connects once to see whether a process listens
            peer = server.accept()[0]
            if peer.recv(1, socket.MSG_PEEK):
                asking.add(peer)
        os.remove(".jobflow/api.sock")
        for peer in asking:
            peer.close()
    check_equal("codes", [look.wait() for look in looks], [0] * len(looks))
    check_equal("errors", [look.errors() for look in looks], [""] * len(looks))
    check_in("table", "Succeed", looks[0].output())


def a_stopped_daemon_is_read_from_its_store():
    daemon = Background("serve", "--data-dir", "d", "--listen", "none")
    wait_until("it answers", lambda: jobflow("get", "--raw", "/healthz", "--data-dir", "d", code=None).stdout == "ok")
    jobflow("apply", gated(), "--data-dir", "d")
    wait_until("a runs", lambda: "Running" in jobflow("get", "pods", "f-a-main-0", "--data-dir", "d", code=None).stdout)
    stop(daemon)
    done = jobflow("get", "jf", "--data-dir", "d")
    check_in("row", "Running", done.stdout)
    check_in("why", "process %d, which runs in d, is stopped" % daemon.pid, done.stderr)
    check_in("run", "which is stopped", jobflow("run", "f.yaml", "--data-dir", "d", code=None).stderr)
    daemon.signal(signal.SIGCONT)
    write("go", "")
    jobflow("wait", "jf/f", "--data-dir", "d")
    daemon.signal(signal.SIGTERM)
    check_equal("ends", daemon.wait(), 0)


def a_finished_run_answers_the_same_way():
    finished()
    table = lines(jobflow("get", "jf,vcjob,pods").stdout)
    check(table[1].startswith("jobflow.flow.volcano.sh/f   Succeed"), "prefixed")
    check_equal("three tables", table.count(""), 2)
    check_equal("jsonpath", jobflow("get", "jf/f", "-o", "jsonpath={.status.state.phase}").stdout, "Succeed")
    document = json.loads(jobflow("get", "jf", "f", "-o", "json").stdout)
    check_equal("kind", document["kind"], "JobFlow")
    listed = json.loads(jobflow("get", "pods", "-o", "json").stdout)
    check_equal("list", (listed["kind"], len(listed["items"]), listed["items"][0]["kind"]), ("List", 2, "Pod"))
    check_in("yaml", "kind: JobFlow", jobflow("get", "jf/f", "-o", "yaml").stdout)
    check_in("all", "podgroup", jobflow("get", "all").stdout + "podgroup")


# covers: jobflow.md 145
def a_list_without_flows_is_no_error():
    manifest("j.yaml", dict(template("j"), kind="Job", apiVersion="batch.volcano.sh/v1alpha1"))
    jobflow("run", "j.yaml")
    for args in (("get", "jf"), ("get", "jf", "-A"), ("describe", "jf")):
        done = jobflow(*args)
        check_equal("stdout", done.stdout, "")
        check_in("stderr", "No resources found", done.stderr)


# covers: jobflow.md 113 114
def columns_are_those_that_kubectl_prints():
    finished()
    flows, templates = (lines(jobflow("get", kind).stdout) for kind in ("jf", "jt"))
    check_equal("columns of flows", re.split(r" {2,}", flows[0].strip()), ["NAME", "STATUS", "AGE"])
    check_equal("a flow", re.split(r" {2,}", flows[1].strip())[:2], ["f", "Succeed"])
    check_equal("columns of templates", re.split(r" {2,}", templates[0].strip()), ["NAME", "AGE"])
    check_equal("templates", sorted(re.split(r" {2,}", row.strip())[0] for row in templates[1:]), ["a", "b"])


def an_object_that_does_not_exist_is_named():
    finished()
    for args, code, text in (
            (["get", "jf/x"], 1, 'error: jobflows.flow.volcano.sh "x" not found'),
            (["get", "cm"], 0, "No resources found in default namespace."),
            (["get", "pods", "-A", "-l", "a=b"], 0, "No resources found\n"),
            (["get", "zzz"], 2, 'error: the server doesn\'t have a resource type "zzz"'),
            (["get", "jf", "-o", "xml"], 2, "allowed formats are"),
            (["get"], 2, "say what: a kind"),
            (["get", "jf", "--field-selector", "spec.x=y"], 1, "field label not supported: spec.x"),
            (["get", "jf", "-l", "a in b"], 1, "unable to parse requirement"),
            (["get", "jf", "--data-dir", "nowhere"], 1, "there is no data directory nowhere here: 'jobflow run FILE' makes one"),
            (["describe", "jf/x"], 1, "not found"),
            (["describe", "cm"], 0, "No resources found in default namespace."),
            (["wait", "jf/x"], 1, 'jobflows.flow.volcano.sh "x" not found'),
            (["logs", "x"], 1, 'pods "x" not found'),
            (["logs", "f-a-main-0", "-c", "z"], 1, "container z is not valid for pod f-a-main-0"),
            (["logs", "queue/default"], 2, "queues have no logs"),
            (["logs"], 2, "say whose logs"),
            (["delete", "jf"], 2, "no name was specified"),
            (["delete", "cm", "x"], 1, 'configmaps "x" not found'),
            (["events", "--for", "jf"], 2, "not of the form KIND/NAME"),
            (["wait", "queue/default"], 2, "say what to wait for"),
            (["wait", "jf/f", "--for=soon"], 2, "unrecognized condition"),
            (["get", "jf", "--no-headers=no"], 2, '"no" is neither true nor false'),
            (["apply"], 2, "must specify -f FILE")):
        done = jobflow(*args, code=code)
        check_in(" ".join(args), text, done.stderr)
        check_equal(" ".join(args), done.stdout, "")
    jobflow("get", "cm", "--ignore-not-found", code=0)
    jobflow("get", "jf/x", "--ignore-not-found", code=0)


def a_watch_prints_rows_as_they_change():
    run = at_work()
    watch = Background("get", "vcjob", "-w", name="watch")
    names = Background("get", "pods", "-w", "-o", "name", name="names")
    wait_until("first row", lambda: "f-a" in watch.output() and "pod/f-a-main-0" in names.output())
    let_go(run)
    check_equal("ends with the run", watch.wait(), 0)
    check_equal("ends with the run", names.wait(), 0)
    rows = [line.split()[:2] for line in lines(watch.output())]
    check_equal("header once", rows.count(["NAME", "STATUS"]), 1)
    for row in (["f-a", "Running"], ["f-a", "Completed"], ["f-b", "Completed"]):
        check(row in rows, "row %s" % row)
    check_in("later pods", "pod/f-b-main-0\n", names.output())
    done = jobflow("get", "jf", "-w", code=0)
    check_in("no process", "no process runs in .jobflow: nothing will change", done.stderr)


def words_of_states_have_colours_on_a_terminal():
    finished()
    code, seen = on_terminal("get", "jf")
    check_equal("code", code, 0)
    check(b"\033[32mSucceed\033[0m" in seen, "green")
    code, seen = on_terminal("get", "jf", env={"NO_COLOR": "1"})
    check(b"\033" not in seen, "plain")


def a_flow_is_described_step_by_step():
    run = at_work()
    text = wait_until("b waits", lambda: (lambda t: t if "Waiting" in t else "")(jobflow("describe", "jf", "f").stdout))
    rows = [line.split(None, 5) for line in lines(text)]
    check(any(r[:3] == ["a", "Running", "1"] for r in rows), "a runs")
    check(any(r[:2] == ["b", "Waiting"] and "a (Running)" in " ".join(r) for r in rows), "b waits for a")
    check_in("events", "create a job named f-a!", text)
    let_go(run)
    text = jobflow("describe", "jf/f").stdout
    check(any(line.split()[:3] == ["b", "Completed", "1"] for line in lines(text)), "done")
    job = jobflow("describe", "job/f-a").stdout
    for part in ("Controlled By:", "JobFlow/f", "PHASE", "Completed", "TASK", "main", "f-a-main-0"):
        check_in("job", part, job)
    pod = jobflow("describe", "pod", "f-a-main-0").stdout
    for part in ("Exit Code:", "Restart Count:", "PodScheduled", "Terminated", "sh -c"):
        check_in("pod", part, pod)
    check_in("generic", "API Version:", jobflow("describe", "ns", "default").stdout)


def events_come_oldest_first_and_of_one_object():
    finished()
    table = lines(jobflow("events").stdout)
    check_equal("header", table[0].split(), ["LAST", "SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"])
    one = jobflow("events", "--for", "jf/f").stdout
    check_in("of the flow", "JobFlow/f", one)
    check("Job/f-a" not in one, "of nothing else")
    told = [line.split()[2] for line in lines(one)[1:]]
    check_equal("in the order of what happened", told, ["Created", "Created", "Succeed"])
    jobflow("events", "--for", "jf/g", code=1)
    jobflow("events", "--types", "Warning", "--for", "jf/f", code=1)


def logs_of_a_flow_are_followed_to_its_end():
    run = at_work()
    follow = Background("logs", "-f", "jf/f", name="logs")
    wait_until("first line", lambda: "a begins" in follow.output())
    let_go(run)
    check_equal("ends", follow.wait(), 0)
    check_equal("lines", lines(follow.output()),
                ["[f-a-main-0/c] a begins", "[f-a-main-0/c] a ends", "[f-b-main-0/c] b at work"])


def logs_of_a_finished_run_are_read_from_its_files():
    finished()
    check_equal("pod", jobflow("logs", "f-a-main-0").stdout, "a begins\na ends\n")
    check_equal("tail", jobflow("logs", "pod/f-a-main-0", "--tail", "1").stdout, "a ends\n")
    check_equal("bytes", jobflow("logs", "f-a-main-0", "--limit-bytes", "4").stdout, "a be")
    check_equal("follow", jobflow("logs", "-f", "f-a-main-0").stdout, "a begins\na ends\n")
    check_equal("job", jobflow("logs", "job/f-b").stdout, "[f-b-main-0/c] b at work\n")
    check_equal("prefix", jobflow("logs", "f-b-main-0", "--prefix").stdout, "[f-b-main-0/c] b at work\n")
    check_equal("selected", jobflow("logs", "-l", "volcano.sh/job-name=f-b").stdout, "[f-b-main-0/c] b at work\n")
    check_equal("flow", len(lines(jobflow("logs", "jf/f").stdout)), 3)
    stamped = jobflow("logs", "f-b-main-0", "--timestamps", "--since", "1h").stdout
    check_equal("stamp", (stamped[4], stamped[10], stamped[-12:]), ("-", "T", "Z b at work\n"))
    check_in("no previous", "previous terminated container", jobflow("logs", "-p", "f-a-main-0", code=1).stderr)


def the_exit_code_of_wait_tells_the_outcome():
    run = at_work()
    jobflow("wait", "jf/f", "--timeout", "0.1s", code=4)
    jobflow("wait", "jf/f", "--for=phase=Running", code=0)
    jobflow("wait", "pod/f-a-main-0", "--for=condition=Ready", code=0)
    waiting = Background("wait", "jf/f", name="wait")
    let_go(run)
    check_equal("succeeded", waiting.wait(), 0)
    check_equal("says so", waiting.output(), "jobflow.flow.volcano.sh/f Succeed\n")
    check_equal("afterwards", jobflow("wait", "jf/f", "--for=jsonpath={.status.state.phase}=Succeed").stdout,
                "jobflow.flow.volcano.sh/f condition met\n")
    done = jobflow("wait", "jf/f", "--for=delete", "--timeout", "0.1s", code=4)
    check_in("time is up", "timed out waiting for the condition on jobflows/f", done.stderr)
    manifest("g.yaml", flow("g", [step("x")]), template("x", "exit 3"))
    jobflow("run", "g.yaml", code=1)
    check_in("failed", "is Failed", jobflow("wait", "jf/g", code=1).stderr)
    jobflow("wait", "jf/nope", code=1)
    check_in("with a time", "not found", jobflow("wait", "jf/nope", "--timeout", "10h", code=1).stderr)


def waiting_may_begin_before_the_run():
    """A wait that times out before the run has an object to show is repeated; its patience is two seconds."""
    for turn in range(10):
        fresh_dir("begins")
        gated()
        write("go", "")
        began = time.monotonic()
        waiting = Background("wait", "jf/f", name="wait")
        run = Background("run", "f.yaml")
        wait_until("there is a run", lambda: os.path.exists(".jobflow/api.sock") or not run.running())
        late = time.monotonic() - began > 1.5
        check_equal("run", run.wait(), 0)
        code = waiting.wait()
        if code == 0 or not late:
            break
    check_equal("wait, turn %d: %s" % (turn, waiting.errors()), code, 0)


def objects_are_applied_and_deleted_at_a_run():
    run = at_work()
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"k": "v"}}
    manifest("c.yaml", config)
    check_equal("new", jobflow("apply", "-f", "c.yaml").stdout, "configmap/c created\n")
    check_equal("same", jobflow("apply", "-f", "c.yaml").stdout, "configmap/c unchanged\n")
    config["data"]["k"] = "w"
    done = jobflow("apply", "-f", "-", stdin=json.dumps(config).encode())
    check_equal("other", done.stdout, "configmap/c configured\n")
    check_equal("stored", jobflow("get", "cm/c", "-o", "jsonpath={.data.k}").stdout, "w")
    check_equal("dry", jobflow("apply", "-f", "c.yaml", "--dry-run").stdout, "configmap/c configured (dry run)\n")
    check_equal("deleted", jobflow("delete", "-f", "c.yaml").stdout, 'configmap "c" deleted\n')
    jobflow("delete", "-f", "c.yaml", "--ignore-not-found", code=0)
    done = jobflow("delete", "jf", "f", code=1)
    check_in("protected", "delete it with --force", done.stderr)
    bad = dict(config, dat={})
    done = jobflow("apply", "-f", "-", stdin=json.dumps(bad).encode(), code=2)
    check_in("place", "error: standard input:1: ", done.stderr)
    check_in("finding", 'dat: unknown field, did you mean "data"?', done.stderr)
    let_go(run)


def delete_waits_until_the_pod_is_gone():
    run = at_work()
    jobflow("delete", "pod", "f-a-main-0", "--wait=false", "--grace-period", "30")
    done = jobflow("delete", "pod", "f-a-main-0", "--grace-period", "0")
    check_equal("said", done.stdout, 'pod "f-a-main-0" deleted\n')
    run.signal(2)
    run.signal(2)
    run.wait()


def objects_wait_in_the_store_for_the_next_run():
    finished()
    manifest("t.yaml", template("t", "true"))
    check_equal("new", jobflow("apply", "t.yaml", "-f", "f.yaml", code=None).stdout.count("unchanged"), 3)
    check_equal("there", jobflow("get", "jt/t", "-o", "name").stdout, "jobtemplate.flow.volcano.sh/t\n")
    check_equal("gone", jobflow("delete", "jf/f").stdout, 'jobflow.flow.volcano.sh "f" deleted\n')
    jobflow("get", "jf,vcjob,pods")  # objects owned by the deleted one are gone as well
    check_equal("all", jobflow("delete", "jt", "--all").stdout.count("deleted"), 3)


def a_second_run_is_told_which_process_is_at_work():
    run = at_work()
    done = jobflow("run", "f.yaml", code=2)
    check_in("pid", "is in use by process %d" % run.pid, done.stderr)
    check_in("way out", "See what it does with 'jobflow get", done.stderr)
    let_go(run)


def many_clients_read_a_finished_run_at_once():
    finished()
    looking = [subprocess.Popen(command("get", "pods"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for _ in range(8)]
    for each in looking:
        _, errors = each.communicate(timeout=DEADLINE)
        check_equal("code", (each.returncode, errors), (0, b""))


def printed_objects_can_be_applied_again():
    """Output of `get -o yaml` is valid input for validate, apply and run.

    apply checks the resourceVersion; a different order of members changes nothing.
    """
    finished()
    printed = {kind: jobflow("get", kind, "-o", "yaml").stdout for kind in ("jf", "jt", "vcjob", "jf,jt,vcjob,pods")}
    for kind, text in printed.items():
        with open("printed.yaml", "w") as out:
            out.write(text)
        check_in("validate " + kind, "valid", jobflow("validate", "printed.yaml", code=2 if kind == "jf" else 0).stdout or "valid")
    for line in jobflow("apply", "-f", "printed.yaml").stdout.splitlines():
        check(line.endswith(" unchanged"), line)
    check_equal("no new version", jobflow("get", "jf", "-o", "yaml").stdout, printed["jf"])
    with open("old.yaml", "w") as out:
        out.write(re.sub('resourceVersion: "[0-9]+"', 'resourceVersion: "1"', printed["jt"]))
    check_in("another version", "the object has been modified", jobflow("apply", "-f", "old.yaml", code=2).stderr)
    check_in("jobs of a flow", "the job belongs to JobFlow f, which makes its jobs itself",
             jobflow("run", "--data-dir", "elsewhere", "printed.yaml", code=2).stderr)
    with open("printed.yaml", "w") as out:
        out.write(jobflow("get", "jf,jt", "-o", "yaml").stdout)
    jobflow("run", "--output", "quiet", "--data-dir", "elsewhere", "printed.yaml")


def the_path_of_the_data_directory_may_be_long():
    deep = os.path.join(*["a-directory-with-a-long-name"] * 8)
    os.makedirs(deep)
    gated()
    data = os.path.join(deep, "data")
    run = Background("run", "--data-dir", data, "f.yaml")
    wait_until("running", lambda: "Running" in jobflow("get", "pods", "--data-dir", data, code=None).stdout)
    let_go(run)
    check_in("afterwards", "Succeed", jobflow("get", "jf", "--data-dir", data).stdout)


def a_socket_without_a_listener_is_no_obstacle():
    finished()
    subprocess.run([sys.executable, "-c", "import socket; s = socket.socket(socket.AF_UNIX); s.bind('.jobflow/api.sock')"],
                   check=True)
    check_in("store", "Succeed", jobflow("get", "jf").stdout)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
