"""One write, sync, extension or allocation of the daemon fails, before, during or after it has started: it reads and deletes, or it
ends and says why; it is well again by itself or with the next start; nothing that was acknowledged is lost.

JOBFLOW_SEED repeats a run; JOBFLOW_POINTS sets how many points of each kind are tried (6).

# covers: reliability.md FT-35 FT-02 FT-13 D-04 D-08 P-01
"""
import base64
import errno
import http.client
import os
import random
import re
import shutil
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_serve import *  # noqa: E402,F403

LIBRARY = os.environ.get("JOBFLOW_SYSCALLS", "")
POINTS = int(os.environ.get("JOBFLOW_POINTS", "6"))
SEED = int(os.environ.get("JOBFLOW_SEED", "0")) or random.SystemRandom().randrange(1 << 32)
WRITES, ALLOCATIONS = 60, 40000  # more than a start and the requests below need
OBJECTS = 8


def made_store():
    """Makes a store in `made`; returns what it has."""
    if not os.path.exists(LIBRARY):
        raise Skip("nothing is preloaded into a program with sanitizers")
    daemon, known = Daemon(data_dir="made", name="made"), {}
    for n in range(OBJECTS):
        check_equal("made", daemon.ask("POST", CM, config_map("c%d" % n, v="first"))[0], 201)
        known["c%d" % n] = "first"
    daemon.stop(9)
    return known


def stored(daemon):
    return {o["metadata"]["name"]: o["data"]["v"] for o in daemon.get(CM)["items"]}


def changed(daemon, method, name, body, known, unsure):
    """Sends a change. An answer of success makes it known; without an answer the object may be in either state."""
    path = CM if method == "POST" else CM + "/" + name
    try:
        status = daemon.ask(method, path, body)[0]
    except (OSError, http.client.HTTPException):
        unsure.add(name)
        return None
    if status in (200, 201):
        known.pop(name, None)
        if body:
            known[name] = body["data"]["v"]
    elif status >= 500:
        unsure.add(name)
    return status


def as_known(what, daemon, known, unsure):
    found = stored(daemon)
    for name in set(found) | set(known):
        if name not in unsure:
            check_equal("%s: %s" % (what, name), found.get(name), known.get(name))


def ends_well(what, daemon):
    """The daemon has ended because of the fault: with an exit code and words that say so, not with a signal of a crash."""
    code = daemon.wait()
    check(code > 0 or code == -6 and "memory" in daemon.errors(), "%s: exit code %d: %s" % (what, code, daemon.errors()))
    check(daemon.errors().strip(), what + ": it ended without a word")


def one_fault(made, what, variables):
    """Starts a daemon with the fault, changes something, and starts it again without. Returns whether the first one lived on."""
    known, unsure = dict(made), set()
    shutil.rmtree("d", ignore_errors=True)
    shutil.copytree("made", "d", symlinks=True, ignore=shutil.ignore_patterns("api.sock", "ctl"))
    os.chmod("d", 0o700)
    daemon = Daemon(name=what, ready=False, env=dict(variables, LD_PRELOAD=LIBRARY))
    wait_until("%s: it serves or ends" % what, lambda: "serving on" in daemon.output() or not daemon.running())
    lives = daemon.running()
    if lives:
        daemon = attach(daemon, what)
        lives_as_known(what, daemon, known, unsure)
        for n in range(3):
            changed(daemon, "DELETE", "c%d" % n, None, known, unsure)
            changed(daemon, "POST", "n%d" % n, config_map("n%d" % n, v="new"), known, unsure)
        lives = lives_as_known(what, daemon, known, unsure)
    lives = lives and well_again(what, daemon, known, unsure)
    if lives:
        daemon.stop()
    else:
        ends_well(what, daemon)
    again = Daemon(name=what + "-again")
    as_known(what + ", afterwards", again, known, unsure)
    check_equal("%s: and writes" % what, again.ask("POST", CM, config_map("last", v="l"))[0], 201)
    again.stop()
    return lives


def well_again(what, daemon, known, unsure):
    """Waits until the daemon stores something new, and returns whether it does. A late fault may end the daemon here, too."""
    def stores_or_ended():
        return changed(daemon, "POST", "later", config_map("later", v="l"), known, unsure) in (201, 409) or not daemon.running()

    wait_until("%s: well again" % what, stores_or_ended)
    return daemon.running()


def attach(daemon, name):
    """Completes a Daemon that was not waited for."""
    found = re.search(r"https://([^ ]+):(\d+) ", daemon.output())
    daemon.port = int(found.group(2))
    text = read("d/kubeconfig")
    daemon.token = re.search(r"token: (\S+)", text).group(1)
    daemon.ca = base64.b64decode(re.search(r"certificate-authority-data: (\S+)", text).group(1)).decode()
    return daemon


def daemon_lives(daemon):
    """Whether the daemon answers. One that is about to end is waited for; a connection that had no memory is made again."""
    def found():
        try:
            return daemon.ask("GET", "/livez")[0] == 200
        except (OSError, http.client.HTTPException):
            return not daemon.running()

    wait_until("it answers or ends", found)
    return daemon.running()


def lives_as_known(what, daemon, known, unsure):
    """Checks what a daemon serves that lives, and returns whether it does. The fault may end one connection; the next one works."""
    try:
        as_known(what, daemon, known, unsure)
    except (OSError, http.client.HTTPException):
        if daemon_lives(daemon):
            as_known(what, daemon, known, unsure)
    return daemon_lives(daemon)


def every(points, title, variables_of):
    rng, made = random.Random(SEED), made_store()
    lived = 0
    for n in sorted(rng.sample(range(1, points + 1), min(POINTS, points))):
        lived += one_fault(made, "%s-%d" % (title, n), variables_of(n))
    print("    seed %d: it lived on after %d of %d faults" % (SEED, lived, min(POINTS, points)))


def a_write_that_finds_the_disk_full_loses_nothing():
    every(WRITES, "full", lambda n: {"SYSCALLS_FAIL_AT": str(n), "SYSCALLS_ERROR": str(errno.ENOSPC)})


def a_write_that_fails_loses_nothing():
    every(WRITES, "broken", lambda n: {"SYSCALLS_FAIL_AT": str(n), "SYSCALLS_ERROR": str(errno.EIO)})


def an_allocation_that_fails_loses_nothing():
    every(ALLOCATIONS, "memory", lambda n: {"SYSCALLS_NOMEM_AT": str(n)})


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
