#!/usr/bin/env python3
"""A flow of thousands of steps: drawn by blocks, within bounds of the document, found and opened like a small one."""
import sys

from lib_browser import Browser, cases_of, check, check_equal, need_browser
from lib import check_in, flow, jobflow, main, manifest, step, template
from lib_ui import Ui

LAYERS, WIDE = 6, 700
NODES_MAX = 1500
# Colours that the canvas shows, with how many pixels have each.
COLOURS = """const c = document.querySelector('.canvas canvas'), data = c.getContext('2d').getImageData(0, 0, c.width, c.height).data, seen = {};
    for (let i = 0; i < data.length; i += 4) { const key = data[i] + ',' + data[i + 1] + ',' + data[i + 2]; seen[key] = (seen[key] ?? 0) + 1; } return seen;"""
DONE, FAILED, SKIPPED = "113,175,139", "196,11,60", "251,231,254"


def large_flow():
    """Layers of two templates; each step waits for one of the layer before. The very last step fails."""
    need_browser()
    steps = []
    for layer in range(LAYERS):
        for i in range(WIDE):
            steps.append(step("l%d-s%d" % (layer, i), ["l%d-s%d" % (layer - 1, i)] if layer else [], template="first" if i % 2 else "second"))
    steps.append(step("check", ["l%d-s%d" % (LAYERS - 1, i) for i in range(WIDE)], template="bad"))
    bad = template("bad", "exit 1")
    bad["spec"]["tasks"][0]["template"]["metadata"] = {"annotations": {"sim.jobflow.dev/exit-code": "1"}}
    manifest("f.yaml", flow("f", steps), template("first", "true"), template("second", "true"), bad)
    jobflow("run", "f.yaml", "--runtime", "sim", "--data-dir", "d", "-o", "quiet", code=None)
    return Ui("--data-dir", "d")


# covers: web.md WEB-124 WEB-133
def thousands_of_steps_are_drawn_searched_and_opened():
    ui = large_flow()
    with Browser(ui, path="/ui/flows/default/f") as browser:
        browser.allow("willReadFrequently")
        browser.wait("the canvas", "return document.querySelector('.canvas canvas')?.width > 0", seconds=60)
        colours = browser.wait("cells in the colour of their state", COLOURS.replace("return seen", "return seen['%s'] > 50000 ? seen : null" % DONE))
        check(len(colours) < 2000, "cells are not blurred: %d colours" % len(colours))
        check_in("counts", "4,2", browser.js("return document.querySelector('.head .bar-text').textContent"))
        nodes = browser.js("return document.querySelectorAll('*').length")
        check(nodes <= NODES_MAX, "%d nodes of the document" % nodes)
        browser.press("/")
        browser.press("l3-s17")
        browser.wait("the search counts", "return /^11 of 4,201$/.test([...document.querySelectorAll('.tools [role=status]')].map(e => e.textContent).join(''))")
        browser.wait("the rest is dimmed", COLOURS.replace("return seen", "return (seen['%s'] ?? 0) < 10000" % DONE))
        browser.press("\ue007")
        browser.wait("the first match is open", "return document.querySelector('.drawer h2')?.textContent === 'l3-s17'")
        check_in("after", "l2-s17", browser.js("return document.querySelector('.drawer').innerText"))
        browser.open("/ui/flows/default/f?step=l3-s18")
        browser.wait("its box is large enough to read", "return document.querySelector('.canvas canvas')?.width > 0 && document.querySelector('.drawer h2')?.textContent === 'l3-s18'", seconds=60)
        browser.js("document.querySelector('.canvas').focus()")
        browser.press("\ue014")
        browser.wait("arrows go along edges", "return document.getElementById('graph-active').textContent.startsWith('l4-s18;')")
        browser.press("3")
        browser.wait("the table is virtual", "const n = document.querySelectorAll('.steps tbody tr:not(.spacer)').length; return n > 10 && n < 60")
        browser.press("2")
        browser.wait("so is the timeline", "const n = document.querySelectorAll('.time tbody tr:not(.spacer)').length; return n > 10 && n <= 60")
        nodes = browser.js("return document.querySelectorAll('*').length")
        check(nodes <= NODES_MAX, "%d nodes of the document" % nodes)
        heap = browser.js("return performance.memory.usedJSHeapSize")
        check(heap <= 120 << 20, "the heap has %d bytes" % heap)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
