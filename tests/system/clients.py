"""Client libraries against the daemon: Python's kubernetes, JavaScript's @kubernetes/client-node, Go's client-go.

Each library is tested only where it is installed:
- Python: the package of this interpreter, or of the one that JOBFLOW_PYTHON names;
- JavaScript: the package under JOBFLOW_NODE_MODULES, or where node finds it;
- Go: the programs that JOBFLOW_GO_CLIENT and JOBFLOW_TYPED_CLIENT name, or those built here when `go` and their
  modules are available; the second has typed clients, whose bodies are protobuf;
- Volcano's own clientset: the program that JOBFLOW_VOLCANO_CLIENT names.

# covers: kube-api.md 18 132 133
"""
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_serve import *  # noqa: E402,F403: sys.path is set above; cases use all names

CLIENTS = os.path.join(SOURCE, "tests", "system", "clients")


def run_client(command, env=None):
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE * 3, stdin=subprocess.DEVNULL,
                          env=dict(os.environ, **(env or {})))
    if done.returncode:
        raise Failure("%s: exit code %d\n%s%s" % (os.path.basename(command[-1]), done.returncode, done.stdout, done.stderr))
    check_equal("last line", done.stdout.rstrip().splitlines()[-1], "ok")


def python_of(environ):
    python = environ.get("JOBFLOW_PYTHON", sys.executable)
    if subprocess.run([python, "-c", "import kubernetes"], capture_output=True).returncode:
        raise Skip("the Python package kubernetes is not installed; JOBFLOW_PYTHON may name an interpreter that has it")
    return python


def the_node(program):
    """Returns the command that runs the program with node; skips the case if node or the client package is missing."""
    node = shutil.which("node")
    if not node:
        raise Skip("node is not installed")
    shutil.copy(os.path.join(CLIENTS, program), program)
    modules = os.environ.get("JOBFLOW_NODE_MODULES")
    if modules:
        os.symlink(modules, "node_modules")
    if subprocess.run([node, "--input-type=module", "-e", "import '@kubernetes/client-node'"], capture_output=True).returncode:
        raise Skip("the package @kubernetes/client-node is not installed; JOBFLOW_NODE_MODULES may name where it is")
    return [node, os.path.abspath(program)]


def go_program_of(environ, folder="go", variable="JOBFLOW_GO_CLIENT"):
    """Returns the program that the variable names, or builds one from the modules in the Go module cache."""
    program = environ.get(variable)
    if program:
        return program
    if not shutil.which("go"):
        raise Skip("go is not installed")
    program = os.path.join(TMP, "client-" + folder)
    if not os.path.exists(program):
        done = subprocess.run(["go", "build", "-o", program, "."], cwd=os.path.join(CLIENTS, folder), capture_output=True, text=True,
                              env=dict(os.environ, GOPROXY="off", GOTOOLCHAIN="local"), timeout=600)
        if done.returncode:
            raise Skip("the modules of tests/system/clients/%s are not there; %s may name the program" % (folder, variable))
    return program


def the_python_client_lists_creates_patches_and_watches():
    python = python_of(os.environ)
    daemon = Daemon()
    run_client([python, os.path.join(CLIENTS, "client.py")], {"KUBECONFIG": daemon.kubeconfig})


def the_javascript_client_lists_creates_patches_and_watches():
    command = the_node("client.mjs")
    daemon = Daemon()
    run_client(command, {"KUBECONFIG": daemon.kubeconfig})


def client_go_lists_applies_and_informs():
    program = go_program_of(os.environ)
    daemon = Daemon()
    run_client([program], {"KUBECONFIG": daemon.kubeconfig})


def typed_clients_in_go_send_every_kind_as_protobuf():
    program = go_program_of(os.environ, "typed", "JOBFLOW_TYPED_CLIENT")
    daemon = Daemon()
    run_client([program], {"KUBECONFIG": daemon.kubeconfig})


def typed_clients_in_go_may_accept_nothing_but_protobuf():
    program = go_program_of(os.environ, "typed", "JOBFLOW_TYPED_CLIENT")
    daemon = Daemon()
    run_client([program, "only"], {"KUBECONFIG": daemon.kubeconfig})


def one_of_two_candidates_in_go_leads():
    program = go_program_of(os.environ)
    daemon = Daemon()
    run_client([program, "elect"], {"KUBECONFIG": daemon.kubeconfig})


def volcanos_own_clientset_and_informers_work():
    program = os.environ.get("JOBFLOW_VOLCANO_CLIENT")
    if not program:
        raise Skip("JOBFLOW_VOLCANO_CLIENT may name the program made of tests/system/clients/volcano")
    daemon = Daemon()
    run_client([program], {"KUBECONFIG": daemon.kubeconfig})


def restarted(command):
    """A watching client receives the events from before and after a restart of the daemon."""
    daemon = Daemon(listen="127.0.0.1:%d" % free_ports(1)[0])  # a fixed port, reserved so that no other test takes it during the restart
    check_equal("made", daemon.ask("POST", CM, config_map("before"))[0], 201)
    with open("client.out", "wb") as out:
        client = subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL, env=dict(os.environ, KUBECONFIG=daemon.kubeconfig))
    try:
        wait_until("the client has listed", lambda: "synced" in read("client.out") or client.poll() is not None)
        daemon.signal(9)
        daemon.wait()
        daemon = Daemon(listen="127.0.0.1:%d" % daemon.port)
        check_equal("deleted", daemon.ask("DELETE", CM + "/before")[0], 200)
        check_equal("made", daemon.ask("POST", CM, config_map("after"))[0], 201)
        wait_until("the client ends", lambda: client.poll() is not None, seconds=90 * SLOW)
    finally:
        client.kill()
        client.wait()
    check_equal("exit code, after\n" + read("client.out"), client.returncode, 0)


def a_watch_in_python_outlives_a_restart():
    restarted([python_of(os.environ), os.path.join(CLIENTS, "resync.py")])


def an_informer_in_javascript_outlives_a_restart():
    restarted(the_node("resync.mjs"))


def an_informer_in_go_outlives_a_restart():
    restarted([go_program_of(os.environ), "resync"])


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
