#!/usr/bin/env python3
"""The page where its surroundings are not the usual ones: windows of any width, a wrong clock, a tunnel, many tabs, nothing going on."""
import os
import socket
import sys
import threading
import time

from lib_browser import Browser, cases_of, check, check_equal, need_browser, wait_until
from lib import Background, check_in, flow, jobflow, main, manifest, step, template
from lib_ui import Ui

VIEWS = ("/ui/flows", "/ui/flows/default/f", "/ui/flows/default/f?view=time", "/ui/flows/default/f?view=steps&step=a", "/ui/flows/default/f?step=b&tab=logs")


def failed_flow():
    """b fails, with a log; c is not run because of it."""
    manifest("f.yaml", flow("f", [step("a", template="t"), step("b", ["a"], template="t", script="for i in 1 2 3 4 5 6 7; do echo line $i; done; exit 3"),
                                  step("c", ["b"], template="t")]), template("t", "echo done"))
    jobflow("run", "f.yaml", code=1)


def running_flow():
    manifest("f.yaml", flow("f", [step("a", template="t")]), template("t", "echo begun; while [ ! -e %s/go ]; do sleep 0.05; done" % os.getcwd()))
    run = Background("run", "f.yaml")
    wait_until("a runs", lambda: '"state": "Running"' in jobflow("graph", "jf/f", "-o", "json", code=None).stdout)
    return run


# covers: web.md WEB-102
def every_view_fits_every_width():
    need_browser()
    failed_flow()
    with Browser(Ui()) as browser:
        for width, height in ((320, 640), (390, 844), (700, 900), (1280, 800), (3840, 2160)):
            browser.size(width, height)
            for path in VIEWS:
                browser.open(path)
                browser.shows("Failed")
                check(browser.js("return document.documentElement.scrollWidth <= innerWidth"), "%s fits a window of %d pixels" % (path, width))


# covers: web.md WEB-119
def the_first_failure_is_told_with_the_end_of_its_log():
    need_browser()
    failed_flow()
    with Browser(Ui(), path="/ui/flows/default/f") as browser:
        browser.wait("the end of the log", "return document.querySelector('.failures .tail')?.textContent === arguments[0]", "\n".join("line %d" % i for i in range(3, 8)))
        check_equal("failed steps", browser.js("return [...document.querySelectorAll('.failures .link')].map(b => b.textContent)"), ["b"])
        check_in("exit code", "3", browser.js("return document.querySelector('.failures').innerText"))


# covers: web.md WEB-097
def a_wrong_clock_of_the_browser_changes_no_duration():
    need_browser()
    running_flow()
    with Browser(Ui()) as browser:
        browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": "const real = Date.now; Date.now = () => real() + 3600_000;"})
        browser.open("/ui/flows/default/f?view=steps")
        browser.wait("the duration", "return /^[0-9]+s$/.test(document.querySelector('.steps tbody .w-time:not(.w-waited)')?.innerText ?? '')")
        check(browser.js("return Date.now() - performance.timeOrigin > 3500_000"), "the clock is wrong")
        browser.wait("ago", "return /s ago$/.test(document.querySelector('.head time')?.textContent ?? '')")
        browser.open("/ui/flows")
        browser.wait("ago", "return /^[0-9]+s ago$/.test(document.querySelector('.flows tbody time')?.textContent ?? '')")


# covers: web.md WEB-106
def a_finished_flow_asks_for_nothing():
    need_browser()
    failed_flow()
    with Browser(Ui(), path="/ui/flows/default/f") as browser:
        browser.wait("all is there", "return document.querySelector('.failures .tail') && document.querySelector('.canvas')")
        time.sleep(2)  # what was asked for at the beginning
        browser.check_clean()
        time.sleep(5)
        sent = [m for m in browser.messages() if m["method"] == "Network.requestWillBeSent"]
        check_equal("requests in five seconds", [m["params"]["request"]["url"] for m in sent], [])
        check_equal("animations", browser.js("return document.getAnimations().length"), 0)


class Tunnel:
    """Forwards a port to another one, as `ssh -L` does."""

    def __init__(self, port):
        self.target = port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            here, _ = self.listener.accept()
            there = socket.create_connection(("127.0.0.1", self.target))
            for one, other in ((here, there), (there, here)):
                threading.Thread(target=self.copy, args=(one, other), daemon=True).start()

    @staticmethod
    def copy(one, other):
        try:
            while data := one.recv(65536):
                other.sendall(data)
        except OSError:
            pass
        for end in (one, other):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


# covers: web.md WEB-233
def a_tunnel_changes_nothing():
    need_browser()
    run = running_flow()
    ui = Ui()
    ui.port = Tunnel(ui.port).port
    with Browser(ui, path="/ui/flows/default/f?step=a&tab=logs") as browser:
        browser.wait("the log", "return [...document.querySelectorAll('.log .line')].some(line => line.textContent === 'begun\\n')")
        browser.allow("503")
        with open("go", "w", encoding="ascii"):
            pass
        check_equal("end of the run", run.wait(), 0)
        browser.shows("Succeed")


# covers: web.md WEB-230
def the_shown_one_of_twelve_tabs_works():
    need_browser()
    run = running_flow()
    with Browser(Ui(), path="/ui/flows/default/f?view=steps") as browser:
        for _ in range(11):
            browser.driver.switch_to.new_window("tab")
            browser.open("/ui/flows/default/f?view=steps")
            browser.wait("its step", "return document.querySelector('.steps tbody .w-state')?.innerText.trim() === 'Running'")
        browser.allow("503|ERR_|Failed to load")
        with open("go", "w", encoding="ascii"):
            pass
        check_equal("end of the run", run.wait(), 0)
        for handle in (browser.driver.window_handles[-1], browser.driver.window_handles[0]):
            browser.driver.switch_to.window(handle)
            browser.shows("Completed")


# covers: web.md WEB-041 WEB-238
def a_test_fails_for_what_it_did_not_announce():
    need_browser()
    failed_flow()
    browser = Browser(Ui())
    for script in ("console.error('told')", "setTimeout(() => { throw new Error('thrown') })", "fetch('http://127.0.0.2:9/').catch(() => 0)"):
        browser.check_clean()
        browser.js(script)
        time.sleep(0.3)
        try:
            browser.check_clean()
        except Exception:  # noqa: BLE001
            continue
        check(False, "%s is noticed" % script)
    browser.allow(".")  # which announces everything but reports of the policy
    browser.js("console.error('told'); document.body.setAttribute('style', 'color: red')")
    try:
        browser.check_clean()
    except Exception:  # noqa: BLE001
        pass
    else:
        check(False, "a breach of the policy is noticed")
    browser.driver.quit()


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
