#!/usr/bin/env python3
"""`jobflow ui`: the page's gateway, over sockets and without a browser.
"""
import gzip
import json
import os
import pty
import re
import socket
import subprocess
import sys

from lib import (Background, cases_of, check, check_equal, check_in, flow, jobflow, main, manifest, read, step, template, wait_until, write)
from lib_serve import Daemon
from lib_ui import JSON, Stream, Ui

FLOWS = "/ui/api/apis/flow.volcano.sh/v1alpha1/namespaces/default/jobflows"
CORE = "/ui/api/api/v1/namespaces/default"
APPLY = {"Content-Type": "application/apply-patch+yaml"}
CSP = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
       "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'")
SAME_EVERYWHERE = {"Content-Security-Policy": CSP, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
                   "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
                   "X-Frame-Options": "DENY"}


def running(*steps):
    """Starts a run whose step a waits until the file `go` exists."""
    manifest("f.yaml", flow("f", [step("a", template="t"), *steps]),
             template("t", "echo begun; while [ ! -e %s/go ]; do sleep 0.02; done" % os.getcwd()))
    run = Background("run", "f.yaml")
    wait_until("a runs", lambda: '"state": "Running"' in jobflow("graph", "jf/f", "-o", "json", code=None).stdout)
    return run


def finished():
    manifest("f.yaml", flow("f", [step("a", template="t")]), template("t", "echo done"))
    jobflow("run", "f.yaml")


def without_what_varies(answer):
    return answer.status, answer.body, sorted((k, v) for k, v in answer.headers.items() if k not in ("Date", "Audit-Id"))


def command_line(pid):
    try:
        with open("/proc/%s/cmdline" % pid, "rb") as file:
            return file.read()
    except OSError:
        return b""


def working_folder(pid):
    try:
        return os.readlink("/proc/%s/cwd" % pid)
    except OSError:
        return ""


def state_of(pid):
    try:
        return read("/proc/%d/stat" % pid).rsplit(")", 1)[1].split()[0]
    except OSError:
        return "Z"


# covers: web.md WEB-001 WEB-009
def the_first_line_says_to_what_and_as_whom():
    run = running()
    ui = Ui()
    check_in("a run", "the run in .jobflow, as ", ui.process.output())
    check_in("rights", "; may look and change\n", ui.process.output())
    check_in("read only", "; may look\n", Ui("--read-only", name="look").process.output())
    ui.process.signal(2)
    check_equal("Ctrl-C", ui.process.wait(), 0)
    run.signal(2)
    run.wait()
    check_in("a store", "the store in .jobflow, where no process runs, as ", Ui(name="store").process.output())
    check_equal("nothing there", jobflow("ui", "--data-dir", "none", code=1).stdout, "")


# covers: web.md WEB-002 WEB-003
def a_port_is_taken_or_refused():
    finished()
    first = Ui(usual_port=True)
    second = Ui(name="second", usual_port=True)
    check(first.port != second.port, "the second takes a free port")
    taken = jobflow("ui", "--no-browser", "--port", str(first.port), code=2)
    check_in("taken", "port %d is taken" % first.port, taken.stderr)
    if socket.has_ipv6 and os.path.exists("/proc/net/if_inet6") and read("/proc/net/if_inet6"):
        with socket.socket(socket.AF_INET6) as other:  # a name may lead to either address
            other.bind(("::1", 0))
            other.listen()
            check_in("taken on ::1", "is taken", jobflow("ui", "--no-browser", "--port", str(other.getsockname()[1]), code=2).stderr)
    for wrong in ("0.0.0.0:80", "::", "10.0.0.1"):
        check_in(wrong, "ssh -L", jobflow("ui", "--port", wrong, code=2).stderr)
    for wrong in ("0", "65536", "x", ""):
        jobflow("ui", "--port", wrong, code=2)
    with socket.socket() as other:
        other.settimeout(5)
        check(other.connect_ex(("127.0.0.2", first.port)) != 0, "only 127.0.0.1 is listened on")
    if socket.has_ipv6 and os.path.exists("/proc/net/if_inet6") and read("/proc/net/if_inet6"):
        check_equal("::1", first.request("GET", "/ui/", host="[::1]:%d" % first.port, address="::1").status, 200)


# covers: web.md WEB-017
def the_shell_is_at_every_path_of_the_page():
    finished()
    ui = Ui()
    shell = ui.request("GET", "/ui/")
    check_equal("status", shell.status, 200)
    check_equal("type", shell.headers["Content-Type"], "text/html; charset=utf-8")
    check_equal("cache", shell.headers["Cache-Control"], "no-cache")
    check(b"@DIGEST@" not in shell.body and b"@ID@" not in shell.body, "placeholders are replaced")
    for path in ("/ui", "/ui/flows", "/ui/flows/default/f?view=time&step=a", "/ui/anything/else"):
        check_equal(path, ui.request("GET", path).body, shell.body)
    check_equal("same", ui.request("GET", "/ui/", headers={"If-None-Match": shell.headers["ETag"]}).status, 304)
    check_equal("other", ui.request("GET", "/ui/", headers={"If-None-Match": '"x"'}).status, 200)
    for path in ("/ui/api/x", "/ui/v1/x", "/ui/v1"):
        check_equal(path, ui.request("GET", path).status, 401)
    for path in ("/ui/a/x/y", "/ui/a", "/", "/api", "/uix"):
        check_equal(path, ui.request("GET", path).status, 404)
    ui.sign_in()
    for path in ("/ui/v1/x", "/ui/v1"):
        check_equal(path, ui.ask("GET", path).status, 404)


# covers: web.md WEB-016 WEB-018 WEB-019
def files_have_the_digest_in_their_address():
    finished()
    ui = Ui()
    shell = ui.request("GET", "/ui/").body.decode()
    at = shell.index("/ui/a/")
    digest = shell[at + 6:at + 22]
    names = sorted(set(part.split('"')[0] for part in shell.split("/ui/a/%s/" % digest)[1:]))
    check_in("script", "app.js", names)
    total = len(gzip.compress(shell.encode()))
    for name in names:
        path = "/ui/a/%s/%s" % (digest, name)
        plain, packed = ui.request("GET", path), ui.request("GET", path, headers={"Accept-Encoding": "gzip, br"})
        check_equal("status of " + name, (plain.status, packed.status), (200, 200))
        check_equal("inflated " + name, gzip.decompress(packed.body), plain.body)
        check_equal("coding", (plain.headers["Content-Encoding"], packed.headers["Content-Encoding"]), (None, "gzip"))
        check_equal("length", int(plain.headers["Content-Length"]), len(plain.body))
        check_equal("cache", plain.headers["Cache-Control"], "public, max-age=31536000, immutable")
        check_in("charset", "charset=utf-8", plain.headers["Content-Type"])
        total += len(packed.body)
        check_equal("other digest", ui.request("GET", "/ui/a/%s/%s" % ("0" * 16, name)).status, 404)
    check(total <= 150 * 1024, "the first load has at most 150 KiB: %d" % total)
    check_equal("the shell is no file", ui.request("GET", "/ui/a/%s/index.html" % digest).status, 404)


# covers: web.md WEB-039 WEB-040
def every_answer_has_the_headers():
    finished()
    ui = Ui()
    answers = [ui.request("GET", "/ui/"), ui.request("GET", "/ui/v1/me"), ui.request("GET", "/ui/", host="evil.example"),
               ui.request("GET", "/x"), ui.request("POST", "/ui/signin", "x"), ui.request("OPTIONS", "/ui/api/version")]
    ui.sign_in()
    data = [ui.ask("GET", "/ui/v1/me"), ui.ask("GET", FLOWS + "/f"), ui.ask("GET", FLOWS + "/none"), ui.ask("GET", CORE + "/secrets")]
    for answer in answers + data:
        for name, value in SAME_EVERYWHERE.items():
            check_equal(name, answer.headers.get_all(name), [value])
        check_in("permissions", "clipboard-write=(self)", answer.headers["Permissions-Policy"])
        check_equal("no CORS", [k for k in answer.headers if k.lower().startswith("access-control")], [])
    for answer in data:
        check_equal("not stored", answer.headers["Cache-Control"], "no-store")
    for bad in (b"x\r\n\r\n", b"GET /ui/ HTTP/1.1\r\n\r\n", b"GET /ui/ HTTP/1.1\nHost: localhost\n\n"):
        check_in("a request that cannot be read", CSP, ui.raw(bad).decode())


# covers: web.md WEB-036 WEB-037
def other_hosts_and_origins_are_refused():
    finished()
    ui = Ui()
    ui.sign_in()
    own = "http://127.0.0.1:%d" % ui.port
    for path in ("/ui/", "/ui/v1/me", "/ui/api/version", "/ui/signin"):
        for host in ("evil.example", "127.0.0.1.evil.example", "localhost.", "0.0.0.0:%d" % ui.port, "[::]"):
            check_equal("%s of %s" % (path, host), ui.ask("GET", path, headers={"Host": host}).status, 403)
        for origin in ("http://evil.example", "null", "http://127.0.0.1:%d" % (ui.port + 1), own + ".evil", "https" + own[4:]):
            check_equal("%s from %s" % (path, origin), ui.ask("GET", path, headers={"Origin": origin}).status, 403)
        for site in ("cross-site", "same-site"):
            headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"}
            check_equal("%s %s" % (path, site), ui.ask("GET", path, headers=headers).status, 403)
    for headers in ({"Origin": own}, {"Sec-Fetch-Site": "same-origin"}, {"Host": "localhost:1234"}):
        check_equal("our own", ui.ask("GET", "/ui/v1/me", headers=headers).status, 200)
    typed = {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    check_equal("a typed address", ui.request("GET", "/ui/flows", headers=typed).status, 200)
    check_equal("a typed address of data", ui.ask("GET", "/ui/v1/me", headers=typed).status, 403)


# covers: web.md WEB-028 WEB-031 WEB-047
def either_half_of_the_key_alone_opens_nothing():
    finished()
    one, other = Ui().sign_in(), Ui(name="other").sign_in()
    good = one.keys()
    wrong = [{}, {"Cookie": good["Cookie"]}, {"Jobflow-Key": good["Jobflow-Key"]},
             {"Cookie": good["Cookie"], "Jobflow-Key": other.key}, other.keys(),
             {"Cookie": "jf-%s=%s" % (one.id, other.cookie.split("=")[1]), "Jobflow-Key": other.key},
             {"Cookie": "jf-%s=planted" % one.id, "Jobflow-Key": one.key},
             {"Cookie": good["Cookie"], "Jobflow-Key": good["Cookie"].split("=")[1]},
             {"Authorization": "Bearer " + one.key}, {"Cookie": good["Cookie"], "Authorization": "Bearer " + one.key}]
    for path in ("/ui/v1/me", "/ui/v1/none", FLOWS + "/f", FLOWS + "/none", "/ui/api/none", CORE + "/secrets"):
        seen = [without_what_varies(one.request("GET", path, headers=headers)) for headers in wrong]
        check_equal("status of " + path, seen[0][0], 401)
        check(all(answer == seen[0] for answer in seen), "equal bytes for " + path)
    check_equal("both", one.request("GET", "/ui/v1/me", headers=good).status, 200)
    one.stop()
    again = Ui("--port", str(one.port), name="again")
    check_equal("the next gateway knows no sign-in of this one", again.request("GET", "/ui/v1/me", headers=good).status, 401)


# covers: web.md WEB-025 WEB-026
def a_link_works_once():
    finished()
    ui = Ui()
    ticket = ui.ticket
    ui.sign_in()
    check_equal("signed in", ui.ask("GET", "/ui/v1/me").status, 200)
    again = ui.redeem(ticket, {"Cookie": ui.cookie})
    check_equal("again", again.status, 401)
    check_in("what to do", "press Enter", again.json()["message"])
    check_equal("still signed in", ui.ask("GET", "/ui/v1/me").status, 200)
    check_equal("from elsewhere", ui.redeem(ticket).status, 401)
    check_equal("the sign-in has ended", ui.ask("GET", "/ui/v1/me").status, 401)
    wait_until("the terminal warns", lambda: "somebody else" in ui.process.errors())


# covers: web.md WEB-038 WEB-048
def what_is_no_ticket_is_refused():
    finished()
    ui = Ui()
    for body, headers, status in (({"ticket": "x" * 43}, JSON, 401), ({"ticket": 1}, JSON, 401), ("[]", JSON, 401), ("", JSON, 401),
                                  ({"ticket": ui.ticket}, {"Content-Type": "text/plain"}, 415),
                                  ({"ticket": ui.ticket}, {"Content-Type": "application/x-www-form-urlencoded"}, 415),
                                  ({"ticket": ui.ticket}, {}, 415), ("x" * 2000, JSON, 413)):
        check_equal(str((body, headers))[:80], ui.request("POST", "/ui/signin", body, headers).status, status)
    check_equal("by GET", ui.request("GET", "/ui/signin?ticket=" + ui.ticket).status, 405)
    seen = [ui.redeem("y" * 43).status for _ in range(40)]
    check_in("too many tries", 429, seen)
    wait_until("a second later", lambda: ui.redeem(ui.ticket).status == 200)


# covers: web.md WEB-029 WEB-034
def signing_out_ends_the_sign_in():
    finished()
    ui = Ui().sign_in()
    check_equal("needs both halves", ui.request("POST", "/ui/signout", "{}", dict(JSON, Cookie=ui.cookie)).status, 401)
    out = ui.ask("POST", "/ui/signout", "{}", JSON)
    check_equal("signed out", out.status, 200)
    check_in("the cookie goes", "jf-%s=; HttpOnly; SameSite=Strict; Path=/ui/; Max-Age=0" % ui.id, out.headers["Set-Cookie"])
    check_equal("after it", ui.ask("GET", "/ui/v1/me").status, 401)


# covers: web.md WEB-027
def credentials_are_in_nothing_that_is_written():
    finished()
    ui = Ui().sign_in()
    ui.redeem(ui.ticket, {"Cookie": ui.cookie})
    ui.ask("GET", "/ui/api/none?x=" + ui.key)
    ui.request("GET", "/ui/v1/me", headers={"Cookie": ui.cookie, "Jobflow-Key": ui.key + "x"})
    secrets = [ui.key, ui.cookie.split("=")[1]]
    ui.stop()
    text = ui.process.output() + ui.process.errors()
    for folder, _, files in os.walk(".jobflow"):
        for name in files:
            if os.path.isfile(os.path.join(folder, name)):
                with open(os.path.join(folder, name), "rb") as file:
                    text += file.read().decode("latin-1")
    for secret in secrets:
        check(secret not in text, "no half of the key is written")
    check_equal("the ticket is in its link alone", text.count(ui.ticket), 1)


# covers: web.md WEB-038 WEB-050 WEB-052 WEB-053 WEB-054
def requests_pass_by_the_table_alone():
    run = running()
    ui = Ui().sign_in()
    check_equal("read", ui.get(FLOWS + "/f")["metadata"]["name"], "f")
    check_equal("steps", ui.get(FLOWS + "/f/steps")["items"][0]["name"], "a")
    check_equal("log", ui.ask("GET", CORE + "/pods/f-a-main-0/log").body, b"begun\n")
    for method, path, body, headers in (
            ("GET", CORE + "/secrets", None, {}), ("GET", CORE + "/secrets/x", None, {}), ("GET", CORE + "/configmaps", None, {}),
            ("GET", "/ui/api/metrics", None, {}), ("GET", "/ui/api/backup", None, {}), ("GET", "/ui/api/openapi/v2", None, {}),
            ("POST", CORE + "/pods", "{}", JSON), ("DELETE", FLOWS, None, {}), ("DELETE", CORE + "/pods", None, {}),
            ("PUT", FLOWS + "/f", "{}", JSON), ("PATCH", FLOWS + "/f/status", "{}", {"Content-Type": "application/merge-patch+json"}),
            ("POST", CORE + "/pods/f-a-main-0/exec?command=sh", "{}", JSON), ("GET", CORE + "/pods/f-a-main-0/attach", None, {}),
            ("POST", CORE + "/pods/f-a-main-0/eviction", "{}", JSON), ("GET", CORE + "/pods/f-a-main-0/portforward", None, {}),
            ("GET", FLOWS + "?watch=true", None, {}), ("GET", FLOWS + "?watch=1", None, {}),
            ("DELETE", "/ui/api/api/v1/namespaces/default", None, {})):
        answer = ui.ask(method, path, body, headers)
        check_equal("%s %s" % (method, path), answer.status, 403)
        check_in("from the gateway", "gateway", answer.json()["message"])
    for path in ("/ui/api/api/v1/../../metrics", "/ui/api/%2e%2e/metrics", "/ui/api/api%2Fv1", "/ui/%61pi/version", "/ui/api//version",
                 "/ui/api/api/v1/namespaces/default#/pods/f-a-main-0", "/ui/api/api/v1/pods?limit=1&limit=2"):
        check_equal(path, ui.ask("GET", path).status, 400)
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        check_equal(kind, ui.ask("POST", FLOWS, "{}", {"Content-Type": kind}).status, 415)
    refused = ui.ask("POST", FLOWS, {"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow", "metadata": {"name": "f"},
                                     "spec": {"flows": [{"name": "a", "run": "true"}]}}, JSON)
    check_equal("the server's refusal passes", (refused.status, refused.json()["reason"]), (409, "AlreadyExists"))
    run.signal(2)
    run.wait()


# covers: web.md WEB-046
def changes_pass_with_their_rights():
    run = running()
    ui = Ui().sign_in()
    patch = {"metadata": {"labels": {"seen": "yes"}}}
    kind = {"Content-Type": "application/merge-patch+json"}
    check_equal("patch", ui.ask("PATCH", FLOWS + "/f", patch, kind).json()["metadata"]["labels"]["seen"], "yes")
    look = Ui("--read-only", name="look").sign_in()
    check(look.get("/ui/v1/me")["readOnly"], "me says that nothing passes")
    for method, path, body, headers in (("PATCH", FLOWS + "/f", patch, kind), ("DELETE", FLOWS + "/f", None, {}),
                                        ("DELETE", CORE + "/pods/f-a-main-0", None, {}), ("POST", FLOWS, patch, JSON),
                                        ("PATCH", CORE + "/secrets/s?fieldManager=page", "{}", APPLY)):
        answer = look.ask(method, path, body, headers)
        check_equal("read only: " + method, answer.status, 403)
        check_in("why", "--read-only", answer.json()["message"])
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    check_equal("a question passes", look.ask("POST", "/ui/api/apis/authentication.k8s.io/v1/selfsubjectreviews", review, JSON).status, 201)
    run.signal(2)
    run.wait()


# covers: web.md WEB-055
def data_of_secrets_never_come_back():
    run = running()
    ui = Ui().sign_in()
    canary = "Y2FuYXJ5LXZhbHVl"
    for plural, kind in (("secrets", "Secret"), ("configmaps", "ConfigMap")):
        body = {"apiVersion": "v1", "kind": kind, "metadata": {"name": "s", "annotations": {"x": canary}}, "data": {"k": canary}}
        made = ui.ask("PATCH", CORE + "/%s/s?fieldManager=page" % plural, body, APPLY)
        check_equal("applied", (made.status, made.json()["metadata"]["name"]), (201, "s"))
        check(canary.encode() not in made.body, "no data in the answer")
        body["data"]["!"] = canary
        refused = ui.ask("PATCH", CORE + "/%s/s?fieldManager=page" % plural, body, APPLY)
        check_equal("refused", (refused.status, refused.json()["reason"]), (422, "Invalid"))
        check(canary.encode() not in refused.body, "no data in the refusal")
    run.signal(2)
    run.wait()


# covers: web.md WEB-009 WEB-010
def the_list_of_flows_at_rest_reads_no_jobs_and_pods():
    manifest("f.yaml", flow("f", [step("s%d" % i, template="t") for i in range(3000)]), template("t", "true"))
    jobflow("run", "--runtime", "sim", "--data-dir", "d", "-o", "quiet", "f.yaml")
    ui = Ui("--data-dir", "d")
    ui.sign_in()
    stream = Stream(ui, topics=["flows"])
    wait_until("the list is complete", lambda: stream.ready("flows"))
    check_equal("flows", list(stream.rows("flows")), ["default/f"])
    read_bytes = int(re.search(r"rchar: (\d+)", read("/proc/%d/io" % ui.process.pid)).group(1))
    whole = os.path.getsize("d/store.db")
    check(read_bytes < whole / 2, "the gateway has read %d bytes of a store of %d" % (read_bytes, whole))
    stream.close()
    ui.stop()


def a_store_goes_live_and_back():
    finished()
    ui = Ui().sign_in()
    check_equal("store", ui.get("/ui/v1/me")["server"]["kind"], "store")
    check_equal("its flow", ui.get(FLOWS + "/f")["status"]["state"]["phase"], "Succeed")
    stopped = ui.ask("DELETE", FLOWS + "/f")
    check_equal("nothing is changed there", stopped.status, 403)
    check_in("why", "no process runs in .jobflow", stopped.json()["message"])
    before = os.stat(".jobflow/store.db").st_mtime_ns
    manifest("g.yaml", flow("g", [step("a", template="u")]), template("u", "while [ ! -e %s/go ]; do sleep 0.02; done" % os.getcwd()))
    run = Background("run", "g.yaml")
    wait_until("live", lambda: ui.get("/ui/v1/me")["server"] == {"kind": "run", "name": ".jobflow", "live": True})
    wait_until("its flow", lambda: ui.ask("GET", FLOWS + "/g").status == 200)
    open("go", "w").close()
    check_equal("the run ends", run.wait(), 0)
    wait_until("back", lambda: ui.get("/ui/v1/me")["server"]["kind"] == "store")
    check_equal("the end is seen", ui.get(FLOWS + "/g")["status"]["state"]["phase"], "Succeed")
    check(os.stat(".jobflow/store.db").st_mtime_ns >= before, "the store is only read")
    jobflow("delete", "jf/g")
    wait_until("a command's change", lambda: ui.ask("GET", FLOWS + "/g").status == 404)


# covers: web.md WEB-008 WEB-078
def a_stream_tells_what_changes():
    run = running(step("b", ["a"], template="t"))
    ui = Ui().sign_in()
    stream = Stream(ui, topics=["flows", "flow default/f", "objects pods default", "events default/JobFlow/f", "flow default/none"])
    check_equal("hello", (stream.hello["type"], stream.hello["server"]["live"]), ("hello", True))
    for topic in ("flows", "flow default/f", "objects pods default", "events default/JobFlow/f", "flow default/none"):
        wait_until("ready: " + topic, lambda: stream.ready(topic))
        check(stream.of(topic)[0].get("reset"), "the first line resets " + topic)
    check_equal("steps", stream.steps("flow default/f"), {"a": "Running", "b": "Waiting"})
    check_equal("flows", list(stream.rows("flows")), ["default/f"])
    check_in("columns", "Status", [c["name"] for c in stream.of("flows")[0]["columns"]])
    check_equal("pods", list(stream.rows("objects pods default")), ["default/f-a-main-0"])
    check(stream.of("flow default/none")[1]["gone"], "a flow that does not exist is gone")
    lines = len(stream.lines)
    open("go", "w").close()
    wait_until("both steps are done", lambda: stream.steps("flow default/f") == {"a": "Completed", "b": "Completed"})
    wait_until("the flow is done", lambda: stream.of("flow default/f")[-1].get("flow", {}).get("phase") == "Succeed")
    wait_until("its row, too", lambda: "Succeed" in stream.rows("flows")["default/f"]["cells"])
    told = [line.get("phase", []) for line in stream.lines[lines:] if line.get("topic") == "flow default/f"]
    check(sum(map(len, told)) <= 8, "only steps that have changed are told: %s" % told)
    check_equal("the run ends", run.wait(), 0)
    wait_until("the store takes over", lambda: (stream.last("server") or {}).get("server", {}).get("kind") == "store")
    check_equal("steps stay", stream.steps("flow default/f"), {"a": "Completed", "b": "Completed"})
    check(sum(1 for line in stream.of("flow default/f") if line.get("reset")) == 1, "nothing was reset")
    ui.stop()
    wait_until("the last line", lambda: stream.last("ended"))
    check_equal("its reason", stream.last("ended")["reason"], "'jobflow ui' has ended")


# covers: web.md WEB-077
def a_flow_that_is_made_again_begins_anew():
    finished()
    ui = Ui().sign_in()
    stream = Stream(ui, topics=["flow default/f", "flows"])
    wait_until("steps", lambda: stream.steps("flow default/f") == {"a": "Completed"})
    first = stream.of("flow default/f")[0]["uid"]
    jobflow("delete", "jf/f")
    wait_until("gone", lambda: stream.of("flow default/f")[-1].get("gone") or stream.of("flow default/f")[-2].get("gone"))
    wait_until("no row", lambda: not stream.rows("flows"))
    manifest("f.yaml", flow("f", [step("x", template="t")]))
    jobflow("run", "f.yaml")
    wait_until("the new steps", lambda: stream.steps("flow default/f") == {"x": "Completed"})
    check([line for line in stream.of("flow default/f") if line.get("reset")][-1]["uid"] != first, "it is another flow")
    wait_until("a row", lambda: list(stream.rows("flows")) == ["default/f"])


# covers: web.md WEB-034 WEB-082
def streams_and_topics_are_bounded():
    finished()
    ui = Ui().sign_in()
    streams = [Stream(ui, tab="t%d" % i) for i in range(8)]
    again = Stream(ui, tab="t3")
    wait_until("the same tab continues", lambda: streams[3].ended)
    check(not streams[0].ended, "no other has ended")
    Stream(ui, tab="t9")
    wait_until("the oldest ends", lambda: streams[0].ended)
    check_equal("why", streams[0].last("ended")["reason"], "continued in another tab")
    again.change(add=["flows x%d" % i for i in range(64)])
    again.change(add=["flows y"], status=429)
    again.change(add=["flows x1"])
    again.change(drop=["flows x%d" % i for i in range(10)])
    again.change(add=["flows y"])
    for wrong in ("x", "flow", "flow a", "flow a/b/c", "flow ../x", "flows a/b", "objects", "objects secrets a", "objects configmaps *",
                  "events a/b", "events a/JobFlow/../x", "objects queues a", "log a/b/c", "y" * 600, "flows A", "flow a/b?x=y", ""):
        check_equal(wrong, ui.ask("POST", "/ui/v1/stream/" + again.hello["id"], {"add": [wrong]}, JSON).status, 400)
    again.change(add="flows", status=400)
    again.change(add=[1], status=400)
    other = Ui(name="other").sign_in()
    check_equal("of another gateway", other.ask("POST", "/ui/v1/stream/" + again.hello["id"], {"add": []}, JSON).status, 404)
    check_equal("no tab", ui.ask("GET", "/ui/v1/stream").status, 400)
    check_equal("no key", ui.request("GET", "/ui/v1/stream?tab=x").status, 401)
    ui.ask("POST", "/ui/signout", "{}", JSON)
    wait_until("signing out ends all", lambda: again.ended and streams[7].ended)


# covers: web.md WEB-083
def topics_share_a_watch_and_refusals_end_them():
    run = running()
    ui = Ui().sign_in()
    topics = ["objects pods default app in (a, b),x!=y%&c"]
    bad = Stream(ui, tab="bad", topics=topics)
    wait_until("the server refuses the selector", lambda: any("error" in line for line in bad.of(topics[0])))
    streams = [Stream(ui, tab="s%d" % i, topics=["flows", "objects pods *"]) for i in range(6)]
    for stream in streams:
        wait_until("rows", lambda: list(stream.rows("flows")) == ["default/f"] and stream.ready("objects pods *"))
    before = len(os.listdir("/proc/%d/fd" % ui.process.pid))
    more = [Stream(ui, tab="again", topics=["flows", "objects pods *"])]
    wait_until("rows", lambda: list(more[0].rows("flows")) == ["default/f"] and more[0].ready("objects pods *"))
    check(len(os.listdir("/proc/%d/fd" % ui.process.pid)) <= before + 1, "tabs share the watches of their topics")
    open("go", "w").close()
    check_equal("the run ends", run.wait(), 0)


def a_graph_has_positions_and_steps_their_reasons():
    run = running(step("b", ["a"], template="t"), step("c", ["a"], template="t"), step("d", ["b", "c"], template="t"), step("e", ["a", "d"], template="t"))
    ui = Ui().sign_in()
    graph = ui.get(FLOWS + "/f/graph")
    check_equal("steps", [s["name"] for s in graph["steps"]], ["a", "b", "c", "d", "e"])
    check_equal("job", graph["steps"][0]["job"], "f-a")
    layout = graph["layout"]
    boxes = {box["step"]: box for box in layout["boxes"]}
    check_equal("layers", [boxes[name]["x"] for name in "abcde"], [0, 26, 26, 52, 78])
    check(abs(boxes["b"]["y"] - boxes["c"]["y"]) >= 3, "boxes of a layer do not overlap")
    edges = {(edge["from"], edge["to"]): edge for edge in layout["edges"]}
    check_equal("edges", sorted(edges), [("a", "b"), ("a", "c"), ("a", "e"), ("b", "d"), ("c", "d"), ("d", "e")])
    for (source, target), edge in edges.items():
        check_equal("begins at the right of " + source, edge["points"][0], [boxes[source]["x"] + 20, boxes[source]["y"] + 1])
        check_equal("ends at the left of " + target, edge["points"][-1], [boxes[target]["x"], boxes[target]["y"] + 1])
        check_equal("goes to the right", [p[0] for p in edge["points"]], sorted(p[0] for p in edge["points"]))
    check_equal("a long edge goes through the layers", len(edges["a", "e"]["points"]), 6)
    answer = ui.ask("GET", FLOWS + "/f/graph?part=steps")
    check_equal("columns", (answer.status, answer.headers["Content-Type"], answer.body[:4]), (200, "application/vnd.jobflow.columns", b"JFC1"))
    check_equal("no such part", ui.ask("GET", FLOWS + "/f/graph?part=none").status, 400)
    told = ui.get("/ui/v1/explain?flow=default/f&step=b&step=a")
    check_equal("flow", told["flow"], "default/f")
    check_equal("in the order of the question", [s["name"] for s in told["steps"]], ["b", "a"])
    check_in("why", "waits for a", told["steps"][0]["text"])
    check_equal("a list", [s["name"] for s in ui.get("/ui/v1/explain?flow=default/f&step=c,b&step=" + ",".join("a" * 48))["steps"]], ["c", "b"] + ["a"] * 48)
    check_equal("one", [s["name"] for s in ui.get("/ui/v1/explain?flow=default/f&step=d")["steps"]], ["d"])
    terminal = jobflow("explain", "jf/f", "b").stdout
    check_in("the words of the terminal", told["steps"][0]["text"], terminal)
    for query in ("", "?flow=default/f", "?flow=f&step=a", "?flow=default/f&step=-x", "?flow=default/f&step=", "?flow=-x/f&step=--data-dir",
                  "?flow=default/f&step=" + ",".join("a" * 51), "?flow=default/f&step=a,", "?flow=default/f&step=a,-x", "?flow=../f&step=a"):
        check_equal(query, ui.ask("GET", "/ui/v1/explain" + query).status, 400)
    check_equal("no such step", ui.ask("GET", "/ui/v1/explain?flow=default/f&step=none").status, 503)
    check_equal("no such flow", ui.ask("GET", FLOWS + "/none/graph").status, 404)
    open("go", "w").close()
    check_equal("the run ends", run.wait(), 0)
    wait_until("store", lambda: ui.get("/ui/v1/me")["server"]["kind"] == "store")
    check_equal("of the store", [s["state"] for s in ui.get(FLOWS + "/f/graph")["steps"]], ["Completed"] * 5)


# covers: web.md WEB-055
def manifests_are_planned_and_nothing_of_them_comes_back():
    finished()
    ui = Ui().sign_in()
    canary = "Y2FuYXJ5LXZhbHVl"
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"k": canary}}
    made = json.dumps(flow("g", [step("a", template="t", script="echo " + canary), step("b", ["a"], template="t")]))
    text = "# \u00fc\n%s\n---\n%s\n" % (json.dumps(secret), made)
    answer = ui.ask("POST", "/ui/v1/plan", {"manifests": text}, JSON)
    told = answer.json()
    check_equal("planned", (answer.status, told["ok"], told["findings"]), (200, True, []))
    check_equal("documents", [(d["kind"], d["name"], d["line"]) for d in told["documents"]], [("Secret", "s", 2), ("JobFlow", "g", 3)])
    check_equal("place of the second", text.encode()[told["documents"][1]["begin"]:].decode().removeprefix("---").strip(), made)
    check_equal("steps", [(s["name"], s["after"]) for s in told["plan"]["flows"][0]["steps"]], [("a", []), ("b", ["a"])])
    check(canary.encode() not in answer.body, "neither data nor scripts come back")
    manifest("stored.yaml", secret, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"k": canary}})
    jobflow("apply", "-f", "stored.yaml")
    other = json.dumps(dict(secret, data={"k": "bmV3"})) + "\n---\n" + json.dumps(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"k": "new"}})
    answer = ui.ask("POST", "/ui/v1/plan", {"manifests": other}, JSON)
    check_equal("edits", [o["action"] for o in answer.json()["plan"]["objects"]], ["change", "change"])
    check(canary.encode() not in answer.body, "no stored data comes back")
    refused = ui.ask("POST", "/ui/v1/plan", {"manifests": made.replace('"t"', '"none"')}, JSON).json()
    check(not refused["ok"] and any("none" in line for line in refused["findings"]), "what is wrong is named: %s" % refused)
    for body, status in (("x", 400), ({}, 400), ({"manifests": 1}, 400), ({"manifests": "a: ["}, 400), ({"manifests": "", "namespace": "../x"}, 400),
                         ({"manifests": "x" * (5 << 20)}, 413)):
        check_equal(str(body)[:60], ui.ask("POST", "/ui/v1/plan", body, JSON).status, status)
    check_equal("a form", ui.ask("POST", "/ui/v1/plan", "x", {"Content-Type": "text/plain"}).status, 415)
    check_equal("read", ui.ask("GET", "/ui/v1/plan").status, 405)
    check_in("what a rerun does", "runs again", ui.get("/ui/v1/foresee?flow=default/f&only=a")["text"])
    for query in ("", "?flow=default/f", "?flow=default/f&from=a&only=a", "?flow=default/f&from=", "?flow=default/f&from=-x", "?flow=x&from=a"):
        check_equal(query, ui.ask("GET", "/ui/v1/foresee" + query).status, 400)


def many_questions_wait_or_are_refused():
    finished()
    ui = Ui().sign_in()
    connections = []
    for _ in range(30):
        connection = socket.create_connection(("127.0.0.1", ui.port), timeout=60)
        connection.sendall(("GET %s/f/graph HTTP/1.1\r\nHost: localhost\r\nCookie: %s\r\nJobflow-Key: %s\r\nConnection: close\r\n\r\n"
                            % (FLOWS, ui.cookie, ui.key)).encode())
        connections.append(connection)
    connections.pop().close()
    answers = []
    for connection in connections:
        parts = b""
        while part := connection.recv(65536):
            parts += part
        answers.append(int(parts.split()[1]))
    check(answers.count(200) >= 17 and set(answers) <= {200, 429}, "each is answered or refused: %s" % answers)
    ui.get(FLOWS + "/f/graph")
    connections = [socket.create_connection(("127.0.0.1", ui.port), timeout=60) for _ in range(4)]
    for connection in connections:
        connection.sendall(("GET %s/f/graph HTTP/1.1\r\nHost: localhost\r\nCookie: %s\r\nJobflow-Key: %s\r\n\r\n" % (FLOWS, ui.cookie, ui.key)).encode())
    Stream(ui, topics=["flows", "flow default/f"])
    ui.stop()  # with questions under way


def a_log_is_followed():
    run = running()
    ui = Ui().sign_in()
    connection = socket.create_connection(("127.0.0.1", ui.port), timeout=60)
    connection.sendall(("GET %s/pods/f-a-main-0/log?follow=true HTTP/1.1\r\nHost: localhost\r\nCookie: %s\r\nJobflow-Key: %s\r\n\r\n"
                        % (CORE, ui.cookie, ui.key)).encode())
    seen = b""
    while b"begun" not in seen:
        part = connection.recv(65536)
        check(part, "the log is sent as it grows: %r" % seen)
        seen += part
    check(b"0\r\n\r\n" not in seen, "it has not ended")
    check_equal("none of a pod that is not there", ui.ask("GET", CORE + "/pods/none/log?follow=true").status, 404)
    open("go", "w").close()
    while not seen.endswith(b"0\r\n\r\n"):
        part = connection.recv(65536)
        check(part, "the log ends with its pod: %r" % seen)
        seen += part
    check_equal("the run ends", run.wait(), 0)


# covers: web.md WEB-049 WEB-051
def the_daemon_keeps_to_the_rights_of_the_token():
    daemon = Daemon()
    write("token", jobflow("token", "create", "looker", "--role", "viewer", "--data-dir", "d").stdout)
    manifest("f.yaml", flow("f", [step("a", template="t")]), template("t", "echo done"))
    jobflow("apply", "--data-dir", "d", "f.yaml")
    jobflow("wait", "--data-dir", "d", "jf/f")
    ui = Ui("--data-dir", "d").sign_in()
    check_in("the first line", "the daemon at d, as ", ui.process.output())
    check_equal("kind", ui.get("/ui/v1/me")["server"]["kind"], "daemon")
    patch, kind = {"metadata": {"labels": {"seen": "yes"}}}, {"Content-Type": "application/merge-patch+json"}
    check_equal("changed", ui.ask("PATCH", FLOWS + "/f", patch, dict(kind, Authorization="Bearer x")).status, 200)
    line = [json.loads(line) for line in read("d/audit.log").splitlines() if '"PATCH"' in line][-1]
    check_equal("audited", (line["via"], line["object"], line["status"], bool(line["user"])), ("ui", "default/f", 200, True))
    check(all(secret not in read("d/audit.log") for secret in (ui.ticket, ui.key, ui.cookie.split("=")[1])), "no credential is audited")
    look = Ui("--kubeconfig", daemon.kubeconfig, "--token-file", "token", name="look").sign_in()
    check_in("the first line", "as looker; may look\n", look.process.output())
    check_equal("reads", look.get(FLOWS + "/f")["metadata"]["name"], "f")
    stream = Stream(look, topics=["flow default/f", "flows"])
    wait_until("streams", lambda: stream.steps("flow default/f") == {"a": "Completed"})
    check_equal("graph", [s["name"] for s in look.get(FLOWS + "/f/graph")["steps"]], ["a"])
    refused = look.ask("PATCH", FLOWS + "/f", patch, kind)
    check_equal("the server refuses", (refused.status, refused.json()["reason"]), (403, "Forbidden"))
    check_in("in its own words", "looker", refused.json()["message"])
    rules = look.get("/ui/v1/me")["rules"]
    check(any("jobflows" in rule["resources"] and "get" in rule["verbs"] for rule in rules), "its rights: %s" % rules)
    jobflow("token", "revoke", "looker", "--data-dir", "d")
    wait_until("the revoked token opens nothing", lambda: look.ask("GET", FLOWS + "/f").status == 401)
    check_equal("the daemon ends", daemon.stop(), 0)


# covers: web.md WEB-048
def connections_without_a_key_give_way():
    finished()
    ui = Ui().sign_in()
    mine = socket.create_connection(("127.0.0.1", ui.port), timeout=30)
    request = "GET /ui/v1/me HTTP/1.1\r\nHost: localhost\r\nCookie: %s\r\nJobflow-Key: %s\r\n\r\n" % (ui.cookie, ui.key)
    mine.sendall(request.encode())
    check_in("answer", b"200 OK", mine.recv(65536))
    silent = []
    for _ in range(200):
        silent.append(socket.create_connection(("127.0.0.1", ui.port), timeout=30))
    check_equal("a new request is served", ui.ask("GET", "/ui/v1/me").status, 200)
    mine.sendall(request.encode())
    check_in("the page keeps its connection", b"200 OK", mine.recv(65536))
    for connection in silent + [mine]:
        connection.close()


# covers: web.md WEB-004 WEB-005 WEB-006 WEB-008
def a_browser_gets_a_file_and_no_ticket_on_its_command_line():
    finished()
    write("browser", "#!/bin/sh\ncat \"$1\" > page; stat -c %a \"$1\" > mode; echo \"$@\" > arguments; touch opened\n")
    os.chmod("browser", 0o755)
    os.mkdir("runtime", 0o700)
    here = os.getcwd()
    environment = {"DISPLAY": ":9", "BROWSER": here + "/browser", "XDG_RUNTIME_DIR": here + "/runtime", "SSH_CONNECTION": ""}
    process = Background("ui", env=environment, name="opened-ui")
    wait_until("opened", lambda: os.path.exists("opened"))
    wait_until("says so", lambda: "opened in the browser" in process.output())
    check("#t=" not in process.output(), "the link is not printed")
    found = re.search(r"url=http://127\.0\.0\.1:(\d+)/ui/#t=([A-Za-z0-9_-]{43})", read("page"))
    check(found, "the file forwards to the link: %s" % read("page"))
    check(found.group(2) not in read("arguments"), "no other user sees the ticket")
    check_equal("mode", read("mode").strip(), "600")
    check_equal("one file", len(os.listdir("runtime")), 1)
    ui = Ui.__new__(Ui)
    ui.port, ui.ticket = int(found.group(1)), found.group(2)
    ui.sign_in()
    wait_until("the file is removed when its ticket is used", lambda: not os.listdir("runtime"))
    process.signal(1)
    check_equal("a closed terminal ends it", process.wait(), 0)
    late = Background("ui", env=environment, name="late-ui")
    wait_until("without a sign-in the link is printed", lambda: "can be clicked" in late.output() and "#t=" in late.output(), 20)
    late.signal(15)
    check_equal("ends", late.wait(), 0)
    check_equal("no file is left", os.listdir("runtime"), [])
    remote = Background("ui", env=dict(environment, SSH_CONNECTION="1 2 3 4"), name="remote-ui")
    wait_until("over SSH", lambda: "ssh -L" in remote.output() and "#t=" in remote.output())
    check("opened in" not in remote.output(), "nothing is opened over SSH")


# covers: web.md WEB-007
def enter_prints_a_new_link():
    finished()
    links = re.compile(r"#t=([A-Za-z0-9_-]{43})")
    master, slave = pty.openpty()
    with open("terminal", "wb") as out:
        process = subprocess.Popen([os.environ["JOBFLOW"], "ui", "--no-browser"], stdin=slave, stdout=out, stderr=out)
    try:
        wait_until("one link", lambda: "Enter: a new link" in read("terminal") and len(links.findall(read("terminal"))) == 1)
        os.write(master, b"\n")
        wait_until("another link", lambda: len(set(links.findall(read("terminal")))) == 2)
        ui = Ui.__new__(Ui)
        ui.port = int(re.search(r"127\.0\.0\.1:(\d+)/", read("terminal")).group(1))
        for ticket in links.findall(read("terminal")):
            check_equal("each link signs in", ui.redeem(ticket).status, 200)
    finally:
        process.terminate()
        check_equal("ends", process.wait(60), 0)
        os.close(master)
        os.close(slave)


def a_run_opens_its_page_which_outlives_it():
    manifest("f.yaml", flow("f", [step("a", template="t")]), template("t", "while [ ! -e %s/go ]; do sleep 0.02; done" % os.getcwd()))
    run = Background("run", "--ui", "f.yaml", env={"DISPLAY": "", "WAYLAND_DISPLAY": ""}, name="run")
    wait_until("the link", lambda: "Ctrl-C: end" in run.errors())
    check_in("to what", "the run in .jobflow, as ", run.errors())
    check("#t=" not in run.output(), "the standard output is that of any run")
    found = re.search(r"http://127\.0\.0\.1:(\d+)/ui/#t=([A-Za-z0-9_-]{43})", run.errors())
    ui = Ui.__new__(Ui)
    ui.port, ui.ticket = int(found.group(1)), found.group(2)
    ui.sign_in()
    check_equal("it opens the flow", ui.get("/ui/v1/me")["open"], "default/f")
    open("go", "w").close()
    check_equal("the run ends", run.wait(), 0)
    wait_until("the page goes on with the store", lambda: ui.get("/ui/v1/me")["server"]["kind"] == "store")
    check_equal("its flow", ui.get(FLOWS + "/f")["status"]["state"]["phase"], "Succeed")
    check_equal("the link again, by another client", ui.redeem(ui.ticket).status, 401)  # the warning has no reader
    check_equal("the page is still served", ui.request("GET", "/ui/").status, 200)
    [page] = [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and ("\0--idle\0" + "10m\0").encode() in command_line(pid) and os.getcwd() == working_folder(pid)]
    os.kill(page, 15)
    wait_until("it ends when told", lambda: not os.path.exists("/proc/%d" % page) or state_of(page) == "Z")
    check_in("a simulation", "has no page", jobflow("run", "--ui", "--runtime", "sim", "f.yaml").stderr)


# covers: web.md WEB-008
def it_ends_without_a_page():
    finished()
    ui = Ui("--idle", "1s")
    check_equal("ends", ui.process.wait(), 0)
    check_in("says so", "--idle", ui.process.output())


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
