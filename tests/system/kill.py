"""kill -9 of `jobflow run` at random moments: no step is lost or run twice, every exit code is right, and nothing is left behind.

Each pod appends a line to a file of its own at its start and at its end. JOBFLOW_KILLS sets the number of kills (25; CI uses 100).
JOBFLOW_SEED repeats a run.

# covers: reliability.md P-01 P-05 P-06 P-08 P-09 D-11 FT-08 FT-09 INV-F1 INV-N1 INV-N2 INV-N3 INV-N6; local-runtime.md LRT-30 LRT-32
"""
import collections
import json
import os
import random
import signal
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names

KILLS = int(os.environ.get("JOBFLOW_KILLS", "25"))
SEED = int(os.environ.get("JOBFLOW_SEED", "0")) or random.SystemRandom().randrange(1 << 32)
STEPS, KILLS_A_FLOW = 500, 25

# Writing one line with one write is atomic.
BODY = """echo start $STEP >> log; %s echo end $STEP >> log; exit %d"""


def body_of(name, pause, code):
    body = template(name, BODY % ("sleep %s;" % pause if pause else "", code))
    if code:  # an exit code that the policy of the task maps to success
        body["spec"]["policies"] = [{"exitCode": code, "action": "CompleteJob"}]
    return body


def layered(rng):
    """A flow of 500 steps in layers of 25; each step depends on some of the previous layer."""
    templates = [body_of("quick", 0, 0), body_of("slow", 0.05, 0), body_of("slower", 0.2, 0),
                 body_of("seven", 0, 7), body_of("eight", 0.05, 8)]
    names = [t["metadata"]["name"] for t in templates]
    steps, before, layer = [], [], []
    for i in range(STEPS):
        if i % 25 == 0:
            before, layer = layer, []
        name = "s%03d" % i
        entry = step(name, sorted(rng.sample(before, min(len(before), 1 + i % 3))), template=names[rng.choice([0, 0, 0, 0, 1, 1, 2, 3, 4])])
        entry["patch"] = {"spec": {"tasks": [{"name": "main", "template": {"spec": {"containers": [
            {"name": "c", "env": [{"name": "STEP", "value": name}]}]}}}]}}
        layer.append(name)
        steps.append(entry)
    return [flow("f", steps)] + templates


def lines(path="log"):
    return collections.Counter(read(path).splitlines())


def check_log(steps, after):
    seen = lines()
    for name in steps:
        check_equal("starts of %s" % name, seen["start %s" % name], 1)
        check_equal("ends of %s" % name, seen["end %s" % name], 1)
    place = {line: i for i, line in enumerate(read("log").splitlines())}
    for name, targets in after.items():
        for target in targets:
            check(place["end %s" % target] < place["start %s" % name], "%s began before %s had ended" % (name, target))


def pods_of(run_args=()):
    return json.loads(jobflow("get", "pods", "-o", "json", *run_args).stdout)["items"]


def has_succeeded():
    """Whether the flow has succeeded according to the store; False if the store does not exist yet."""
    told = jobflow("get", "jf", "f", "-o", "jsonpath={.status.state.phase}", code=None)
    return told.stdout.strip() == "Succeed"


def kill_until_done(rng, kills, steps):
    """Runs f.yaml until it completes and kills the run at most that often. Returns the number of kills.

    A kill may fall between the end of the flow and the end of the command. Another run would then repeat the whole flow.
    """
    killed = 0
    while True:
        run = Background("run", "-j", 16, "-o", "json", "f.yaml", name="run")
        # Some kills fall into the start, the others after some further lines, so that the flow makes progress.
        wanted = sum(lines().values()) + (0 if rng.random() < 0.3 else rng.randrange(1, 2 + 4 * steps // KILLS_A_FLOW))
        until = time.monotonic() + rng.random() * 0.3
        wait_until("steps go on", lambda: not run.running() or (
            killed < kills and sum(lines().values()) >= wanted and time.monotonic() >= until), DEADLINE * 3)
        if not run.running():
            break
        run.signal(signal.SIGKILL)
        run.wait()
        killed += 1
        if has_succeeded():
            return killed
    check_equal("the exit code of the last\n" + run.errors(), run.wait(), 0)
    return killed


def killed_flow(rng, kills):
    """Runs one flow until it succeeds and kills the run at most that often. Returns the number of kills."""
    fresh_dir("flow")
    objects = layered(rng)
    manifest("f.yaml", *objects)
    entries = objects[0]["spec"]["flows"]
    killed = kill_until_done(rng, kills, STEPS)
    check_log([e["name"] for e in entries], {e["name"]: e.get("dependsOn", {}).get("targets", []) for e in entries})
    wanted = {"seven": 7, "eight": 8}
    template_of = {e["name"]: e["jobTemplateName"] for e in entries}
    pods = pods_of()
    for pod in pods:
        name = pod["metadata"]["labels"]["volcano.sh/job-name"][2:]
        ended = pod["status"]["containerStatuses"][0]["state"].get("terminated")
        check(ended, "pod of %s has not ended: %s" % (name, pod["status"]))
        check_equal("exit code of %s" % name, ended["exitCode"], wanted.get(template_of[name], 0))
    check_equal("pods", len(pods), STEPS)
    nothing_left()
    return killed


def a_flow_survives_being_killed_again_and_again():
    rng = random.Random(SEED)
    print("    seed %d" % SEED)
    killed = flows = 0
    while killed < KILLS:
        killed += killed_flow(rng, min(KILLS - killed, KILLS_A_FLOW))
        flows += 1
    print("    %d kills in %d flows of %d steps" % (killed, flows, STEPS))


# A patch sets the behaviour of each step; a failing step ends before it writes its line.
TRIES = """echo start $STEP $TRY >> log; sleep 0.03; [ "$TRY" -ge %d ] || exit 9; echo end $STEP $TRY >> log"""
BOXED = {"volumes": [{"name": "v", "emptyDir": {}}]}


def about(name):
    env = [{"name": "STEP", "value": name}, {"name": "TRY", "value": "$(attempt)"}]
    return {"spec": {"tasks": [{"name": "main", "template": {"spec": {"containers": [{"name": "c", "env": env}]}}}]}}


def tries(name, needed, **pod):
    body = template(name, tasks=[task("main", TRIES % needed, **pod)])
    if pod:
        container = body["spec"]["tasks"][0]["template"]["spec"]["containers"][0]
        container["volumeMounts"] = [{"name": "v", "mountPath": os.path.join(TMP, "mounted-" + name)}]
    return body


def everything(rng):
    """A layered flow whose steps are retried, looped, started as gangs or sandboxed; returned with the objects that these need."""
    templates = [tries("once", 1), tries("boxed", 1, **BOXED), tries("twice", 2), tries("thrice", 3, **BOXED)]
    attempts = {"once": 1, "boxed": 1, "twice": 2, "thrice": 3}
    entries, needed, gangs, before, layer = [], {}, [], [], []
    for i in range(96):
        if i % 12 == 0:
            before, layer = layer, []
        name, kind = "s%02d" % i, rng.choice(list(attempts))
        entry = step(name, sorted(rng.sample(before, min(len(before), 1 + i % 2))), template=kind)
        entry["patch"] = about(name)
        if i % 12 == 3:
            entry["for"] = {"range": {"end": 5}, "parallelism": 2}
            entry["patch"] = about(name + "-$(index)")
        if i % 12 == 7:  # in one gang with the previous step
            gangs.append({"name": "g%d" % i, "flows": [layer[-1], name]})
        if attempts[kind] > 1:
            entry["retry"] = {"maxRetry": 3, "backoffSeconds": i % 2}
        for copy in ["%s-%d" % (name, k) for k in range(5)] if "for" in entry else [name]:
            needed[copy] = attempts[kind]
        layer.append(name)
        entries.append(entry)
    return [flow("f", entries, gangs=gangs)] + templates, needed


def check_attempts(needed):
    """Checks that each attempt ran once and that its record has the right result."""
    seen = lines()
    nodes = {n["name"]: n for n in json.loads(jobflow("get", "jf", "f", "-o", "json").stdout)["status"]["nodes"]}
    for name, most in needed.items():
        for n in range(1, most + 1):
            check_equal("starts of %s, attempt %d" % (name, n), seen["start %s %d" % (name, n)], 1)
            check_equal("ends of %s, attempt %d" % (name, n), seen["end %s %d" % (name, n)], 1 if n == most else 0)
        codes = [a["exitCodes"]["main"] for a in nodes[name]["attempts"]]
        check_equal("exit codes of %s" % name, codes, [[9]] * (most - 1) + [[0]])
    check_equal("lines", sum(seen.values()), sum(needed.values()) + len(needed))


def retries_loops_gangs_and_sandboxes_survive_kills():
    rng = random.Random(SEED + 1)
    killed = flows = 0
    while killed < KILLS:
        fresh_dir("flow")
        objects, needed = everything(rng)
        manifest("f.yaml", *objects)
        killed += kill_until_done(rng, min(KILLS - killed, KILLS_A_FLOW), len(needed))
        check_attempts(needed)
        nothing_left()
        flows += 1
    print("    %d kills in %d flows" % (killed, flows))


def running_pods_outlive_the_daemon():
    """Runs 40 pods with an exit code each: some end before the daemon is killed, some while it is down, some after its restart."""
    codes = [i % 7 for i in range(40)]
    steps, templates = [], []
    for i, code in enumerate(codes):
        gate = "" if i % 3 == 0 else "while [ ! -e gate%d ]; do sleep 0.02; done; " % (i % 3)
        body = template("t%d" % i, "echo start s%d >> log; %secho end s%d >> log; exit %d" % (i, gate, i, code))
        if i % 5 == 0:  # these have a supervisor and a mount of their own
            pod = body["spec"]["tasks"][0]["template"]["spec"]
            pod["volumes"] = [{"name": "v", "emptyDir": {}}]
            pod["containers"][0]["volumeMounts"] = [{"name": "v", "mountPath": os.path.join(TMP, "mounted-%d" % i)}]
        if code:
            body["spec"]["policies"] = [{"exitCode": code, "action": "CompleteJob"}]
        templates.append(body)
        steps.append(step("s%d" % i, template="t%d" % i))
    manifest("f.yaml", flow("f", steps), *templates)
    run = Background("run", "-j", 64, "f.yaml")
    wait_until("all have started", lambda: sum(n for line, n in lines().items() if line.startswith("start")) == 40)
    run.signal(signal.SIGKILL)
    run.wait()
    write("gate1", "")
    ended = [i for i in range(40) if i % 3 == 1]
    wait_until("a third ends while no run is there", lambda: all(lines()["end s%d" % i] for i in ended))
    again = Background("run", "-j", 64, "-o", "json", "f.yaml", name="again")
    wait_until("they are seen", lambda: all('"step":"s%d","phase":"Completed"' % i in again.output() for i in ended))
    write("gate2", "")
    check_equal("exit code", again.wait(), 0)
    check_log(["s%d" % i for i in range(40)], {})
    for pod in pods_of():
        i = int(pod["metadata"]["labels"]["volcano.sh/job-name"][3:])
        check_equal("exit code of s%d" % i, pod["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"], codes[i])
    nothing_left()


def a_step_that_outlived_its_run_is_told_with_its_own_times():
    manifest("f.yaml", flow("f", [step("a")]), template("a", "cd %s; touch up; sleep 2; touch over" % os.getcwd()))
    run = Background("run", "f.yaml")
    wait_until("a runs", lambda: os.path.exists("up") and "a  Running" in run.output())
    run.signal(signal.SIGKILL)
    run.wait()
    wait_until("it has run for 2 s", lambda: os.path.exists("over"))
    table = jobflow("run", "f.yaml").stdout.partition("STEP")[2]
    row = next(line.split() for line in table.splitlines() if "Completed" in line)
    start, duration = row[row.index("Completed") + 1:][:2]
    check_equal("start", start, "earlier")
    check(float(duration.rstrip("s")) >= 2, "it took %s" % duration)
    nothing_left()


def shims():
    """Returns the supervisors: the shared one and those of sandboxed pods, without the init processes inside the sandboxes."""
    def supervises(pid):
        stat = stat_of(pid)
        parent = stat and stat_of(stat[0])
        return command_line(pid) == "jobflow-shim" and not (parent and parent[2] == "jobflow-pod")
    return [pid for pid in descendants() if supervises(pid)]


SLEEPERS = [flow("f", [step("plain"), step("boxed")]), template("plain", "echo plain >> log; sleep 600"),
            template("boxed", tasks=[task("main", "echo boxed >> log; sleep 600 & wait", volumes=[{"name": "v", "emptyDir": {}}])])]


def sleepers():
    objects = json.loads(json.dumps(SLEEPERS))
    objects[2]["spec"]["tasks"][0]["template"]["spec"]["containers"][0]["volumeMounts"] = [{"name": "v", "mountPath": os.path.join(TMP, "mounted")}]
    manifest("f.yaml", *objects)
    run = Background("run", "f.yaml")
    wait_until("both run", lambda: len(lines()) == 2)
    return run


def kill_shims():
    """Kills all supervisors, repeatedly: a supervisor may fork another one while it is being killed."""
    def kill_what_is_there():
        there = shims()
        for pid in there:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return not there
    wait_until("no supervisor is left", kill_what_is_there)


def check_supervisor_lost(args=()):
    for pod in pods_of(args):
        status = pod["status"]
        check_equal("phase of %s" % pod["metadata"]["name"], status["phase"], "Failed")
        check_in("status", "SupervisorLost", json.dumps(status))
        ended = status["containerStatuses"][0]["state"]["terminated"]
        check_equal("exit code of %s" % pod["metadata"]["name"], ended["exitCode"], 137)


def pods_of_shims_killed_during_a_run_are_reported_lost():
    run = sleepers()
    run.signal(signal.SIGSTOP)  # otherwise the job would stop the second pod when the first is lost
    kill_shims()
    run.signal(signal.SIGCONT)
    check_equal("exit code", run.wait(), 1)
    check_in("stdout", "SupervisorLost", run.output())
    check_supervisor_lost()
    nothing_left()


def pods_of_shims_killed_without_a_run_are_reported_lost():
    run = sleepers()
    run.signal(signal.SIGKILL)
    run.wait()
    kill_shims()
    wait_until("the isolated pod went with its supervisor", lambda: not any("boxed" in command_line(p) for p in descendants()))
    again = jobflow("run", "f.yaml", code=1)
    check_in("stdout", "SupervisorLost", again.stdout)
    check_supervisor_lost()
    nothing_left()


def after_a_kill_fresh_stops_what_still_runs():
    run = sleepers()
    run.signal(signal.SIGKILL)
    run.wait()
    manifest("f.yaml", flow("f", [step("plain")]), template("plain", "echo again >> log"))
    jobflow("run", "--fresh", "f.yaml", code=0)
    check_equal("what ran", lines()["again"], 1)
    nothing_left()


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
