"""Tests that need a kube-apiserver are skipped where there is none, with the reason printed.

# covers: cluster.md CLU-372; see lib_kube.py
"""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names

HERE = os.path.dirname(os.path.abspath(__file__))


def without_programs_every_case_is_skipped_and_says_why():
    for name in ("cluster_kube.py", "cluster_leaders.py"):
        done = subprocess.run([sys.executable, os.path.join(HERE, name)], env=dict(os.environ, KUBEBUILDER_ASSETS="/nonexistent"),
                              capture_output=True, text=True, timeout=DEADLINE)
        lines = done.stdout.splitlines()
        check_equal(name, (done.returncode, len(lines) > 3), (77, True))
        for line in lines:
            check_in(name, "skipped: KUBEBUILDER_ASSETS=/nonexistent has no program etcd", line)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
