#!/usr/bin/env python3
"""The page that a daemon serves at /ui/: links, tokens, what a sign-in is bound to, and the limits of its rights.
"""
import http.client
import json
import os
import re
import stat
import sys
import time

from lib import cases_of, check, check_equal, check_in, jobflow, main, manifest, read, step, flow, template, wait_until
from lib_serve import JF, Daemon
from lib_ui import JSON, Stream, Ui


class DaemonUi(Ui):
    """The page of a daemon, signed in by a ticket or a token as a browser does."""

    def __init__(self, daemon):  # noqa: super().__init__ starts a process that is not needed here
        self.daemon, self.port, self.process = daemon, daemon.port, daemon
        self.cookie = self.key = self.id = None

    def connection(self, address="127.0.0.1"):
        return http.client.HTTPSConnection(address, self.port, timeout=60, context=self.daemon.tls())

    def token(self, token):
        return self.request("POST", "/ui/signin", {"token": token}, JSON)

    def take(self, answer):
        check_equal("sign-in", (answer.status, answer.body[:300] if answer.status != 200 else b""), (200, b""))
        self.cookie = answer.headers["Set-Cookie"].split(";")[0]
        self.key, self.id = answer.json()["key"], answer.json()["id"]
        return self

    def link(self, *args):
        """A ticket made by `jobflow ui --link`."""
        printed = jobflow("ui", "--link", *(args or ("--data-dir", "d"))).stdout
        found = re.fullmatch(r"https://127\.0\.0\.1:%d/ui/(.*)#t=([A-Za-z0-9_-]{43})\n" % self.port, printed)
        check(found, "a link: %s" % printed)
        return found.group(2)

    def by_link(self, *args):
        return self.take(self.redeem(self.link(*args)))


def new_token(name, role, *args):
    token = jobflow("token", "create", name, "--role", role, "--data-dir", "d", *args).stdout.strip()
    with open(name, "w", encoding="ascii", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        file.write(token)
    return token


def plain_flow(name):
    return {"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow", "metadata": {"name": name}, "spec": {"flows": []}}


# covers: web.md WEB-014 WEB-029 WEB-036 WEB-037 WEB-039 WEB-040 WEB-047
def a_link_has_the_rights_of_who_asks():
    daemon = Daemon()
    token = new_token("looker", "viewer")
    owner = DaemonUi(daemon).by_link()
    check_equal("rights over the socket", owner.get("/ui/v1/me")["rules"], [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}])
    viewer = DaemonUi(daemon).by_link("--kubeconfig", daemon.kubeconfig, "--token-file", "looker")
    check_equal("user", viewer.get("/ui/v1/me")["user"], "looker")
    check_equal("a viewer makes nothing", viewer.ask("POST", "/ui/api" + JF, plain_flow("f"), JSON).status, 403)
    check_equal("the owner does", owner.ask("POST", "/ui/api" + JF, plain_flow("f"), JSON).status, 201)
    check_equal("a viewer sees it", [item["metadata"]["name"] for item in viewer.get("/ui/api" + JF)["items"]], ["f"])
    check(viewer.cookie.startswith("__Secure-jf-" + viewer.id), "the name of the cookie: %s" % viewer.cookie)
    header = viewer.token(token).headers["Set-Cookie"]
    check_equal("cookie", header.split("; ")[1:], ["HttpOnly", "SameSite=Strict", "Path=/ui/", "Secure"])
    # The page of a browser makes no further links, and a client without a credential none at all.
    for headers in (viewer.keys(), {}, {"Authorization": "Bearer x"}):
        check_equal("ticket with %s" % list(headers), viewer.request("POST", "/ui/ticket", {}, dict(JSON, **headers)).status, 401)
    own = "https://127.0.0.1:%d" % daemon.port
    for headers, status in (({"Host": "evil.example"}, 403), ({"Origin": "https://evil.example"}, 403), ({"Origin": own.replace("https", "http")}, 403),
                            ({"Sec-Fetch-Site": "cross-site"}, 403), ({"Sec-Fetch-Site": "same-site"}, 403), ({"Origin": own}, 200)):
        answer = viewer.ask("GET", "/ui/v1/me", headers=headers)
        check_equal(str(headers), answer.status, status)
        check_in("policy", "default-src 'none'; script-src 'self'", answer.headers["Content-Security-Policy"])
        check_equal("no other origin", answer.headers["Access-Control-Allow-Origin"], None)
    bodies = {viewer.request("GET", path, headers=headers).body for path in ("/ui/v1/me", "/ui/api" + JF + "/f", "/ui/api" + JF + "/none", "/ui/v1/none")
              for headers in ({}, {"Cookie": viewer.cookie}, {"Jobflow-Key": viewer.key}, {"Cookie": owner.cookie, "Jobflow-Key": viewer.key})}
    check_equal("answers without a sign-in", len(bodies), 1)
    # A key of the page opens nothing beside it, and a token nothing below it.
    check_equal("the API knows no key", viewer.ask("GET", JF).status, 403)
    check_equal("the page knows no token", viewer.request("GET", "/ui/api" + JF, headers={"Authorization": "Bearer " + daemon.token}).status, 401)
    check_equal("the daemon ends", daemon.stop(), 0)


# covers: web.md WEB-027 WEB-032 WEB-035 WEB-048
def a_token_is_exchanged_and_its_end_ends_the_sign_in():
    daemon = Daemon()
    token = new_token("alice", "editor")
    ui = DaemonUi(daemon)
    for wrong in ("jf_" + "A" * 43, "", "x" * 900):
        check_equal("a wrong token", ui.token(wrong).status, 401)
    check_equal("a long body", ui.token("x" * 2000).status, 413)
    ui.take(ui.token(token))
    other = DaemonUi(daemon).by_link()
    stream = Stream(ui, connection=ui.connection())
    wait_until("the stream has begun", lambda: stream.hello)
    jobflow("token", "revoke", "alice", "--data-dir", "d")
    wait_until("its stream ends", lambda: stream.ended)
    check_equal("the sign-in is over", ui.ask("GET", "/ui/v1/me").status, 401)
    check_equal("another one is not", other.ask("GET", "/ui/v1/me").status, 200)
    check_equal("the token again", ui.token(token).status, 401)
    # A token of the same name is another one.
    second = new_token("alice", "editor")
    check_equal("it is still over", ui.ask("GET", "/ui/v1/me").status, 401)
    ui.take(ui.token(second))
    secrets = [token, second, ui.cookie.split("=")[1], ui.key]
    for folder, _, names in os.walk("d"):
        for name in names:
            path = os.path.join(folder, name)
            if stat.S_ISREG(os.lstat(path).st_mode):
                with open(path, "rb") as file:
                    content = file.read()
                for secret in secrets:
                    check(secret.encode() not in content, "%s has a secret" % path)
    for secret in secrets:
        check(secret not in daemon.errors() + daemon.output(), "the log has a secret")
    check_equal("the daemon ends", daemon.stop(), 0)


# covers: web.md WEB-032
def a_token_that_expires_ends_the_sign_in():
    daemon = Daemon()
    ui = DaemonUi(daemon)
    ui.take(ui.token(new_token("short", "viewer", "--expires", "20s")))
    stream = Stream(ui, connection=ui.connection())
    check_equal("signed in", ui.ask("GET", "/ui/v1/me").status, 200)
    wait_until("its stream ends", lambda: stream.ended)
    check_in("reason", "is over", stream.last("ended")["reason"])
    check_equal("the sign-in is over", ui.ask("GET", "/ui/v1/me").status, 401)
    check_equal("the daemon ends", daemon.stop(), 0)


# covers: web.md WEB-032
def a_token_whose_end_is_moved_ends_the_sign_in_then():
    daemon = Daemon()
    ui = DaemonUi(daemon)
    ui.take(ui.token(new_token("short", "viewer")))
    stream = Stream(ui, connection=ui.connection())
    path = os.path.join("d", "access", "tokens.json")
    with open(path, encoding="utf-8") as file:
        tokens = json.load(file)
    for token in tokens["tokens"]:
        if token["name"] == "short":
            token["expiresAt"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 5))
    with open("new", "w", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        json.dump(tokens, file)
    os.rename("new", path)
    wait_until("its stream ends", lambda: stream.ended)
    check_in("reason", "is over", stream.last("ended")["reason"])
    check_equal("the daemon ends", daemon.stop(), 0)


# covers: web.md WEB-032 WEB-034
def sign_ins_outlive_a_restart_and_end_when_signed_out():
    daemon = Daemon()
    port = daemon.port
    one, two = DaemonUi(daemon).by_link(), DaemonUi(daemon)
    two.take(two.token(new_token("bob", "viewer")))
    gone = new_token("gone", "viewer")
    three = DaemonUi(daemon)
    three.take(three.token(gone))
    path = os.path.join("d", "access", "signins.json")
    check_equal("mode", stat.S_IMODE(os.stat(path).st_mode), 0o600)
    daemon.signal(9)
    daemon.wait()
    jobflow("token", "revoke", "gone", "--data-dir", "d")
    daemon = Daemon(listen="127.0.0.1:%d" % port, name="second")
    for ui in (one, two, three):
        ui.daemon = daemon
    check_equal("users", [one.get("/ui/v1/me")["user"] in ("owner", "root"), two.get("/ui/v1/me")["user"]], [True, "bob"])
    check_equal("revoked meanwhile", three.ask("GET", "/ui/v1/me").status, 401)
    again = Stream(two, connection=two.connection())
    answer = two.ask("POST", "/ui/signout", {}, JSON)
    check_equal("signed out", (answer.status, "Max-Age=0" in answer.headers["Set-Cookie"]), (200, True))
    wait_until("its stream ends", lambda: again.ended)
    check_equal("the sign-in is over", two.ask("GET", "/ui/v1/me").status, 401)
    with open(path, encoding="utf-8") as file:
        check_equal("sign-ins that are kept", [row["credential"].split()[0] for row in json.load(file)["signins"]], ["uid"])
    # A damaged file has no sign-ins, and the daemon starts.
    check_equal("the daemon ends", daemon.stop(), 0)
    with open(path, "w", encoding="utf-8") as file:
        file.write("{")
    daemon = Daemon(listen="127.0.0.1:%d" % port, name="third")
    one.daemon = daemon
    check_equal("all are over", one.ask("GET", "/ui/v1/me").status, 401)
    check_equal("the daemon ends", daemon.stop(), 0)


# covers: web.md WEB-049 WEB-051
def changes_are_audited_with_their_user():
    daemon = Daemon()
    ui = DaemonUi(daemon)
    ui.take(ui.token(new_token("alice", "editor")))
    check_equal("made", ui.ask("POST", "/ui/api" + JF, plain_flow("f"), JSON).status, 201)
    lines = [json.loads(line) for line in read("d/audit.log").splitlines()]
    mine = [line for line in lines if line["user"] == "alice"]
    check_equal("lines of the user", [(line["target"], line.get("via"), line.get("object"), line["status"]) for line in mine], [(JF, "ui", "default/f", 201)])
    check_equal("the sign-in", [line["status"] for line in lines if line["target"] == "/ui/signin"], [200])
    for path in ("/ui/signin?x=1", "/ui/signin/x", "/ui/%73ignin", "/ui/ticket?x=1"):
        ui.request("POST", path, {}, JSON)
    lines = [json.loads(line) for line in read("d/audit.log").splitlines()]
    check_equal("however the path is written", [line["target"] for line in lines[-4:]],
                ["/ui/signin?x=1", "/ui/signin/x", "/ui/%73ignin", "/ui/ticket?x=1"])
    check_equal("the daemon ends", daemon.stop(), 0)


# covers: web.md WEB-050
def what_commands_print_has_the_rights_of_the_user():
    daemon = Daemon()
    manifest("f.yaml", flow("f", [step("a", template="t")]), template("t", "echo done"))
    jobflow("apply", "--data-dir", "d", "f.yaml")
    wait_until("the flow is done", lambda: "Succeed" in jobflow("get", "jf/f", "--data-dir", "d").stdout)
    ours, theirs = DaemonUi(daemon), DaemonUi(daemon)
    ours.take(ours.token(new_token("ours", "viewer", "--namespace", "default")))
    theirs.take(theirs.token(new_token("theirs", "viewer", "--namespace", "other")))
    for path in ("/ui/v1/explain?flow=default/f&step=a", "/ui/api" + JF + "/f/graph"):
        check_equal(path, ours.ask("GET", path).status, 200)
        answer = theirs.ask("GET", path)
        check(answer.status >= 400, "%s of another namespace: %d" % (path, answer.status))
        check_in("reason", "forbidden", answer.body.decode())
    check_equal("the daemon ends", daemon.stop(), 0)


# covers: web.md WEB-050
def a_plan_runs_no_program_that_the_manifests_name():
    daemon = Daemon()
    with open("python", "w", encoding="ascii", opener=lambda path, flags: os.open(path, flags, 0o755)) as file:
        file.write("#!/bin/sh\ntouch %s\n" % os.path.abspath("was-run"))
    made = template("t", "echo done")
    made["spec"]["tasks"][0]["template"]["metadata"] = {"annotations": {"jobflow.dev/needs": os.path.abspath("python") + ":m, /no/such"}}
    ui = DaemonUi(daemon)
    ui.take(ui.token(new_token("looker", "viewer")))
    said = ui.ask("POST", "/ui/v1/plan", {"manifests": json.dumps(made)}, JSON).json()
    check_equal("the plan is made", (said["ok"], [row["name"] for row in said["plan"]["objects"]]), (True, ["t"]))
    check(not os.path.exists("was-run"), "a program of the manifests was run")
    check("/no/such" not in json.dumps(said["findings"]), "the plan tells what the machine lacks: %s" % said["findings"])
    check_equal("the daemon ends", daemon.stop(), 0)


# covers: web.md WEB-012
def the_page_can_be_switched_off_while_the_daemon_runs():
    with open("s.yaml", "w", encoding="ascii") as file:
        file.write("ui: 'on'\n")
    daemon = Daemon("--config", "s.yaml")
    ui = DaemonUi(daemon).by_link()
    asset = re.search(r"/ui/a/[0-9a-f]+/app\.js", ui.request("GET", "/ui/").body.decode()).group(0)
    stream = Stream(ui, connection=ui.connection())
    with open("s.yaml", "w", encoding="ascii") as file:
        file.write("ui: 'off'\n")
    daemon.signal(1)
    wait_until("the page is off", lambda: ui.request("GET", "/ui/").status == 404)
    for path in ("/ui/", "/ui/flows", asset, "/ui/v1/me", "/ui/api" + JF):
        check_equal(path, ui.ask("GET", path).status, 404)
    wait_until("streams have ended", lambda: stream.ended)
    said = jobflow("ui", "--link", "--data-dir", "d", code=1).stderr
    check_in("why there is no link", "--ui off", said)
    with open("s.yaml", "w", encoding="ascii") as file:
        file.write("ui: 'on'\n")
    daemon.signal(1)
    wait_until("the page is back", lambda: ui.request("GET", "/ui/").status == 200)
    check_equal("the sign-in has stayed", ui.ask("GET", "/ui/v1/me").status, 200)
    check_equal("the daemon ends", daemon.stop(), 0)


def a_daemon_that_ends_says_so_to_its_pages():
    daemon = Daemon()
    ui = DaemonUi(daemon).by_link()
    stream = Stream(ui, connection=ui.connection(), topics=["flows *", "objects pods *"])
    wait_until("the lists are there", lambda: stream.ready("flows *"))
    check_equal("the daemon ends", daemon.stop(), 0)
    wait_until("the stream has ended", lambda: stream.ended)
    check_equal("reason", stream.last("ended")["reason"], "the daemon ends")


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
