"""Runs tests as another user: as an ordinary user, or as one without any privilege.

Tests started by root become the user nobody (65534) here, with a copy of the program and the sources and with a HOME and TMPDIR of its own.
"""
import os
import re
import shutil
import stat
import subprocess
import sys

from lib import DEADLINE, JOBFLOW, SOURCE, TMP, Skip, check
from lib_tools import need_login

NOBODY = 65534
ORDINARY = ["setpriv", "--reuid=%d" % NOBODY, "--regid=%d" % NOBODY, "--clear-groups", "--inh-caps=-all", "--no-new-privs"]
# Command that enters a new user namespace, forbids further ones inside it, and drops all capabilities.
POWERLESS = ["unshare", "--user", "--map-root-user", "sh", "-c",
             'echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all --inh-caps=-all "$@"', "sh"]
# The same with the user's own id instead of root: sshd started by root needs more privileges.
POWERLESS_SAME_ID = ["unshare", "--user", "--map-current-user", "--keep-caps", "sh", "-c",
           'echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all --inh-caps=-all --ambient-caps=-all "$@"', "sh"]


def as_user():
    return ORDINARY if os.geteuid() == 0 else []


def with_a_shell(shell="/bin/sh"):
    """Writes a copy of /etc/passwd in which the user nobody has this login shell."""
    if os.geteuid() != 0:
        return []
    with open("/etc/passwd", encoding="utf-8") as file:
        lines = [line for line in file if line.split(":")[2] != str(NOBODY)]
    path = os.path.abspath("passwd")
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join(lines) + "somebody:x:%d:%d::/nonexistent:%s\n" % (NOBODY, NOBODY, shell))
    os.chmod(path, 0o644)
    return ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc/passwd && exec "$@"', path]


def need_login_shell():
    """Returns a prefix under which the ordinary user can log in."""
    if os.geteuid() != 0:
        need_login()
    return with_a_shell()


def user_dir():
    """Prepares a directory owned by nobody with the program, the tests and the examples; returns its environment."""
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


def need_network_of_a_user():
    if not can(as_user() + ["unshare", "--user", "--map-root-user", "--net", "ip", "link", "add", "name", "br0", "type", "bridge"]):
        raise Skip("an ordinary user cannot have a network of its own here")


def interpreter(prefix):
    """Returns a python3 that the user may read; one in another user's home directory is unreadable."""
    for candidate in ("/usr/bin/python3", sys.executable):
        if can(prefix + [candidate, "-c", "import ctypes, json, pty, subprocess"]):
            return candidate
    raise Skip("no python3 that this user may run")


def run_there(prefix, script, *cases):
    """Runs some cases of another script under `prefix`; returns its output, skipped cases included."""
    python, env = interpreter(prefix), user_dir()
    done = subprocess.run(prefix + [python, "-B", os.path.join(env["JOBFLOW_SOURCE"], "tests/system", script)] + list(cases),
                          env=env, cwd=env["TMPDIR"], capture_output=True, text=True, check=False,
                          timeout=DEADLINE * 9)  # a little less than the timeout of ctest
    if done.returncode == 77:
        raise Skip("; ".join(sorted(set(re.findall(r"skipped: (.*)", done.stdout)))))
    check(done.returncode == 0, "%s as another user:\n%s%s" % (script, done.stdout[-4000:], done.stderr[-2000:]))
    check("ok" in done.stdout, "nothing ran:\n" + done.stdout)
    return done.stdout
