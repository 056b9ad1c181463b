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


def interrupted_runs_come_to_the_same_ends():
    run_others("run.py", "zero", "one", "interrupt", "at_once", "grace", "after")


def interrupted_commands_control_a_run():
    run_others("control.py")


def an_interrupted_daemon_serves():
    run_others("serve.py", "kubectl", "outlive", "under", "settings", "roles", "audit", "client", "backup")


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
