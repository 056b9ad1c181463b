"""Secret values, tokens and keys are put wherever a user can put them, and searched for in everything that the program writes.

They may appear only in the Secret itself when it is read as YAML or JSON, in the pods that use them, in the store
(mode 0600), and in the answer to a request for a token.
"""
import base64
import glob
import re
import stat
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_plugins import *  # noqa: E402,F403: sys.path is set above; cases use all names
import lib_serve  # noqa: E402: sys.path is set above

MARK = "Kanarienvogel"


def canary(n):
    return "%s%04dxQ9vT3" % (MARK, n)


def encoded(text):
    return base64.b64encode(text.encode()).decode()


def shown_forms():
    """Returns the mark as text and its base64 forms at the three possible alignments."""
    forms = [MARK]
    for shift in range(3):
        form = base64.b64encode(b"\\0" * shift + MARK.encode()).decode().rstrip("=")
        forms.append(form[4:-4])
    return forms


def secret(name, data=None, **more):
    return dict({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": "default"}, "data": data or {}}, **more)


def ref(name, key, **more):
    return {"valueFrom": {"secretKeyRef": dict({"name": name, "key": key}, **more)}}


# Valid and invalid Secrets. Invalid ones are rejected, and the answer must not show their values.
SECRETS = [
    secret("good", {"env": encoded(canary(1)), "file": encoded(canary(2)), "ALL": encoded(canary(3))}),
    secret("text", stringData={"k": canary(4)}),
    secret("odd", {"k": encoded(canary(5))}, type="kubernetes.io/dockerconfigjson"),
    secret("not-base64", {"k": canary(6) + "!!"}),
    secret("a-number", {"k": 7}, stringData={"k": canary(7)}),
    secret("bad-key", {"a/../x": encoded(canary(8))}),
    secret("a-list", {"k": [canary(9)]}),
    secret("no-such-field", {"k": encoded(canary(10))}, dta={"k": canary(11)}),
    secret("no-map", [canary(13)]),
    secret("text-alone", canary(14)),
    job("no-list", [task("w", "true")], plugins={"ssh": "--ssh-private-key=" + canary(15)}),
    job("no-words", [task("w", "true")], plugins={"ssh": [{"ssh-private-key": canary(16)}]}),
    secret("big", {"k": encoded(canary(12) * 60000)}),
]


def user():
    """A pod that uses the secrets in every way and then fails, so that its status and events have much to report."""
    body = {"name": "c", "command": ["sh", "-c", "test -n \"$A$ALL\" && test -s /s/file && test -s /p/x/y && sleep 1; exit 7"],
            "env": [dict({"name": "A"}, **ref("good", "env")), dict({"name": "O"}, **ref("good", "none", optional=True))],
            "envFrom": [{"secretRef": {"name": "good"}}],
            "volumeMounts": [{"name": "s", "mountPath": "/s"}, {"name": "p", "mountPath": "/p"}, {"name": "s", "mountPath": "/one", "subPath": "file"}],
            "args": ["$(A)", "$(ALL)"]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "user", "namespace": "default"},
            "spec": {"restartPolicy": "OnFailure", "activeDeadlineSeconds": 4 * SLOW, "containers": [body],
                     "volumes": [{"name": "s", "secret": {"secretName": "good"}},
                                 {"name": "p", "projected": {"sources": [{"secret": {"name": "good", "items": [{"key": "file", "path": "x/y"}]}}]}}]}}


def starved():
    """A pod that waits for a missing key and one whose volume is invalid."""
    pod = user()
    pod["metadata"]["name"] = "starved"
    del pod["spec"]["activeDeadlineSeconds"]
    pod["spec"]["containers"][0]["env"] = [dict({"name": "A"}, **ref("good", "missing"))]
    return pod


KINDS = ["pods", "secrets", "events", "configmaps", "jobs", "jobflows", "podgroups", "services", "nodes", "queues"]


def look_at_everything(daemon):
    """Reads everything that can be read except full Secrets."""
    told = []
    for kind in KINDS:
        for form in ([], ["-o", "wide"], ["-o", "name"], ["-A"]) + ((["-o", "yaml"], ["-o", "json"]) if kind != "secrets" else ()):
            told.append(daemon("get", kind, *form, code=None))
    for what in ("secret/good", "secret/text", "pod/user", "pod/starved", "job/j"):
        told.append(daemon("describe", what, code=None))
    told += [daemon("events", code=None), daemon("get", "secret/good", "-o", "jsonpath={.metadata.name}", code=None)]
    return [done.stdout + done.stderr for done in told]


def processes_arguments():
    """Returns the command lines of jobflow's own processes. Those of the pods' programs may contain secrets."""
    ours = [p for p, name in descendants().items() if name.startswith("jobflow")]
    return [command_line(p) for p in ours]


def check_unseen(where, text):
    for form in shown_forms():
        at = text.find(form)
        check(at < 0, "%s shows a secret:\n%s" % (where, text[max(0, at - 300):at + 100]))


def check_files(root):
    """Checks that other users can read no file, and that only the store contains a secret."""
    for path in [root] + glob.glob(root + "/**", recursive=True, include_hidden=True):
        with contextlib.suppress(FileNotFoundError):
            info = os.lstat(path)
            inside = os.path.relpath(path, root)
            check(stat.S_ISLNK(info.st_mode) or info.st_mode & 0o077 == 0 or "/" in inside, "%s can be read by others: %o" % (path, info.st_mode))
            if stat.S_ISREG(info.st_mode) and not re.search(r"\.db(-wal|-shm)?$", path):
                check_unseen(path, read(path))
    for path in glob.glob(root + "/store.db*"):
        check_equal("mode of " + path, os.stat(path).st_mode & 0o777, 0o600)


def check_cores(pids):
    """Checks that no process may write a core file. Processes that have ended meanwhile are skipped."""
    for pid in pids:
        found = re.search(r"Max core file size +(\S+) +(\S+)", read("/proc/%d/limits" % pid))
        check_equal("core size of %s" % command_line(pid), found.groups() if found else ("0", "0"), ("0", "0"))


# covers: reliability.md SEC-30 SEC-33 FT-33; see SEC-32
def secrets_are_seen_only_by_pods_that_got_them():
    daemon = Daemon("--verbose")
    told = []
    for each in SECRETS:
        manifest("one.yaml", each)
        for verb in (["validate", "one.yaml"], ["apply", "-f", "one.yaml"], ["apply", "--server-side", "-f", "one.yaml"]):
            done = jobflow(*verb, code=None) if verb[0] == "validate" else daemon(*verb, code=None)
            told.append(done.stdout + done.stderr)
    token = daemon("token", "create", "ci", "--role", "viewer").stdout.strip()
    check(len(token) > 20, "there is a token")
    daemon.apply(user(), starved(), job("j", [task("w", "exit 3")], plugins={"ssh": ["--ssh-key-type=ed25519"], "svc": []}))
    told += [daemon("token", "list").stdout]
    wait_until("the pod is at work", lambda: daemon.get("pod/user")["status"].get("containerStatuses"))
    check_cores(descendants())
    told += processes_arguments()
    wait_until("it has ended", lambda: daemon.get("pod/user")["status"].get("phase") == "Failed")
    check_in("the other waits", "CreateContainerConfigError", json.dumps(daemon.get("pod/starved")["status"]))
    check_equal("the Secret itself", base64.b64decode(daemon.get("secret/good")["data"]["env"]).decode(), canary(1))
    told += look_at_everything(daemon)
    check_files("data")
    daemon("delete", "secret/good")
    daemon.stop()
    told += [read("serve.stdout"), read("serve.stderr")]
    check(len(told[-1]) > 1000, "the daemon was verbose")
    check_in("audit log", "secrets", read("data/audit.log"))
    check_files("data")
    for text in told:
        check_unseen("output", text)
        check(token not in text, "a token is shown")
    for path in glob.glob("data/**", recursive=True, include_hidden=True):
        if os.path.isfile(path):
            check(token.encode() not in open(path, "rb").read(), "a token is in %s" % path)


def a_run_shows_no_secret_either():
    """Checks the logs, records, errors, live output and files of `jobflow run`."""
    pod = {"volumes": [{"name": "s", "secret": {"secretName": "good"}}]}
    made = task("w", "test -s /s/env && exit 5", **pod)
    made["template"]["spec"]["containers"][0]["volumeMounts"] = [{"name": "s", "mountPath": "/s"}]
    made["template"]["spec"]["containers"][0]["env"] = [dict({"name": "A"}, **ref("good", "env"))]
    manifest("run.yaml", SECRETS[0], job("j", [made]))
    made["template"]["spec"]["containers"][0]["command"][2] = "while [ ! -e go ]; do sleep 0.02; done; test -s /s/env && exit 5"
    manifest("slow.yaml", SECRETS[0], job("j", [made]))
    slow = Background("run", "--fresh", "slow.yaml")
    wait_until("it is at work", lambda: len(descendants()) > 2)
    check_cores(descendants())
    write("go", "")
    check_equal("exit code", slow.wait(), 1)
    for flags in (["-o", "plain", "--logs"], ["-o", "json"], ["-o", "quiet"]):
        done = jobflow("run", "--fresh", *flags, "run.yaml", code=1)
        check_unseen(" ".join(flags), done.stdout + done.stderr)
    check_files(".jobflow")


TABLE = {"Accept": "application/json;as=Table;g=meta.k8s.io;v=v1"}


# covers: reliability.md SEC-32
def secrets_are_given_only_to_clients_that_may_read_them():
    """A user without permission to get Secrets sees no values in any form of answer; tables never contain values."""
    daemon = lib_serve.Daemon()
    where = "/api/v1/namespaces/default/secrets"
    check_equal("made", daemon.ask("POST", where, SECRETS[0])[0], 201)

    def token(*words):
        return jobflow("token", "create", *words, "--data-dir", daemon.data_dir).stdout.strip()

    for who in (token("v", "--role", "viewer"), token("e", "--role", "editor", "-n", "elsewhere"), None):
        for path in (where, where + "/good", "/api/v1/secrets", where + "?watch=1&timeoutSeconds=1", where + "?limit=1"):
            for headers in (None, TABLE):
                status, text = daemon.ask("GET", path, token=who, headers=headers)
                check_equal("%s: %s" % (path, text), status, 403)
                check_unseen(path, text)
        status, text = daemon.ask("PATCH", where + "/good", [{"op": "test", "path": "/data/env", "value": "x"}], token=who,
                                  headers={"Content-Type": "application/json-patch+json"})
        check_equal("a guess", status, 403)
        check_unseen("a guess", text)
    for path in (where, where + "/good", "/api/v1/secrets"):
        status, text = daemon.ask("GET", path, headers=TABLE)
        check_equal(path, status, 200)
        check_in("the table", "good", text)
        check_unseen("the table", text)
    check_in("the administrator's answer", encoded(canary(1)), daemon.ask("GET", where + "/good")[1])
    daemon.stop()


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
