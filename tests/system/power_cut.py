"""Simulates a power failure under a running daemon: its file system (ext4 on a loop device) discards all data that was not synced.

After the next start every acknowledged write is present. With --durability relaxed the same check finds a loss, which proves
that the file system does discard data. JOBFLOW_CUTS sets the number of failures (20), JOBFLOW_SEED repeats their timing.
Needs root, loop devices and mkfs.ext4.

# covers: reliability.md FT-03 FT-04 P-01 P-02 D-01
"""
import contextlib
import ctypes
import fcntl
import os
import random
import shutil
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_serve import *  # noqa: E402,F403: sys.path is set above; cases use all names
from serve_kill import WRITERS, Writer, settle  # noqa: E402: sys.path is set above

CUTS = int(os.environ.get("JOBFLOW_CUTS", "20"))
SEED = int(os.environ.get("JOBFLOW_SEED", "0")) or random.SystemRandom().randrange(1 << 32)
EXT4_IOC_SHUTDOWN, WITHOUT_LOG, CLONE_NEWNS = 0x8004587D, 2, 0x20000


def own_mounts():
    """Enters a private mount namespace. In a shared one, copies made by other processes would keep the disk mounted."""
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS):
        raise Skip("no mounts of its own: %s" % os.strerror(ctypes.get_errno()))
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)


class Disk:
    """A mounted file system that can lose its power."""

    def __init__(self):
        self.path = os.path.abspath("disk")
        if os.geteuid() or not shutil.which("mkfs.ext4"):
            raise Skip("needs root and mkfs.ext4")
        own_mounts()
        with open("image", "wb") as image:
            image.truncate(128 << 20)
        subprocess.run(["mkfs.ext4", "-q", "-F", "image"], check=True)
        os.mkdir(self.path)
        if not self.switch_on():
            raise Skip("no file system can be mounted here")

    def switch_on(self):
        return subprocess.run(["mount", "-o", "loop", "image", self.path], stderr=subprocess.DEVNULL, check=False).returncode == 0

    def cut(self):
        fd = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.ioctl(fd, EXT4_IOC_SHUTDOWN, struct.pack("I", WITHOUT_LOG))
        finally:
            os.close(fd)

    def leave(self):
        """Unmounts the disk as soon as no process has a file on it open; a supervisor without pods takes a moment to end."""
        wait_until("the disk is given up", lambda: subprocess.run(["umount", self.path], stderr=subprocess.DEVNULL, check=False).returncode == 0)


def values_of(known):
    return known if isinstance(known, set) else {known}


class Notes(dict):
    """The values a writer expects. A write during the power failure may be present or absent: ext4 reports success for a sync that
    is in progress and then discards its data.
    """

    cutting = False

    def __setitem__(self, name, value):
        if self.cutting:
            value = values_of(self.get(name)) | values_of(value)
        super().__setitem__(name, value)


def life(disk, known, rng, *args):
    """Starts a daemon, checks the stored objects, and writes until the power fails."""
    daemon = Daemon(*args, data_dir="disk/d")
    settle(known, daemon.get(CM))
    mine = [Notes({n: v for n, v in known.items() if n.startswith("w%d-" % k)}) for k in range(WRITERS)]
    writers = [Writer(daemon, k, mine[k], rng.getrandbits(32)) for k in range(WRITERS)]
    for writer in writers:
        writer.start()
    wanted = rng.randrange(1, 300)
    wait_until("writes go on", lambda: sum(len(w.revisions) for w in writers) >= wanted or any(w.failure for w in writers))
    for notes in mine:
        notes.cutting = True
    disk.cut()
    daemon.signal(9)
    daemon.wait()
    for writer in writers:
        writer.join()
    for part in mine:
        known.update(part)
    disk.leave()
    check(disk.switch_on(), "the disk cannot be mounted again")
    return sum(len(w.revisions) for w in writers)


def restarts(disk, cuts, *args):
    rng, known, writes = random.Random(SEED), {}, 0
    for _ in range(cuts):
        writes += life(disk, known, rng, *args)
    daemon = Daemon(*args, data_dir="disk/d")
    settle(known, daemon.get(CM))
    daemon.stop()
    return writes


@contextlib.contextmanager
def a_disk():
    disk = Disk()
    try:
        yield disk
    finally:
        kill_rest()
        disk.leave()


def what_was_acknowledged_survives_the_loss_of_power():
    with a_disk() as disk:
        print("    seed %d: %d cuts, %d writes acknowledged" % (SEED, CUTS, restarts(disk, CUTS)))


def what_is_not_synced_is_lost_and_that_is_seen():
    with a_disk() as disk:
        try:
            restarts(disk, CUTS, "--durability", "relaxed")
        except Failure as failure:
            check_in("what was seen", "acknowledged was", str(failure))
            return
        raise Failure("nothing was lost without syncs: the power was never cut")


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
