"""A pod has a session keyring of its own: it finds neither the keys of the user that started the daemon nor those of another pod.

# covers: reliability.md SEC-16
"""
import ctypes
import os
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_plugins import need_sandboxed_pods  # noqa: E402: sys.path is set above
from lib_serve import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_tools import need_modules  # noqa: E402: sys.path is set above

SYS_ADD_KEY, SYS_KEYCTL = {"x86_64": (248, 250), "aarch64": (217, 219)}.get(os.uname().machine, (None, None))
JOIN, SEARCH, SESSION = 1, 10, -3
libc = ctypes.CDLL(None, use_errno=True)
# Tells whether it finds each key that it is asked for, then adds one.
PROGRAM = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
for name in ("starter", "pod"):
    print(name, libc.syscall(%d, %d, %d, b"user", name.encode(), 0) >= 0)
libc.syscall(%d, b"user", b"pod", b"secret", 6, %d)
print("added", libc.syscall(%d, %d, %d, b"user", b"pod", 0) >= 0)
""" % (SYS_KEYCTL or 0, SEARCH, SESSION, SYS_ADD_KEY or 0, SESSION, SYS_KEYCTL or 0, SEARCH, SESSION)
NOTHING = "starter False\npod False\nadded True\n"
NOT_EVEN_ADDED = NOTHING.replace("added True", "added False")  # programs are filtered (docs/limits.md)


def give_key(name):
    """Gives this process a session keyring with a key, which it passes on to the programs that it starts."""
    need_modules("ctypes")
    if SYS_KEYCTL is None or libc.syscall(SYS_KEYCTL, JOIN, None) < 0 or libc.syscall(SYS_ADD_KEY, b"user", name, b"secret", 6, SESSION) < 0:
        raise Skip("this kernel gives no session keyring: errno %d" % ctypes.get_errno())


def pods(*names):
    return [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"restartPolicy": "Never", "containers": [
        {"name": "c", "command": ["/usr/bin/python3", "-c", PROGRAM]}]}} for name in names]


def finds_nothing(*args, wanted=NOTHING):
    give_key(b"starter")
    daemon = Daemon(*args)
    for pod in pods("one", "two"):
        name = pod["metadata"]["name"]
        check_equal("made", daemon.ask("POST", "/api/v1/namespaces/default/pods", pod)[0], 201)
        wait_until(name + " ends", lambda: daemon.get("/api/v1/namespaces/default/pods/" + name).get("status", {}).get("phase") in ("Succeeded", "Failed"))
        check_equal("what %s finds" % name, daemon.ask("GET", "/api/v1/namespaces/default/pods/%s/log" % name)[1], wanted)
    daemon.stop()
    nothing_left()


def plain_pods_of_a_daemon_find_no_foreign_keys():
    finds_nothing()


def sandboxed_pods_find_no_foreign_keys():
    need_sandboxed_pods()
    finds_nothing("--isolation", "user")


def sandboxed_pods_of_root_find_no_foreign_keys():
    need_sandboxed_pods()
    if os.geteuid() != 0:
        raise Skip("levels mounts and full need root")
    for level in ("mounts", "full"):
        fresh_dir(level)
        finds_nothing("--isolation", level, wanted=NOT_EVEN_ADDED if level == "full" else NOTHING)


def plain_pods_of_a_run_keep_the_keyring_of_the_shell():
    """The flow is the user's own, and so are the tickets of Kerberos in the keyring (docs/limits.md)."""
    give_key(b"starter")
    file = manifest("flow.yaml", {"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow", "metadata": {"name": "f"}, "spec": {
        "flows": [{"name": "a", "jobTemplateName": "t"}]}}, {"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobTemplate", "metadata": {"name": "t"},
        "spec": {"tasks": [{"name": "t", "replicas": 1, "template": {"spec": {"restartPolicy": "Never", "containers": [
            {"name": "c", "command": ["/usr/bin/python3", "-c", PROGRAM]}]}}}]}})
    check_in("found", "starter True", jobflow("run", "--logs", file).stdout)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
