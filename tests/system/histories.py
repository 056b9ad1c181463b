"""Clients with different rights while a daemon is killed, restarted, stopped for a while, moved to another copy of its program and out of
disk space, and its clock jumps, by a schedule from a seed: what they saw is explained by one order of all changes, or reported.

Revisions give the order, so the check is quick however long the history: every change that any client saw has one revision; writes that
did not overlap have growing revisions; a read never shows an older value than a write that had been answered before; a list is the
state at its revision; a watch tells every change after its beginning, once and in order; who may not write changes nothing.
After each jump of the clock a watch still ends in time and a write is answered. Recorded histories are then falsified in each of these ways, and each must be reported.

JOBFLOW_SECONDS sets the duration (10 s, an hour with CHECK_LONG), JOBFLOW_SEED repeats the schedule.

# covers: reliability.md INV-S1 INV-S3 INV-S4 INV-S5 INV-S6 INV-S10 P-01 P-02 P-03 P-04 D-12; see FT-05 FT-11 FT-16
"""
import bisect
import copy
import ctypes
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403
from lib_serve import *  # noqa: E402,F403

SEED = int(os.environ.get("JOBFLOW_SEED", "0")) or random.SystemRandom().randrange(1 << 32)
SECONDS = float(os.environ.get("JOBFLOW_SECONDS", "3600" if os.environ.get("CHECK_LONG") else "10"))
WRITERS, READERS, WATCHERS, NAMES = 4, 2, 2, 6
NEVER = float("inf")
CLONE_NEWNS = 0x20000
DISK_MIB = 48
CLOCK_LIBRARY = os.environ.get("JOBFLOW_CLOCK_JUMPS", "")  # built from tests/preload/clock_jumps.c
JUMP_S = 3600  # the clock is ahead or behind by as many seconds at most
LATE_S = 10    # what takes a second must not take as long


def explain(history):
    """Returns what is wrong with a history: {"writes", "reads", "lists", "watches", "refused"}; [] if one order explains it."""
    wrong, changes = [], {}

    def note(revision, name, value, source):
        known = changes.setdefault(revision, (name, value))
        if known != (name, value):
            wrong.append("revision %d is %s = %s and, says %s, %s = %s" % (revision, *known, source, name, value))

    for write in history["writes"]:
        if write["revision"]:
            note(write["revision"], write["name"], write["value"], "a write")
    for watch in history["watches"]:
        for revision, name, value in watch["events"]:
            note(revision, name, value, "a watch")
    for listed in history["lists"]:
        for name, (revision, value) in listed["items"].items():
            note(revision, name, value, "a list")
    for read_ in history["reads"]:
        note(read_["revision"], read_["name"], read_["value"], "a read")
    by_name = {}
    for revision, (name, value) in sorted(changes.items()):
        by_name.setdefault(name, []).append((revision, value))
    answered = sorted((w for w in history["writes"] if w["revision"]), key=lambda w: w["answered"])
    wrong += out_of_time(answered, history["writes"] + history["lists"])
    wrong += wrong_reads(answered, history["reads"])
    wrong += wrong_lists(by_name, history)
    wrong += wrong_watches(changes, history["watches"])
    values = {value for name, value in changes.values()}
    return wrong + ["%s was refused and took effect" % value for value in history["refused"] if value in values]


def out_of_time(answered, requests):
    """What was sent after an answer has a larger revision than what was answered (a list: at least that one)."""
    wrong, newest, at = [], 0, 0
    for request in sorted((r for r in requests if r["revision"]), key=lambda r: r["sent"]):
        while at < len(answered) and answered[at]["answered"] < request["sent"]:
            newest, at = max(newest, answered[at]["revision"]), at + 1
        if request["revision"] < newest + ("value" in request):
            wrong.append("revision %d was given after %d had been acknowledged" % (request["revision"], newest))
    return wrong


def wrong_reads(answered, reads):
    wrong, newest, at = [], {}, 0
    for read_ in sorted(reads, key=lambda r: r["sent"]):
        while at < len(answered) and answered[at]["answered"] < read_["sent"]:
            write_, at = answered[at], at + 1
            newest[write_["name"]] = max(newest.get(write_["name"], 0), write_["revision"])
        if read_["revision"] < newest.get(read_["name"], 0):
            wrong.append("%s was read with revision %d after %d had been acknowledged" % (read_["name"], read_["revision"], newest[read_["name"]]))
    return wrong


class Deletes:
    """When objects may have been deleted: a delete has no revision unless a watch told it."""

    def __init__(self, writes):
        self.sent, self.latest, self.value_sent = {}, {}, {w["value"]: w["sent"] for w in writes}
        for write_ in sorted((w for w in writes if w["value"] is None), key=lambda w: w["sent"]):
            latest = self.latest.setdefault(write_["name"], [0])
            self.sent.setdefault(write_["name"], []).append(write_["sent"])
            latest.append(max(latest[-1], write_["answered"]))

    def may_have_removed(self, name, value, until):
        """Whether a delete of the object was sent before `until` and answered after that value was written."""
        count = bisect.bisect_right(self.sent.get(name, []), until)
        return count > 0 and self.latest[name][count] >= self.value_sent.get(value, 0)


def wrong_lists(by_name, history):
    wrong, deletes = [], Deletes(history["writes"])
    for listed in history["lists"]:
        for name, known in by_name.items():
            at = bisect.bisect_right(known, listed["revision"], key=lambda change: change[0])
            item, newest = listed["items"].get(name), known[at - 1] if at else (0, None)
            gone = newest[1] is None or deletes.may_have_removed(name, newest[1], listed["answered"])
            if item != newest if item else not gone:
                wrong.append("a list at revision %d has %s as %s, not %s" % (listed["revision"], name, item, newest))
    return wrong


def wrong_watches(changes, watches):
    wrong, everything = [], sorted(changes)
    for watch in watches:
        told = [revision for revision, _, _ in watch["events"]]
        if told != sorted(set(told)) or (told and told[0] <= watch["since"]):
            wrong.append("a watch since %d told %s" % (watch["since"], told))
        missed = {r for r in everything if told and watch["since"] < r <= told[-1]} - set(told)
        if missed:
            wrong.append("a watch since %d did not tell %s" % (watch["since"], sorted(missed)[:5]))
    return wrong


class Site:
    """The daemon, which others stop and start, and everything that clients saw."""

    def __init__(self):
        self.lives, self.jumps, self.over, self.failures, self.lock = 0, 0, False, [], threading.Lock()
        self.env = {}
        self.set_clock(0)
        self.history = {"writes": [], "reads": [], "lists": [], "watches": [], "refused": []}
        self.start()
        self.tokens = {role: jobflow("token", "create", role, "--role", role, "--data-dir", "disk/d").stdout.strip().splitlines()[-1]
                       for role in ("editor", "viewer")}

    def start(self):
        """Each life runs another copy of the program, as after an upgrade."""
        self.lives += 1
        self.program = os.path.abspath("program%d" % self.lives)
        shutil.copy(JOBFLOW, self.program)
        wait_until("the daemon starts", self.started)
        os.unlink(self.program)

    def started(self):
        try:
            self.daemon = Daemon(data_dir="disk/d", name="life%d" % self.lives, env=self.env,
                                 prefix=("sh", "-c", 'shift; exec "$0" "$@"', self.program))
        except Failure:
            self.lives += 1
            return False
        return True

    def set_clock(self, ahead_s):
        """Sets the clock of this daemon and of the next ones. False where nothing can be preloaded."""
        if os.path.exists(CLOCK_LIBRARY):
            self.env = {"LD_PRELOAD": CLOCK_LIBRARY, "CLOCK_JUMPS": os.path.abspath("clock")}
            with open("clock", "r+b" if os.path.exists("clock") else "wb", buffering=0) as file:
                file.write(struct.pack("=q", int(ahead_s * 1e9)))
        return bool(self.env)

    def note(self, kind, what):
        with self.lock:
            self.history[kind].append(what)


class Client(threading.Thread):
    def __init__(self, site, k, seed, act):
        super().__init__(daemon=True)
        self.site, self.k, self.rng, self.act, self.mine, self.count = site, k, random.Random(seed), act, {}, 0

    def run(self):
        while not self.site.over:
            try:
                self.act(self, self.site.daemon, self.site.daemon.connect(timeout=5))
            except (OSError, http.client.HTTPException, ValueError):
                time.sleep(0.02)  # no daemon serves, or its answer was cut off
            except Exception as error:  # pylint: disable=broad-except
                self.site.failures.append(error)
                return


def write_on(client, daemon, connection):
    """An administrator or an editor writes objects, its own and those of others; a viewer tries."""
    role = ("", "editor", "editor", "viewer")[client.k % 4]
    token = client.site.tokens.get(role, daemon.token)
    while not client.site.over and daemon is client.site.daemon:
        name, client.count = "h%d" % client.rng.randrange(NAMES), client.count + 1
        value = "%d-%d" % (client.k, client.count)
        verb = client.rng.choice(["POST", "PUT", "PUT", "PUT", "DELETE"])
        path = CM if verb == "POST" else CM + "/" + name
        request = {"name": name, "value": None if verb == "DELETE" else value, "revision": 0, "sent": time.monotonic(), "answered": NEVER}
        client.site.note("writes", request)
        status, text = daemon.ask(verb, path, config_map(name, v=value) if verb != "DELETE" else None, token=token, connection=connection)
        refused = 400 <= status < 500 or status == 507
        request["answered"] = time.monotonic() if refused or status < 400 else NEVER
        if refused:
            client.site.note("refused", value)
            request["name"] = None
        elif status in (200, 201) and verb != "DELETE":
            request["revision"] = int(json.loads(text)["metadata"]["resourceVersion"])
        if role == "viewer":
            check_equal("what a viewer may write", status, 403)


def read_on(client, daemon, connection):
    while not client.site.over and daemon is client.site.daemon:
        name, sent = "h%d" % client.rng.randrange(NAMES), time.monotonic()
        whole = client.rng.random() < 0.3
        status, text = daemon.ask("GET", CM if whole else CM + "/" + name, token=client.site.tokens["viewer"], connection=connection)
        if status != 200:
            continue
        got = json.loads(text)
        if whole:
            items = {o["metadata"]["name"]: (int(o["metadata"]["resourceVersion"]), o["data"]["v"]) for o in got["items"]}
            client.site.note("lists", {"sent": sent, "answered": time.monotonic(), "revision": int(got["metadata"]["resourceVersion"]), "items": items})
        else:
            client.site.note("reads", {"sent": sent, "name": name, "revision": int(got["metadata"]["resourceVersion"]), "value": got["data"]["v"]})


def watch_on(client, daemon, connection):
    """Watches from the last revision that it saw; from a new list after a 410."""
    token = {"Authorization": "Bearer " + client.site.tokens["viewer"]}
    if not client.mine.get("since"):
        client.mine["since"] = int(json.loads(daemon.ask("GET", CM, connection=connection)[1])["metadata"]["resourceVersion"])
    watch = {"since": client.mine["since"], "events": []}
    connection.request("GET", "%s?watch=1&resourceVersion=%d&timeoutSeconds=2" % (CM, watch["since"]), headers=token)
    client.site.note("watches", watch)
    for line in connection.getresponse():
        event = json.loads(line)
        if event["type"] == "ERROR":
            client.mine["since"] = None
            return
        meta = event["object"]["metadata"]
        value = None if event["type"] == "DELETED" else event["object"]["data"]["v"]
        watch["events"].append((int(meta["resourceVersion"]), meta["name"], value))
        client.mine["since"] = watch["events"][-1][0]
        if client.site.over:
            return


def is_killed(site, rng):
    site.daemon.stop(signal.SIGKILL)
    site.start()


def is_restarted(site, rng):
    site.daemon.stop()
    site.start()


def is_held(site, rng):
    site.daemon.signal(signal.SIGSTOP)
    time.sleep(rng.random())
    site.daemon.signal(signal.SIGCONT)


def is_full(site, rng):
    if not os.path.ismount("disk"):
        return
    with open("disk/filler", "wb", buffering=0) as filler:
        try:
            while True:
                filler.write(bytes(1 << 16))
        except OSError:
            pass
    time.sleep(rng.random())
    if rng.random() < 0.3:
        is_killed(site, rng)
    os.unlink("disk/filler")


def jumps(site, rng):
    """The clock jumps. What waits goes on waiting by a clock that does not, and the daemon goes on answering."""
    connection = site.daemon.connect(timeout=LATE_S)
    token = {"Authorization": "Bearer " + site.daemon.token}
    connection.request("GET", CM + "?watch=1&timeoutSeconds=1", headers=token)
    watch, ahead_s = connection.getresponse(), rng.uniform(-JUMP_S, 0 if not site.jumps else JUMP_S)
    if not site.set_clock(ahead_s):
        return
    began, site.jumps = time.monotonic(), site.jumps + 1
    while watch.read1(1 << 16):
        check(time.monotonic() - began < LATE_S, "a watch of a second goes on after the clock jumped: it is %d s ahead" % ahead_s)
    verb, path = ("POST", CM) if site.jumps == 1 else ("PUT", CM + "/jump")
    wait_until("a write is answered while the clock is %d s ahead" % ahead_s,
               lambda: site.daemon.ask(verb, path, config_map("jump", v=str(site.jumps)))[0] in (200, 201), LATE_S)


def own_disk():
    """A small disk, so that it can be filled; without root the daemon is on that of the test, which stays free."""
    os.mkdir("disk")
    if os.geteuid() == 0 and ctypes.CDLL(None).unshare(CLONE_NEWNS) == 0:
        subprocess.run(["mount", "--make-rprivate", "/"], check=False)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%dm" % DISK_MIB, "disk", "disk"], check=False)


def record():
    rng = random.Random(SEED)
    own_disk()
    site = Site()
    acts = [write_on] * WRITERS + [read_on] * READERS + [watch_on] * WATCHERS
    clients = [Client(site, k, rng.getrandbits(32), act) for k, act in enumerate(acts)]
    for client in clients:
        client.start()
    jumps(site, rng)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and not site.failures:
        time.sleep(rng.random())
        rng.choice([is_killed, is_restarted, is_held, is_full, jumps])(site, rng)
    site.over = True
    for client in clients:
        client.join(DEADLINE)
    site.daemon.stop()
    for failure in site.failures:
        raise failure
    print("    seed %d: %d lives, %d jumps of the clock, %s" % (SEED, site.lives, site.jumps, ", ".join("%d %s" % (len(v), k) for k, v in site.history.items())))
    return site.history


def falsified(history):
    """Yields (what was done, a history of which one thing is wrong)."""
    def changed(change):
        copied = copy.deepcopy(history)
        change(copied)
        return copied

    writes = sorted((w for w in history["writes"] if w["revision"]), key=lambda w: w["revision"])
    long_watch = max(range(len(history["watches"])), key=lambda i: len(history["watches"][i]["events"]))
    full_list = max(range(len(history["lists"])), key=lambda i: len(history["lists"][i]["items"]))
    first, last = (history["writes"].index(w) for w in (writes[0], writes[-1]))
    read_ = history["reads"].index(max(history["reads"], key=lambda r: r["sent"]))
    deletes = Deletes(history["writes"])
    certain = [(i, name) for i, listed in enumerate(history["lists"]) for name, (_, value) in listed["items"].items()
               if not deletes.may_have_removed(name, value, listed["answered"])]
    told = history["watches"][long_watch]["events"]
    acknowledged = {w["revision"] for w in writes}
    missed = next((i for i, event in enumerate(told[:-1]) if event[0] in acknowledged), None)
    check(len(told) > 3 and certain and missed is not None, "too little was seen")

    def swap(h):
        events = h["watches"][long_watch]["events"]
        events[0], events[1] = events[1], events[0]

    def other_value(h):
        items = h["lists"][full_list]["items"]
        name = sorted(items)[0]
        items[name] = (items[name][0] - 1, "another")

    yield "a watch misses an event", changed(lambda h: h["watches"][long_watch]["events"].pop(missed))
    yield "a watch tells two events in the wrong order", changed(swap)
    yield "a watch tells an event twice", changed(lambda h: h["watches"][long_watch]["events"].insert(1, told[1]))
    yield "a revision is given again", changed(lambda h: h["writes"][last].update(revision=writes[0]["revision"]))
    yield "a write is acknowledged with an old revision", changed(lambda h: h["writes"][last].update(revision=1))
    yield "a read shows an old value", changed(lambda h: h["reads"][read_].update(revision=1))
    yield "a list has an old value", changed(other_value)
    yield "a list misses an object", changed(lambda h: h["lists"][certain[0][0]]["items"].pop(certain[0][1]))
    yield "what was refused took effect", changed(lambda h: h["refused"].append(writes[0]["value"]))
    yield "one revision has two values", changed(lambda h: h["writes"][first].update(value="another", revision=told[0][0]))


def what_all_clients_saw_has_one_explanation():
    history = record()
    wrong = explain(history)
    check(not wrong, "%d findings: %s" % (len(wrong), "; ".join(wrong[:5])))
    for what, bent in falsified(history):
        check(explain(bent), "not found: " + what)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
