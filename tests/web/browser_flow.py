#!/usr/bin/env python3
"""A flow in a browser, from pending to done: graph, timeline, table and drawer, by mouse and by keyboard.
"""
import json
import os
import sys

from lib_browser import Browser, cases_of, check, check_equal, need_browser, wait_until
from lib import Background, check_in, flow, jobflow, main, manifest, step, template
from lib_ui import Ui

VIEWS = ("graph", "time", "steps")


def gate(name, more=""):
    """A script that waits until the file go-NAME exists."""
    return "echo begun; while [ ! -e %s/go-%s ]; do sleep 0.05; done; %s" % (os.getcwd(), name, more)


def let_go(name):
    with open("go-" + name, "w", encoding="ascii"):
        pass


def diamond(**last):
    """a before b and c, both before d; e is skipped by its condition."""
    manifest("f.yaml", flow("f", [
        step("a", template="t", script=gate("a", "printf '\\033[31mred\\033[0m <b>plain</b>\\n'")),
        step("b", ["a"], template="t", script=gate("b", "echo to the end; exit %d" % last.get("exit_b", 0))),
        step("c", ["a"], template="t", script=gate("c")),
        step("d", ["b", "c"], template="t", script=gate("d")),
        step("e", ["a"], template="t", **{"if": {"terms": [{"target": "a", "phases": ["Failed"]}]}}),
    ]), template("t", "true"))
    run = Background("run", "f.yaml")
    wait_until("a runs", lambda: '"state": "Running"' in jobflow("graph", "jf/f", "-o", "json", code=None).stdout)
    return run


def said():
    """The state of each step as the command line tells it."""
    return {s["name"]: s["state"] for s in json.loads(jobflow("graph", "jf/f", "-o", "json").stdout)["flows"][0]["steps"]}


def reached(browser, **states):
    """Waits until steps have these states in the table; graph and timeline must then say the same."""
    browser.press_until("the table", "3", "return document.querySelector('.steps tbody')")
    browser.wait("the table says %s" % states, """const rows = Object.fromEntries([...document.querySelectorAll('.steps tbody tr:not(.spacer)')].map(row =>
        [row.querySelector('.w-step').textContent, row.querySelector('.w-state').textContent.trim()]));
        return Object.entries(arguments[0]).every(([name, state]) => rows[name] === state);""", states)
    table = browser.states()
    counts = {}
    for state in table.values():
        counts[state] = counts.get(state, 0) + 1
    check_equal("counts in the head", browser.counts(), counts)
    browser.press("2")
    browser.wait("the timeline says the same", """return Object.entries(arguments[0]).every(([name, state]) => [...document.querySelectorAll('.time tbody tr:not(.spacer)')].some(row =>
        row.querySelector('.link').textContent === name && row.querySelector('.hidden').textContent.split('; ')[0] === state))""", table)
    browser.press("1")
    spoken = {}
    browser.wait("the graph is there", "return !!document.querySelector('.canvas')")
    browser.js("document.querySelector('.canvas').focus()")
    from selenium.webdriver.common.keys import Keys
    browser.press(Keys.HOME)
    for key in (Keys.HOME, Keys.ARROW_RIGHT, Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_UP, Keys.ARROW_UP, Keys.ARROW_UP, Keys.END):
        browser.press(key)
        sentence = browser.js("return document.getElementById('graph-active').textContent")
        spoken[sentence.split(";")[0]] = sentence.split(";")[1].split(" · ")[0].strip()
    check(len(spoken) >= 4, "the arrows lead to the steps: %s" % spoken)
    for name, sentence in spoken.items():
        check_in("graph", table[name], sentence)
    browser.js("document.activeElement.blur()")


# covers: web.md WEB-099 WEB-122 WEB-221
def a_flow_is_seen_from_pending_to_done():
    need_browser()
    run = diamond()
    ui = Ui("jf/f")
    with Browser(ui) as browser:
        browser.wait("the flow that was named is open", "return location.pathname === '/ui/flows/default/f'")
        reached(browser, a="Running", b="Waiting", c="Waiting", d="Waiting")
        check_in("title", "0 % f", browser.js("return document.title"))
        let_go("a")
        reached(browser, a="Completed", b="Running", c="Running", d="Waiting", e="Skipped")
        let_go("c")
        reached(browser, c="Completed", b="Running", d="Waiting")
        let_go("b")
        reached(browser, b="Completed", d="Running")
        browser.allow("503")  # a request between the end of the run and the take-over by its store
        let_go("d")
        check_equal("end of the run", run.wait(), 0)
        reached(browser, d="Completed")
        browser.press("3")
        check_equal("states", browser.states(), said())
        browser.wait("title and icon say that it is done", "return document.title.startsWith('✓ f') && document.querySelector('link[rel=icon]').href.endsWith('favicon-done.svg')")


# covers: web.md WEB-092 WEB-104 WEB-105 WEB-222
def a_reload_keeps_the_place():
    need_browser()
    diamond()
    let_go("a")
    ui = Ui()
    with Browser(ui) as browser:
        for view in VIEWS:
            path = "/ui/flows/default/f?%sstep=b&q=state%%3Arunning" % ("" if view == "graph" else "view=%s&" % view)
            browser.open(path)
            for _ in range(2):
                browser.wait("the drawer of b", "return document.querySelector('.drawer h2')?.textContent === 'b' && document.querySelector('.drawer .phase').textContent === 'Running'")
                browser.shows("2 of 5")
                check_equal("place", browser.url(), path)
                check_equal("view", browser.js("return document.querySelector('.tools .tabs [aria-current=true]').textContent"), {"graph": "Graph", "time": "Timeline", "steps": "Steps"}[view])
                browser.reload()
        browser.open("/ui/flows?q=no-such-flow")
        browser.shows("Nothing matches the filter.")
        browser.open("/ui/flows?q=nonsense:x")
        browser.shows("is not known")
        browser.open("/ui/flows/default/none")
        browser.allow("404")
        browser.shows("There is no flow of this name.")
        browser.open("/ui/nowhere")
        browser.shows("There is no such page.")


# covers: web.md WEB-092 WEB-105
def everything_is_reached_by_keyboard():
    need_browser()
    from selenium.webdriver.common.keys import Keys
    run = diamond(exit_b=3)
    let_go("a")
    let_go("b")
    let_go("c")
    check_equal("end of the run", run.wait(), 1)
    with Browser(Ui(), path="/ui/flows/default/f") as browser:
        drawer = "return document.querySelector('.drawer h2')?.textContent === '%s'"
        browser.shows("Failed")
        browser.press_until("e leads to the failed step", "e", drawer % "b")
        browser.press(Keys.ESCAPE)
        browser.wait("Escape closes the drawer", "return !document.querySelector('.drawer')")
        browser.press("/")
        browser.press("state:completed", Keys.ENTER)
        browser.wait("Enter leads to the first match", drawer % "a")
        check_equal("place", browser.js("return new URLSearchParams(location.search).get('q')"), "state:completed")
        browser.press(Keys.ESCAPE)
        browser.js("document.activeElement.blur()")
        browser.press("?")
        browser.wait("the list of keys", "return document.querySelector('dialog')?.open")
        browser.press(Keys.ESCAPE)
        browser.wait("the list is closed", "return !document.querySelector('dialog')")
        browser.press("g", "f")
        browser.wait("the list of flows", "return location.pathname === '/ui/flows' && document.querySelector('.flows tbody a')")
        browser.driver.back()
        browser.wait("Back leads to the flow", "return location.pathname === '/ui/flows/default/f'")


# covers: web.md WEB-104 WEB-155 WEB-160
def a_log_is_followed():
    need_browser()
    diamond()
    with Browser(Ui(), path="/ui/flows/default/f?step=a&tab=logs") as browser:
        line = "return [...document.querySelectorAll('.log .line')].some(line => line.textContent === %s)"
        browser.wait("the first line", line % json.dumps("begun\n"))
        browser.shows("Following.")
        let_go("a")
        browser.wait("a line that came later, without its sequences", line % json.dumps("red <b>plain</b>\n"))
        check_equal("colour", browser.js("return [...document.querySelectorAll('.log .line span')].find(span => span.textContent === 'red').style.color"), "var(--ansi-1)")
        browser.shows("The log has ended.")
        browser.open("/ui/flows/default/f?step=e&tab=logs")
        browser.shows("A step that is skipped has no log.")
        browser.open("/ui/flows/default/f?step=d&tab=logs")
        browser.shows("There is no log yet")


# covers: web.md WEB-008 WEB-095
def the_end_of_the_gateway_is_told_and_nothing_is_lost():
    need_browser()
    diamond()
    ui = Ui()
    with Browser(ui, path="/ui/flows/default/f?view=steps&step=a") as browser:
        browser.wait("the step", "return document.querySelector('.drawer h2')?.textContent === 'a'")
        before = browser.states()
        browser.allow("ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|net::ERR|Failed to load")
        ui.stop()
        browser.shows("Not live since")
        browser.shows("Next try in")
        check_equal("states", browser.states(), before)
        check_equal("place", browser.url(), "/ui/flows/default/f?view=steps&step=a")


# covers: web.md WEB-104
def the_list_follows_flows():
    need_browser()
    manifest("none.yaml", template("t", "true"))
    daemon = Background("serve", "--listen", "127.0.0.1:0", name="serve")
    wait_until("the daemon is ready", lambda: "serving on" in daemon.output())
    with Browser(Ui()) as browser:
        browser.shows("No flow yet.")
        manifest("f.yaml", flow("one", [step("a", template="t")]), template("t", "true"))
        jobflow("apply", "-f", "f.yaml")
        browser.wait("the flow and its end", "return document.querySelector('.flows tbody tr')?.innerText.includes('Succeed')")
        browser.shows("1 of 1")
        jobflow("delete", "jf/one")
        browser.shows("No flow yet.")


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
