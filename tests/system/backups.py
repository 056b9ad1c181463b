"""The daemon makes backups by itself: each is complete and can be restored, the oldest go, and a failure is told and mends itself.

# covers: reliability.md D-05 D-07 P-03
"""
import contextlib
import glob
import os
import pty
import shutil
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_serve import *  # noqa: E402,F403

KEEP = 3
FLOWS = "/apis/flow.volcano.sh/v1alpha1/namespaces/default/jobflows"
PODS = "/api/v1/namespaces/default/pods"


def backups():
    return sorted(glob.glob("backups/jobflow-*.db"))


def metric(daemon, name):
    for line in daemon.ask("GET", "/metrics")[1].splitlines():
        if line.startswith(name + " "):
            return float(line.split()[1])
    return None


def names(daemon):
    return sorted(o["metadata"]["name"] for o in daemon.get(CM)["items"])


def backups_are_made_and_each_can_be_restored():
    daemon = Daemon("--backup-dir", "backups", "--backup-every", "1s", "--backup-keep", str(KEEP))
    seen, known, n = set(), {}, 0
    while len(seen) < KEEP + 2:
        n += 1
        before = set(backups())
        check_equal("made", daemon.ask("POST", CM, config_map("c%d" % n))[0], 201)
        wait_until("another backup", lambda before=before: set(backups()) - before)
        for path in set(backups()) - seen:
            seen.add(path)
            known[path] = n
    wait_until("the oldest go", lambda: len(backups()) <= KEEP)
    revision = int(daemon.get(CM)["metadata"]["resourceVersion"])
    check(metric(daemon, "jobflow_backups_total") >= KEEP, "not counted")
    check_equal("none failed", metric(daemon, "jobflow_backups_failed_total"), 0)
    daemon.stop()
    check_equal("nothing half-done", [f for f in os.listdir("backups") if not f.endswith(".db")], [])
    shutil.copytree("backups", "kept")
    os.rename("kept", "all")
    for path in sorted(glob.glob("all/jobflow-*.db")):
        check_equal("private", os.stat(path).st_mode & 0o777, 0o600)
        jobflow("repair", "--data-dir", "d", "--from", path, code=None)
        again = Daemon(name=os.path.basename(path))
        kept = names(again)
        upto = known.get(path.replace("all/", "backups/"), n)
        check(len(kept) >= upto - 1, "%s has %s of %d" % (path, kept, upto))
        made = json.loads(again.ask("POST", CM, config_map("later"))[1])
        check(int(made["metadata"]["resourceVersion"]) > revision, "a revision given twice")
        revision = int(made["metadata"]["resourceVersion"])
        again.stop()


def a_backup_that_another_user_can_have_written_is_refused():
    daemon = Daemon()
    jobflow("backup", "--data-dir", "d", "b.db")
    daemon.stop()
    os.chmod("b.db", 0o620)
    refused = jobflow("repair", "--data-dir", "d", "--from", "b.db", code=2).stderr
    check_in("why", "another user can have written b.db", refused)
    os.chmod("b.db", 0o600)
    if os.geteuid() == 0:
        os.chown("b.db", 65534, 65534)
        check_in("whose", "owner 65534", jobflow("repair", "--data-dir", "d", "--from", "b.db", code=2).stderr)
        os.chown("b.db", 0, 0)
    jobflow("repair", "--data-dir", "d", "--from", "b.db", code=None)
    Daemon(name="restored").stop()


def script_flow(name, script):
    return {"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow", "metadata": {"name": name}, "spec": {"flows": [{"name": "a", "run": script}]}}


def store_bytes():
    with open("d/store.db", "rb") as file:
        return file.read()


def running(daemon):
    return {p["metadata"]["name"]: p["metadata"]["uid"] for p in daemon.get(PODS)["items"] if p.get("status", {}).get("phase") == "Running"}


def answered(text, *arguments):
    """Runs jobflow in a terminal whose user types `text` at the question; returns exit code and output."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(JOBFLOW, [JOBFLOW, *arguments])
    out = b""
    with contextlib.suppress(OSError):  # the terminal of a process that has ended gives EIO
        while chunk := os.read(terminal, 4096):
            out += chunk
            if chunk.endswith(b"[y/N] "):
                os.write(terminal, text)
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), out.decode()


def a_restore_names_the_running_pods_that_it_ends():
    script = "touch %s; while [ ! -e %s.go ]; do sleep 0.01; done"
    daemon = Daemon()
    check_equal("made", daemon.ask("POST", FLOWS, script_flow("old", script % ("o", "o")))[0], 201)
    wait_until("old runs", lambda: "old-a-main-0" in running(daemon))
    jobflow("backup", "--data-dir", "d", "b.db")
    check_equal("made", daemon.ask("POST", FLOWS, script_flow("new", script % ("n", "n")))[0], 201)
    wait_until("new runs", lambda: "new-a-main-0" in running(daemon))
    uids = running(daemon)
    daemon.stop()
    before = store_bytes()
    restore = ("repair", "--data-dir", "d", "--from", "b.db")
    refused = jobflow(*restore, code=2).stderr
    check_in("named", "default/new-a-main-0 (uid %s)" % uids["new-a-main-0"], refused)
    check("old-a-main-0" not in refused, "a pod that the backup has is named:\n" + refused)
    check_in("the way out", "--yes", refused)
    code, said = answered(b"n\n", *restore)
    check_equal("asked in a terminal", code, 2)
    check_in("named there too", "default/new-a-main-0", said)
    check(store_bytes() == before, "the store was changed")
    check_in("it is in order", "new-a", jobflow("get", "jobs", "--data-dir", "d").stdout)
    check_equal("agreed", answered(b"y\n", *restore)[0], 1)
    again = Daemon(name="restored")
    wait_until("the one runs on", lambda: running(again) == {"old-a-main-0": uids["old-a-main-0"]})
    wait_until("the other has ended", lambda: not any("touch n;" in command_line(int(pid)) for pid in descendants()))
    again.stop()
    check_equal("nothing that runs is lost", jobflow(*restore, "--yes", code=None).stderr, "")
    last = Daemon(name="last")
    write("o.go", "")
    wait_until("and ends", lambda: not running(last))
    last.stop()


def the_newest_backup_is_named_when_the_store_is_damaged():
    daemon = Daemon("--backup-dir", "backups", "--backup-every", "1h")
    wait_until("a backup", backups)
    wait_until("noted", lambda: os.path.exists("d/last-backup"))
    daemon.stop(9)
    os.unlink("d/store.db")
    refused = jobflow("serve", "--data-dir", "d", "--listen", "none", code=3).stderr
    check_in("named", "--from " + os.path.abspath(backups()[0]), refused)
    jobflow("repair", "--data-dir", "d", "--from", backups()[0], code=None)
    Daemon(name="restored").stop()


def a_failure_is_told_and_mends_itself():
    daemon = Daemon("--backup-dir", "backups", "--backup-every", "1s")
    wait_until("a backup", backups)
    shutil.rmtree("backups")
    write("backups", "this is no directory")
    wait_until("counted", lambda: metric(daemon, "jobflow_backups_failed_total") > 0)
    wait_until("an event", lambda: any(e["reason"] == "BackupFailed" for e in daemon.get("/api/v1/events")["items"]))
    os.unlink("backups")
    os.mkdir("backups", 0o700)
    wait_until("another backup", backups)
    daemon.stop()


def values_that_make_no_sense_are_refused():
    check_in("every", "one second", jobflow("serve", "--backup-dir", "b", "--backup-every", "10ms", "--data-dir", "d", "--listen", "none", code=2).stderr)
    jobflow("serve", "--backup-keep", "0", code=2)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
