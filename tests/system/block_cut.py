"""Cuts the power at any write that reaches the disk: the disk is a device of our own in user space (lib_disk), which records each write.

A daemon does everything that it must not forget at once: clients write objects, pods end, tokens are made. Then the disk is
set up as it would be after a power failure at some write: all writes up to the last flush, and all, none or part of those since. A
daemon that starts on it must have everything that was acknowledged before that moment.

JOBFLOW_CUTS sets the number of failures (8, 400 with CHECK_LONG), JOBFLOW_SEED repeats them. Needs root, /dev/fuse, loop devices and the
program that makes the file system.

# covers: reliability.md FT-03 FT-04 P-01 P-02 P-09 INV-N2 D-10
"""
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403
from lib_disk import Disk, after_cut  # noqa: E402
from lib_serve import *  # noqa: E402,F403
from power_cut import own_mounts  # noqa: E402

CUTS = int(os.environ.get("JOBFLOW_CUTS", "400" if os.environ.get("CHECK_LONG") else "8"))
SEED = int(os.environ.get("JOBFLOW_SEED", "0")) or random.SystemRandom().randrange(1 << 32)
WRITERS, NAMES, WRITES, PODS, TOKENS = 3, 3, 40, 5, 2
SIZES = {"ext4": 128 << 20, "xfs": 320 << 20, "btrfs": 256 << 20}
JOBS = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs"
PODS_OF = "/api/v1/namespaces/default/pods"


class Life:
    """What a daemon on the disk was asked for, with the positions in the disk's log at which it was asked and answered."""

    def __init__(self, disk, daemon):
        self.disk, self.daemon, self.lock = disk, daemon, threading.Lock()
        self.writes = {}  # name → [(asked, answered, value)], one after the other
        self.ended, self.tokens, self.failures = [], [], []

    def now(self):
        with self.lock:
            return self.disk.position()

    def write_on(self, k, rng):
        try:
            connection, there = self.daemon.connect(), set()
            for i in range(WRITES):
                name, asked = "w%d-%d" % (k, rng.randrange(NAMES)), self.now()
                value = "%d" % i
                if name not in there:
                    how = ("POST", CM, config_map(name, v=value))
                elif rng.random() < 0.2:
                    how, value = ("DELETE", CM + "/" + name, None), None
                else:
                    how = ("PUT", CM + "/" + name, config_map(name, v=value))
                status, text = self.daemon.ask(*how, connection=connection)
                check(status in (200, 201), "%s: %d %s" % (how[:2], status, text))
                there.symmetric_difference_update({name} if (value is None) == (name in there) else ())
                self.writes.setdefault(name, []).append((asked, self.now(), value))
        except Exception as error:  # pylint: disable=broad-except
            self.failures.append(error)

    def run_pods(self):
        try:
            for i in range(PODS):
                job = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "p%d" % i},
                       "spec": {"minAvailable": 1, "tasks": [task("t", "sleep 0.%d; exit %d" % (i, i))]}}
                status, text = self.daemon.ask("POST", JOBS, job)
                check_equal(text, status, 201)
            while len(self.ended) < PODS:
                for pod in self.daemon.get(PODS_OF)["items"]:
                    name, code = pod["metadata"]["name"], exit_code(pod)
                    if code is not None and name not in [n for _, n, _ in self.ended]:
                        self.ended.append((self.now(), name, code))
                time.sleep(0.02)
        except Exception as error:  # pylint: disable=broad-except
            self.failures.append(error)

    def make_tokens(self):
        for i in range(TOKENS):
            made = jobflow("token", "create", "t%d" % i, "--role", "viewer", "--data-dir", self.daemon.data_dir)
            self.tokens.append((self.now(), made.stdout.strip().splitlines()[-1]))

    def go(self, rng):
        threads = [threading.Thread(target=self.write_on, args=(k, random.Random(rng.getrandbits(32)))) for k in range(WRITERS)]
        threads.append(threading.Thread(target=self.run_pods))
        for thread in threads:
            thread.start()
        self.make_tokens()
        for thread in threads:
            thread.join()
        for failure in self.failures:
            raise failure

    def may_be(self, name, end):
        """The values that the object may have after a power failure at that position; None: it does not exist."""
        values = {None}
        for asked, answered, value in self.writes[name]:
            if answered <= end:
                values = {value}
            elif asked <= end:
                values.add(value)
        return values


def exit_code(pod):
    state = (pod.get("status", {}).get("containerStatuses") or [{}])[0].get("state", {})
    return state.get("terminated", {}).get("exitCode")


def kill_all_but(process):
    for pid in descendants():
        if pid != process.pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def look_after(life, path, end):
    """Starts a daemon on what a power failure at that position left."""
    daemon = Daemon(data_dir=path + "/d", name="after%d" % end)
    there = {o["metadata"]["name"]: o["data"]["v"] for o in daemon.get(CM)["items"] if o["metadata"]["name"].startswith("w")}
    for name in life.writes:
        check(there.get(name) in life.may_be(name, end), "cut at %d: %s is %s, not one of %s" %
              (end, name, there.get(name), life.may_be(name, end)))
    pods = {p["metadata"]["name"]: p for p in daemon.get(PODS_OF)["items"]}
    for seen, name, code in life.ended:
        if seen <= end:
            check_equal("cut at %d: the exit code of %s" % (end, name), exit_code(pods[name]), code)
    for made, token in life.tokens:
        if made <= end:
            check_equal("cut at %d: a token" % end, daemon.ask("GET", CM, token=token)[0], 200)
    check_equal("it takes writes", daemon.ask("POST", CM, config_map("after"))[0], 201)
    daemon.stop(signal.SIGKILL)


def cut_at(life, disk, log, end, rng):
    shutil.copyfile(disk.image, "cut")
    with open("cut", "r+b") as image:
        for offset, data in after_cut(log, end, rng):
            image.seek(offset)
            image.write(data)
    subprocess.run(["mount", "-o", "loop", "cut", "after"], check=True)
    try:
        if os.path.exists("after/d/store.db"):
            look_after(life, "after", end)
    finally:
        kill_all_but(disk.server)
        wait_until("it is unmounted", lambda: subprocess.run(["umount", "after"], stderr=subprocess.DEVNULL, check=False).returncode == 0)


def ends_of(life, positions, rng):
    """Where the disk is cut off: half of the positions follow an answer, where a lost write shows most surely."""
    answered = sorted({answered for writes in life.writes.values() for _, answered, _ in writes})
    ends = set(rng.sample(answered, min(CUTS // 2, len(answered))))
    others = [at for at in positions if at not in ends]
    return sorted(ends | set(rng.sample(others, min(CUTS - len(ends), len(others)))))


def cut_everywhere(kind, *args):
    if os.geteuid() or not os.path.exists("/dev/fuse"):
        raise Skip("needs root and /dev/fuse")
    if not shutil.which("mkfs." + kind) or "\t%s\n" % kind not in read("/proc/filesystems"):
        raise Skip("no mkfs.%s, or the kernel has no %s" % (kind, kind))
    own_mounts()
    rng, disk = random.Random(SEED), Disk(kind, SIZES[kind], "disk")
    os.mkdir("after")
    try:
        began = disk.position()
        life = Life(disk, Daemon(*args, data_dir="disk/d"))
        life.go(rng)
        kill_all_but(disk.server)
        log = disk.log()
    finally:
        kill_all_but(disk.server)
        disk.leave()  # a second file system of the same name could not be mounted beside it
    ends = ends_of(life, range(began, len(log) + 1), rng)
    for end in ends:
        cut_at(life, disk, log, end, rng.choice([None, rng]))
    print("    seed %d: %s, %d writes, cut at %d" % (SEED, kind, len(log), len(ends)))


def what_was_acknowledged_is_on_an_ext4_that_was_cut_off():
    cut_everywhere("ext4")


def what_was_acknowledged_is_on_an_xfs_that_was_cut_off():
    cut_everywhere("xfs")


def what_was_acknowledged_is_on_a_btrfs_that_was_cut_off():
    cut_everywhere("btrfs")


def what_is_not_flushed_is_lost_and_that_is_seen():
    try:
        cut_everywhere("ext4", "--durability", "relaxed")
    except Failure as failure:
        check_in("what was seen", "cut at", str(failure))
        return
    raise Failure("nothing was lost without flushes: the disk was never cut off")


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
