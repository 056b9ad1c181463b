"""Sends the same requests to jobflow and to a real kube-apiserver with the same kinds, and compares the answers.

Each step of the scenario is a named request. Values that always differ (uids, revisions, times, generated names) are
normalised first. Intended differences are listed in DIFFERENCES with their reason, and in docs/deviations.md.

# covers: kube-api.md 46 47 48 49 50 51 52 53 93 94 95 96 97 98 99; see lib_differential.py
"""
import json
import os
import re
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_kube import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_serve import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_differences import DIFFERENCES  # noqa: E402: sys.path is set above
from lib_differential import SCENARIOS  # noqa: E402: sys.path is set above

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
SUFFIX = re.compile(r"(gen-)[bcdfghjklmnpqrstvwxz2456789]{5}")
HIDDEN = {"uid", "resourceVersion", "continue", "time", "selfLink", "storageVersionHash"}


def plain_text(text):
    text = SUFFIX.sub(r"\1<suffix>", TIME.sub("<time>", UUID.sub("<uid>", text)))
    text = re.sub(r"(resource version: )\d+( \(\d+\)|, current: \d+)", r"\1<rv>", text)
    return re.sub(r"(ResourceVersion in (the precondition|record) \()\d+", r"\1<rv>", text)


def plain_managed(entries):
    return sorted([{k: v for k, v in plain(e).items()} for e in entries], key=lambda e: (e["manager"], e["operation"]))


def plain(value, key=None):
    """Returns the value with uids, times and other values that always differ replaced by placeholders."""
    if isinstance(value, dict):
        if value.get("kind") == "Table":
            return plain_table(value)
        return {k: "<%s>" % k if k in HIDDEN and v else plain_managed(v) if k == "managedFields" else plain(v, k)
                for k, v in value.items()}
    if isinstance(value, list):
        rows = [plain(v) for v in value]
        if key == "causes":  # kube-apiserver repeats some causes
            return [json.loads(row) for row in sorted({json.dumps(row, sort_keys=True) for row in rows})]
        if key == "resources":
            return {row["name"]: dict(row, verbs=sorted(row["verbs"])) for row in rows}
        return rows
    return plain_text(value) if isinstance(value, str) else value


def plain_table(table):
    """Returns the table without column descriptions, which are prose, and without ages, which advance."""
    columns = table.get("columnDefinitions")
    ages = [i for i, c in enumerate(columns or []) if c["type"] == "date" or c["name"] == "Age"]
    rows = [{"cells": ["<age>" if i in ages and c else c for i, c in enumerate(r["cells"])], "object": plain(r.get("object"))}
            for r in table.get("rows", [])]
    shown = {k: plain(v, k) for k, v in table.items() if k not in ("rows", "columnDefinitions", "metadata")}
    return dict(shown, rows=rows, columnDefinitions=[{k: c[k] for k in ("name", "type", "format", "priority")} for c in columns or []])


def shown(answer):
    """Returns the parts of an answer that are compared."""
    return {"status": answer.status, "type": (answer.header("content-type") or [""])[0].split("; charset")[0],
            "warnings": sorted(answer.header("warning")), "body": plain(answer.json) if answer.json is not None else answer.text}


def differences(ours, theirs, path=""):
    """Returns the paths at which the two answers differ, with both values."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted(set(ours) | set(theirs)):
            yield from differences(ours.get(key, "<none>"), theirs.get(key, "<none>"), "%s.%s" % (path, key) if path else key)
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for i, (a, b) in enumerate(zip(ours, theirs)):
            yield from differences(a, b, "%s[%d]" % (path, i))
    elif ours != theirs:
        yield path, ours, theirs


class Side:
    """One of the two servers, with its answer to each step."""

    def __init__(self, server, version):
        self.server, self.version, self.answers, self.order = server, version, {}, []

    def __call__(self, step, method, path, body=None, **rest):
        if step in self.answers:
            raise Failure("two steps are called %r" % step)
        answer = self.server.ask(method, path, body, **rest)
        self.answers[step] = shown(answer)
        self.order.append(step)
        return answer

    def quietly(self, method, path, body=None, **rest):
        """Sends a request whose answer is not compared."""
        return self.server.ask(method, path, body, **rest)

    def tell(self, step, value):
        """Records an observation that is not an answer, for example kinds of events or names that remain."""
        self.answers[step] = {"seen": value}
        self.order.append(step)

    def until(self, what, condition):
        return wait_until(what, condition)


def documented(step, path):
    for row in DIFFERENCES:
        if re.fullmatch(row[0], step) and any(re.fullmatch(p, path) for p in row[1]):
            return row
    return None


def the_same_requests_get_the_same_answers():
    kube = Kube()
    daemon = Daemon()
    try:
        own = Server(daemon.port, daemon.token, daemon.tls())
        kube.install(own.ask("GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions").json["items"])
        sides = [Side(own, kube.version), Side(kube, kube.version)]
        found, used = [], set()
        for scenario in SCENARIOS:
            if scenario.__name__.startswith("collected_") and not kube.has("kube-controller-manager"):
                print("  %s: left out, there is no kube-controller-manager" % scenario.__name__)
                continue
            for side in sides:
                scenario(side)
        check_equal("steps taken", sides[0].order, sides[1].order)
        for step in sides[0].order:
            for path, ours, theirs in differences(sides[0].answers[step], sides[1].answers[step]):
                row = documented(step, path)
                if row:
                    used.add(row)
                else:
                    found.append("%s\n    %s\n      ours:   %s\n      theirs: %s" % (step, path, json.dumps(ours), json.dumps(theirs)))
        print("  kube-apiserver 1.%d: %d steps compared, %d documented differences" % (kube.version, len(sides[0].order), len(used)))
        if found:
            raise Failure("%d differences:\n  %s" % (len(found), "\n  ".join(found)))
    finally:
        kube.stop()


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
