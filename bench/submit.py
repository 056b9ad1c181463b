#!/usr/bin/env python3
"""Measures submissions of jobs to a daemon with a durable store and real processes.

usage: submit.py [--program PATH] [--only bulk,jobs,single,memory] [--rounds 3] [--items 1000] [--jobs 5000] [--finished 100000]

- bulk: items a second in requests of --items items, whose jobs wait in a queue; with and without deduplication ids. The first request
  of a daemon is left out.
- jobs: from the first submission of --jobs jobs to the end of the last one; each starts a process.
- single: requests of one item a second, one after the other on one connection: while the programs run, and into a queue where they wait.
- memory: resident memory of a daemon with --finished finished jobs.
"""
import argparse
import http.client
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
FULL = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "full"}, "spec": {"capability": {"pods": 0}}}


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


class Daemon:
    """A new daemon in the current directory; it ends with the block."""

    def __init__(self, program, *options):
        options = options or ("--isolation", "plain")
        shutil.rmtree("data", ignore_errors=True)
        self.process = subprocess.Popen([program, "serve", "--data-dir", "data", "--listen", "none", *options],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.connection = Connection("data/api.sock")
        end = time.monotonic() + 20
        while True:
            try:
                self.connection.connect()
                break
            except OSError:
                if time.monotonic() > end or self.process.poll() is not None:
                    sys.exit("the daemon does not start")
                time.sleep(0.01)
        self.ask("/apis/scheduling.volcano.sh/v1beta1/queues", FULL, 201)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def ask(self, path, body=None, wanted=200):
        text = body if isinstance(body, bytes) or body is None else json.dumps(body)
        self.connection.request("POST" if body else "GET", path, text, {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        content = answer.read()
        if answer.status != wanted:
            sys.exit("%s: %d %s" % (path, answer.status, content[:500].decode()))
        return content

    def cpu_s(self):
        """CPU time of all threads of the daemon."""
        with open("/proc/%d/stat" % self.process.pid) as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_mib(self):
        with open("/proc/%d/status" % self.process.pid) as file:
            return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmRSS:"))


def request(count, number, queue, dedup=False):
    pod = {"containers": [{"name": "c", "command": ["/bin/true"]}]}
    items = [{"mainObject": {"podSpec": pod}} for _ in range(count)]
    for i, item in enumerate(items if dedup else ()):
        item["deduplicationId"] = "d%d-%d" % (number, i)
    return json.dumps({"queue": queue, "jobSetId": "set", "jobRequestItems": items}).encode()


def timed(daemon, body):
    began = time.monotonic()
    daemon.ask("/v1/job/submit", body)
    return time.monotonic() - began


def row(what, values, form, wanted):
    print("| %s | %s (%s to %s) | %s |" % (what, form % statistics.median(values), form % min(values), form % max(values), wanted), flush=True)


def bulk(args):
    for dedup in (False, True):
        rates, count = [], args.rounds * 5
        what = "%d a request%s" % (args.items, ", with deduplication ids" if dedup else "")
        with Daemon(args.program) as daemon:
            timed(daemon, request(args.items, -1, "full", dedup))
            cpu = daemon.cpu_s()
            for number in range(count):
                rates.append(args.items / timed(daemon, request(args.items, number, "full", dedup)))
            cpu = daemon.cpu_s() - cpu
        row("items/s, " + what, rates, "%.0f", "10,000")
        row("CPU time of the daemon an item in us, with its controllers, " + what, [cpu * 1e6 / (count * args.items)], "%.0f", "-")


def jobs(args):
    times = []
    for _ in range(args.rounds):
        with Daemon(args.program) as daemon:
            began = time.monotonic()
            for number in range(0, args.jobs, args.items):
                daemon.ask("/v1/job/submit", request(min(args.items, args.jobs - number), number, "default"))
            wait_for_all(daemon, args.jobs)
            times.append(time.monotonic() - began)
    row("s from the first submission of %d jobs to the last end" % args.jobs, times, "%.2f", "4")


def wait_for_all(daemon, count):
    while True:
        answer = daemon.ask("/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs?limit=1&fieldSelector=status.state.phase%21%3DCompleted")
        if not json.loads(answer)["items"]:
            return
        time.sleep(0.3)


def single(args):
    for queue, what, wanted in (("default", "while the programs run", "500"), ("full", "into a queue where they wait", "2,000")):
        rates = []
        for _ in range(args.rounds):
            with Daemon(args.program) as daemon:
                bodies = [request(1, number, queue, dedup=True) for number in range(1000)]
                began = time.monotonic()
                for body in bodies:
                    daemon.ask("/v1/job/submit", body)
                rates.append(len(bodies) / (time.monotonic() - began))
        row("submissions of one item a second, %s" % what, rates, "%.0f", wanted)


def memory(args):
    with Daemon(args.program, "--runtime", "sim", "-j", "1000") as daemon:
        for number in range(0, args.finished, 10000):
            daemon.ask("/v1/job/submit", request(min(10000, args.finished - number), number, "default"))
            wait_for_all(daemon, args.finished)
        row("MiB of memory with %d finished jobs" % args.finished, [daemon.memory_mib()], "%.0f", "300")


PARTS = {"bulk": bulk, "jobs": jobs, "single": single, "memory": memory}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=os.path.join(HERE, "..", "build", "release", "jobflow"))
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--items", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=5000)
    parser.add_argument("--finished", type=int, default=100000)
    args = parser.parse_args()
    args.program = os.path.abspath(args.program)
    if not os.access(args.program, os.X_OK):
        sys.exit("%s: no such program" % args.program)
    print("| what | median (range) | wanted |\n| --- | --: | --: |")
    with tempfile.TemporaryDirectory(prefix="jobflow-bench-") as directory:
        os.chdir(directory)
        for part in args.only.split(","):
            PARTS[part](args)


if __name__ == "__main__":
    main()
