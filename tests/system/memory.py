"""The daemon runs out of memory: it ends with a message, and the next start has everything that was acknowledged.

# covers: reliability.md FT-14 P-01; see INV-S1
"""
import http.client
import shutil
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_serve import *  # noqa: E402,F403: sys.path is set above; cases use all names

ROUNDS, LIMIT, MANY = 5, 120 << 20, 5000


def write_until_it_ends(daemon, known, value):
    connection = daemon.connect()
    try:
        for n in range(MANY):
            name = "c%d-%d" % (value, n)
            known[name] = {None, "%d" % n}
            body = config_map(name, v="%d" % n, filling="x" * 800000)
            status, text = daemon.ask("POST", CM, body, connection=connection)
            check_equal("made: %s" % text, status, 201)
            known[name] = {"%d" % n}
    except (OSError, http.client.HTTPException):
        return
    raise Failure("it never ended")


def a_daemon_out_of_memory_ends_and_loses_nothing_acknowledged():
    if os.environ.get("JOBFLOW_MODE") in ("asan", "tsan") or not shutil.which("prlimit"):
        raise Skip("memory is not limited under a sanitizer, or without prlimit")
    for turn in range(ROUNDS):
        known, data_dir = {}, "d%d" % turn
        daemon = Daemon(data_dir=data_dir, name="small%d" % turn, prefix=("prlimit", "--data=%d" % (LIMIT + (turn << 20)), "--"))
        write_until_it_ends(daemon, known, turn)
        check(daemon.wait() != 0, "it ended as if all were well")
        check_in("it says why", "memory", daemon.errors())
        again = Daemon(data_dir=data_dir, name="large%d" % turn)
        there = {o["metadata"]["name"]: o["data"]["v"] for o in again.get(CM)["items"]}
        for name, allowed in known.items():
            check(there.get(name) in allowed, "%s is %s, acknowledged was %s" % (name, there.get(name), allowed))
        check_equal("exit code", again.stop(), 0)
        shutil.rmtree(data_dir)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
