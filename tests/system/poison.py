"""Damaged rows of the store: missing members, members of a wrong type, truncated texts. The program starts, names the objects
it cannot read, neither crashes nor hangs, and continues with the intact objects. The checksums of the rows are right: a wrong one
is damage of the whole store (system_damage).

JOBFLOW_SEEDS sets how many stores are tried (12); JOBFLOW_SEED repeats one.

# covers: reliability.md FT-23 FT-29 P-11
"""
import os
import random
import shutil
import signal
import sqlite3
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_store import sign  # noqa: E402

STORES = int(os.environ.get("JOBFLOW_SEEDS", "12"))
SEED = int(os.environ.get("JOBFLOW_SEED", "0"))


def spots(value, path=()):
    """Returns every position in a document."""
    found = [path] if path else []
    for key in (value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()):
        found += spots(value[key], path + (key,))
    return found


def spoil(text, rng):
    """Returns the document with one random error."""
    if rng.random() < 0.1:
        return text[:rng.randrange(len(text))]
    doc = json.loads(text)
    places = spots(doc)
    if not places:
        return "[]"
    *way, last = rng.choice(places)
    holder = doc
    for key in way:
        holder = holder[key]
    if rng.random() < 0.4:
        del holder[last]
    else:
        holder[last] = rng.choice([None, 5, -1, "x", "", [], {}, True, 1 << 62, ["x"], {"x": "y"}, [None], "99999999999999999999"])
    return json.dumps(doc, separators=(",", ":"))


def spoil_bytes(whole, rng):
    if whole[:1] == b"{":
        return spoil(whole.decode(), rng).encode()
    at = rng.randrange(len(whole))
    return whole[:at] + bytes([rng.randrange(256)]) + whole[at + 1:]


def spoil_store(path, rng):
    """Damages one to three rows; returns a description."""
    told = []
    with contextlib.closing(sqlite3.connect(path)) as db:
        for _ in range(rng.randrange(1, 4)):
            table, column = rng.choice([("bodies", "bytes"), ("bodies", "bytes"), ("objects", "status"), ("objects", "meta")])
            rows = db.execute("SELECT id, %s FROM %s WHERE %s IS NOT NULL" % (column, table, column)).fetchall()
            row, text = rng.choice(rows)
            new = spoil_bytes(bytes(text), rng)
            db.execute("UPDATE %s SET %s = ? WHERE id = ?" % (table, column), (new, row))
            told.append("%s %d: %s" % (table, row, new[:300]))
        sign(db)
        db.commit()
    return told


def half_done():
    """Makes a store in which a flow and a job are unfinished."""
    manifest("f.yaml", flow("f", [step("a", script="true"), step("b", ["a"], script="sleep 600"), step("c", ["b"])],
                            gangs=[{"name": "g", "flows": ["b"]}], parameters=[{"name": "p", "default": "x"}]),
             template("a"), template("b"), template("c", "true"))
    run = Background("run", "f.yaml")
    wait_until("it is under way", lambda: '"b"' in run.output() or "b" in run.output() and "Running" in run.output())
    run.signal(signal.SIGKILL)
    run.wait()
    kill_rest()


def copy_store(source, to):
    os.mkdir(to, 0o700)
    for name in os.listdir(source):
        if name.startswith("store.db"):
            shutil.copy(os.path.join(source, name), to)  # keeps the file mode


def store_path():
    return os.path.join(".jobflow", "store.db")


def spoiled_stores_are_no_reason_to_crash():
    half_done()
    copy_store(".jobflow", "whole")
    for n in [SEED] if SEED else range(1, STORES + 1):
        rng = random.Random(n)
        shutil.rmtree(".jobflow")
        copy_store("whole", ".jobflow")
        told = spoil_store(store_path(), rng)
        manifest("g.yaml", flow("good", [step("x", script="true")]), template("x"))
        again = Background("run", "--timeout", "2s", "g.yaml", name="again")
        code = again.wait()
        what = "JOBFLOW_SEED=%d: exit code %d after\n%s\n%s" % (n, code, "\n".join(told), again.errors()[-2000:])
        check(code in (0, 1, 2, 3, 4), what)
        check(code in (0, 1, 2, 4) or "error:" in again.errors(), what)
        kill_rest()


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
