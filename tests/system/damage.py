"""A damaged store: the daemon refuses it with exit code 3 and says what is damaged and what to do; it is served for reading with
--serve-damaged; doctor finds it; repair saves what is whole, or restores a backup, and no revision is used again.

# covers: reliability.md D-07 FT-29 P-03 P-11
"""
import contextlib
import os
import shutil
import sqlite3
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403
from lib_serve import *  # noqa: E402,F403
from lib_store import sign  # noqa: E402

OBJECTS = 40


def killed_store(clean=False):
    """Makes a store with objects, and a backup of a part of them; returns the newest revision."""
    for name in ("d", "b.db"):
        shutil.rmtree(name, ignore_errors=True)
        with contextlib.suppress(OSError):
            os.unlink(name)
    daemon = Daemon()
    connection = daemon.connect()
    for n in range(OBJECTS):
        if n == OBJECTS // 2:
            jobflow("backup", "--data-dir", "d", "b.db")
        check_equal("made", daemon.ask("POST", CM, config_map("c%d" % n, v="%d-%s" % (n, "x" * 900)), connection=connection)[0], 201)
    revision = int(daemon.get(CM)["metadata"]["resourceVersion"])
    daemon.stop(15 if clean else 9)
    return revision


def names(daemon):
    return sorted(o["metadata"]["name"] for o in daemon.get(CM)["items"])


def everything():
    return sorted("c%d" % n for n in range(OBJECTS))


def flip_log():
    with open("d/store.db-wal", "r+b") as log:
        log.seek(os.path.getsize("d/store.db-wal") // 2)
        byte = log.read(1)
        log.seek(-1, 1)
        log.write(bytes([byte[0] ^ 4]))


def cut_log():
    os.truncate("d/store.db-wal", os.path.getsize("d/store.db-wal") // 2)


def lose_log():
    os.unlink("d/store.db-wal")


def lose_store():
    os.unlink("d/store.db")


def lose_mark():
    os.unlink("d/store.db-mark")


def change_row():
    with contextlib.closing(sqlite3.connect("d/store.db")) as db:
        db.execute("UPDATE bodies SET bytes = replace(CAST(bytes AS TEXT), 'xxx', 'xyx') WHERE id IN (SELECT body FROM objects WHERE name = 'c7')")
        db.commit()


def lose_row():
    with contextlib.closing(sqlite3.connect("d/store.db")) as db:
        db.execute("DELETE FROM objects WHERE name = 'c7'")
        db.commit()


DAMAGES = ((flip_log, False, "commits are lost"), (cut_log, False, "commits are lost"), (lose_log, False, "commits are lost"),
           (lose_store, False, "missing or empty"), (lose_store, True, "missing or empty"), (lose_mark, True, "mark is missing"),
           (change_row, True, "checksum of body"), (lose_row, True, "1 of "))


def damage_is_refused_and_repaired():
    for hurt, clean, finding in DAMAGES:
        what = hurt.__name__
        revision = killed_store(clean)
        hurt()
        refused = jobflow("serve", "--data-dir", "d", "--listen", "none", code=3).stderr
        for text in (finding, "d/store.db", "jobflow repair --data-dir d", "--serve-damaged", "nothing was changed"):
            check_in(what, text, refused)
        check_in(what, finding, jobflow("get", "configmaps", "--data-dir", "d", code=None).stderr)
        check_in(what, finding, jobflow("doctor", "--data-dir", "d", code=1).stdout)
        # What lies behind a broken frame of the log is saved, unless a page is only in that frame.
        done = jobflow("repair", "--data-dir", "d", code=None if hurt is flip_log else 1)
        check_equal("%s: exit code" % what, done.returncode, 1 if "lost: " in done.stdout else 0)
        daemon = Daemon(name="repaired-" + what)
        kept = names(daemon)
        check(set(kept) <= set(everything()), "%s: %s" % (what, kept))
        if done.returncode == 0:
            check_equal("%s: nothing is lost" % what, kept, everything())
        if hurt in (change_row, lose_row):
            check_equal(what, kept, [n for n in everything() if n != "c7"])
        if hurt is lose_mark:
            check_equal(what, kept, everything())
        made = json.loads(daemon.ask("POST", CM, config_map("later"))[1])
        check(int(made["metadata"]["resourceVersion"]) > revision, "%s: a revision given twice" % what)
        daemon.stop()
        check_in(what, "every page, checksum and object is in order", jobflow("doctor", "--data-dir", "d", code=None).stdout)


def a_backup_is_restored():
    revision = killed_store()
    flip_log()
    done = jobflow("repair", "--data-dir", "d", "--from", "b.db", code=1)
    check_in("told", "the changes after revision", done.stdout)
    daemon = Daemon(name="restored")
    check_equal("of the backup", names(daemon), sorted("c%d" % n for n in range(OBJECTS // 2)))
    made = json.loads(daemon.ask("POST", CM, config_map("later"))[1])
    check(int(made["metadata"]["resourceVersion"]) > revision, "a revision given twice")
    check_in("in use", "in use by process", jobflow("repair", "--data-dir", "d", code=2).stderr)
    daemon.stop()
    with open("b.db", "r+b") as backup:
        backup.seek(os.path.getsize("b.db") - 500)
        backup.write(b"\x5a" * 300)
    check_in("a damaged backup", "b.db is damaged", jobflow("repair", "--data-dir", "d", "--from", "b.db", code=3).stderr)
    daemon = Daemon(name="as-before")
    check_in("is as before", "later", names(daemon))
    daemon.stop()


def a_damaged_store_is_served_for_reading():
    killed_store(clean=True)
    change_row()
    daemon = Daemon("--serve-damaged", name="damaged")
    check_equal("the others are there", names(daemon), [n for n in everything() if n != "c7"])
    status, text = daemon.ask("POST", CM, config_map("new"))
    check_equal("writes", status, 403)
    check_in("says why", "damaged", text)
    check_equal("deletes", daemon.ask("DELETE", CM + "/c1")[0], 403)
    daemon.stop()
    check_in("still refused", "checksum of body", jobflow("serve", "--data-dir", "d", "--listen", "none", code=3).stderr)


def a_whole_row_that_cannot_be_used_concerns_itself_alone():
    killed_store(clean=True)
    with contextlib.closing(sqlite3.connect("d/store.db")) as db:
        db.execute("UPDATE bodies SET bytes = CAST('{\"data\":' AS BLOB) WHERE id IN (SELECT body FROM objects WHERE name = 'c7')")
        sign(db)
        db.commit()
    found = jobflow("doctor", "--data-dir", "d", code=1)
    check_in("doctor", "1 objects cannot be used", found.stdout)
    check_in("doctor", "c7", found.stderr)
    daemon = Daemon(name="unusable")
    check_equal("the others are served", names(daemon), [n for n in everything() if n != "c7"])
    check_in("metric", "jobflow_store_unreadable_objects 1", daemon.ask("GET", "/metrics")[1])
    daemon.stop()


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
