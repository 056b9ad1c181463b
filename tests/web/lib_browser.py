"""Shared code of tests that drive the page in a real browser: Chromium by python3-selenium, with a profile of its own for each case.

A browser collects what the consoles of its tabs say, which includes errors of scripts and reports of the content policy, and the requests that
left the page. `with Browser(...)` fails at its end for anything of these that the case has not announced, and a case fails whose browser was not
looked at. A report of the content policy needs an announcement of its own.
"""
import functools
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "system"))

import lib  # noqa: E402
from lib import Background, DEADLINE, Failure, Skip, check, check_equal, wait_until  # noqa: E402, F401
from lib_ui import Ui  # noqa: E402, F401

AXE = pathlib.Path(__file__).resolve().parent / "vendor" / "axe-core" / "axe.min.js"
AXE_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
POLICY = re.compile("Content Security Policy|Content-Security-Policy|TrustedHTML|TrustedScript|Trusted Type|Refused to")
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")


def need_browser():
    """Skips the case where a browser cannot be driven."""
    for program, package in ((CHROMIUM, "chromium"), (DRIVER, "chromium-driver")):
        if not program:
            raise Skip("there is no %s" % package)
    try:
        import selenium  # noqa: F401
    except ImportError:
        raise Skip("there is no python3-selenium") from None


def cases_of(names):
    """The cases of a test. Each fails for a browser that it leaves behind unchecked."""
    def guarded(case):
        @functools.wraps(case)
        def run():
            del Browser.unchecked[:]
            case()
            check_equal("browsers whose consoles were not looked at", len(Browser.unchecked), 0)
        return run
    return [guarded(case) for case in lib.cases_of(names)]


class Browser:
    """A browser with one tab, signed in at a gateway by its link. `path` is the place to begin at. Without a gateway it opens files."""

    unchecked = []

    def __init__(self, ui, path=None, width=1440, height=900, signed_in=True, base=None, names=()):
        """`base` is the origin of a page that is not that of `jobflow ui`; `names` are resolved to this machine."""
        need_browser()
        self.unchecked.append(self)
        from selenium import webdriver
        from selenium.webdriver.chrome.options import Options
        from selenium.webdriver.chrome.service import Service
        self.ui = ui
        self.base = base or ("http://127.0.0.1:%d" % ui.port if ui else "file://" + os.getcwd())
        self.allowed, self.allowed_policy = [], []
        options = Options()
        options.binary_location = CHROMIUM
        for argument in ("--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
                         "--disable-background-networking", "--disable-component-update", "--force-device-scale-factor=1",
                         "--user-data-dir=" + tempfile.mkdtemp(prefix="profile")):
            options.add_argument(argument)
        if os.geteuid() == 0:
            options.add_argument("--no-sandbox")
        if names:
            options.add_argument("--host-resolver-rules=" + ",".join("MAP %s 127.0.0.1" % name for name in names))
        options.set_capability("acceptInsecureCerts", bool(base))  # a daemon's certificate is that of its own authority
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(service=Service(DRIVER), options=options)
        self.driver.set_page_load_timeout(DEADLINE)
        self.size(width, height)
        if ui and signed_in:
            self.driver.get("%s/ui/#t=%s" % (self.base, ui.ticket))
            self.wait("the page is signed in", "return !!document.querySelector('header.top')")
        if path:
            self.open(path)

    def size(self, width, height):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        try:
            if kind is None:
                self.check_clean()
            elif os.environ.get("BROWSER_PICTURES"):
                self.picture(os.path.join(os.environ["BROWSER_PICTURES"], "failed.png"))
        finally:
            self.driver.quit()

    def open(self, path):
        self.driver.get(self.base + path)

    def reload(self):
        self.driver.refresh()

    def js(self, script, *args):
        return self.driver.execute_script(script, *args)

    def wait(self, what, script, *args, seconds=None):
        """Polls a script until it returns something true, and returns that.
        A script that fails found a page that is not drawn yet, and is run again: its last error is told when the wait is in vain."""
        from selenium.common.exceptions import JavascriptException, StaleElementReferenceException
        errors = []

        def holds():
            try:
                return self.js(script, *args)
            except (JavascriptException, StaleElementReferenceException) as error:
                errors[:] = [error.msg]
                return None
        try:
            return wait_until(what, holds, seconds or DEADLINE / 2)
        except Failure as failure:
            raise Failure("%s\n%s\n%s" % (failure, self.url(), "\n".join(errors + [self.text()[:2000]]))) from None

    def url(self):
        """The place of the page, as path and query."""
        return self.js("return location.pathname + location.search")

    def text(self):
        return self.js("return document.body.innerText")

    def shows(self, text, seconds=None):
        self.wait("the page shows %r" % text, "return document.body.innerText.includes(arguments[0])", text, seconds=seconds)

    def press(self, *keys):
        """Sends keys to what has the focus."""
        from selenium.webdriver.common.action_chains import ActionChains
        for key in keys:
            ActionChains(self.driver).send_keys(key).perform()

    def press_until(self, what, key, script):
        """Presses a key again and again until a script returns something true: a page without its data knows no keys yet."""
        def reached():
            self.press(key)
            return self.js(script)
        wait_until(what, reached, DEADLINE / 2)

    def click(self, selector, text=None):
        """Clicks the first element that the selector finds, with this text if one is given, once it stands still.
        The page may draw anew at any time: an element that goes before it is clicked is looked for again."""
        from selenium.common.exceptions import ElementClickInterceptedException, ElementNotInteractableException, StaleElementReferenceException
        from selenium.webdriver.common.by import By
        places = {}

        def clicked():
            try:
                for element in self.driver.find_elements(By.CSS_SELECTOR, selector):
                    if element.is_displayed() and (text is None or element.text.strip() == text):
                        before, places[element.id] = places.get(element.id), element.rect
                        if before != places[element.id]:
                            return False
                        element.click()
                        return True
            except (StaleElementReferenceException, ElementClickInterceptedException, ElementNotInteractableException):
                pass
            return False
        wait_until("there is %s %r" % (selector, text or ""), clicked, DEADLINE / 2)

    def picture(self, path):
        self.driver.save_screenshot(path)

    def allow(self, pattern, policy=False):
        """Announces lines of the console that are no fault; with `policy`, reports of the content policy."""
        (self.allowed_policy if policy else self.allowed).append(re.compile(pattern))

    def forget(self):
        """Drops what was collected so far: it came from pages that are not ours."""
        self.driver.get_log("browser")
        self.messages()

    def is_announced(self, line):
        return any(pattern.search(line) for pattern in (self.allowed_policy if POLICY.search(line) else self.allowed))

    def check_clean(self):
        """Fails for lines of the console that were not announced, and for requests that left the page's origin."""
        if self in self.unchecked:
            self.unchecked.remove(self)
        lines = ["%s %s" % (entry["level"], entry["message"]) for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
        check_equal("console", [line for line in lines if not self.is_announced(line)], [])
        messages = self.messages()
        blocked = {m["params"]["requestId"] for m in messages if m["method"] == "Network.loadingFailed" and m["params"].get("blockedReason") == "csp"}
        for message in messages:
            if message["method"] != "Network.requestWillBeSent" or message["params"]["requestId"] in blocked:
                continue
            url = message["params"]["request"]["url"]
            target = urllib.parse.urlsplit(url)
            check("%s://%s" % (target.scheme, target.netloc) == (self.base if self.ui else "file://") or target.scheme in ("data", "about", "chrome"), "a request went to %s" % url)

    def messages(self):
        """What the browser has told of its network and pages since the last call."""
        return [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]

    def violations(self):
        """What axe-core finds, each as a list. It runs in an isolated world, which the content policy of the page lets pass."""
        frame = self.driver.execute_cdp_cmd("Page.getFrameTree", {})["frameTree"]["frame"]["id"]
        made = self.driver.execute_cdp_cmd("Page.createIsolatedWorld", {"frameId": frame})
        world = {"contextId": made["executionContextId"], "returnByValue": True}
        self.driver.execute_cdp_cmd("Runtime.evaluate", dict(world, expression=AXE.read_text(encoding="utf-8") + ";0"))
        run = "axe.run({runOnly: %s}).then(r => JSON.stringify(r.violations.map(v => [v.id, v.nodes.slice(0, 5).map(n => n.target.join(' ') + ': ' + n.failureSummary)])))" % json.dumps(AXE_TAGS)
        answer = self.driver.execute_cdp_cmd("Runtime.evaluate", dict(world, expression=run, awaitPromise=True))
        return json.loads(answer["result"]["value"])

    # What the views of a flow say.

    def states(self):
        """The state of each step, from the table of steps."""
        return self.js("""return Object.fromEntries([...document.querySelectorAll('.steps tbody tr:not(.spacer)')].map(row =>
            [row.querySelector('.w-step').textContent, row.querySelector('.w-state').textContent.trim()]))""")

    def counts(self):
        """The number of steps in each state, from the buttons in the head."""
        return self.js("""return Object.fromEntries([...document.querySelectorAll('.head .chip')].map(chip => {
            const n = chip.querySelector('b').textContent; return [chip.textContent.replace(n, '').trim(), Number(n)]; }))""")
