"""For tests that become somebody else: an ordinary user, or one who may do nothing at all.

Started by root these become nobody (65534), with a program, sources, HOME and TMPDIR of nobody's own.
"""
import os
import shutil
import stat
import subprocess
import sys

from lib import DEADLINE, JOBFLOW, SOURCE, TMP, Skip, check

NOBODY = 65534
ORDINARY = ["setpriv", "--reuid=%d" % NOBODY, "--regid=%d" % NOBODY, "--clear-groups", "--inh-caps=-all", "--no-new-privs"]
# In a user namespace of its own, in which there may be no further one, and without any capability.
POWERLESS = ["unshare", "--user", "--map-root-user", "sh", "-c",
             'echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all --inh-caps=-all "$@"', "sh"]
# The same as himself: sshd of root wants more of the machine.
HIMSELF = ["unshare", "--user", "--map-current-user", "--keep-caps", "sh", "-c",
           'echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all --inh-caps=-all --ambient-caps=-all "$@"', "sh"]


def as_user():
    return ORDINARY if os.geteuid() == 0 else []


def with_a_shell():
    """Nobody may log in as nobody; where this is read as /etc/passwd he is somebody."""
    if os.geteuid() != 0:
        return []
    with open("/etc/passwd", encoding="utf-8") as file:
        lines = [line for line in file if line.split(":")[2] != str(NOBODY)]
    path = os.path.abspath("passwd")
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join(lines) + "somebody:x:%d:%d::/nonexistent:/bin/sh\n" % (NOBODY, NOBODY))
    os.chmod(path, 0o644)
    return ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc/passwd && exec "$@"', path]


def place():
    """A directory of nobody's with the program, the tests and the examples; its environment."""
    os.chmod(TMP, stat.S_IMODE(os.stat(TMP).st_mode) | 0o011)
    path = os.getcwd()
    for name in ("tests/system", "examples", "docs"):
        shutil.copytree(os.path.join(SOURCE, name), os.path.join(path, "source", name), ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"):
        shutil.copy(os.path.join(SOURCE, name), os.path.join(path, "source", name))
    shutil.copy(JOBFLOW, os.path.join(path, "jobflow"))
    os.mkdir("home")
    os.mkdir("tmp")
    for root, dirs, files in os.walk(path):
        for name in dirs + files:
            os.chmod(os.path.join(root, name), 0o755)
    if os.geteuid() == 0:
        for name in (path, "home", "tmp"):
            os.chown(name, NOBODY, NOBODY)
    return dict(os.environ, JOBFLOW=os.path.join(path, "jobflow"), JOBFLOW_SOURCE=os.path.join(path, "source"),
                JOBFLOW_KILLS="4", HOME=os.path.join(path, "home"), TMPDIR=os.path.join(path, "tmp"), LANG="C.UTF-8")


def can(command_line):
    return subprocess.run(command_line, capture_output=True, check=False, cwd="/").returncode == 0


def interpreter(prefix):
    """A python3 that user may read: one in somebody's home directory is none."""
    for candidate in ("/usr/bin/python3", sys.executable):
        if can(prefix + [candidate, "-c", "import ctypes, json, pty, subprocess"]):
            return candidate
    raise Skip("no python3 that this user may run")


def run_there(prefix, script, *cases):
    """Some cases of another script under `prefix`; what it printed, skipped cases among it."""
    python, env = interpreter(prefix), place()
    done = subprocess.run(prefix + [python, "-B", os.path.join(env["JOBFLOW_SOURCE"], "tests/system", script)] + list(cases),
                          env=env, cwd=env["TMPDIR"], capture_output=True, text=True, check=False,
                          timeout=DEADLINE * 9)  # ctest itself waits a little longer
    check(done.returncode == 0, "%s as another user:\n%s%s" % (script, done.stdout[-4000:], done.stderr[-2000:]))
    check("ok" in done.stdout, "nothing ran:\n" + done.stdout)
    return done.stdout
