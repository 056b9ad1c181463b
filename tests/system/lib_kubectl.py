"""Finds the kubectls of this machine and holds the shared code of the tests that use them."""
import glob
import json
import os
import re
import shutil
import subprocess

from lib import SLOW, Failure, Skip, check_in, flow, step, write

TIMEOUT = 60 * SLOW


def found():
    """Returns {version: path} of the kubectls in PATH, in the directory of that one, and in JOBFLOW_KUBECTLS."""
    first = shutil.which("kubectl")
    paths = [p for p in os.environ.get("JOBFLOW_KUBECTLS", "").split(":") if p]
    if first:
        paths += sorted(glob.glob(os.path.realpath(first) + ".1.*")) + [first]
    versions = {}
    for path in paths:
        done = subprocess.run([path, "version", "--client", "-o", "json"], capture_output=True, text=True, timeout=TIMEOUT,
                              env=dict(os.environ, HOME="/nonexistent", KUBECONFIG=""))
        match = re.search(r'"gitVersion": *"v(\d+)\.(\d+)', done.stdout)
        if match:
            versions.setdefault((int(match.group(1)), int(match.group(2))), path)
    if not versions:
        raise Skip("kubectl is not installed")
    return versions


class Kubectl:
    """One kubectl with its own cache directory."""

    def __init__(self, daemon, version, path):
        self.daemon, self.version, self.path = daemon, version, path
        self.cache = os.path.abspath("cache-%d.%d" % version)

    def command(self, *args):
        return [self.path, "--kubeconfig", self.daemon.kubeconfig, "--cache-dir", self.cache, *args]

    def run(self, *args, code=0, stdin=None, env=None):
        done = subprocess.run(self.command(*args), capture_output=True, text=True, timeout=TIMEOUT, input=stdin,
                              env=dict(os.environ, **(env or {})), stdin=subprocess.DEVNULL if stdin is None else None)
        if code is not None and done.returncode != code:
            raise Failure("kubectl %d.%d %s: exit code %d, wanted %d\n%s%s"
                          % (*self.version, " ".join(args), done.returncode, code, done.stdout, done.stderr))
        return done

    def out(self, *args, **rest):
        return self.run(*args, **rest).stdout

    def says(self, wanted, *args, **rest):
        done = self.run(*args, **rest)
        check_in("kubectl %d.%d %s" % (*self.version, " ".join(args)), wanted, done.stdout + done.stderr)
        return done

    def at(self, what, path, *more):
        return self.out("get", what, "-o", "jsonpath={%s}" % path, *more)


def newest(daemon):
    """Returns the kubectl whose version is nearest to the server's."""
    versions = found()
    version = min(versions, key=lambda v: (abs(v[1] - 32), v))
    return Kubectl(daemon, version, versions[version])


def oldest_and_newest(daemon):
    versions = found()
    for version in sorted({min(versions), newest(daemon).version}):
        yield Kubectl(daemon, version, versions[version])


def every(daemon):
    for version, path in sorted(found().items()):
        yield Kubectl(daemon, version, path)


def manifests(policy="delete", **annotations):
    """Writes jf.yaml: step b after step a. Their templates do not exist, so no job starts."""
    one = flow("flow1", [step("a"), step("b", ["a"])], jobRetainPolicy=policy)
    one["metadata"]["annotations"] = dict({"flow.volcano.sh/allow-updates": "true"}, **annotations)
    return one


def pod(name="p1", script="sleep 1000", **metadata):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": dict({"name": name}, **metadata),
            "spec": {"restartPolicy": "Never", "containers": [
                {"name": "c", "image": "x", "command": ["sh", "-c", script]}]}}


def objects(path, *several):
    """Wraps objects in a List, because kubectl reads a file that begins as JSON as a single document."""
    return write(path, json.dumps({"apiVersion": "v1", "kind": "List", "items": several}))
