"""kill -9 before each write of a run, one write after the other: the next run continues, and no step runs twice.

JOBFLOW_SEED repeats a run; JOBFLOW_POINTS sets how many of the writes are tried (30; 0 means all).

# covers: reliability.md FT-06 P-01 P-05 P-09 D-09
"""
import collections
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_kill import *  # noqa: E402,F403

# Each start and each end of a step is a line. The policy of the task maps its failure to success.
BODY = "echo start $STEP >> log; echo end $STEP >> log; exit %d"


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


def goes_on_after(n):
    """Kills a run before its n-th write and checks that the next run continues. Returns False if the run ended before that write."""
    fresh_dir("write")
    manifest("f.yaml", *scenario())
    if not killed_before_write(n, "run", "-o", "quiet", "f.yaml"):
        return False
    if jobflow("get", "jf/f", "-o", "jsonpath={.status.state.phase}", code=None).stdout != "Succeed":  # a completed flow would start again from the beginning
        jobflow("run", "-o", "quiet", "f.yaml")
    lines = collections.Counter(read("log").splitlines())
    check_equal("killed before write %d" % n, lines, {"%s %s" % (word, name): 1 for word in ("start", "end") for name in "abcd"})
    nothing_left()
    return True


def a_run_killed_before_any_write_continues_and_runs_no_step_twice():
    kill_before_writes(goes_on_after, 30)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
