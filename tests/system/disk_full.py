"""The disk fills up under a running daemon and is freed again: the daemon refuses writes, answers reads, and loses nothing.

JOBFLOW_FILLS sets the number of rounds (8); JOBFLOW_SEED repeats their timing. Needs root, to mount a file system of its own.

# covers: reliability.md FT-11 FT-35 D-08 L-21 P-01
"""
import contextlib
import os
import random
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_serve import *  # noqa: E402,F403: sys.path is set above; cases use all names

FILLS = int(os.environ.get("JOBFLOW_FILLS", "8"))
SEED = int(os.environ.get("JOBFLOW_SEED", "0")) or random.SystemRandom().randrange(1 << 32)
SIZE = 64 << 20
SMALL = 15 << 20  # less than the store's reserve


@contextlib.contextmanager
def small_disk(size):
    os.mkdir("small")
    if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%d" % size, "none", "small"], stderr=subprocess.DEVNULL,
                                      check=False).returncode:
        raise Skip("no file system can be mounted here")
    try:
        yield
    finally:
        kill_rest()
        wait_until("the disk is given up", lambda: subprocess.run(["umount", "small"], stderr=subprocess.DEVNULL, check=False).returncode == 0)


def fill(left):
    """Fills the file system from outside the daemon until `left` bytes are free."""
    with open("small/ballast", "wb", buffering=0) as ballast:
        free = os.statvfs("small").f_bavail * os.statvfs("small").f_frsize
        os.posix_fallocate(ballast.fileno(), 0, max(1, free - left))


def fill_up():
    """Fills the file system completely, including space that is freed meanwhile."""
    with open("small/ballast", "wb", buffering=0) as ballast, contextlib.suppress(OSError):
        while ballast.write(b"x" * 4096):
            pass


def write_until_refused(daemon, connection, known, value):
    """Creates objects until a write fails; returns the status code of that write."""
    for n in range(20000):
        name = "c%d" % (n % 500)
        body = config_map(name, v="%s-%d-%s" % (value, n, "x" * 2000))
        status, text = (daemon.ask("PUT", CM + "/" + name, body, connection=connection) if name in known
                        else daemon.ask("POST", CM, body, connection=connection))
        if status not in (200, 201):
            return status, text
        known[name] = body["data"]["v"]
    raise Failure("the disk is never full")


def stored(daemon):
    return {o["metadata"]["name"]: o["data"]["v"] for o in daemon.get(CM)["items"]}


def log_trimmed():
    """Whether the write-ahead log has given back the space of the reserve."""
    return os.stat("small/d/store.db-wal").st_blocks * 512 < 1 << 20


def a_full_disk_stops_writes_and_nothing_else():
    rng, known = random.Random(SEED), {}
    with small_disk(SIZE):
        daemon = Daemon(data_dir="small/d")
        connection = daemon.connect()
        for n in range(2 * FILLS):  # some are deleted later: deletion must work on a full disk
            check_equal("made", daemon.ask("POST", CM, config_map("c%d" % n, v="first"), connection=connection)[0], 201)
            known["c%d" % n] = "first"
        for turn in range(FILLS):
            fill(rng.randrange(0, 1 << 20))
            status, text = write_until_refused(daemon, connection, known, turn)
            check_equal("fill %d: %s" % (turn, text), status, 507)
            check_equal("reading goes on", stored(daemon), known)
            gone = sorted(known)[rng.randrange(len(known))]
            check_equal("deletes work", daemon.ask("DELETE", CM + "/" + gone, connection=connection)[0], 200)
            del known[gone]
            os.unlink("small/ballast")
            first, value = sorted(known)[0], "room-%d" % turn
            wait_until("writes go on when there is room", lambda: daemon.ask("PUT", CM + "/" + first, config_map(first, v=value))[0] == 200)
            known[first] = value
            check(daemon.running(), "it was not restarted")
            wait_until("the log has given back the space of the reserve", log_trimmed)  # the next round fills the disk as this one did
        daemon.stop(9)
        again = Daemon(data_dir="small/d", name="again")
        check_equal("after a kill", stored(again), known)
        again.stop()
        print("    seed %d: full %d times" % (SEED, FILLS))


def fill_more():
    """Takes the space that was freed since the disk was filled."""
    with open("small/ballast", "ab", buffering=0) as ballast, contextlib.suppress(OSError):
        while ballast.write(b"x" * 4096):
            pass


def deletable(daemon, known, what):
    gone = sorted(known)[0]
    check_equal("%s: deletes work" % what, daemon.ask("DELETE", CM + "/" + gone)[0], 200)
    del known[gone]


def a_restart_on_a_full_disk_reads_deletes_and_recovers():
    """However the daemon ended, and with every byte taken that the disk has in between."""
    known = {}
    with small_disk(SIZE):
        daemon = Daemon(data_dir="small/d")
        for n in range(60):
            check_equal("made", daemon.ask("POST", CM, config_map("c%d" % n, v="first"))[0], 201)
            known["c%d" % n] = "first"
        fill_up()
        write_until_refused(daemon, daemon.connect(), known, "full")
        fill_more()
        deletable(daemon, known, "before")
        for turn, how in enumerate((9, 15, 9, 9, 15)):
            what = "restart %d after signal %d" % (turn, how)
            daemon.stop(how)
            fill_more()
            daemon = Daemon(data_dir="small/d", name="restart-%d" % turn)
            check_equal(what + ": reads", stored(daemon), known)
            check_equal(what + ": writes", daemon.ask("POST", CM, config_map("new", v="x" * 2000))[0], 507)
            for _ in range(3):
                fill_more()
                deletable(daemon, known, what)
        os.unlink("small/ballast")
        wait_until("writes go on when there is room", lambda: daemon.ask("POST", CM, config_map("later", v="l"))[0] == 201)
        known["later"] = "l"
        wait_until("the log has given back the space of the reserve", log_trimmed)
        daemon.stop(9)
        again = Daemon(data_dir="small/d", name="again")
        check_equal("in the end", stored(again), known)
        again.stop()


def a_run_on_a_full_disk_can_be_interrupted_and_goes_on_later():
    with small_disk(SMALL):
        steps = [step("a", script="touch started; while [ ! -e go ]; do sleep 0.01; done")]
        steps += [step("s%d" % i, after=["a"], template="a") for i in range(300)]
        manifest("f.yaml", flow("f", steps), template("a"))
        run = Background("run", "--data-dir", "small/d", "--output", "quiet", "f.yaml")
        wait_until("step a is at work", lambda: os.path.exists("started"))
        fill_up()
        write("go", "")
        wait_until("the disk is full", lambda: "disk full" in run.errors())
        run.signal(signal.SIGINT)
        check_equal("exit code", run.wait(), 130)
        for word in ("status not written", "could not be written", "write refused"):
            check(word not in run.errors(), "others than the store complain: " + run.errors())
        os.unlink("small/ballast")
        jobflow("run", "--data-dir", "small/d", "f.yaml")


def a_daemon_that_refuses_an_abort_keeps_its_flow():
    with small_disk(SIZE):
        manifest("f.yaml", flow("f", [step("a")]), template("a", "touch began; while [ ! -e go ]; do sleep 0.02; done"))
        daemon = Daemon(data_dir="small/d")
        run = Background("run", "--data-dir", "small/d", "-o", "plain", "f.yaml", name="run")
        wait_until("a is at work", lambda: os.path.exists("began"))
        fill_up()
        write_until_refused(daemon, daemon.connect(), {}, "a")
        run.signal(signal.SIGINT)
        check_equal("exit code", run.wait(), 130)
        check_in("why", "cannot stop it: ", run.output())
        check_in("what now", "it goes on in the daemon: 'jobflow abort' ends it", run.output())
        os.unlink("small/ballast")
        write("go", "")
        wait_until("the flow succeeds", lambda: jobflow(
            "get", "jf/f", "--data-dir", "small/d", "-o", "jsonpath={.status.state.phase}").stdout == "Succeed")


def what_an_interrupt_ends_on_a_full_disk_is_run_again():
    """The decision to end the pods cannot be stored; they must not count as failed, whatever a policy says about failures."""
    long = task("main", "echo run >> runs; test -e again || { touch started; exec sleep 1000; }")
    long["policies"] = [{"events": ["PodFailed", "PodEvicted"], "action": "TerminateJob"}]
    for name, more in (("plain", []), ("sandboxed", ["--isolation", "auto"])):
        for file in ("runs", "again", "started"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(file)
        with small_disk(SMALL):
            steps = [step("long"), step("s")] + [step("t%d" % i, after=["s"], template="s") for i in range(300)]
            manifest("f.yaml", flow("f", steps), template("long", tasks=[long]),
                     template("s", "until [ -e go ]; do sleep 0.01; done"))
            run = Background("run", "--data-dir", "small/d", "--output", "quiet", *more, "f.yaml", name=name)
            wait_until("the long step is at work", lambda: os.path.exists("started"))
            fill_up()
            write("go", "")
            wait_until("the disk is full", lambda: "disk full" in run.errors())
            run.signal(signal.SIGINT)
            check_equal("exit code", run.wait(), 130)
            os.unlink("small/ballast")
            write("again", "")
            jobflow("run", "--data-dir", "small/d", *more, "f.yaml")
            check_equal("%s: once for each run" % name, read("runs"), "run\n" * 2)
        os.unlink("go")
        os.rmdir("small")


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
