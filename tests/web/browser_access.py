#!/usr/bin/env python3
"""Accessibility: axe-core on every view, what the accessibility tree says, and the page by keyboard alone."""
import sys

from lib_browser import Browser, cases_of, check, check_equal, need_browser
from lib import check_in, flow, jobflow, main, manifest, step, template
from lib_ui import Ui

STEPS = 40
FLOW = "/ui/flows/default/f"
VIEWS = ("/ui/flows", FLOW, FLOW + "?view=time", FLOW + "?view=steps", FLOW + "?step=s-3", FLOW + "?step=s-3&tab=logs", FLOW + "?step=s-3&tab=attempts",
         FLOW + "?step=s-3&tab=pods", "/ui/jobs", "/ui/pods", "/ui/queues", "/ui/templates", "/ui/jobs/default/f-s-3", "/ui/templates/default/t", FLOW + "?step=s-3&tab=spec", FLOW + "?step=s-3&tab=events", "/ui/new", "/ui/nowhere")


def forty_steps():
    """Layers of four; s-3 fails."""
    steps = []
    for i in range(STEPS):
        steps.append(step("s-%d" % i, ["s-%d" % j for j in range(i - i % 4 - 4, i - i % 4) if j >= 0 and j != 3], template="t",
                          **({"script": "echo before the end; exit 7"} if i == 3 else {})))
    manifest("f.yaml", flow("f", steps), template("t", "echo done"))
    jobflow("run", "f.yaml", code=1)


# covers: web.md WEB-235
def axe_finds_nothing_in_any_view():
    need_browser()
    forty_steps()
    wrong = []
    with Browser(Ui()) as browser:
        for theme in ("light", "dark"):
            browser.js("localStorage.setItem('jf-theme', arguments[0])", theme)
            for width, height in ((1280, 800), (390, 844)):
                browser.size(width, height)
                for path in VIEWS:
                    browser.open(path)
                    browser.wait("the view", "return document.querySelector('main h1') && !document.body.innerText.includes('Loading')")
                    wrong += ["%s %s %d: %s" % (path, theme, width, found) for found in browser.violations()]
    check_equal("violations\n" + "\n".join(wrong), len(wrong), 0)


# covers: web.md WEB-203
def the_accessibility_tree_tells_the_flow():
    need_browser()
    forty_steps()
    with Browser(Ui(), path=FLOW + "?view=steps") as browser:
        browser.wait("the table", "return document.querySelectorAll('.steps tbody tr:not(.spacer)').length >= 20")
        browser.size(1280, 1700)  # all rows
        browser.wait("all rows", "return document.querySelectorAll('.steps tbody tr:not(.spacer)').length === %d" % STEPS)
        nodes = browser.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
        said = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node.get("ignored")]
        check_in("flow", ("heading", "f"), said)
        text = " ".join(name for _, name in said)
        check_in("phase", "Failed", text)
        check_in("counts", "of %d" % STEPS, text)
        names = {name for role, name in said if role == "button"}
        for i in range(STEPS):
            check("s-%d" % i in names, "step s-%d is told" % i)


# covers: web.md WEB-235 WEB-191
def the_failed_step_and_its_log_are_reached_by_keys():
    need_browser()
    forty_steps()
    from selenium.webdriver.common.keys import Keys
    with Browser(Ui(), path="/ui/flows") as browser:
        browser.wait("the list", "return document.querySelector('.flows tbody a')")
        for _ in range(30):
            browser.press(Keys.TAB)
            if browser.js("return document.activeElement.matches('.flows tbody a')"):
                break
        style = browser.js("const s = getComputedStyle(document.activeElement); return [s.outlineStyle, parseFloat(s.outlineWidth)]")
        check(style[0] != "none" and style[1] >= 2, "the focus is seen: %s" % style)
        browser.press(Keys.ENTER)
        browser.shows("s-3")
        browser.press_until("the drawer of the failed step", "e", "return document.querySelector('.drawer h2')?.textContent === 's-3'")
        for _ in range(60):
            if browser.js("return document.activeElement.matches('.drawer .tabs button') && document.activeElement.textContent === 'Logs'"):
                break
            browser.press(Keys.TAB)
        browser.press(Keys.ENTER)
        browser.wait("its log", "return [...document.querySelectorAll('.log .line')].some(line => line.textContent === 'before the end\\n')")


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
