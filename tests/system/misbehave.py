"""Pods that misbehave, each next to a well-behaved pod, in a daemon that other clients use meanwhile.

After each of them the same must hold: the status says what happened; no process, mount, control group or directory is
left; the other pod was not affected; and the next pod starts.
"""
import glob
import re
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_plugins import *  # noqa: E402,F403: sys.path is set above; cases use all names

LEVELS = ("plain", "user", "mounts", "full")
LARGE = ("prints-without-end", "digs-deep", "makes-many-files")
LOG_BOUND = 3 * (10 << 20) + (1 << 20)  # L-38: a log is at most three files of ten MiB, plus one write
BIG = (1 << 30) // (SLOW * 2 if SLOW > 1 else 1)

BOMB = """
import os, time
n = refused = 0
while refused < 50:
    try:
        if os.fork() == 0:
            os.setsid()
            while True:
                time.sleep(60)
        n += 1
    except OSError as e:
        refused += 1
        print("forked", n, "times:", e.strerror, flush=True)
        time.sleep(0.01)
os._exit(7)
"""

# Creates files in the volume that are hard to walk, to name or to remove.
DEEP = """
import os
os.chdir(os.environ.get("VC_MOUNT_ROOT", "") + "/fill")
for level in range(3000):
    os.mkdir("d")
    os.chdir("d")
open("bottom", "w").close()
print("deep")
"""
CROWDED = """
import os
os.chdir(os.environ.get("VC_MOUNT_ROOT", "") + "/fill")
for n in range(20000):
    os.close(os.open(str(n), os.O_CREAT | os.O_WRONLY))
print("many files")
"""
ODD = """
import contextlib, os, socket, stat, subprocess
os.chdir(os.environ.get("VC_MOUNT_ROOT", "") + "/fill")
os.mkfifo("fifo")
socket.socket(socket.AF_UNIX).bind("socket")
for name in ("null", "a\\nb", "-rf", "..x", "\\x1b[2J", "n" * 255, b"\\xff\\xfe", "jobflow-pool", ".deep-0-00000000"):
    open(name, "w").close()
for at, to in (("loop", "loop"), ("up", ".."), ("root", "/"), ("fd", "/proc/self/fd/0")):
    os.symlink(to, at)
with contextlib.suppress(OSError):
    os.mknod("device", stat.S_IFCHR | 0o666, os.makedev(1, 3))
for path in ("locked/in/deep", "hidden"):
    os.makedirs(path, exist_ok=True)
    open(path + "/f", "w").close()
for path in ("locked/in/deep", "locked/in", "locked", "."):
    os.chmod(path, 0)
with contextlib.suppress(OSError):
    subprocess.run(["chattr", "+i", "null", "hidden"], stderr=subprocess.DEVNULL)
print("odd")
"""


def shell(script):
    return ["sh", "-c", script]


def make(name, command, **spec):
    container = {"name": "c", "command": command}
    for key in ("resources", "volumeMounts"):
        if key in spec:
            container[key] = spec.pop(key)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"},
            "spec": dict({"restartPolicy": "Never", "containers": [container]}, **spec)}


def disk(limit, **more):
    return {"volumes": [{"name": "v", "emptyDir": dict({"sizeLimit": limit} if limit else {}, **more)}], "volumeMounts": [{"name": "v", "mountPath": "/fill"}]}


def has_ended(status):
    return status if status.get("phase") in ("Succeeded", "Failed") else None


def terminated(status):
    return (status.get("containerStatuses") or [{}])[0].get("state", {}).get("terminated", {})


class Case:
    """A pod, the action applied to it, and the expected status and log."""

    def __init__(self, name, command, phase, code, says, act=None, log="", need=None, deadline=False, needs_sandbox=False, **spec):
        self.name, self.phase, self.code, self.says, self.act, self.log, self.need = name, phase, code, says, act, log, need
        self.deadline = deadline
        self.needs_sandbox = needs_sandbox  # at level plain mounts are links, and a volume medium is a directory
        self.pod = make(name, command, **spec)


def kill_its_shim(daemon, case):
    """Kills the supervisor of this pod, which is the parent of the pod's init."""
    marker = "sleep 7531"
    wait_until("it runs", lambda: any(command_line(p) == marker for p in descendants()))
    wait_until("it has said so", lambda: case.log in daemon("logs", "pod/" + case.name, code=None).stdout)
    pid = [p for p in descendants() if command_line(p) == marker][0]
    while stat_of(pid)[2] != "jobflow-pod" or stat_of(stat_of(pid)[0])[2] == "jobflow-pod":
        pid = stat_of(pid)[0]
    os.kill(pid, signal.SIGKILL)


def ask_all_the_while(daemon, case):
    """Sends requests while the pod prints continuously. They must be answered without waiting for the disk."""
    wait_until("it prints", lambda: "0123456789abcdef" in daemon("logs", "pod/" + case.name, "--limit-bytes=1000", code=None).stdout)
    for _ in range(20):
        daemon("get", "pods")
    check_equal("it prints on", daemon.get("pod/" + case.name)["status"].get("phase"), "Running")
    write("printed", "")
    wait_until("it has ended", lambda: has_ended(daemon.get("pod/" + case.name)["status"]))
    kept = sum(os.stat(f).st_size for f in glob.glob("data/node/logs/**", recursive=True) if os.path.isfile(f))
    check(kept <= LOG_BOUND, "%d bytes of logs are kept" % kept)


def limits_processes():
    if "processes" not in re.search(r"limits of pods.*", jobflow("doctor", code=None).stdout).group(0):
        raise Skip("the kernel limits no processes here")


CASES = [
    Case("supervisor-killed", shell("echo begun; sleep 7531 & setsid sleep 7531 & sleep 7531"), "Failed", 137, "SupervisorLost",
         act=kill_its_shim, log="begun", **disk("1Gi")),
    Case("deaf", shell("trap '' TERM; echo deaf; setsid sh -c \"trap '' TERM; sleep 600\" & while :; do sleep 0.1; done"), "Failed", 137, "DeadlineExceeded",
         log="deaf", deadline=True, terminationGracePeriodSeconds=1),
    Case("deaf-in-a-box", shell("trap '' TERM; echo deaf; setsid sh -c \"trap '' TERM; sleep 600\" & while :; do sleep 0.1; done"), "Failed", 137,
         "DeadlineExceeded", log="deaf", deadline=True, terminationGracePeriodSeconds=1, **disk("1Gi")),
    Case("forks", ["python3", "-c", BOMB], "Failed", 7, "Error", log="Resource temporarily unavailable", need=limits_processes,
         resources={"limits": {"memory": "2Gi"}}),
    Case("fills-its-disk", shell("while :; do head -c 1M /dev/zero >> $VC_MOUNT_ROOT/fill/x; sleep 0.01; done"), "Failed", 137, "EmptyDir volume \"v\" exceeds",
         **disk("20Mi")),
    Case("fills-a-disk-of-no-limit", shell("while :; do head -c 1M /dev/zero >> $VC_MOUNT_ROOT/fill/x; sleep 0.01; done"), "Failed", 137,
         "EmptyDir volume \"v\" exceeds the limit of 16777216 bytes", **disk(None)),
    Case("fills-its-memory", shell("head -c 20M /dev/zero > $VC_MOUNT_ROOT/fill/x || exit 8"), "Failed", 8, "Error", log="No space left",
         needs_sandbox=True, **disk("10Mi", medium="Memory")),
    Case("closes-its-output", shell("echo before; exec >&- 2>&-; sleep 0.3; exit 3"), "Failed", 3, "Error", log="before"),
    Case("closes-its-output-in-a-box", shell("echo before; exec >&- 2>&-; sleep 0.3; exit 3"), "Failed", 3, "Error", log="before", **disk("1Gi")),
    Case("prints-without-end", shell("while yes 0123456789abcdef0123456789abcdef | head -c %d; [ ! -e printed ]; do :; done; echo the end" % BIG), "Succeeded", 0, "Completed",
         act=ask_all_the_while, log="the end"),
    Case("leaves-daemons", shell("for i in 1 2 3; do setsid nohup sleep 600 > /dev/null 2>&1 & done; (setsid sleep 600 &); echo left"),
         "Succeeded", 0, "Completed", log="left"),
    Case("leaves-daemons-in-a-box", shell("for i in 1 2 3; do setsid nohup sleep 600 > /dev/null 2>&1 & done; (setsid sleep 600 &); echo left"),
         "Succeeded", 0, "Completed", log="left", **disk("1Gi")),
    Case("leaves-daemons-that-print", shell("(setsid sh -c 'while :; do echo still; sleep 0.1; done' &); echo left"), "Succeeded", 0, "Completed",
         log="left"),
    Case("leaves-daemons-of-another-name", shell("(env -i setsid setsid sleep 600 > /dev/null 2>&1 &); echo left"),
         "Succeeded", 0, "Completed", log="left"),
    Case("digs-deep", ["python3", "-c", DEEP], "Succeeded", 0, "Completed", log="deep", **disk("1Gi")),
    Case("makes-many-files", ["python3", "-c", CROWDED], "Succeeded", 0, "Completed", log="many files", **disk("1Gi")),
    Case("makes-odd-files", ["python3", "-c", ODD], "Succeeded", 0, "Completed", log="odd", **disk("1Gi")),
    Case("makes-odd-files-in-memory", ["python3", "-c", ODD], "Succeeded", 0, "Completed", log="odd", needs_sandbox=True, **disk("64Mi", medium="Memory")),
    Case("removes-its-volume", shell("cd $VC_MOUNT_ROOT/fill && touch x && rm -rf ../fill ./* 2> /dev/null; echo removed"), "Succeeded", 0, "Completed",
         log="removed", **disk("1Gi")),
]


def what_is_left(uid):
    """Returns the supervisor directories and control groups that remain of an ended pod. Its log stays until its object is deleted."""
    return control_groups([uid]) + [p for place in ("shims", "pods") for p in glob.glob("data/node/%s/**" % place, recursive=True) if uid in p]


def end_of(daemon, case):
    """Waits until the pod has ended; returns (uid, status)."""
    daemon.apply(case.pod)
    uid = daemon.get("pod/" + case.name)["metadata"]["uid"]
    if case.act:
        case.act(daemon, case)
    return uid, wait_until(case.name + " has ended", lambda: has_ended(daemon.get("pod/" + case.name)["status"]))


def end_by_deadline(daemon, case):
    """Like end_of, for a pod with a deadline. A slow machine gets a longer one, so that the program starts before the deadline."""
    for seconds in (1, 8, 64):
        case.pod["spec"]["activeDeadlineSeconds"] = seconds
        found = end_of(daemon, case)
        if case.log in daemon("logs", "pod/" + case.name, code=None).stdout:
            break
        daemon("delete", "pod/" + case.name)
    return found


def check_case(daemon, case, before):
    uid, status = (end_by_deadline if case.deadline else end_of)(daemon, case)
    check_equal("phase of " + case.name, status["phase"], case.phase)
    check_equal("exit code of " + case.name, terminated(status).get("exitCode"), case.code)
    check_in("status of " + case.name, case.says, json.dumps(status).replace("\\\"", "\""))
    check_in("log of " + case.name, case.log, daemon("logs", "pod/" + case.name).stdout[-100000:])
    wait_until("nothing of %s is left: %s" % (case.name, what_is_left(uid)), lambda: not what_is_left(uid))
    wait_until("no process of %s is left: %s" % (case.name, [command_line(p) for p in descendants()]),
               lambda: sorted(map(command_line, descendants())) == before)
    daemon("delete", "pod/" + case.name)
    wait_until("its log goes with it", lambda: not [p for p in glob.glob("data/node/logs/**", recursive=True) if uid in p])
    daemon.apply(make("next-" + case.name, shell("echo next")))
    wait_until("the next pod starts", lambda: daemon.get("pod/next-" + case.name)["status"].get("phase") == "Succeeded")


def walk(cases, *flags):
    daemon = Daemon("--max-pods=8", "--empty-dir-limit=16Mi", *flags)
    neighbours = {"good": {}, "good-in-a-box": disk("1Gi")}
    for name, spec in neighbours.items():
        daemon.apply(make(name, ["sleep", "600"], **spec))
        wait_until(name + " runs", lambda: daemon.get("pod/" + name)["status"].get("phase") == "Running")
    before = sorted(map(command_line, descendants()))
    for case in cases:
        began = time.monotonic()
        try:
            if case.need:
                case.need()
            check_case(daemon, case, before)
            print("  %-30s %5.1fs" % (case.name, time.monotonic() - began), flush=True)
        except Skip as reason:
            print("  %-30s skipped: %s" % (case.name, reason))
    for name in neighbours:
        status = daemon.get("pod/" + name)["status"]
        check_equal("the neighbour", (status["phase"], status["containerStatuses"][0]["restartCount"]), ("Running", 0))
        daemon("delete", "--grace-period=0", "pod/" + name)
    shims = [os.path.basename(p) for p in glob.glob("data/node/shims/pool.*")]
    daemon.stop()
    nothing_left()
    wait_until("their control groups are gone: %s" % control_groups(shims), lambda: not control_groups(shims))


# covers: reliability.md FT-20 L-38 L-39; local-runtime.md LRT-32 LRT-43; see LRT-26 LRT-29 LRT-40
def whatever_a_pod_does_nothing_is_left_and_others_go_on():
    """Runs all cases at the default level of isolation."""
    at_plain = level() == "plain"
    walk([c for c in CASES if not (at_plain and c.needs_sandbox)])


def levels():
    """Returns the isolation levels available here.

    Under ThreadSanitizer the capability check of some levels depends on when the sanitizer starts its thread.
    """
    found = []
    for name in LEVELS:
        try:
            if name in ("user", "full"):
                need_one_thread()
            done = jobflow("run", "--isolation", name, "--data-dir", "try", manifest("none.yaml", flow("f", [step("s", template="t")]), template("t")), code=None)
            if done.returncode:
                raise Skip("does not work here: " + done.stderr.strip())
            found.append(name)
        except Skip as why:
            print("  level %s: %s" % (name, why))
    return found


def whatever_a_pod_does_is_contained_at_every_level_of_isolation():
    """Runs the cases at each level of isolation, except the large ones, which behave alike at all levels."""
    walked = 0
    for name in levels():
        print("  level %s" % name, flush=True)
        walk([c for c in CASES if c.name not in LARGE and not (name == "plain" and c.needs_sandbox)], "--isolation", name)
        shutil.rmtree("data")
        walked += 1
    check(walked, "a level works")


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
