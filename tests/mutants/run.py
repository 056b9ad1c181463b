#!/usr/bin/env python3
"""Plants each change of table.txt in a copy of the sources, and tells which of them no test notices.

    tests/mutants/run.py              goes on where an earlier call stopped
    tests/mutants/run.py --fresh      forgets what earlier calls found
    tests/mutants/run.py --only WORD  only rows whose title or file contains the word
    tests/mutants/run.py --named      only the tests that the rows name, which takes a tenth of the time
    tests/mutants/run.py --check      plants nothing: every row must still fit the sources

A row of the table is a title, a file, the tests that ought to notice the change, and the old and the new text:

    a record is not synced
      file: node/shim/records.c
      tests: test_node_shim_parts
      - if (fdatasync(records->fd) == 0)
      + if (records->fd < 0)

The old text must occur once in the file, whatever the spaces and line ends between its words; several lines "-" are one text.
The named tests run first. If none of them fails, all unit tests run. A change is noticed when a test fails by an
assertion: a test that hangs does not say where to look, so it counts as a survivor too.

The copy is in build/mutants. Results are kept in build/mutants/results, one line a row.
"""
import argparse
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TABLE = os.path.join(ROOT, "tests", "mutants", "table.txt")
COPY = os.path.join(ROOT, "build", "mutants")
RESULTS = os.path.join(COPY, "results")
BUILD = os.path.join(COPY, "source", "build", "dev")
TEST_SECONDS = 300  # a test that takes longer hangs; a wait in vain of a minute may come several times
GOOD = ("noticed", "noticed by others")


class Row:
    def __init__(self, title, line):
        self.title, self.line = title, line
        self.file, self.tests, self.old, self.new = "", [], [], []

    def key(self):
        text = "\n".join([self.title, self.file] + self.old + ["=>"] + self.new)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def where(self):
        return "table.txt:%d: %s" % (self.line, self.title)


def read_table():
    rows = []
    for number, line in enumerate(open(TABLE, encoding="utf-8"), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if not line.startswith(" "):
            rows.append(Row(text, number))
        elif text.startswith("file: "):
            rows[-1].file = text[6:]
        elif text.startswith("tests: "):
            rows[-1].tests = text[7:].split()
        elif text[0] in "-+" and text[1:2] in ("", " "):
            (rows[-1].old if text[0] == "-" else rows[-1].new).append(text[2:])
        else:
            sys.exit("table.txt:%d: neither file:, tests:, - nor +: %s" % (number, text))
    return rows


def pattern(row):
    """The old text as an expression that allows any spaces where it has some."""
    words = " ".join(row.old).split()
    return re.compile(r"\s+".join(re.escape(word) for word in words))


def planted(row, root=ROOT):
    """The text of the row's file with the change; or None, and what is wrong with the row."""
    path = os.path.join(root, row.file)
    if not row.file or not row.old or not row.tests:
        return None, "a row needs file:, tests: and an old text"
    if not os.path.exists(path):
        return None, "there is no file " + row.file
    text = open(path, encoding="utf-8").read()
    found = pattern(row).findall(text)
    if len(found) != 1:
        return None, "the old text occurs %d times in %s, and must occur once" % (len(found), row.file)
    return pattern(row).sub(lambda match: "\n".join(row.new), text), None


def known_tests():
    names = set()
    for folder, _, files in os.walk(os.path.join(ROOT, "tests")):
        for name in files:
            stem, ending = os.path.splitext(name)
            inside = os.path.relpath(folder, os.path.join(ROOT, "tests")).replace(os.sep, "_")
            if stem.startswith("test_") and ending == ".c":
                names.add("test_" + ("" if inside == "." else inside + "_") + stem[5:])
            elif inside == "system" and ending in (".py", ".sh"):
                names.add("system_" + stem)
    return names


def check(rows):
    tests, wrong = known_tests(), 0
    titles = set()
    for row in rows:
        _, problem = planted(row)
        unknown = [name for name in row.tests if name not in tests]
        if unknown:
            problem = "there is no test " + ", ".join(unknown)
        if row.title in titles:
            problem = "another row has this title"
        titles.add(row.title)
        if problem:
            print("%s: %s" % (row.where(), problem))
            wrong += 1
    print("mutants: %d rows, %d of them do not fit the sources" % (len(rows), wrong))
    return 1 if wrong else 0


def copy_sources():
    """Brings the copy up to date. Files that are equal keep their times, so that little is built anew."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
                            capture_output=True).stdout.decode().split("\0")
    wanted = {name for name in listed if name and os.path.isfile(os.path.join(ROOT, name))}
    source = os.path.join(COPY, "source")
    for folder, folders, files in os.walk(source):
        if folder == source and "build" in folders:
            folders.remove("build")
        for name in files:
            path = os.path.join(folder, name)
            if os.path.relpath(path, source) not in wanted:
                os.remove(path)
    for name in wanted:
        to = os.path.join(source, name)
        content = open(os.path.join(ROOT, name), "rb").read()
        if os.path.exists(to) and open(to, "rb").read() == content:
            continue
        os.makedirs(os.path.dirname(to), exist_ok=True)
        shutil.copy(os.path.join(ROOT, name), to)


def run(*words):
    return subprocess.run(words, cwd=os.path.join(COPY, "source"), capture_output=True, text=True, check=False)


def build(targets):
    done = run("cmake", "--build", "build/dev", "--target", *targets)
    return done.returncode == 0, done.stdout + done.stderr


def targets_of(tests):
    targets = [name for name in tests if name.startswith("test_")]
    if len(targets) < len(tests):
        targets += ["jobflow", "syscalls", "clock_jumps"]
    return targets


def ctest_one(name):
    """How the test ended: well, "fails" or "hangs"."""
    with subprocess.Popen(["ctest", "--test-dir", "build/dev", "-R", "^%s$" % name], cwd=os.path.join(COPY, "source"),
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True) as test:
        try:
            return "fails" if test.wait(TEST_SECONDS) else "well"
        except subprocess.TimeoutExpired:
            os.killpg(test.pid, signal.SIGKILL)
            return "hangs"


def ctest_all():
    """The names of the unit tests that failed, and of those that did not end."""
    done = run("ctest", "--test-dir", "build/dev", "--stop-on-failure", "-L", "unit|fuzz", "-j", str(os.cpu_count()))
    failed = re.findall(r"^\s*\d+ - (\S+) \((\S+)", done.stdout, re.M)
    return [name for name, how in failed if how != "Timeout"], [name for name, how in failed if how == "Timeout"]


def judge(row, text, named_only):
    path = os.path.join(COPY, "source", row.file)
    before = open(path, encoding="utf-8").read()
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    try:
        built, output = build(targets_of(row.tests))
        if not built:
            return "does not build", "; ".join(re.findall(r"error: .*", output)[:2])
        for name in row.tests:
            how = ctest_one(name)
            if how != "well":
                return "noticed" if how == "fails" else "hangs", name
        if named_only:
            return "not by these", " ".join(row.tests)
        built, output = build(["all"])
        if not built:
            return "does not build", "; ".join(re.findall(r"error: .*", output)[:2])
        failed, hung = ctest_all()
        if failed:
            return "noticed by others", failed[0]
        return ("hangs", hung[0]) if hung else ("SURVIVES", " ".join(row.tests))
    finally:
        with open(path, "w", encoding="utf-8") as out:
            out.write(before)


def read_results():
    results = {}
    if os.path.exists(RESULTS):
        for line in open(RESULTS, encoding="utf-8"):
            key, verdict, where = line.rstrip("\n").split("\t")[:3]
            results[key] = (verdict, where)
    return results


def report(rows, results):
    bad = 0
    for row in rows:
        verdict, where = results.get(row.key(), ("not tried", ""))
        if verdict != "noticed":
            print("%s: %s (%s)" % (row.where(), verdict, where))
        bad += verdict not in GOOD
    print("mutants: %d changes planted, %d of them not noticed by an assertion" % (len(rows), bad))
    return 1 if bad else 0


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, usage=argparse.SUPPRESS, add_help=False, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-h", "--help", action="help", help=argparse.SUPPRESS)
    for name in ("--fresh", "--named", "--check"):
        parser.add_argument(name, action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--only", default="", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def main(arguments):
    options = parse(arguments)
    rows = read_table()
    named_only = options.named
    chosen = [row for row in rows if options.only in row.title or options.only in row.file]
    misfits = check(rows)
    if misfits or options.check:
        return misfits
    os.makedirs(COPY, exist_ok=True)
    if options.fresh and os.path.exists(RESULTS):
        os.remove(RESULTS)
    copy_sources()
    configured = run("cmake", "--preset", "dev")
    if configured.returncode:
        sys.exit(configured.stdout + configured.stderr)
    results = read_results()
    for row in chosen:
        if row.key() in results and (named_only or results[row.key()][0] != "not by these"):
            continue
        text, _ = planted(row, os.path.join(COPY, "source"))  # the sources may change meanwhile
        verdict, where = judge(row, text, named_only)
        results[row.key()] = (verdict, where)
        with open(RESULTS, "a", encoding="utf-8") as out:
            out.write("%s\t%s\t%s\t%s\n" % (row.key(), verdict, where, row.title))
        print("mutants: %-18s %s (%s)" % (verdict, row.title, where), flush=True)
    return report(chosen, results)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
