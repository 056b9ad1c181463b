#!/usr/bin/env python3
"""Measures pod starts by method and isolation level, against a plain posix_spawn with a log file and against the kernel's own cost.

usage: pods.py [--build DIR] [--rounds 3] [--pods 200] [--user NAME] [--ways logged,full+4,…]

Methods take turns within a round, so ratios hold even when the machine's speed drifts. All of them start /bin/echo, two and
eight at a time. The methods spawn, logged, logs, spaces and mounts of bench_floor are processes started by a bare C program.
shared, plain, mounts, user, full and private are pods of the runtime, measured from their start to their last report, with no
volumes or (+4) four of them. Started by root, it also measures the levels of an ordinary user if --user names one that can
read the build directory.

A row: medians over the rounds of time per pod, pods per second, CPU time of all started processes (orphans included), and both
relative to `logged` of the same round. CPU time is the time that the kernel charges to processes; other kernel work appears
only in the wall time.
"""
import argparse
import ctypes
import json
import os
import pwd
import statistics
import subprocess
import sys
import time
from collections import namedtuple

HERE = os.path.dirname(os.path.abspath(__file__))
PR_SET_CHILD_SUBREAPER = 36
FLOOR = ("spawn", "logged", "logs", "spaces", "mounts-alone")
ROOT_WAYS = ("spawn", "logged", "logs", "spaces", "mounts-alone", "shared", "plain+0", "plain+4", "mounts+0", "mounts+4", "full+0", "full+4",
             "private+0", "private+4")
USER_WAYS = ("logged", "logs", "spaces", "mounts-alone", "shared", "plain+0", "plain+4", "user+0", "user+4", "private+0", "private+4")
BASE = "logged"
FLIGHTS = (2, 8)
Run = namedtuple("Run", "us cpu_us")


def command_of(args, way, flight, pods):
    if way in FLOOR:
        return [os.path.join(args.build, "bench", "bench_floor"), way.split("-")[0], str(pods), str(flight)]
    level, _, volumes = way.partition("+")
    return [os.path.join(args.build, "bench", "bench_spawn"), level, volumes or "0", str(pods), str(flight)]


def measure(command, user):
    """Runs one measurement and waits for the supervisors that outlive it, so that their CPU time counts.

    Returns None if the method does not exist here.
    """
    before = os.times()
    done = subprocess.run(command, stdout=subprocess.PIPE, user=user, group=user and pwd.getpwuid(user).pw_gid, check=False,
                          extra_groups=[] if user else None)
    if done.returncode != 0:
        sys.exit("%s: exit code %d" % (" ".join(command), done.returncode))
    try:
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        pass
    after = os.times()
    told = json.loads(done.stdout)
    if "skipped" in told:
        return None
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return Run(told["us_per_pod"], cpu * 1e6 / told["pods"])


def median_ratio(runs, base, field):
    return statistics.median(getattr(a, field) / getattr(b, field) for a, b in zip(runs, base))


def table(args, name, user, ways, flight):
    runs = {way: [] for way in ways}
    for _ in range(args.rounds):
        for way in list(runs):
            run = measure(command_of(args, way, flight, args.pods), user)
            if run:
                runs[way].append(run)
            else:
                del runs[way]
    for way, mine in runs.items():
        us, cpu = statistics.median(r.us for r in mine), statistics.median(r.cpu_us for r in mine)
        print("| %s | %s | %d | %.2f | %.0f | %.2f | %.2f | %.2f |" % (
            name, way, flight, us / 1e3, 1e6 / us, cpu / 1e3, median_ratio(mine, runs[BASE], "us"), median_ratio(mine, runs[BASE], "cpu_us")))
        sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(HERE, "..", "build", "release"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pods", type=int, default=200)
    parser.add_argument("--user")
    parser.add_argument("--ways")
    args = parser.parse_args()
    args.build = os.path.abspath(args.build)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    os.chdir("/")
    print("%s, %d cores, load %.1f" % (time.strftime("%F %R"), os.cpu_count(), os.getloadavg()[0]))
    print("\n| as | way | at a time | ms/pod | pods/s | CPU ms/pod | time / %s | CPU / %s |" % (BASE, BASE))
    print("| --- | --- | --: | --: | --: | --: | --: | --: |")
    for flight in FLIGHTS:
        for name, user, ways in (("root" if os.geteuid() == 0 else "user", None, ROOT_WAYS if os.geteuid() == 0 else USER_WAYS),
                                 (args.user, args.user and pwd.getpwnam(args.user).pw_uid, USER_WAYS)):
            if name:
                asked = args.ways.split(",") if args.ways else ways
                table(args, name, user, [way for way in ways if way in asked or way == BASE], flight)


if __name__ == "__main__":
    main()
