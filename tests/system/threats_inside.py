"""Attacks from inside: a pod, an author of manifests, a server that answers probes, and a file must not exceed the access they were given.

# covers: reliability.md T-2 T-3 T-6 T-7; see SEC-06, SEC-13, SEC-14, SEC-18, SEC-20, SEC-23, SEC-24, L-30, L-35, P-11
"""
import json
import os
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_plugins import need_sandboxed_pods  # noqa: E402: sys.path is set above
from lib_serve import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_tools import need_modules  # noqa: E402: sys.path is set above

CANARY = "canary-of-threats-inside"
PORT = 18081  # for pods with an address of their own
PODS = "/api/v1/namespaces/%s/pods"
MAPS = "/api/v1/namespaces/%s/configmaps"
SECRETS = "/api/v1/namespaces/%s/secrets"
FLOWS = "/apis/flow.volcano.sh/v1alpha1/namespaces/%s/jobflows"
TEMPLATES = "/apis/flow.volcano.sh/v1alpha1/namespaces/%s/jobtemplates"


def pod(name, command, volumes=(), mounts=(), **container):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"restartPolicy": "Never", "volumes": list(volumes),
                     "containers": [dict({"name": "c", "command": command, "volumeMounts": list(mounts)}, **container)]}}


def mount(name, path):
    return {"name": name, "mountPath": path}


def secret(name):
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": {"key": CANARY}}


def make(daemon, path, body, status=201, **rest):
    got, text = daemon.ask("POST", path, body, **rest)
    check_equal("POST %s: %s" % (path, text), got, status)


def end_of(daemon, name, ns="default"):
    """Waits until the pod has ended; returns its status."""
    def ended():
        status = daemon.get(PODS % ns + "/" + name)["status"]
        return status if status.get("phase") in ("Succeeded", "Failed") else None
    return wait_until(name + " has ended", ended)


def remove_all(daemon, *names, ns="default"):
    for name in names:
        check_equal("removed " + name, daemon.ask("DELETE", PODS % ns + "/" + name + "?gracePeriodSeconds=0")[0] // 100, 2)
    daemon.stop()
    nothing_left()


# Prints every attempt that succeeds, with the data it read.
ATTEMPTS = """
import os, signal, socket, ssl, subprocess, sys, urllib.request
canary, data, port, outside = sys.argv[1:]

def attempt(what, do):
    try:
        got = do()
    except (OSError, ValueError):
        return
    if got:
        print("could:", what, str(got)[:200], flush=True)

def connect():
    s = socket.socket(socket.AF_UNIX)
    s.connect(data + "/api.sock")
    return "connected"

def ask(path):
    trusting = ssl._create_unverified_context()
    return urllib.request.urlopen("https://127.0.0.1:%s%s" % (port, path), context=trusting, timeout=30).read()

def has_canary(path):
    text = open(path, "rb").read(1 << 20)
    return path if canary.encode() in text else None

attempt("connect to the socket", connect)
for path in ("/api/v1/secrets", "/api/v1/namespaces/default/pods", "/metrics"):
    attempt("ask for " + path, lambda: ask(path))
attempt("list the data directory", lambda: os.listdir(data))
for name in ("kubeconfig", "store.db", "audit.log"):
    attempt("read " + name, lambda: open(data + "/" + name, "rb").read(64))
for pid in [p for p in os.listdir("/proc") if p.isdigit() and int(p) != os.getpid()]:
    for name in ("environ", "cmdline"):
        attempt("see another pod's " + name, lambda: has_canary("/proc/%s/%s" % (pid, name)))
    attempt("read another pod's file", lambda: has_canary("/proc/%s/root/s/key" % pid))
attempt("read what is outside", lambda: has_canary(outside))
for link in ("/v/link", "/v/deep/link"):
    os.makedirs(os.path.dirname(link), exist_ok=True)
    os.symlink(os.path.dirname(outside), link)
os.symlink(outside, "/v/file")
attempt("follow its own link", lambda: has_canary("/v/file"))
if os.fork() == 0:
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.execvp("sleep", ["sleep", "7532"])
signal.signal(signal.SIGTERM, signal.SIG_IGN)
try:
    os.kill(-1, signal.SIGTERM)
except OSError:
    pass
print("tried", flush=True)
"""


def a_pod_reaches_nothing_that_it_was_not_given():
    """Uses level full, the level for manifests of untrusted authors (docs/daemon.md)."""
    need_one_thread()
    need_modules("ssl", "subprocess", "urllib.request", python="python3")
    tried = jobflow("run", "--isolation", "full", "--data-dir", "try", manifest("none.yaml", flow("f", [step("s", template="t")]), template("t")), code=None)
    if tried.returncode:
        raise Skip(tried.stderr.strip())
    os.mkdir("outside")
    write("outside/file", CANARY)
    os.chmod("outside/file", 0o600)
    daemon = Daemon("--isolation", "full")
    volume = {"name": "s", "secret": {"secretName": "s"}}
    make(daemon, SECRETS % "default", secret("s"))
    make(daemon, PODS % "default", pod("victim", ["sleep", "7533"], [volume], [mount("s", "/s")], env=[{"name": "KEY", "value": CANARY}]))
    wait_until("the victim runs", lambda: daemon.get(PODS % "default" + "/victim")["status"].get("phase") == "Running")
    make(daemon, PODS % "default", pod("attacker", ["python3", "-c", ATTEMPTS, CANARY, daemon.data_dir, str(daemon.port),
                                                    os.path.abspath("outside/file")],
                                       [{"name": "v", "emptyDir": {}}], [mount("v", "/v")]))
    check_equal("its end", end_of(daemon, "attacker")["phase"], "Succeeded")
    check_equal("what it could do", daemon.ask("GET", PODS % "default" + "/attacker/log")[1], "tried\n")
    wait_until("nothing has outlived it", lambda: not [p for p in descendants() if command_line(p) == "sleep 7532"])
    victim = daemon.get(PODS % "default" + "/victim")["status"]
    check_equal("the victim", (victim["phase"], victim["containerStatuses"][0]["restartCount"]), ("Running", 0))
    remove_all(daemon, "attacker", "victim")
    check_equal("what lies outside", read("outside/file"), CANARY)


def growing(levels):
    """Environment variables whose expansion needs more memory than the machine has."""
    return [{"name": "V0", "value": "x" * 1000}] + [{"name": "V%d" % i, "value": "$(V%d)" % (i - 1) * 300} for i in range(1, levels)]


def an_author_in_one_namespace_does_nothing_to_others():
    daemon = Daemon()
    for ns in ("author", "other"):
        make(daemon, "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": ns}})
    make(daemon, SECRETS % "other", secret("s"))
    token = jobflow("token", "--data-dir", "d", "create", "author", "--role", "editor", "-n", "author").stdout.strip()
    make(daemon, MAPS % "author", config_map("c", v="1"), token=token)
    for verb in ("GET", "POST", "PUT", "PATCH", "DELETE"):
        for path in (SECRETS % "other", SECRETS % "other" + "/s", FLOWS % "other", PODS % "other", "/api/v1/secrets", "/api/v1/pods"):
            body = secret("s") if verb in ("POST", "PUT", "PATCH") else None
            status, text = daemon.ask(verb, path, body, token=token)
            check(status in (403, 405) and CANARY not in text, "%s %s: %d %s" % (verb, path, status, text))

    host = {"name": "h", "hostPath": {"path": "/"}}
    make(daemon, PODS % "author", pod("host", ["cat", "/h/etc/shadow"], [host], [mount("h", "/h")]), token=token)
    check_in("host paths", "HostPathForbidden", json.dumps(end_of(daemon, "host", "author")))
    make(daemon, PODS % "author", pod("bomb", ["true"], env=growing(8)), token=token)
    check_in("variables without end", "ArgumentsTooLong", json.dumps(end_of(daemon, "bomb", "author")))
    borrowed = [{"name": "K", "valueFrom": {"secretKeyRef": {"name": "s", "key": "key"}}}]
    make(daemon, PODS % "author", pod("borrower", ["true"], env=borrowed), token=token)
    wait_until("a secret of another namespace is none", lambda: 'secret \\"s\\" not found' in daemon.ask("GET", PODS % "author" + "/borrower")[1])

    make(daemon, PODS % "other", pod("neighbour", ["true"]))
    check_equal("the neighbour", end_of(daemon, "neighbour", "other")["phase"], "Succeeded")
    check_equal("the secret", base64.b64decode(daemon.get(SECRETS % "other" + "/s")["data"]["key"]).decode(), CANARY)
    remove_all(daemon, "host", "bomb", "borrower", ns="author")


# A server that answers requests endlessly, redirects them, or does not answer; it stops on request.
ANSWERS = """
import http.server, os, socketserver, sys, threading, time
how, port, elsewhere = sys.argv[1], int(sys.argv[2]), sys.argv[3]

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        print("asked", flush=True)
        if how == "redirects":
            self.send_response(302)
            self.send_header("Location", "http://127.0.0.1:%s/" % elsewhere)
            self.end_headers()
        elif how == "never":
            time.sleep(3600)
        else:
            self.send_response(500)
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b"x" * 65536)
            except OSError:
                print("cut off", flush=True)

class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True

Server(("", port), Handler).serve_forever()
"""


def program(command):
    """A task that runs this program and declares its port."""
    container = {"name": "c", "command": command, "ports": [{"containerPort": PORT}]}
    return {"name": "main", "replicas": 1, "template": {"spec": {"restartPolicy": "Never", "containers": [container]}}}


def waiting_flow(name, port):
    probe = {"httpGetList": [{"taskName": "main", "path": "/", "port": port}]}
    return flow(name, [step("answers", template=name), step("after", template="fine", dependsOn={"targets": ["answers"], "probe": probe})])


def pods_of(daemon):
    return [p["metadata"]["name"] for p in daemon.get(PODS % "default")["items"]]


def a_hostile_answer_to_a_probe_redirects_and_delays_nothing():
    need_sandboxed_pods()
    need_modules("http.server", python="python3")
    with socket.socket() as elsewhere:
        elsewhere.bind(("127.0.0.1", 0))
        elsewhere.listen()
        daemon = Daemon()
        make(daemon, TEMPLATES % "default", template("fine"))
        for how in ("without-end", "redirects", "never"):
            command = ["python3", "-u", "-c", ANSWERS, how, str(PORT), str(elsewhere.getsockname()[1])]
            make(daemon, TEMPLATES % "default", template(how, tasks=[program(command)]))
            make(daemon, FLOWS % "default", waiting_flow(how, PORT))
        for how in ("without-end", "redirects", "never"):
            wait_until(how + " is asked", lambda: "asked" in daemon.ask("GET", PODS % "default" + "/%s-answers-main-0/log" % how)[1])
        wait_until("who never ends is cut off", lambda: "cut off" in daemon.ask("GET", PODS % "default" + "/without-end-answers-main-0/log")[1])
        make(daemon, FLOWS % "default", flow("good", [step("s", template="fine")]))
        wait_until("another flow ends", lambda: daemon.get(FLOWS % "default" + "/good").get("status", {}).get("state", {}).get("phase") == "Succeed")
        wait_until("the redirect counts as the answer it is", lambda: [p for p in pods_of(daemon) if p.startswith("redirects-after")])
        elsewhere.setblocking(False)
        try:
            elsewhere.accept()
            raise Failure("the probe went where it was sent")
        except BlockingIOError:
            pass
        for how in ("without-end", "never"):
            check(not [p for p in pods_of(daemon) if p.startswith(how + "-after")], "a step went on without its probe: %s" % pods_of(daemon))
        for how in ("without-end", "redirects", "never", "good"):
            check_equal("removed", daemon.ask("DELETE", FLOWS % "default" + "/%s?gracePeriodSeconds=0" % how)[0] // 100, 2)
        daemon.stop()
        nothing_left()


PLUGIN = """
apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: %s, args: [ran]}}}]
"""


def a_file_runs_no_program_and_reads_no_other():
    """Reads a kubeconfig with a credential plugin, and manifests that name files and programs."""
    write("plugin", "#!/bin/sh\ntouch %s\n" % os.path.abspath("ran"))
    os.chmod("plugin", 0o755)
    write("config", PLUGIN % os.path.abspath("plugin"))
    os.chmod("config", 0o600)
    refused = jobflow("get", "jf", "--kubeconfig", "config", code=None)
    check(refused.returncode != 0, "a plugin is taken without a word")
    check_in("how it would run", "--allow-exec-plugin", refused.stderr)
    check(not os.path.exists("ran"), "the plugin of a kubeconfig has run without being asked for")

    write("secret", CANARY)
    named = os.path.abspath("secret")
    for text in ("!!python/object/apply:os.system ['touch ran']", "!include " + named, "<<: !file " + named, "$(cat %s)" % named, "`cat %s`" % named):
        write("m.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  k: %s\n" % text)
        done = jobflow("validate", "m.yaml", code=None)
        check(CANARY not in done.stdout + done.stderr, "%s was read" % text)
        check(not os.path.exists("ran"), "%s was run" % text)
    for verb in ("validate", "plan"):
        jobflow(verb, manifest("f.yaml", flow("f", [step("s", template="t")]), template("t", "touch " + os.path.abspath("ran"))))
        check(not os.path.exists("ran"), "%s runs programs" % verb)


def command(name, queue, kind="Queue", version="scheduling.volcano.sh/v1beta1"):
    return {"apiVersion": "bus.volcano.sh/v1alpha1", "kind": "Command", "metadata": {"name": name, "namespace": "author"},
            "action": "CloseQueue" if kind == "Queue" else "AbortJob", "target": {"apiVersion": version, "kind": kind, "name": queue, "uid": ""}}


def an_editor_of_a_namespace_commands_its_jobs_but_no_queue():
    """A command for a queue needs the right to change queues, however it comes; one for an unknown queue leaves nothing."""
    commands = "/apis/bus.volcano.sh/v1alpha1/namespaces/author/commands"
    daemon = Daemon()
    check_equal("namespace", daemon.ask("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "author"}})[0], 201)
    check_equal("queue", daemon.ask("POST", "/apis/scheduling.volcano.sh/v1beta1/queues", {
        "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "team"}, "spec": {"weight": 1}})[0], 201)
    token = jobflow("token", "--data-dir", daemon.data_dir, "create", "author", "--role", "editor", "-n", "author").stdout.strip()
    status, text = daemon.ask("POST", commands, command("close", "team"), token=token)
    check_equal("create", status, 403)
    check_in("why", 'cannot update resource "queues" in API group "scheduling.volcano.sh" at the cluster scope', json.loads(text)["message"])
    status, _ = daemon.ask("PATCH", commands + "/close?fieldManager=m", command("close", "team"), token=token,
                           headers={"Content-Type": "application/apply-patch+yaml"})
    check_equal("apply", status, 403)
    parked = command("parked", "no-such-job", "Job", "batch.volcano.sh/v1alpha1")
    check_equal("of a job", daemon.ask("POST", commands, parked, token=token)[0], 201)
    status, text = daemon.ask("PATCH", commands + "/parked", {"action": "CloseQueue", "target": command("", "team")["target"]}, token=token,
                              headers={"Content-Type": "application/merge-patch+json"})
    check_equal("turned into one of a queue", status, 422)
    check_in("why", "never change", text)
    for n in range(20):
        check_equal("of the administrator", daemon.ask("POST", commands, command("c%d" % n, "none-%d" % n))[0], 201)
    wait_until("they are answered", lambda: len(daemon.get(commands)["items"]) == 1)
    check("none-" not in daemon.ask("GET", "/metrics")[1], "a queue is counted that is not there")
    check_equal("the queue", daemon.get("/apis/scheduling.volcano.sh/v1beta1/queues/team")["status"]["state"], "Open")
    daemon.stop()
    nothing_left()


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
