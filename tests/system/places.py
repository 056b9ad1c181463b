"""No command uses a data directory that another user made or can change.

# covers: reliability.md SEC-01
"""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_user import NOBODY, ORDINARY, can  # noqa: E402: sys.path is set above

FILE = "flow.yaml"
# Every command with a data directory; each is complete apart from it.
COMMANDS = [["run", FILE], ["get", "jf"], ["describe", "jf/f"], ["explain", "jf/f"], ["graph", "jf/f"], ["logs", "jf/f"], ["events"],
            ["wait", "jf/f"], ["delete", "jf/f"], ["suspend", "jf/f"], ["resume", "jf/f"], ["retry", "jf/f"], ["apply", "-f", FILE], ["plan", FILE],
            ["convert", "job/f-a"], ["backup", "copy.db"], ["token", "list"], ["serve"], ["vcctl", "job", "list"]]


def a_store():
    """Makes a flow and its data directory `data`."""
    manifest(FILE, template("t", "echo done"), flow("f", [step("a", template="t")]))
    jobflow("run", FILE, "--data-dir", "data")


def refused(words, wanted):
    done = jobflow(*words, "--data-dir", "data", code=None)
    check_equal("exit code of " + " ".join(words), done.returncode, 2)
    check_in("error of " + " ".join(words), wanted, done.stderr + done.stdout)


def a_directory_of_another_user_is_refused_by_every_command():
    if os.geteuid() != 0:
        raise Skip("only root can give a directory to another user")
    a_store()
    os.chown("data", NOBODY, NOBODY)
    before = sorted(os.listdir("data"))
    for words in COMMANDS:
        refused(words, "belongs to another user (uid %d)" % NOBODY)
    check_equal("what is in it", sorted(os.listdir("data")), before)
    nothing_left()


def a_directory_that_others_may_change_is_refused():
    a_store()
    os.chmod("data", 0o770)
    for words in COMMANDS:
        refused(words, "other users may write")
    os.chmod("data", 0o700)
    jobflow("get", "jf", "--data-dir", "data")


def a_symbolic_link_to_a_directory_is_refused():
    a_store()
    os.rename("data", "elsewhere")
    os.symlink("elsewhere", "data")
    for words in COMMANDS:
        refused(words, "is a symbolic link")


def doctor_names_an_unsafe_directory():
    a_store()
    os.chmod("data", 0o777)
    done = jobflow("doctor", "--data-dir", "data", code=None)
    check_in("doctor", "other users may write", done.stdout)


def a_listener_of_another_user_is_not_asked():
    if os.geteuid() != 0 or not can(ORDINARY + ["true"]):
        raise Skip("only root can become another user")
    os.chmod(".", 0o755)
    os.mkdir("open", 0o777)
    os.chmod("open", 0o777)
    script = ("import socket,sys\ns = socket.socket(socket.AF_UNIX)\ns.bind('open/api.sock')\ns.listen()\nprint('ready', flush=True)\n"
              "sys.stdin.read()\n")
    with subprocess.Popen(ORDINARY + [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as listener:
        check_equal("listens", listener.stdout.readline(), "ready\n")
        os.chmod("open", 0o700)
        done = jobflow("get", "jf", "--data-dir", "open", code=2)
        listener.stdin.close()
    check_in("error", "a process of another user listens", done.stderr)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
