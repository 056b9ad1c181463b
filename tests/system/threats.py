"""Attacks from outside: another user of the machine, a host on the network, a web page. Each tries everything that it can reach.

# covers: reliability.md T-1 T-4 T-5; see SEC-01 to SEC-07, SEC-16, P-14
"""
import itertools
import os
import subprocess
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_serve import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_user import ORDINARY, can  # noqa: E402: sys.path is set above

SECRET = "canary-of-threats"
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"restartPolicy": "Never", "containers": [
    {"name": "c", "command": ["sh", "-c", "echo %s; echo running > started; exec sleep 300" % SECRET], "env": [{"name": "KEY", "value": SECRET}]}]}}
PODS = "/api/v1/namespaces/default/pods"
PATHS = ["/", "/api", "/api/v1", "/apis", "/version", "/metrics", "/openapi/v2", "/openapi/v3", "/backup", "/debug", CM, CM + "/c", JF, PODS,
         PODS + "/p/log", "/api/v1/secrets", "/api/v1/nodes", "/api/v1/namespaces", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"]
VERBS = ["GET", "POST", "PUT", "PATCH", "DELETE"]


def daemon_with(pod):
    daemon = Daemon()
    check_equal("made", daemon.ask("POST", CM, config_map("c", v=SECRET))[0], 201)
    check_equal("pod", daemon.ask("POST", PODS, pod)[0], 201)
    wait_until("the pod runs", lambda: os.path.exists("started") and daemon.get(PODS + "/p")["status"].get("phase") == "Running")
    return daemon


def still_well(daemon):
    check_equal("the object", daemon.get(CM + "/c")["data"]["v"], SECRET)
    check_equal("the pod", daemon.get(PODS + "/p")["status"]["phase"], "Running")
    check_equal("what there is", [i["metadata"]["name"] for i in daemon.get(CM)["items"] if "kube-root" not in i["metadata"]["name"]], ["c"])
    check_equal("removed", daemon.ask("DELETE", PODS + "/p?gracePeriodSeconds=0")[0] // 100, 2)
    daemon.stop()
    nothing_left()


def open_to(path):
    """Returns the paths of a tree that an ordinary user can read, list or connect to."""
    script = 'for f in "$@"; do if [ -r "$f" ] || [ -w "$f" ]; then echo "$f"; fi; done'
    names = [path] + [os.path.join(root, n) for root, dirs, files in os.walk(path) for n in dirs + files]
    out = []
    for at in range(0, len(names), 500):
        done = subprocess.run(ORDINARY + ["sh", "-c", script, "sh"] + names[at:at + 500], capture_output=True, text=True, check=False, cwd="/")
        out += done.stdout.splitlines()
    return out


def another_user_of_the_machine_gets_nothing():
    if os.geteuid() != 0 or not can(ORDINARY + ["true"]):
        raise Skip("only root can become another user")
    os.chmod(TMP, 0o711)  # so that only the daemon's own directory denies access
    daemon = daemon_with(POD)
    check_equal("files", open_to(daemon.data_dir), [])
    for number in descendants():
        for name in ("environ", "mem", "fd", "cwd/started"):
            done = subprocess.run(ORDINARY + ["cat" if name != "fd" else "ls", "/proc/%d/%s" % (number, name)],
                                  capture_output=True, text=True, check=False, cwd="/")
            check(not done.stdout, "/proc/%d/%s: %r" % (number, name, done.stdout[:200]))
    listed = subprocess.run(ORDINARY + ["cat"] + ["/proc/%d/cmdline" % n for n in descendants()],
                            capture_output=True, text=True, check=False, cwd="/").stdout
    check(daemon.token not in listed, "the token is an argument of a process")
    connect = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.sendall(b'GET /api HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n')"
    done = subprocess.run(ORDINARY + ["/usr/bin/python3", "-c", connect, os.path.join(daemon.data_dir, "api.sock")],
                          capture_output=True, text=True, check=False, cwd="/")
    check_in("the socket", "PermissionError", done.stderr)
    still_well(daemon)


def a_client_on_the_network_can_do_nothing_without_a_credential():
    daemon = daemon_with(POD)
    connection = daemon.connect()
    told = {}
    for path, verb in itertools.product(PATHS, VERBS):
        body = config_map("x") if verb in ("POST", "PUT", "PATCH") else None
        status, text = daemon.ask(verb, path, body, token=None, connection=connection)
        told.setdefault(status, []).append((verb, path))
        check(SECRET not in text, "%s %s tells what it should not" % (verb, path))
    check_equal("answers", {k: v for k, v in told.items() if k not in (401, 403)}, {})
    for path in ("/livez", "/readyz"):
        check_equal(path, daemon.ask("GET", path, token=None, connection=connection)[0], 200)
    for token in ("x", "jf_" + "A" * 43, daemon.token[:-1], daemon.token + "A", daemon.token.upper(), daemon.token[::-1]):
        check(daemon.ask("GET", CM, token=token, connection=connection)[0] in (401, 429), "the token %s" % token)
    still_well(daemon)


def a_web_page_has_no_request_accepted():
    """The page is refused even with a valid token."""
    daemon = daemon_with(POD)
    body = json.dumps(config_map("x"))
    cases = [({"Host": "evil.example"}, 403), ({"Host": "127.0.0.1.evil.example"}, 403), ({"Origin": "http://evil.example"}, 403),
             ({"Origin": "null"}, 403), ({"Origin": "https://127.0.0.1:%d" % daemon.port}, 403),
             ({"Content-Type": "text/plain"}, 415), ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
             ({"Content-Type": "multipart/form-data; boundary=b"}, 415)]
    for headers, status in cases:
        check_equal(headers, daemon.ask("POST", CM, body, headers=headers)[0], status)
    connection = daemon.connect()
    connection.request("OPTIONS", CM, headers={"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"})
    answer = connection.getresponse()
    answer.read()
    check(answer.status >= 400, "a preflight is answered with %d" % answer.status)
    check_equal("headers for pages", [k for k, _ in answer.getheaders() if k.lower().startswith("access-control") or k.lower() == "set-cookie"], [])
    still_well(daemon)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
