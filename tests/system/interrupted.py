"""Runs cases of other tests while system calls of the program are interrupted or transfer less than requested; the results are the same.

# covers: reliability.md FT-15
"""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names

LIBRARY = os.environ.get("JOBFLOW_SYSCALLS", "")  # built from tests/preload/syscalls.c


def run_others(script, *cases):
    """Runs cases of another script with one call in ten shortened or interrupted."""
    if not os.path.exists(LIBRARY):
        raise Skip("nothing is preloaded into a program with sanitizers")
    wrapper = write(os.path.abspath("jobflow"), '#!/bin/sh\nexport LD_PRELOAD=%s\nexec %s "$@"\n' % (LIBRARY, JOBFLOW))
    os.chmod(wrapper, 0o755)
    env = dict(os.environ, JOBFLOW=wrapper, SYSCALLS_SHORT="10", TMPDIR=fresh_dir("others"))
    done = subprocess.run([sys.executable, os.path.join(SOURCE, "tests/system", script), *cases], env=env, capture_output=True, text=True,
                          timeout=DEADLINE * 3, check=False)
    check_equal("exit code of %s\n%s%s" % (script, done.stdout, done.stderr), done.returncode, 0)


def interrupted_system_calls_do_not_change_how_runs_end():
    run_others("run.py", "zero", "one", "interrupt", "at_once", "grace", "after")


def interrupted_system_calls_do_not_disturb_commands():
    run_others("control.py")


def interrupted_system_calls_do_not_disturb_a_daemon():
    run_others("serve.py", "kubectl", "outlive", "under", "settings", "roles", "audit", "client", "backup")


def a_pid_that_is_written_in_parts_is_whole():
    """The lock file names the process that holds it, for messages about it."""
    if not os.path.exists(LIBRARY):
        raise Skip("nothing is preloaded into a program with sanitizers")
    manifest("f.yaml", flow("f", [step("a")]), template("a", "touch started; while [ ! -e go ]; do sleep 0.01; done"))
    run = Background("run", "f.yaml", env={"LD_PRELOAD": LIBRARY, "SYSCALLS_SHORT": "95"})
    wait_until("it is at work", lambda: os.path.exists("started"))
    check_equal("lock", read(".jobflow/lock"), "%d\n" % run.pid)
    write("go", "")
    check_equal("exit code", run.wait(), 0)
    nothing_left()


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
