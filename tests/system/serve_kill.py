"""kill -9 of the daemon under write load from several clients: no acknowledged write is lost, revisions grow, watches continue or return 410.

JOBFLOW_SERVE_KILLS sets the number of kills (12); JOBFLOW_SEED repeats their timing.

# covers: kube-api.md 92; reliability.md P-01 P-02 P-03 P-04 FT-05 INV-S1 INV-S2 INV-S3 INV-S5
"""
import json
import os
import random
import signal
import sys
import threading
import time

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_serve import *  # noqa: E402,F403: sys.path is set above; cases use all names

KILLS = int(os.environ.get("JOBFLOW_SERVE_KILLS", "12"))
SEED = int(os.environ.get("JOBFLOW_SEED", "0")) or random.SystemRandom().randrange(1 << 32)
WRITERS, NAMES = 6, 8


class Writer(threading.Thread):
    """A client that creates, changes and deletes its own objects, and records acknowledged and unanswered writes."""

    def __init__(self, daemon, k, known, seed):
        super().__init__()
        self.daemon_, self.k, self.known, self.rng = daemon, k, known, random.Random(seed)
        self.revisions, self.failure = [], None

    def run(self):
        try:
            self.write_on()
        except (OSError, http.client.HTTPException):
            pass  # the daemon was killed
        except Exception as error:  # pylint: disable=broad-except
            self.failure = error

    def write_on(self):
        connection = self.daemon_.connect()
        while True:
            name = "w%d-%d" % (self.k, self.rng.randrange(NAMES))
            before = self.known.get(name)  # the acknowledged value; None if the object does not exist
            value = "%016x" % self.rng.getrandbits(64)
            if before is None:
                how = ("POST", CM, config_map(name, v=value))
            elif self.rng.random() < 0.2:
                how, value = ("DELETE", CM + "/" + name, None), None
            else:
                how = ("PUT", CM + "/" + name, config_map(name, v=value))
            self.known[name] = {before, value}  # until the answer arrives, either value is correct
            status, text = self.daemon_.ask(*how, connection=connection)
            if status not in (200, 201):
                raise Failure("%s %s: %d %s" % (how[0], how[1], status, text))
            self.known[name] = value
            if value is not None:
                self.revisions.append(int(json.loads(text)["metadata"]["resourceVersion"]))


class Watcher(threading.Thread):
    """A watcher that continues from the last revision it has seen and lists again only after a 410."""

    def __init__(self, daemon, state):
        super().__init__()
        self.daemon_, self.state, self.failure = daemon, state, None

    def run(self):
        try:
            self.watch_on()
        except (OSError, http.client.HTTPException):
            pass
        except Exception as error:  # pylint: disable=broad-except
            self.failure = error

    def watch_on(self):
        while True:
            if self.state["revision"] is None:
                listed = json.loads(self.daemon_.ask("GET", CM)[1])
                self.state["objects"] = {o["metadata"]["name"]: o["data"]["v"] for o in listed["items"]}
                self.state["revision"] = int(listed["metadata"]["resourceVersion"])
                self.state["lists"] += 1
            connection = self.daemon_.connect()
            connection.request("GET", "%s?watch=1&resourceVersion=%d" % (CM, self.state["revision"]),
                               headers={"Authorization": "Bearer " + self.daemon_.token})
            for line in connection.getresponse():
                if not line.endswith(b"\n"):
                    return  # the daemon was killed in the middle of a line
                self.take(json.loads(line))

    def take(self, event):
        if event["type"] == "ERROR":
            check_equal("the reason", event["object"]["code"], 410)
            self.state["revision"] = None
            return
        meta = event["object"]["metadata"]
        revision = int(meta["resourceVersion"])
        check(revision > self.state["revision"], "revision %d after %d" % (revision, self.state["revision"]))
        self.state["revision"] = revision
        if event["type"] == "DELETED":
            check(self.state["objects"].pop(meta["name"], None) is not None, "%s was not there" % meta["name"])
        else:
            check_equal("%s is new" % meta["name"], meta["name"] not in self.state["objects"], event["type"] == "ADDED")
            self.state["objects"][meta["name"]] = event["object"]["data"]["v"]


def settle(known, listed):
    """Checks that acknowledged writes are present and unanswered ones have one of two values; records the actual values."""
    there = {o["metadata"]["name"]: o["data"]["v"] for o in listed["items"]}
    for name, value in list(known.items()):
        found = there.get(name)
        allowed = value if isinstance(value, set) else {value}
        check(found in allowed, "%s is %s, acknowledged was %s" % (name, found, allowed))
        known[name] = found
    check_equal("made by no client", [name for name in there if name not in known], [])


def nothing_acknowledged_is_lost():
    rng = random.Random(SEED)
    print("    seed %d" % SEED)
    known, newest, writes = {}, 0, 0
    watch = {"revision": None, "objects": {}, "lists": 0}
    for life in range(KILLS + 1):
        daemon = Daemon(name="life%d" % life)
        listed = daemon.get(CM)
        revision = int(listed["metadata"]["resourceVersion"])
        check(revision >= newest, "the store is at %d, acknowledged was %d" % (revision, newest))
        settle(known, listed)
        mine = [{n: v for n, v in known.items() if n.startswith("w%d-" % k)} for k in range(WRITERS)]
        writers = [Writer(daemon, k, mine[k], rng.getrandbits(32)) for k in range(WRITERS)]
        watcher = Watcher(daemon, watch)
        for thread in writers + [watcher]:
            thread.start()
        if life < KILLS:
            wanted = rng.randrange(1, 400)
            wait_until("writes go on", lambda: sum(len(w.revisions) for w in writers) >= wanted or any(w.failure for w in writers))
            time.sleep(rng.random() * 0.02)  # a random delay, so that kills do not always follow an answer
            daemon.stop(signal.SIGKILL)
        else:
            wait_until("writes go on", lambda: sum(len(w.revisions) for w in writers) >= 100)
            check_equal("exit code", daemon.stop(), 0)
        for thread in writers + [watcher]:
            thread.join()
            if thread.failure:
                raise thread.failure
        given = [r for w in writers for r in w.revisions]
        check_equal("revisions given twice", len(set(given)), len(given))
        for writer in writers:
            check_equal("in order", writer.revisions, sorted(writer.revisions))
        check(min(given) > newest, "revision %d after %d" % (min(given), newest))
        newest, writes = max(given), writes + len(given)
        for part in mine:
            known.update(part)
    last = Daemon(name="last")
    settle(known, last.get(CM))
    print("    %d kills, %d writes acknowledged, %d lists of the watch" % (KILLS, writes, watch["lists"]))


def ten_thousand_objects_are_served_again_within_a_second():
    """Measures CPU time, because wall time depends on the load of the machine."""
    daemon, clients, each, failures = Daemon(), 20, 500, []

    def create(k):
        connection = daemon.connect()
        for n in range(each):
            status, text = daemon.ask("POST", CM, config_map("many-%d-%d" % (k, n), v="%d" % n), connection=connection)
            if status != 201:
                failures.append(text)
                return

    threads = [threading.Thread(target=create, args=[k]) for k in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check_equal("failures", failures, [])
    took = []
    for start in range(3):
        daemon.stop(signal.SIGKILL)
        daemon = Daemon(name="start%d" % start)
        took.append(daemon.start_cost)
    check_equal("all are there", len(daemon.get(CM)["items"]), clients * each)
    print("    serving again after %s s" % ", ".join("%.2f" % s for s in took))
    check(min(took) < 1 * SLOW, "serving again after %r s" % took)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
