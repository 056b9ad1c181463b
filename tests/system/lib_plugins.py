"""Shared code of the tests of job plugins: job manifests, runs, a daemon, and a check that the host's files stay unchanged."""
import functools
import glob
import hashlib
import re
import stat

from lib import *  # noqa: F403: callers use all names
from lib_tools import *  # noqa: F403: callers use all names


def job(name, tasks, **spec):
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": name, "namespace": "default"},
            "spec": dict({"tasks": tasks}, **spec)}


def on(event, action, **more):
    return dict({"event": event, "action": action}, **more)


def python_task(name, code, replicas=1, **pod):
    made = task(name, "", replicas, **pod)
    made["template"]["spec"]["containers"][0]["command"] = [PYTHON, "-u", "-c", code]
    return made


def run_jobs(*jobs, code=0, env=None, options=()):
    """Runs the jobs and returns the output of their pods; each line begins with the pod's name."""
    manifest("jobs.yaml", *jobs)
    return jobflow("run", "-o", "plain", "--logs", *options, "jobs.yaml", code=code, env=env).stdout


def digest(path):
    """A digest of the names, modes and contents of a tree. An absent tree has a digest as well."""
    sum_ = hashlib.sha256()
    for found in [path] + sorted(glob.glob(os.path.join(path, "**"), recursive=True, include_hidden=True)):
        if os.path.lexists(found):
            info = os.lstat(found)
            sum_.update(("%s %o %d %d\n" % (found, info.st_mode, info.st_size, info.st_mtime_ns)).encode())
            if stat.S_ISREG(info.st_mode):
                with open(found, "rb") as file:
                    sum_.update(file.read())
    return sum_.hexdigest()


# covers: job-plugins.md PLG-143
def untouched(case):
    """Wraps a case: after it the host has no /etc/volcano and its /root/.ssh is unchanged."""
    @functools.wraps(case)
    def around():
        before = digest("/root/.ssh")
        case()
        check(not os.path.exists("/etc/volcano"), "the host has no /etc/volcano")
        check_equal("/root/.ssh of the host", digest("/root/.ssh"), before)
        nothing_left()

    return around


def need_sshd():
    need_sshd_program()
    if os.geteuid() != 0:
        raise Skip("sshd of a pod needs port 22, which a run started by root may give it")


def level():
    found = re.search(r"isolation +(\w+):", jobflow("doctor", code=None).stdout)
    return found.group(1) if found else "plain"


def need_sandboxed_pods():
    """Skips the case at level plain, where mounts are links and there is no sandbox to attack."""
    if level() == "plain":
        raise Skip("pods have no file system of their own here")


def need_plain():
    if level() != "plain":
        raise Skip("pods have a file system of their own here (powerless.py takes that away)")


def need_private_network():
    """Skips the case where `run --network private` does not work for this user."""
    need_sandboxed_pods()
    found = jobflow("run", "--network", "private", "--data-dir", "try",
                    manifest("none.yaml", flow("f", [step("s", template="t")]), template("t")), code=None)
    if found.returncode:
        raise Skip("no private network here: " + found.stderr.strip())


class Daemon:
    """`jobflow serve` on its unix socket only, with a client for it."""

    def __init__(self, *flags):
        self.process = Background("serve", "--data-dir", "data", "--listen", "none", *flags, name="serve")
        wait_until("the daemon serves", lambda: os.path.exists("data/api.sock"))

    def __call__(self, *args, code=0):
        return jobflow(args[0], "--data-dir", "data", *args[1:], code=code)

    def apply(self, *objects):
        manifest("apply.yaml", *objects)
        return self("apply", "-f", "apply.yaml")

    def get(self, what):
        return json.loads(self("get", what, "-o", "json").stdout)

    def stop(self):
        self.process.signal(signal.SIGTERM)
        self.process.wait()
