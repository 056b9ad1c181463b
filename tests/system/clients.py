"""Client libraries against the daemon: Python's kubernetes, JavaScript's @kubernetes/client-node, Go's client-go.

Each is tried where it is installed: the Python package for this interpreter or the one JOBFLOW_PYTHON names, the
JavaScript one under JOBFLOW_NODE_MODULES (or where node finds it), the Go program when `go` can build it.

# covers: kube-api.md 18 132 133
"""
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403
from lib_serve import *  # noqa: E402,F403

CLIENTS = os.path.join(SOURCE, "tests", "system", "clients")


def run_client(command, env=None):
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE * 3, stdin=subprocess.DEVNULL,
                          env=dict(os.environ, **(env or {})))
    if done.returncode:
        raise Failure("%s: exit code %d\n%s%s" % (os.path.basename(command[-1]), done.returncode, done.stdout, done.stderr))
    check_equal("last line", done.stdout.rstrip().splitlines()[-1], "ok")


def the_python_client_lists_creates_patches_and_watches():
    python = os.environ.get("JOBFLOW_PYTHON", sys.executable)
    if subprocess.run([python, "-c", "import kubernetes"], capture_output=True).returncode:
        raise Skip("the Python package kubernetes is not installed; JOBFLOW_PYTHON may name an interpreter that has it")
    daemon = Daemon()
    run_client([python, os.path.join(CLIENTS, "client.py")], {"KUBECONFIG": daemon.kubeconfig})


def the_javascript_client_lists_creates_patches_and_watches():
    node = shutil.which("node")
    if not node:
        raise Skip("node is not installed")
    shutil.copy(os.path.join(CLIENTS, "client.mjs"), "client.mjs")
    modules = os.environ.get("JOBFLOW_NODE_MODULES")
    if modules:
        os.symlink(modules, "node_modules")
    if subprocess.run([node, "--input-type=module", "-e", "import '@kubernetes/client-node'"], capture_output=True).returncode:
        raise Skip("the package @kubernetes/client-node is not installed; JOBFLOW_NODE_MODULES may name where it is")
    daemon = Daemon()
    run_client([node, os.path.abspath("client.mjs")], {"KUBECONFIG": daemon.kubeconfig})


def client_go_lists_applies_and_informs():
    program = os.environ.get("JOBFLOW_GO_CLIENT")
    if not program:
        raise Skip("JOBFLOW_GO_CLIENT names no program built from tests/system/clients/go")
    daemon = Daemon()
    run_client([program], {"KUBECONFIG": daemon.kubeconfig})


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
