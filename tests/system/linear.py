"""Concurrent clients of a few keys while the daemon is killed repeatedly: the recorded history is linearizable.

Every request is recorded with the times of sending and answering. For each key the test searches an order of the requests
that respects these times and in which each answer is that of a key-value store (the algorithm of Wing and Gong). A
request without an answer may have taken effect at any time after it was sent, or not at all.

JOBFLOW_SEED repeats the choices; JOBFLOW_LINEAR_KILLS sets how often the daemon is killed (3).

# covers: reliability.md INV-S10 INV-S4 P-02; see FT-05
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

SEED = int(os.environ.get("JOBFLOW_SEED", "0")) or random.SystemRandom().randrange(1 << 32)
KILLS = int(os.environ.get("JOBFLOW_LINEAR_KILLS", "3"))
CLIENTS, NAMES, REQUESTS = 6, 4, 60
NEVER = float("inf")


class Request:
    """A request: `kind`, argument, and the answer as a status and the value that a get returned. Status None means no answer."""

    def __init__(self, name, kind, value=None, expected=None):
        self.name, self.kind, self.value, self.expected = name, kind, value, expected
        self.status = self.seen = None
        self.sent, self.answered = time.monotonic(), NEVER

    def answer(self, status, seen=None):
        self.answered, self.status, self.seen = time.monotonic(), status, seen

    def __repr__(self):
        return "%s(%s, if %s) = %s %s" % (self.kind, self.value, self.expected, self.status, self.seen)


def outcome(request, value):
    """Returns (status, returned value, value afterwards) of the request on a store that holds `value` (None if the key is absent)."""
    kind = request.kind
    if kind == "get":
        return (200, value, value) if value is not None else (404, None, None)
    if kind == "create":
        return (201, None, request.value) if value is None else (409, None, value)
    if value is None:
        return 404, None, None
    if kind == "delete":
        return 200, None, None
    if request.expected is not None and request.expected != value:
        return 409, None, value
    return 200, None, request.value


def is_linear(requests):
    """Whether some order explains all answers. The search remembers visited states."""
    requests = sorted((r for r in requests if not (r.kind == "get" and r.status is None)), key=lambda r: r.sent)
    must = sum(1 << i for i, r in enumerate(requests) if r.status is not None)
    seen, stack = set(), [(0, None)]
    while stack:
        state = stack.pop()
        done, value = state
        if done & must == must:
            return True
        if state in seen:
            continue
        seen.add(state)
        open_ = [(i, r) for i, r in enumerate(requests) if not done >> i & 1]
        first_answer = min(r.answered for _, r in open_)
        for i, request in open_:
            if request.sent > first_answer:
                break
            status, read_, after = outcome(request, value)
            if request.status is None or (request.status, request.seen) == (status, read_):
                stack.append((done | 1 << i, after))
    return False


class Client(threading.Thread):
    def __init__(self, daemon, k, rng, requests):
        super().__init__()
        self.daemon_, self.k, self.rng, self.requests, self.failure = daemon, k, rng, requests, None

    def run(self):
        try:
            connection, known = self.daemon_.connect(), {}
            for _ in range(REQUESTS):
                self.ask(connection, known)
        except (OSError, http.client.HTTPException):
            pass  # the daemon was killed
        except Exception as error:  # pylint: disable=broad-except
            self.failure = error

    def ask(self, connection, known):
        name = "name-%d" % self.rng.randrange(NAMES)
        kind = self.rng.choice(["get", "get", "create", "put", "put", "update", "update", "delete"])
        value = "%s-%x" % (self.k, self.rng.getrandbits(60))
        if kind == "update" and name not in known:
            kind = "get"
        revision, expected = known.get(name, (None, None)) if kind == "update" else (None, None)
        request = Request(name, kind, None if kind in ("get", "delete") else value, expected)
        self.requests.append(request)
        body = config_map(name, v=value)
        if revision:
            body["metadata"]["resourceVersion"] = revision
        how = {"get": ("GET", CM + "/" + name, None), "create": ("POST", CM, body), "put": ("PUT", CM + "/" + name, body),
               "update": ("PUT", CM + "/" + name, body), "delete": ("DELETE", CM + "/" + name, None)}[kind]
        status, text = self.daemon_.ask(*how, connection=connection)
        if kind == "get" and status == 200:
            got = json.loads(text)
            known[name] = (got["metadata"]["resourceVersion"], got["data"]["v"])
            request.answer(status, got["data"]["v"])
        else:
            request.answer(status)


def the_search_tells_right_from_wrong():
    """Tests the search itself with one possible history and three impossible ones."""
    def history(*rows):
        made = []
        for kind, value, sent, answered, status, seen in rows:
            request = Request("n", kind, value)
            request.sent, request.answered, request.status, request.seen = sent, answered, status, seen
            made.append(request)
        return made

    create, late = ("create", "1", 0, 1, 201, None), ("put", "2", 2, 9, 200, None)
    check(is_linear(history(create, late, ("get", None, 3, 4, 200, "2"))), "a put seen before it is answered")
    check(is_linear(history(create, ("put", "2", 2, NEVER, None, None), ("get", None, 3, 4, 200, "2"))), "unanswered, it may be seen")
    for what, rows in (("a stale read", (create, ("put", "2", 2, 3, 200, None), ("get", None, 4, 5, 200, "1"))),
                       ("two creates", (create, ("create", "3", 0, 1, 201, None))),
                       ("seen, then not", (create, late, ("get", None, 3, 4, 200, "2"), ("get", None, 5, 6, 200, "1")))):
        check(not is_linear(history(*rows)), what + " is taken for possible")


def what_concurrent_clients_saw_happened_one_after_the_other():
    rng, requests = random.Random(SEED), []
    print("    seed %d" % SEED)
    for life in range(KILLS + 1):
        daemon = Daemon(name="life%d" % life)
        before = len(requests)
        clients = [Client(daemon, "%d%d" % (life, k), random.Random(rng.getrandbits(32)), requests) for k in range(CLIENTS)]
        for client in clients:
            client.start()
        if life < KILLS:
            wanted = before + rng.randrange(1, CLIENTS * REQUESTS)
            wait_until("requests go on", lambda: len(requests) >= wanted or not any(c.is_alive() for c in clients))
            daemon.stop(signal.SIGKILL)
        for client in clients:
            client.join()
            if client.failure:
                raise client.failure
        if life == KILLS:
            daemon.stop()
    answered = sum(r.status is not None for r in requests)
    check(answered > CLIENTS * REQUESTS, "only %d answers" % answered)
    for k in range(NAMES):
        mine = [r for r in requests if r.name == "name-%d" % k]
        check(is_linear(mine), "no order explains what was seen of name-%d: %s" % (k, str(mine)[-3000:]))
    print("    %d requests, %d answered, %d kills" % (len(requests), answered, KILLS))


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
