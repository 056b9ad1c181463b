"""Kills the program before one of its writes, in tests of what the next run makes of the rest.

JOBFLOW_SEED repeats the choice of writes. JOBFLOW_POINTS sets how many of the writes are tried; 0 means all.
"""
import os
import random
import subprocess

from lib import DEADLINE, Skip, check, command

LIBRARY = os.environ.get("JOBFLOW_SYSCALLS", "")
SEED = int(os.environ.get("JOBFLOW_SEED", "0")) or random.SystemRandom().randrange(1 << 32)


def killed_before_write(n, *args):
    """Runs the program and kills it before its n-th write. Returns False when it succeeded before it came to that write."""
    env = dict(os.environ, LD_PRELOAD=LIBRARY, SYSCALLS_KILL_AT=str(n))
    done = subprocess.run(command(*args), env=env, capture_output=True, timeout=DEADLINE, stdin=subprocess.DEVNULL)
    check(done.returncode in (0, -9), "exit code %d: %s" % (done.returncode, done.stderr.decode()))
    return done.returncode == -9


def kill_before_writes(attempt, points):
    """Calls `attempt(n)` for `points` random numbers of writes.

    `attempt(n)` kills a program before its n-th write and checks what the next one makes of it. It returns False when the program
    ended before that write. A search by halves finds the number of writes first. It is approximate, because it varies between runs.
    """
    if not os.path.exists(LIBRARY):
        raise Skip("nothing is preloaded into a program with sanitizers")
    most = int(os.environ.get("JOBFLOW_POINTS", str(points)))
    met, missed = 1, 2
    while attempt(missed):
        met, missed = missed, 2 * missed
    while missed - met > 1:
        half = (met + missed) // 2
        met, missed = (half, missed) if attempt(half) else (met, half)
    writes = range(1, met + 1)
    if most and len(writes) > most:
        writes = sorted(random.Random(SEED).sample(writes, most))
    tried = sum(attempt(n) for n in writes)
    print("    seed %d: killed before %d of %d writes" % (SEED, tried, met))
    check(tried > 10, "only %d writes were met" % tried)
