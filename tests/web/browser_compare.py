#!/usr/bin/env python3
"""Two runs of a flow side by side, in the page and in a report.
"""
import re
import sys

from lib_browser import Browser, cases_of, check, check_equal, need_browser
from lib import check_in, flow, jobflow, main, manifest, step, template
from lib_ui import Ui

SERIES = {"flow.volcano.sh/series": "nightly"}


def simulated(name, script, **annotations):
    """A template whose pods take as long as it says, in the time of the simulation."""
    made = template(name, script)
    made["spec"]["tasks"][0]["template"]["metadata"] = {"annotations": {"sim.jobflow.dev/" + key.replace("_", "-"): value for key, value in annotations.items()}}
    return made


def run_of(name, steps, code=0, **spec):
    made = flow(name, steps, **spec)
    made["metadata"]["labels"] = SERIES
    manifest(name + ".yaml", made, simulated("t", "true", duration="2s"), simulated("long", "sleep 20", duration="20s"), simulated("u", "exit 3", duration="2s", exit_code="3"))
    jobflow("run", "-o", "quiet", "--runtime", "sim", "--data-dir", ".jobflow", name + ".yaml", code=code)


def two_runs():
    """Of the second run, slow takes longer, breaks fails, added is new, dropped is gone, and the parameter p has another value."""
    need_browser()
    run_of("monday", [step("slow", template="t"), step("breaks", ["slow"], template="t"), step("dropped", template="t"), step("same", template="t")],
           parameters=[{"name": "p", "value": "1"}])
    run_of("tuesday", [step("slow", template="long"), step("breaks", ["slow"], template="u"), step("same", template="t"), step("added", template="t")],
           code=1, parameters=[{"name": "p", "value": "2"}])


ROWS = """return Object.fromEntries([...document.querySelectorAll('.compared tbody tr:not(.spacer)')].map(row =>
    [row.querySelector('.w-step').textContent, row.querySelector('.w-change').textContent.trim()]))"""
CHIP = "[...document.querySelectorAll('.tools .chip')].find(chip => chip.textContent.includes('Newly failed')).click()"
WANTED = {"slow": "Slower", "breaks": "Newly failed", "dropped": "Gone", "same": "As before", "added": "New"}


def looked_at(browser):
    """What both the page and a report say of the two runs."""
    browser.wait("the table of steps", "return document.querySelectorAll('.compared tbody tr:not(.spacer)').length === 5")
    check_equal("changes", browser.js(ROWS), WANTED)
    check_equal("what cost most stands first", browser.js("return document.querySelector('.compared tbody .w-step').textContent"), "slow")
    totals = browser.js("return [...document.querySelectorAll('.totals tbody tr')].map(row => [...row.children].map(cell => cell.innerText.trim()))")
    named = {row[0]: row[1:] for row in totals}
    check_equal("failed steps", named["Failed steps"], ["0", "1", "+1"])
    check_equal("steps", named["Steps"], ["4", "4", "–"])
    check(named["Work"][2].startswith("+"), "more work: %s" % named["Work"])
    check_in("critical paths side by side", "slow", named["Critical path"][1])
    browser.js(CHIP)
    browser.wait("the chips filter", "return document.querySelectorAll('.compared tbody tr:not(.spacer)').length === 1")
    browser.click(".compared .link", "breaks")
    browser.wait("exit codes of both", "return /Exit codes\\s+0\\s+3/.test(document.querySelector('.drawer.compared')?.innerText ?? '')")
    browser.wait("what the job has different", "return [...document.querySelectorAll('.drawer .differences tr')].some(row => row.innerText.includes('command') && row.innerText.includes('exit 3'))")
    browser.js(CHIP)
    browser.click(".tabs button", "Graph")
    browser.wait("the graph", "return !!document.querySelector('.canvas')")
    browser.shows("1 step is gone")
    browser.js("document.querySelector('.canvas').focus()")
    spoken = set()
    for key in ("\ue011", "\ue014", "\ue015", "\ue015", "\ue010"):
        browser.press(key)
        spoken.add(browser.js("return document.getElementById('graph-active').textContent").split(" · ")[0])
    check(any("Slower" in text or "New" in text for text in spoken), "the graph says what has changed: %s" % spoken)
    browser.click(".tabs button", "Timeline")
    browser.wait("both runs in each row", "return document.querySelectorAll('.pair tbody tr:not(.spacer)').length === 5 && document.querySelectorAll('.pair tbody .lane').length === 10")
    lengths = browser.js("""const row = [...document.querySelectorAll('.pair tbody tr:not(.spacer)')].find(row => row.querySelector('.link').textContent === 'slow');
        return [...row.querySelectorAll('.lane')].map(lane => lane.querySelector('.bar-run')?.getBoundingClientRect()).map(frame => [frame.left, frame.width]);""")
    check(lengths[1][1] > lengths[0][1], "the second bar is longer: %s" % lengths)
    check(abs(lengths[0][0] - lengths[1][0]) < 60, "they are aligned at the start: %s" % lengths)
    browser.click(".tabs button", "Spec")
    browser.wait("differences of the specs", "return document.querySelectorAll('.differ tr').length > 3")
    paths = browser.js("return Object.fromEntries([...document.querySelectorAll('.differ tbody tr')].map(row => [...row.children].map(cell => cell.innerText)).map(([path, ...values]) => [path, values]))")
    check_equal("a parameter", paths["parameters[p].value"], ["1", "2"])
    check_equal("a template", paths["flows[breaks].jobTemplateName"], ["t", "u"])
    check_equal("a new step", paths["flows[added]"][0], "not there")


# covers: web.md WEB-174 WEB-175 WEB-176
def two_runs_are_compared_in_the_page():
    two_runs()
    with Browser(Ui(), path="/ui/flows/default/tuesday") as browser:
        browser.click(".head a.button", "Compare")
        browser.wait("the run before it in its series is chosen", "return location.search.includes('a=default%2Fmonday')")
        looked_at(browser)
        address = browser.url()
        browser.reload()
        browser.wait("the same place", "return location.pathname + location.search === arguments[0] && document.querySelectorAll('.differ tr').length > 3", address)
        browser.click("button[aria-label='Swap the runs']")
        browser.wait("the runs are swapped", "return location.search.includes('b=default%2Fmonday')")
        browser.open("/ui/compare?a=default/monday&b=default/none")
        browser.shows("default/none")
        browser.allow("404")


def the_runs_of_a_flow_are_listed_with_it():
    """Each run of one file leaves a record; the page lists them, and compares any with the run that is shown."""
    need_browser()
    manifest("f.yaml", flow("f", [step("a", template="t")]), template("t", "true"))
    for _ in range(3):
        jobflow("run", "-o", "quiet", "f.yaml")
    with Browser(Ui(), path="/ui/flows/default/f") as browser:
        browser.click("details.about summary")
        browser.wait("three runs", "return document.querySelectorAll('.runs tr').length === 3")
        check_equal("the one that is shown", browser.js("return [...document.querySelectorAll('.runs tr')].map(row => row.getAttribute('aria-current'))"), ["true", None, None])
        browser.click(".runs a", "Compare")
        browser.wait("the comparison", "return location.pathname === '/ui/compare' && document.querySelectorAll('.compared tbody tr:not(.spacer)').length === 1")
        check_in("the earlier run stands before", "a=default%2Ff.", browser.url())
        # the list and the shown run were followed by the page before, too
        attempts = browser.js("return [...document.querySelectorAll('.totals tr')].find(row => row.cells[0].innerText === 'Attempts').innerText.split('\\t')")
        check_equal("both have run", attempts, ["Attempts", "1", "1", "–"])
        check_equal("runs to choose from", browser.js("return [...document.querySelectorAll('.choice select')].map(list => list.options.length)"), [4, 4])


# covers: web.md WEB-117
def the_runs_of_a_series_are_a_small_chart():
    need_browser()
    for code in (0, 1, 0):
        manifest("f.yaml", flow("f", [step("a", template="t")]), template("t", "exit %d" % code))
        jobflow("run", "-o", "quiet", "f.yaml", code=code)
    manifest("g.yaml", flow("g", [step("a", template="t")]), template("t", "true"))
    jobflow("run", "-o", "quiet", "g.yaml")
    with Browser(Ui(), path="/ui/flows") as browser:
        browser.wait("four flows", "return document.querySelectorAll('.flows tbody tr:not(.spacer)').length === 4")
        charts = browser.js("""return Object.fromEntries([...document.querySelectorAll('.flows tbody tr:not(.spacer)')].map(row => [row.querySelector('.w-name').textContent,
            [row.querySelector('.sparkline')?.getAttribute('aria-label') ?? null, [...row.querySelectorAll('.sparkline span')].map(bar => bar.className)]]))""")
        label, bars = charts["f"]
        check(re.fullmatch(r"3 runs, last \d+s, median \d+s, 1 failed", label), label)
        check_equal("the last run stands last", (sorted(bars[:2]), bars[2:]), (["b-done", "tick-failed"], ["b-done"]))  # the others may have begun in one second
        check_equal("of one run there is none", charts["g"], [None, []])


def a_step_that_was_reused_is_done_and_says_from_where():
    need_browser()
    with open("in.txt", "w", encoding="ascii") as file:
        file.write("x")
    a = {"name": "a", "run": "cp in.txt out.txt", "cache": {}, "reads": ["in.txt"], "writes": ["out.txt"]}
    manifest("f.yaml", flow("f", [a]))
    for _ in range(2):
        jobflow("run", "-o", "quiet", "f.yaml")
    with Browser(Ui(), path="/ui/flows/default/f?step=a") as browser:
        browser.wait("it is done", "return /^1 of 1/.test(document.querySelector('.head .bar-text')?.textContent ?? '')")
        check_equal("counts", browser.counts(), {"Cached": 1})
        browser.wait("where it comes from", "return /Reused from\\s+f/.test(document.querySelector('.drawer')?.innerText ?? '')")


# covers: web.md WEB-204
def two_runs_are_compared_in_a_report():
    two_runs()
    jobflow("report", "jf/monday", "jf/tuesday", "-o", "both.html")
    with Browser(None, "/both.html") as browser:
        browser.wait("both are listed", "return document.querySelectorAll('.flows tbody tr:not(.spacer)').length === 2")
        browser.click(".top nav a", "Compare")
        looked_at(browser)
        browser.click(".top nav a", "tuesday")
        browser.wait("the flow", "return document.querySelector('.head h1')?.textContent === 'tuesday'")


# covers: web.md WEB-235
def axe_finds_nothing_in_a_comparison():
    two_runs()
    wrong = []
    with Browser(Ui()) as browser:
        for theme in ("light", "dark"):
            browser.js("localStorage.setItem('jf-theme', arguments[0])", theme)
            for width, height in ((1280, 800), (390, 844)):
                browser.size(width, height)
                for view in ("", "&view=graph", "&view=time", "&view=spec", "&step=breaks"):
                    browser.open("/ui/compare?a=default/monday&b=default/tuesday" + view)
                    browser.wait("the view", "return document.querySelector('.totals') && !document.body.innerText.includes('Loading')")
                    wrong += ["%s %s %d: %s" % (view, theme, width, found) for found in browser.violations()]
                    check(browser.js("return document.documentElement.scrollWidth <= innerWidth"), "%s fits a window of %d pixels" % (view, width))
    check_equal("violations\n" + "\n".join(wrong), len(wrong), 0)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
