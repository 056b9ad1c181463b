#!/usr/bin/env python3
"""Pages of other origins, rebound names and neighbours on other ports, in the browser that is signed in. The table is in lib_attacks.py.
"""
import http.server
import json
import os
import re
import sys
import threading

from lib_attacks import ATTACKS, HELPERS
from lib_browser import Browser, cases_of, check, check_equal, need_browser
from lib import check_in, flow, jobflow, main, manifest
from lib_serve import JF, Daemon
from lib_ui import JSON, Ui

REBOUND = "rebound.example"  # a name that the browser resolves to this machine
FLOW = "/ui/api" + JF + "/mine"


class Neighbour:
    """A server on another port of this machine. It answers everything to everybody and keeps the headers that it is sent."""

    def __init__(self):
        heads = self.heads = []
        self.cookies = []
        cookies = self.cookies

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                heads.append((self.path, self.headers))
                body = b"<!doctype html><title>neighbour</title><body>neighbour"
                self.send_response(200)
                for cookie in cookies:
                    self.send_header("Set-Cookie", cookie)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Access-Control-Allow-Origin", self.headers["Origin"] or "*")
                self.send_header("Access-Control-Allow-Credentials", "true")
                self.send_header("Access-Control-Allow-Headers", "content-type, jobflow-key")
                self.send_header("Access-Control-Allow-Methods", "GET, POST, DELETE")
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_DELETE = do_OPTIONS = do_GET

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def sent_cookies(self, path):
        return [head["Cookie"] or "" for asked, head in self.heads if asked == path]


def begin():
    need_browser()
    daemon = Daemon()
    manifest("f.yaml", flow("mine", []))
    jobflow("apply", "--data-dir", "d", "f.yaml")
    return daemon


def flows():
    return [item["metadata"]["name"] for item in json.loads(jobflow("get", "jf", "-o", "json", "--data-dir", "d").stdout)["items"]]


def key_of(browser):
    """Both names and values of the sign-in that the browser holds: the cookie, and the key in storage."""
    cookie = next(c for c in browser.driver.get_cookies() if "jf-" in c["name"])
    key = browser.js("return Object.entries(localStorage).find(([name]) => /^jf-[0-9a-f]{8}$/.test(name))[1]")
    return cookie["name"], cookie["value"], key


def try_out(browser, script, base, asset):
    return browser.driver.execute_async_script(
        "const [base, flow, asset, done] = arguments; %s\nPromise.race([%s, later(5000, '')]).then(done, error => done(''));" % (HELPERS, script), base, FLOW, asset)


def attack(browser, origin):
    """Runs the table from a page of this origin. Returns what each attack has got."""
    asset = browser.js("return document.querySelector('script').src")
    browser.driver.get(origin + "/")
    got = {}
    for name, script in ATTACKS:
        got[name] = try_out(browser, script, browser.base, asset)
    for handle in browser.driver.window_handles[1:]:  # windows that the attacks have opened
        browser.driver.switch_to.window(handle)
        browser.driver.close()
    browser.driver.switch_to.window(browser.driver.window_handles[0])
    browser.forget()
    return got


def unharmed(browser):
    check_equal("flows", flows(), ["mine"])
    browser.open("/ui/flows")
    browser.shows("mine")


def attack_from_everywhere(browser, neighbour):
    browser.shows("mine")
    for origin in ("http://127.0.0.1:%d" % neighbour.port, "http://localhost:%d" % neighbour.port, "http://%s:%d" % (REBOUND, neighbour.port)):
        got = attack(browser, origin)
        check_equal("attacks from %s that got something" % origin, {name: value for name, value in got.items() if value}, {})
        unharmed(browser)


# covers: web.md WEB-030 WEB-037 WEB-038 WEB-042 WEB-229
def no_other_origin_gets_anything():
    daemon = begin()
    check(len(ATTACKS) >= 20, "the table has its attacks")
    with Browser(Ui("--data-dir", "d"), path="/ui/flows", names=[REBOUND]) as browser:
        attack_from_everywhere(browser, Neighbour())
    check_equal("the daemon ends", daemon.stop(), 0)


# covers: web.md WEB-037 WEB-042
def no_other_origin_gets_anything_of_a_daemon():
    daemon = begin()
    ticket = re.search("#t=(.*)", jobflow("ui", "--link", "--data-dir", "d").stdout).group(1)
    with Browser(daemon, signed_in=False, base="https://127.0.0.1:%d" % daemon.port, names=[REBOUND]) as browser:
        browser.open("/ui/#t=" + ticket)
        browser.wait("the page is signed in", "return !!document.querySelector('header.top')")
        browser.open("/ui/flows")
        attack_from_everywhere(browser, Neighbour())
    check_equal("the daemon ends", daemon.stop(), 0)


# covers: web.md WEB-042
def each_attack_reaches_a_server_that_lets_it():
    """The scripts of the table do what they say: a server without protection is asked, and those that read get its answer."""
    need_browser()
    careless, neighbour = Neighbour(), Neighbour()
    browser = Browser(None, signed_in=False, base="http://127.0.0.1:%d" % careless.port)
    browser.driver.get("http://localhost:%d/" % neighbour.port)
    read = 0
    for name, script in ATTACKS:
        asked = len(careless.heads)
        read += bool(try_out(browser, script, browser.base, browser.base + "/ui/a/x/app.js?%d" % asked))
        check("storage" in name or "cookie" in name or len(careless.heads) > asked, "%s asks for nothing" % name)
        browser.driver.switch_to.window(browser.driver.window_handles[0])
    check(read >= 8, "only %d attacks have read something" % read)
    browser.forget()
    browser.check_clean()
    browser.driver.quit()


# covers: web.md WEB-036 WEB-042
def a_rebound_name_is_refused():
    daemon = begin()
    ui = Ui("--data-dir", "d")
    with Browser(ui, path="/ui/flows", names=[REBOUND]) as browser:
        browser.shows("mine")
        for base in ("http://%s:%d" % (REBOUND, ui.port),):
            for path in ("/ui/", "/ui/flows", "/ui/v1/me", FLOW):
                browser.driver.get(base + path)
                shown = browser.text()
                check_in("the answer to %s" % path, "this page answers to the names 127.0.0.1", shown)
                check("mine" not in shown, "%s tells nothing" % path)
            read = browser.driver.execute_async_script("fetch('/ui/v1/me').then(a => a.text()).then(arguments[0], () => arguments[0](''))")
            check_in("what a script of that origin reads", "this page answers to the names", read)
        browser.forget()
        unharmed(browser)
    check_equal("the daemon ends", daemon.stop(), 0)


# covers: web.md WEB-028 WEB-030 WEB-227
def a_stolen_half_opens_nothing():
    """A neighbour gets the cookie, which reaches every port of the host. Neither from there nor by itself does it open anything."""
    daemon, neighbour = begin(), Neighbour()
    ui = Ui("--data-dir", "d")
    with Browser(ui, path="/ui/flows") as browser:
        browser.shows("mine")
        name, value, key = key_of(browser)
        browser.driver.get("http://127.0.0.1:%d/ui/steal" % neighbour.port)
        check_equal("the neighbour was sent the cookie, and no key", ["%s=%s" % (name, value) in sent for sent in neighbour.sent_cookies("/ui/steal")], [True])
        check(not any(head["Jobflow-Key"] for _, head in neighbour.heads), "no key came")
        browser.forget()
        cookie, own = "%s=%s" % (name, value), "http://127.0.0.1:%d" % ui.port
        keys = [None, "", "A" * 43, value, key[::-1], key[:-1], key + "A"]
        origins = [None, own, "null", "http://127.0.0.1:%d" % neighbour.port, "https://127.0.0.1:%d" % ui.port]
        refused = set()
        for method, path, body in (("GET", "/ui/v1/me", None), ("GET", FLOW, None), ("DELETE", FLOW, None), ("POST", "/ui/v1/plan", {"manifests": ""})):
            for guess in keys:
                for origin in origins:
                    answer = ui.request(method, path, body, dict(JSON if body else {}, Cookie=cookie, **{"Jobflow-Key": guess, "Origin": origin}))
                    check_equal("%s %s with %r from %r" % (method, path, guess, origin), answer.status, 401 if origin in (None, own) else 403)
                    if answer.status == 401:
                        refused.add(answer.body)
        check_equal("answers, which tell nothing apart", len(refused), 1)
        check_equal("the other half alone", ui.request("GET", "/ui/v1/me", headers={"Jobflow-Key": key}).status, 401)
        check_equal("both open", ui.request("GET", "/ui/v1/me", headers={"Jobflow-Key": key, "Cookie": cookie}).status, 200)
        # A neighbour that overwrites the cookie ends the sign-in of the browser, and no more than that.
        neighbour.cookies.append("%s=%s; Path=/ui/" % (name, "A" * 43))
        browser.driver.get("http://127.0.0.1:%d/ui/overwrite" % neighbour.port)
        browser.forget()
        browser.allow("401")
        browser.open("/ui/flows")
        browser.shows("Sign in")
        check("mine" not in browser.text(), "nothing is shown")
    check_equal("flows", flows(), ["mine"])
    check_equal("the daemon ends", daemon.stop(), 0)


# covers: web.md WEB-028 WEB-031 WEB-227
def keys_of_another_gateway_or_an_earlier_one_open_nothing():
    daemon = begin()
    first, second = Ui("--data-dir", "d", name="first"), Ui("--data-dir", "d", name="second")
    with Browser(first, path="/ui/flows") as browser:
        browser.shows("mine")
        browser.allow("401|ERR_|Failed to load|503")
        one = key_of(browser)
        browser.driver.get("http://127.0.0.1:%d/ui/#t=%s" % (second.port, second.ticket))
        browser.shows("mine")
        two = [c for c in browser.driver.get_cookies() if "jf-" in c["name"] and c["name"] != one[0]][0]
        key = browser.js("return Object.entries(localStorage).find(([name]) => /^jf-[0-9a-f]{8}$/.test(name))[1]")
        browser.forget()
        cookies = "%s=%s; %s=%s" % (one[0], one[1], two["name"], two["value"])
        for ui, own, other in ((first, one[2], key), (second, key, one[2])):
            check_equal("its own key", ui.request("GET", "/ui/v1/me", headers={"Cookie": cookies, "Jobflow-Key": own}).status, 200)
            check_equal("the key of the other", ui.request("GET", "/ui/v1/me", headers={"Cookie": cookies, "Jobflow-Key": other}).status, 401)
        first.stop()
        again = Ui("--data-dir", "d", "--port", str(first.port), name="again")
        check_equal("after the end", again.request("GET", "/ui/v1/me", headers={"Cookie": cookies, "Jobflow-Key": one[2]}).status, 401)
        browser.open("/ui/flows")
        browser.shows("Sign in")
    check_equal("the daemon ends", daemon.stop(), 0)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
