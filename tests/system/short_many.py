"""Very many steps with scripts cost no more than twice what as many named templates with the same scripts cost.

CHECK_LONG=1 takes 100,000 steps. What is compared is processor time, in which other load does not count, and peak memory.

# covers: everyday.md EVD-096
"""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403

STEPS = 100000 if os.environ.get("CHECK_LONG") else 2000 if os.environ.get("JOBFLOW_MODE") in ("asan", "tsan") else 20000
FACTOR = 2


def script(i):
    return ("echo step %d; # " % i).ljust(100, "x")


def many_steps(**of_step):
    """A graph of STEPS steps, each behind the one a hundred before it."""
    return flow("f", [step("s%d" % i, ["s%d" % (i - 100)] if i >= 100 else [], **{key: make(i) for key, make in of_step.items()}) for i in range(STEPS)])


def named(i):
    container = {"name": "main", "command": ["/bin/sh", "-ec", script(i)]}
    return template("s%d" % i, tasks=[{"name": "main", "replicas": 1, "template": {"spec": {"restartPolicy": "Never", "containers": [container]}}}])


def usage_of(*args):
    """Runs the program to a good end; returns its processor time in seconds and its peak memory in KiB."""
    with open("output", "w+b") as output:
        process = subprocess.Popen(command(*args), stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        check_equal("%s\n%s" % (" ".join(args), read("output")[-2000:]), process.returncode, 0)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def EVD_096__scripts_cost_no_more_than_twice_what_named_templates_do():
    manifest("short.yaml", many_steps(run=script))
    manifest("named.yaml", *[named(i) for i in range(STEPS)], many_steps())
    for words in (["validate", "--sim"], ["run", "--runtime", "sim", "-o", "quiet", "--fresh"]):
        (cpu, memory), (named_cpu, named_memory) = [usage_of(*words, path) for path in ("short.yaml", "named.yaml")]
        check(cpu <= FACTOR * named_cpu, "%s takes %.2f s of the processor, with named templates %.2f s" % (words[0], cpu, named_cpu))
        check(memory <= FACTOR * named_memory, "%s takes %d KiB, with named templates %d KiB" % (words[0], memory, named_memory))


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
