"""Data that a daemon protects or releases: credentials, memory, files.

# see reliability.md SEC-24; docs/deviations.md
"""
import json
import os
import socket
import sqlite3
import sys
import threading

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_serve import *  # noqa: E402,F403: sys.path is set above; cases use all names

PODS = "/api/v1/namespaces/default/pods"


def spy(name, script):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "command": ["/bin/sh", "-c", script]}]}}


def ended(daemon, name):
    return daemon.get("%s/%s" % (PODS, name))["status"].get("phase") in ("Succeeded", "Failed")


def reported(daemon, name, script):
    status, text = daemon.ask("POST", PODS, spy(name, script))
    check_equal("created %s" % text, status, 201)
    wait_until("%s has ended" % name, lambda: ended(daemon, name))
    return daemon.ask("GET", "%s/%s/log" % (PODS, name))[1]


# covers: reliability.md SEC-06
def a_sandboxed_pod_is_given_no_credential_and_finds_none():
    doctor = jobflow("doctor", code=None).stdout
    daemon = Daemon("--isolation", "mounts" if os.getuid() == 0 else "user", ready=False)
    wait_until("ready or refused", lambda: "serving on" in daemon.output() or not daemon.running())
    if not daemon.running():
        raise Skip("no isolation here: %s%s" % (daemon.errors(), doctor))
    daemon.stop()
    daemon = Daemon("--isolation", "mounts" if os.getuid() == 0 else "user", name="again")
    here = daemon.data_dir
    said = reported(daemon, "spy", "ls -A %s; cat %s/kubeconfig %s/access/*; env; ls -A /var/run/secrets; echo done" % (here, here, here))
    check_in("it has looked", "done", said)
    for secret in (daemon.token, "PRIVATE KEY", "BEGIN CERTIFICATE", "store.db", "api.sock"):
        check(secret not in said, "the pod has seen %r:\n%s" % (secret, said))
    said = reported(daemon, "caller", "command -v python3 >/dev/null && exec python3 -c \"import socket; s = socket.socket(socket.AF_UNIX); s.connect('%s/api.sock')\" 2>&1; echo No such file" % here)
    check_in("the socket is not there", "No such file", said)
    daemon.stop()


def create_all(daemon, path, objects):
    """Creates the objects on one connection and sends each request without waiting for the previous answer."""
    bodies = [json.dumps(one).encode() for one in objects]
    asked = b"".join(b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s" % (path.encode(), len(body), body) for body in bodies)
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(DEADLINE)
        s.connect(os.path.relpath(os.path.join(daemon.data_dir, "api.sock")))
        sender = threading.Thread(target=s.sendall, args=(asked,))
        sender.start()
        made, rest = 0, b""
        while made < len(bodies):
            part = s.recv(1 << 20)
            check(part, "%d of %d were answered" % (made, len(bodies)))
            rest += part
            made += rest.count(b"HTTP/1.1 201 Created")
            rest = rest[-19:] if not rest.endswith(b"HTTP/1.1 201 Created") else b""
        sender.join()


def rss(daemon):
    return next(int(line.split()[1]) << 10 for line in read("/proc/%d/status" % daemon.pid).splitlines() if line.startswith("VmRSS:"))


# covers: reliability.md L-45
def ten_thousand_objects_and_five_hundred_pods_fit_into_memory():
    daemon = Daemon("--isolation", "plain", "-j", "500")
    create_all(daemon, CM, [config_map("c%d" % n, v="x" * 2000) for n in range(9500)])
    create_all(daemon, PODS, [spy("p%d" % n, "exec sleep 1000") for n in range(500)])
    wait_until("they run", lambda: sum(p["status"].get("phase") == "Running" for p in daemon.get(PODS)["items"]) == 500)
    check(rss(daemon) <= (256 << 20) * SLOW, "memory: %d" % rss(daemon))
    daemon.ask("DELETE", PODS + "?gracePeriodSeconds=0")
    wait_until("they are gone", lambda: not daemon.get(PODS)["items"])
    daemon.stop()


def opened(daemon, name):
    return descriptors(daemon).count(os.path.join(daemon.data_dir, name))


# covers: reliability.md D-05
def the_files_of_the_store_are_opened_once_and_copied_by_sqlite():
    daemon = Daemon()
    for n in range(50):
        daemon.ask("POST", CM, config_map("c%d" % n, v="x" * 1000))
    for name in ("store.db", "store.db-wal"):
        check_equal(name, opened(daemon, name), 1)
    jobflow("backup", "copy.db", "--data-dir", daemon.data_dir)
    for name in ("store.db", "store.db-wal"):
        check_equal(name + " after a backup", opened(daemon, name), 1)
    check_equal("mode", os.stat("copy.db").st_mode & 0o777, 0o600)
    copy = sqlite3.connect("copy.db")
    check_equal("whole", copy.execute("PRAGMA integrity_check").fetchone(), ("ok",))
    check(copy.execute("SELECT count(*) FROM objects").fetchone()[0] >= 50, "all is in it")
    copy.close()
    check_equal("no part of it is left", [f for f in os.listdir(daemon.data_dir) if "copy" in f or "backup" in f], [])
    daemon.ask("POST", CM, config_map("after"))
    daemon.stop()


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
