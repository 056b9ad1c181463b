"""An editor of one namespace stays one: the pods of a namespace in which not only administrators write are kept from the daemon's files.

# covers: reliability.md T-2 SEC-06 SEC-24; see DC-27
"""
import os
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403
from lib_plugins import need_sandboxed_pods  # noqa: E402
from lib_serve import *  # noqa: E402,F403
from lib_user import ORDINARY, POWERLESS, can, run_there  # noqa: E402

PODS = "/api/v1/namespaces/default/pods"
NAMESPACE = "/api/v1/namespaces/default"
MARK = "jobflow.dev/confined"
# Prints each attempt that succeeds. A program with the id of the user who runs the daemon could leave a command in that user's files.
ATTEMPTS = """
import os, sys
data, home, *aliases = sys.argv[1:]

def attempt(what, do):
    try:
        do()
    except OSError:
        return
    print("could:", what, flush=True)

for place in [data] + aliases:
    for name in ("kubeconfig", "access/ca.key", "access/tokens.json", "store.db", "audit.log", "node/ids"):
        attempt("read %s/%s" % (place, name), lambda: open(place + "/" + name, "rb").read(1))
attempt("see the user's files", lambda: open(home + "/file").read())
for pid in [p for p in os.listdir("/proc") if p.isdigit()]:
    for name in ("root", "cwd"):
        attempt("read through /proc/%s/%s" % (pid, name), lambda: open("/proc/%s/%s%s/kubeconfig" % (pid, name, data)).read(1))
for path in ("/", "/usr", "/usr/local/bin", "/var", "/home", "/opt", os.path.dirname(data)):
    attempt("write to " + path, lambda: os.close(os.open(path + "/left-by-a-pod", os.O_CREAT | os.O_WRONLY)))
for path in ("/tmp", os.path.expanduser("~")):
    open(path + "/own", "w").close()  # these are the pod's
print("tried", flush=True)
"""


def pod(name, command, **container):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"restartPolicy": "Never", "containers": [
        dict({"name": "c", "command": command}, **container)]}}


def submission(script="true"):
    spec = {"containers": [{"name": "c", "command": ["sh", "-c", script]}]}
    return {"queue": "default", "jobSetId": "s", "jobs": [{"mainObject": {"podSpec": spec}}]}


def ended(daemon, name):
    def status():
        found = daemon.get(PODS + "/" + name)["status"]
        return found if found.get("phase") in ("Succeeded", "Failed") else None
    return wait_until(name + " has ended", status)


def output_of(daemon, name, command, **rest):
    """Runs a pod to its end, on behalf of the administrator or of `token`; returns its log."""
    token = rest.pop("token", daemon.token)
    status, text = daemon.ask("POST", PODS, pod(name, command, **rest), token=token)
    check_equal("made: " + text, status, 201)
    ended(daemon, name)
    return daemon.ask("GET", PODS + "/" + name + "/log")[1]


def token_of(name, role="editor", *more):
    return jobflow("token", "--data-dir", "d", "create", name, "--role", role, *more).stdout.strip()


def is_marked(daemon):
    return MARK in daemon.get(NAMESPACE)["metadata"].get("annotations", {})


def need_confinement():
    need_one_thread()
    need_sandboxed_pods()
    if os.geteuid() == 0:
        tried = jobflow("run", "--isolation", "full", "--data-dir", "try", manifest("none.yaml", flow("f", [step("s", template="t")]), template("t")), code=None)
        if tried.returncode:
            raise Skip(tried.stderr.strip())


def an_editors_pods_are_kept_from_the_daemon():
    need_confinement()
    daemon = Daemon()
    editor = token_of("ed", "editor", "-n", "default")
    check(not is_marked(daemon), "nothing was written yet")
    log = output_of(daemon, "attacker", ["/usr/bin/python3", "-c", ATTEMPTS, daemon.data_dir, "/nonexistent"], token=editor, env=[{"name": "HOME", "value": "/tmp"}])
    check_equal("what it could do", log, "tried\n")
    daemon.stop()
    nothing_left()


def the_mark_outlives_token_and_daemon():
    """A flow of the editor may start pods long after the editor's rights are gone."""
    need_confinement()
    daemon = Daemon()
    editor = token_of("ed", "editor", "-n", "default")
    check_equal("made", daemon.ask("POST", CM, config_map("c", v="1"), token=editor)[0], 201)
    check(is_marked(daemon), "the namespace is marked")
    jobflow("token", "--data-dir", "d", "revoke", "ed")
    daemon.stop()
    daemon = Daemon(name="again")
    check(is_marked(daemon), "the namespace is still marked")
    check_equal("of the daemon's files", output_of(daemon, "p", ["sh", "-c", "ls %s" % daemon.data_dir]), "")
    check_equal("made", daemon.ask("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}})[0], 201)
    check(MARK not in daemon.get("/api/v1/namespaces/other")["metadata"].get("annotations", {}), "the administrator's namespace is not marked")
    daemon.stop()
    nothing_left()


def only_changes_of_others_mark_a_namespace():
    need_confinement()
    daemon = Daemon()
    viewer, admin, editor = token_of("v", "viewer"), token_of("a", "admin"), token_of("e", "editor")
    check_equal("a look", daemon.ask("GET", PODS, token=viewer)[0], 200)
    check_equal("an editor's look", daemon.ask("GET", PODS, token=editor)[0], 200)
    check_equal("refused", daemon.ask("POST", CM, config_map("x"), token=viewer)[0], 403)
    check_equal("an administrator", daemon.ask("POST", CM, config_map("c", v="1"), token=admin)[0], 201)
    check(not is_marked(daemon), "marked by a look or by an administrator")
    for change in ({"metadata": {"annotations": {MARK: None}}}, {"metadata": {"labels": {"a": "b"}}}):
        got = daemon.ask("PATCH", NAMESPACE, change, token=editor, headers={"Content-Type": "application/merge-patch+json"})
        check_equal("an editor changes the namespace: " + got[1], got[0], 403)
    check_equal("an editor's change", daemon.ask("PATCH", CM + "/c", {"data": {"v": "2"}}, token=editor,
                                                 headers={"Content-Type": "application/merge-patch+json"})[0], 200)
    check(is_marked(daemon), "marked by a change")
    daemon.stop()
    nothing_left()


def an_editors_submission_marks_its_namespaces():
    """Ahead of its jobs, and only when it makes some."""
    need_confinement()
    daemon = Daemon()
    editor, admin = token_of("ed", "editor", "-n", "default"), token_of("a", "admin")
    wrong = dict(submission(), jobSetId="")
    for token, query, body, status in ((editor, "?dryRun=All", submission(), 200), (editor, "", wrong, 400), (admin, "", submission(), 200)):
        check_equal("asked", daemon.ask("POST", "/v1/job/submit" + query, body, token=token)[0], status)
        check(not is_marked(daemon), "marked without a job of the editor")
    status, text = daemon.ask("POST", "/v1/job/submit", submission("ls %s" % daemon.data_dir), token=editor)
    check_equal("submitted: " + text, status, 200)
    check(is_marked(daemon), "the namespace is marked")
    name = "aj-%s-main-0" % json.loads(text)["jobResponseItems"][0]["jobId"]
    wait_until("the pod is there", lambda: daemon.ask("GET", PODS + "/" + name)[0] == 200)
    ended(daemon, name)
    log = daemon.ask("GET", PODS + "/" + name + "/log")[1]
    check("kubeconfig" not in log and "access" not in log, "of the daemon's files: " + log)
    daemon.stop()
    nothing_left()


def an_editors_cancel_marks_the_namespace():
    """As every other change does; jobs of others that it may not change do not."""
    need_confinement()
    daemon = Daemon()
    editor, viewer = token_of("ed", "editor", "-n", "default"), token_of("v", "viewer", "-n", "default")
    ids = [json.loads(daemon.ask("POST", "/v1/job/submit", submission("sleep 60"))[1])["jobResponseItems"][0]["jobId"] for _ in range(2)]
    for path, rest in (("cancel", {}), ("reprioritize", {"newPriority": 1})):
        check_equal("refused", json.loads(daemon.ask("POST", "/v1/job/" + path, dict(rest, jobIds=ids), token=viewer)[1])["refused"], ids)
    check(not is_marked(daemon), "marked without a change")
    check_equal("cancelled", json.loads(daemon.ask("POST", "/v1/job/cancel", {"jobIds": ids[:1]}, token=editor)[1])["cancelledIds"], ids[:1])
    check(is_marked(daemon), "the namespace is marked")
    daemon.ask("POST", "/v1/job/cancel", {"jobIds": ids[1:]})
    wait_until("both have ended", lambda: set(json.loads(daemon.ask("POST", "/v1/job/status", {"jobIds": ids})[1])["jobStates"].values()) == {"CANCELLED"})
    daemon.stop()
    nothing_left()


def a_working_directory_does_not_undo_the_hiding():
    """At every level above plain, also for pods of the administrator."""
    need_sandboxed_pods()
    need_one_thread()
    for level in ("mounts", "full", "user") if os.geteuid() == 0 else ("user",):
        fresh_dir(level)
        daemon = Daemon("--isolation", level)
        for name, where in (("top", daemon.data_dir), ("below", daemon.data_dir + "/access"), ("dots", daemon.data_dir + "/node/../access")):
            status = daemon.ask("POST", PODS, pod(name, ["cat", "ca.key", "access/ca.key"], workingDir=where))
            check_equal("made", status[0], 201)
            state = ended(daemon, name)["containerStatuses"][0]["state"]["terminated"]
            check_in("%s, workingDir %s" % (level, where), "lies in the data directory", state.get("message", ""))
        os.symlink(daemon.data_dir, "link")
        check_equal("made", daemon.ask("POST", PODS, pod("link", ["cat", "ca.key"], workingDir=os.path.abspath("link/access")))[0], 201)
        check_equal("through a link", ended(daemon, "link")["phase"], "Failed")
        check_equal("its output", daemon.ask("GET", PODS + "/link/log")[1], "")
        daemon.stop()
        nothing_left()


def mount_point():
    """A directory of the host over which a case mounts another: neither the program nor the test lies below it."""
    used = [os.path.realpath(path) + "/" for path in (JOBFLOW, os.getcwd(), __file__)]
    free = [d for d in ("/srv", "/mnt", "/media") if os.path.isdir(d) and not any(path.startswith(d + "/") for path in used)]
    if os.geteuid() != 0 or not free or not can(["unshare", "--mount", "mount", "--bind", "/", free[0]]):
        raise Skip("only root can mount a directory elsewhere")
    return free[0]


def another_mount_of_the_directory_is_hidden_too():
    need_confinement()
    alias = mount_point()
    for level in ("mounts", "full"):
        fresh_dir(level)
        daemon = Daemon("--isolation", level, prefix=["unshare", "--mount", "sh", "-c", 'mount --bind "$0" %s && exec "$@"' % alias, os.getcwd()])
        log = output_of(daemon, "p", ["sh", "-c", "ls %s; ls %s/d %s" % (alias, alias, daemon.data_dir)])
        check_in("the alias is there", "d\n", log)
        check("kubeconfig" not in log and "access" not in log, "%s: %s" % (level, log))
        daemon.stop()
        nothing_left()


def where_pods_cannot_be_confined_an_editor_changes_nothing():
    """Unless the administrator accepts that."""
    if not can(POWERLESS + ["true"]):
        raise Skip("user namespaces cannot be forbidden here")
    for flags, status in (((), 403), (("--trust-editors",), 201)):
        fresh_dir("powerless")
        daemon = Daemon(*flags, prefix=POWERLESS)
        editor = token_of("ed")
        got, text = daemon.ask("POST", CM, config_map("c", v="1"), token=editor)
        check_equal("an editor's change: " + text, got, status)
        if status == 403:
            check_in("the way out", "--trust-editors", text)
        got, text = daemon.ask("POST", "/v1/job/submit", submission(), token=editor)
        check_equal("an editor's submission: " + text, got, 403 if status == 403 else 200)
        if status == 403:
            check_in("the way out", "--trust-editors", text)
            check_in("the reason", '"NamespacePermission"', text)
            check_equal("jobs", daemon.get("/apis/batch.volcano.sh/v1alpha1/jobs")["items"], [])
        check_equal("a look", daemon.ask("GET", CM, token=editor)[0], 200)
        check_equal("an administrator's change", daemon.ask("POST", CM, config_map("other", v="1"))[0], 201)
        check(not is_marked(daemon), "marked although nothing follows from it")
        daemon.stop()
        nothing_left()


def an_ordinary_user_confines_pods_too():
    if os.geteuid() != 0 or not can(ORDINARY + ["true"]):
        raise Skip("all cases run as this user anyway")
    need_one_thread()
    run_there(ORDINARY, "confined.py", "an_editors", "the_mark", "only_changes", "a_working")


def an_ordinary_users_home_is_not_the_pods():
    """A program with the user's id could leave a command in ~/.profile that the user runs."""
    if os.geteuid() != 0 or not can(ORDINARY + ["true"]):
        raise Skip("only root can give an ordinary user a home directory")
    need_confinement()
    home = mount_point()
    os.chmod(TMP, 0o711)
    os.makedirs("home/state")
    write("home/file", "secret")
    write("passwd", "\n".join(line for line in read("/etc/passwd").splitlines() if ":65534:" not in line) + "\nnobody:x:65534:65534::%s:/bin/sh\n" % home)
    for path in (".", "home", "home/state", "home/file"):
        os.chown(path, 65534, 65534)
    here = os.getcwd()
    prefix = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0/passwd" /etc/passwd && mount --bind "$0/home" %s && cd / && exec "$@"' % home, here] + ORDINARY
    daemon = Daemon(data_dir=home + "/state/d", prefix=prefix, ready=False)
    state = "home/state/d/"
    wait_until("the daemon is ready", lambda: "serving on" in daemon.output() or not daemon.running())
    check(daemon.running(), daemon.errors())
    text = read(state + "kubeconfig")
    daemon.port = int(re.search(r"https://[^ ]+:(\d+) ", daemon.output()).group(1))
    daemon.token = re.search(r"token: (\S+)", text).group(1)
    daemon.ca = base64.b64decode(re.search(r"certificate-authority-data: (\S+)", text).group(1)).decode()
    made = subprocess.run(prefix + [JOBFLOW, "token", "--data-dir", home + "/state/d", "create", "ed", "--role", "editor"], capture_output=True, text=True, check=True)
    log = output_of(daemon, "p", ["/usr/bin/python3", "-c", ATTEMPTS, home + "/state/d", home], token=made.stdout.strip())
    check_equal("what it could do", log, "tried\n")
    check_equal("what is in the home directory", sorted(os.listdir("home")), ["file", "state"])
    daemon.stop()
    nothing_left()


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
