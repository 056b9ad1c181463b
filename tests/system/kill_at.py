"""kill -9 before each write of a run, one write after the other: the next run continues, and no step runs twice.

JOBFLOW_SEED repeats a run; JOBFLOW_POINTS sets how many of the writes are tried (30; 0 means all).

# covers: reliability.md FT-06 P-01 P-05 P-09 D-09
"""
import collections
import os
import random
import subprocess
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names

LIBRARY = os.environ.get("JOBFLOW_SYSCALLS", "")
POINTS = int(os.environ.get("JOBFLOW_POINTS", "30"))
SEED = int(os.environ.get("JOBFLOW_SEED", "0")) or random.SystemRandom().randrange(1 << 32)

# Each start and each end of a step is a line. The policy of the task maps its failure to success.
BODY = "echo start $STEP >> log; echo end $STEP >> log; exit %d"


def needed():
    if not os.path.exists(LIBRARY):
        raise Skip("nothing is preloaded into a program with sanitizers")


def scenario():
    """A flow of three stages: plain pods, a pod with a volume, one whose exit code is checked, one that is retried."""
    def body(name, code, **pod):
        made = template(name, tasks=[task("main", BODY % code, **pod)])
        if code:
            made["spec"]["policies"] = [{"exitCode": code, "action": "CompleteJob"}]
        return made

    def about(name, after, template):
        entry = step(name, after, template=template)
        entry["patch"] = {"spec": {"tasks": [{"name": "main", "template": {"spec": {"containers": [
            {"name": "c", "env": [{"name": "STEP", "value": name}]}]}}}]}}
        return entry

    steps = [about("a", [], "plain"), about("b", ["a"], "seven"), about("c", ["a"], "boxed"), about("d", ["b", "c"], "plain")]
    return [flow("f", steps), body("plain", 0), body("seven", 7), body("boxed", 0, volumes=[{"name": "v", "emptyDir": {}}])]


def run_killed_at(n):
    """Runs the flow; returns whether the run was killed before its n-th write."""
    env = dict(os.environ, LD_PRELOAD=LIBRARY, SYSCALLS_KILL_AT=str(n))
    done = subprocess.run(command("run", "-o", "quiet", "f.yaml"), env=env, capture_output=True, timeout=DEADLINE, stdin=subprocess.DEVNULL)
    check(done.returncode in (0, -9), "exit code %d: %s" % (done.returncode, done.stderr.decode()))
    return done.returncode == -9


def goes_on_after(n):
    """Kills a run before its n-th write and checks that the next run continues. Returns False if the run ended before that write."""
    fresh_dir("write")
    manifest("f.yaml", *scenario())
    if not run_killed_at(n):
        return False
    if jobflow("get", "jf/f", "-o", "jsonpath={.status.state.phase}", code=None).stdout != "Succeed":  # a completed flow would start again from the beginning
        jobflow("run", "-o", "quiet", "f.yaml")
    lines = collections.Counter(read("log").splitlines())
    check_equal("killed before write %d" % n, lines, {"%s %s" % (word, name): 1 for word in ("start", "end") for name in "abcd"})
    nothing_left()
    return True


def killed_before_any_write_a_run_goes_on_and_runs_no_step_twice():
    needed()
    rng = random.Random(SEED)
    met, missed = 1, 2
    while goes_on_after(missed):
        met, missed = missed, 2 * missed
    while missed - met > 1:  # the approximate number of writes; it varies between runs
        half = (met + missed) // 2
        met, missed = (half, missed) if goes_on_after(half) else (met, half)
    points = range(1, met + 1)
    if POINTS and len(points) > POINTS:
        points = sorted(rng.sample(points, POINTS))
    tried = sum(goes_on_after(n) for n in points)
    print("    seed %d: killed before %d of %d writes" % (SEED, tried, met))
    check(tried > 10, "only %d writes were met" % tried)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
