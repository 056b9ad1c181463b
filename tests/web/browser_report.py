#!/usr/bin/env python3
"""Reports in a browser, opened from the disk: the views of the page without a server, in which nothing of a flow is run.
"""
import gzip
import json
import os
import sys

from lib_browser import Browser, cases_of, check, check_equal, need_browser, wait_until
from lib import check_in, flow, jobflow, main, manifest, step, template
from lib_ui import Ui

MARKUP = "</script></pre><script>alert(1)</script><img src=x onerror=alert(2)>"


def failed_flow(name="f", code=3):
    """a is done, b has failed after two lines, c has waited for nothing else, d has not run."""
    manifest(name + ".yaml", flow(name, [
        step("a", template="t", script="printf '\\033[31mred\\033[0m <b>plain</b>\\n'"),
        step("b", ["a"], template="t", script="echo begun; echo broken; exit %d" % code),
        step("c", ["a"], template="t"),
        step("d", ["b", "c"], template="t"),
    ]), template("t", "true"))
    jobflow("run", "-o", "quiet", name + ".yaml", code=1 if code else 0)


def report(*args, out="f.html", flows=("jf/f",)):
    jobflow("report", *flows, "-o", out, *args)
    return "/" + out


# covers: web.md WEB-204 WEB-237
def a_report_shows_the_views_of_the_page_without_a_server():
    need_browser()
    failed_flow()
    with Browser(None, report("--logs", "all")) as browser:
        browser.wait("the graph is there", "return !!document.querySelector('.canvas')")
        check_in("head", "Failed", browser.text())
        check_in("the first failure", "broken", browser.text())
        check_equal("counts", browser.counts(), {"Completed": 2, "Failed": 1, "Not run": 1})
        browser.press("3")
        browser.wait("the table", "return document.querySelectorAll('.steps tbody tr:not(.spacer)').length === 4")
        said = {s["name"]: s["state"] for s in json.loads(jobflow("graph", "jf/f", "-o", "json").stdout)["flows"][0]["steps"]}
        check_equal("states", browser.states(), said)
        browser.shows("not run: b before it is Failed")
        browser.press("2")
        browser.wait("the timeline", "return document.querySelectorAll('.time .bar-run').length >= 3")
        browser.press("e")
        browser.wait("the drawer of the failed step", "return document.querySelector('.drawer h2')?.textContent === 'b'")
        for tab, text in (("Logs", "begun\nbroken"), ("Attempts", "Failed"), ("Pods", "f-b-main-0"), ("Spec", "exit 3"), ("Events", "f-b")):
            browser.click(".drawer .tabs button", tab)
            browser.shows(text)
        check("Retry" not in browser.text() and "Delete" not in browser.text(), "nothing can be done")
        check_in("the place stands in the address", "#/flows/default/f?", browser.js("return location.href"))
        browser.reload()
        browser.wait("the same place", "return document.querySelector('.drawer .tabs [aria-current=true]')?.textContent === 'Events'")
        browser.js("history.back()")
        browser.wait("Back undoes a selection", "return document.querySelector('.drawer .tabs [aria-current=true]')?.textContent === 'Spec'")


# covers: web.md WEB-212
def the_page_offers_the_report_and_the_trace():
    need_browser()
    failed_flow()
    with Browser(Ui(), path="/ui/flows/default/f") as browser:
        browser.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": os.getcwd()})
        browser.click("details.about summary")
        for title, name in (("Report", "f.html"), ("Trace", "f.trace.json.gz")):
            browser.click(".about button:not(:disabled)", title)
            wait_until(name + " is there", lambda name=name: os.path.exists(name))
        check_in("where the trace can be opened", "ui.perfetto.dev", browser.text())
    with gzip.open("f.trace.json.gz") as file:
        check(json.load(file)["traceEvents"], "the trace has events")
    with Browser(None, "/f.html") as browser:
        browser.wait("the report is whole", "return !!document.querySelector('.canvas') && document.body.innerText.includes('broken')")


# covers: web.md WEB-204
def colours_of_a_log_and_its_search_work_in_a_report():
    need_browser()
    failed_flow()
    with Browser(None, report("--logs", "all") + "#/flows/default/f?step=a&tab=logs") as browser:
        browser.wait("the log", "return [...document.querySelectorAll('.log .line span')].some(span => span.textContent === 'red' && span.style.color)")
        check_in("markup is text", "<b>plain</b>", browser.text())
        browser.js("location.hash = '#/flows/default/f?q=state:failed&view=steps'")
        browser.wait("the search", "return document.querySelectorAll('.steps tbody tr:not(.spacer)').length === 1")
    with Browser(None, report("--logs", "none", out="n.html") + "#/flows/default/f?step=b&tab=logs") as browser:
        browser.shows("This log is not in the report")


# covers: web.md WEB-205
def hostile_text_runs_nothing_in_a_report():
    need_browser()
    manifest("f.yaml", flow("f", [
        dict(step("l", template="t"), **{"for": {"items": [MARKUP, "__proto__", "\u202eabc"]}}),
        step("constructor", template="t", script="printf '%%s\\033]0;x\\007\\n' '%s'; exit 1" % MARKUP)],
        parameters=[{"name": "p", "value": MARKUP}]), template("t", "true"))
    jobflow("run", "-o", "quiet", "f.yaml", code=1)
    with Browser(None, report("--logs", "all")) as browser:
        browser.wait("the graph is there", "return !!document.querySelector('.canvas')")
        for view in ("graph", "time", "steps"):
            for tab in ("overview", "logs", "attempts", "pods", "spec", "events"):
                browser.js("location.hash = '#/flows/default/f?view=%s&step=constructor&tab=%s'" % (view, tab))
                browser.wait("the drawer", "return document.querySelector('.drawer .body.%s')" % tab)
        browser.js("location.hash = '#/flows/default/f?step=constructor&tab=logs'")
        browser.wait("the log reads back equal", "return [...document.querySelectorAll('.log .line')].some(line => line.textContent === arguments[0] + '\\n')", MARKUP)
        browser.js("document.querySelector('details.about').open = true")
        browser.shows(MARKUP)
        check_equal("nothing was made of it", browser.js("return [document.images.length, document.scripts.length, document.querySelectorAll('iframe,object,embed').length]"), [0, 2, 0])


# covers: web.md WEB-041
def the_policy_of_a_report_blocks_what_is_planted():
    need_browser()
    failed_flow()
    report()
    with open("f.html", encoding="utf-8") as file:
        text = file.read()
    planted = "<img src='http://127.0.0.1:9/x.png'><script>window.planted = 1</script><style>h1 { color: red }</style><iframe src='http://127.0.0.1:9/'></iframe>"
    with open("p.html", "w", encoding="utf-8") as file:
        file.write(text.replace('<div id="app"></div>', '<div id="app"></div>' + planted))
    with Browser(None, "/p.html") as browser:
        browser.allow("violates|127.0.0.1:9")
        browser.allow("Content Security Policy|TrustedHTML", policy=True)
        browser.wait("the graph is there", "return !!document.querySelector('.canvas')")
        check_equal("the script has not run", browser.js("return window.planted ?? null"), None)
        check("TypeError" in browser.js("try { document.body.innerHTML = '<b>'; return 'assigned' } catch (error) { return String(error) }"), "text becomes no markup")


# covers: web.md WEB-101 WEB-102
def a_report_is_dark_and_light_and_fits_a_phone():
    need_browser()
    failed_flow()
    with Browser(None, report(), width=390, height=844) as browser:
        browser.wait("the head is there", "return !!document.querySelector('.head')")
        check_equal("nothing stands out sideways", browser.js("return document.documentElement.scrollWidth <= innerWidth"), True)
        for scheme, wanted in (("dark", "rgb(15, 20, 26)"), ("light", "rgb(255, 255, 255)")):
            browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
            browser.wait(scheme, "return getComputedStyle(document.documentElement).backgroundColor === arguments[0]", wanted)


# covers: web.md WEB-235
def axe_finds_nothing_in_a_report():
    need_browser()
    failed_flow()
    wrong = []
    place = report("--logs", "all")
    with Browser(None) as browser:
        for scheme in ("light", "dark"):
            browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
            for width, height in ((1280, 800), (390, 844)):
                browser.size(width, height)
                for view in ("", "?view=time", "?view=steps", "?step=b", "?step=b&tab=logs", "?step=b&tab=spec"):
                    browser.open(place + "#/flows/default/f" + view)
                    browser.reload()
                    browser.wait("the view", "return document.querySelector('main h1') && !document.body.innerText.includes('Loading')")
                    wrong += ["%s %s %d: %s" % (view, scheme, width, found) for found in browser.violations()]
    check_equal("violations\n" + "\n".join(wrong), len(wrong), 0)


# covers: web.md WEB-209
def a_report_is_printed_as_text_and_pictures():
    need_browser()
    failed_flow()
    with Browser(None, report()) as browser:
        browser.wait("the graph is there", "return !!document.querySelector('.canvas')")
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": [{"name": "prefers-color-scheme", "value": "dark"}]})
        text = browser.text()
        for wanted in ("Flow default/f", "2 of 4 steps completed, 1 failed, 1 not run", "Timeline", "exit code 3", "broken"):
            check_in("print", wanted, text)
        check("Hide what is done" not in text, "the views are not printed")
        check_equal("black on white", browser.js("return [getComputedStyle(document.querySelector('#report')).color, getComputedStyle(document.documentElement).backgroundColor]"),
                    ["rgb(31, 35, 40)", "rgb(255, 255, 255)"])
        check_equal("nothing is cut off", browser.js("return getComputedStyle(document.body).overflowY"), "visible")


def without_script_the_text_is_there():
    need_browser()
    failed_flow()
    with Browser(None) as browser:
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
        browser.open(report())
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
        check_in("steps", "not run: b before it is Failed", browser.text())
        check_equal("it scrolls", browser.js("return getComputedStyle(document.body).overflowY"), "visible")


# covers: web.md WEB-206
def a_report_is_small():
    manifest("f.yaml", flow("f", [step("s%d" % i, ["s%d" % (i - 1)] if i % 8 else [], template="t") for i in range(40)]), template("t", "echo a line"))
    jobflow("run", "-o", "quiet", "f.yaml")
    report("--logs", "all")
    size = os.path.getsize("f.html")
    print("40 steps: %d bytes" % size)
    check(size <= 300_000, "40 steps have %d bytes" % size)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
