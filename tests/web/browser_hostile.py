#!/usr/bin/env python3
"""Logs, messages and specs that try to be more than text.
"""
import json
import os
import sys

from lib_browser import Browser, cases_of, check, check_equal, need_browser, wait_until
from lib import flow, jobflow, main, step, template, write
from lib_serve import Daemon
from lib_ui import Ui

HOSTILE = ["<img src=x onerror=\"window.ran=1\">", "<script>window.ran=1</script>", "javascript:window.ran=1", "a\u202eb\u2066c", "\u200bzero\u200d",
           "$& $` $1", "__proto__", "{{7*7}}", "'\"><svg onload=window.ran=1>", "&lt;b&gt; &amp;", "\U0001f600 \u0645\u0631\u062d\u0628\u0627"]
DRAWER = "return document.querySelector('.drawer h2')?.textContent === 'a'"


def hostile_run():
    lines = "\n".join(HOSTILE) + "\nnul\0 bell\a csi\033[2J osc\033]0;t\a end\n10 %\r99 %\n"
    write("lines", lines.encode() + b"invalid \xff\xfe utf-8\n" + b"x" * 1_000_000 + b"\nlast line\n")
    script = "cat %s; printf '%%s' '<b onclick=window.ran=1>told</b> https://ok.example/x javascript:1' > /dev/termination-log; exit 1" % os.path.abspath("lines")
    hostile = template("t", script)
    container = hostile["spec"]["tasks"][0]["template"]["spec"]["containers"][0]
    container["env"] = [{"name": "HOSTILE", "value": "".join(HOSTILE)}]
    objects = {"apiVersion": "v1", "kind": "List", "items": [hostile, flow("f", [step("a", template="t")])]}
    write("f.json", json.dumps(objects, ensure_ascii=False).encode())
    jobflow("run", "f.json", code=1)


def harmless(browser):
    check_equal("what hostile text did", browser.js("return window.ran ?? null"), None)
    check_equal("elements that nobody made", browser.js("return document.querySelectorAll('#app img, #app script, #app b[onclick], #app svg[onload]').length"), 0)
    check(browser.js("return document.documentElement.scrollWidth <= innerWidth"), "the page is no wider than the window")


# covers: web.md WEB-043 WEB-044 WEB-045 WEB-164
def hostile_text_is_text_everywhere():
    need_browser()
    hostile_run()
    with Browser(Ui(), path="/ui/flows/default/f?step=a&tab=logs") as browser:
        browser.wait("the log", "return [...document.querySelectorAll('.log .line')].some(line => line.textContent === 'last line\\n')")
        browser.js("document.querySelector('.log').scrollTop = 0")
        browser.wait("its first line", "return document.querySelector('.log .line').textContent === arguments[0]", HOSTILE[0] + "\n")
        shown = browser.js("return [...document.querySelectorAll('.log .line')].map(line => line.textContent)")
        check_equal("lines", shown[:len(HOSTILE)], [text + "\n" for text in HOSTILE])
        check_equal("controls", shown[len(HOSTILE):len(HOSTILE) + 3], ["nul\\x00 bell\\x07 csi osc end\n", "99 %\n", "invalid \ufffd\ufffd utf-8\n"])
        long_line = next(text for text in shown if text.startswith("xxxx"))
        check(long_line.startswith("x" * 65536 + " … ") and "934,464 more characters" in long_line, "a long line is cut and says so: %s" % long_line[65530:])
        harmless(browser)
        for tab in ("", "attempts", "pods", "spec", "events"):
            browser.open("/ui/flows/default/f?step=a&tab=" + tab)
            browser.wait("the drawer", DRAWER)
            browser.wait("it is filled", "return !document.querySelector('.drawer .body').innerText.includes('Loading')")
            harmless(browser)
        browser.open("/ui/flows/default/f?step=a&tab=pods")
        browser.wait("links of a message", "return document.querySelector('.drawer .message a')")
        check_equal("links", browser.js("return [...document.querySelectorAll('.drawer .message a')].map(a => [a.href, a.textContent, a.rel])"),
                    [["https://ok.example/x", "https://ok.example/x", "noopener noreferrer"]])
        browser.open("/ui/flows/default/f?step=a&tab=spec")
        browser.wait("the job", "return document.querySelectorAll('.yaml').length === 2")
        escaped = json.dumps("".join(HOSTILE), ensure_ascii=False)
        for char in "\u202e\u2066\u200b\u200d":
            escaped = escaped.replace(char, "\\u%04x" % ord(char))
        check(browser.js("return document.querySelectorAll('.yaml')[1].textContent.includes(arguments[0])", "value: " + escaped), "the value reads back equal")


# covers: web.md WEB-043 WEB-044 WEB-229
def hostile_objects_are_text_in_every_view():
    """Annotations and labels that the page reads, fields that a manifest should not have, and a megabyte without a space."""
    need_browser()
    daemon = Daemon()
    everything = "".join(HOSTILE)
    notes = {"note": everything, "long": "x" * 200_000, "jobflow.dev/step": HOSTILE[0], "volcano.sh/job-name": HOSTILE[1], "constructor": "1"}
    hostile = template("t", "printf '%s' \"$HOSTILE\"; exit 1")
    hostile["metadata"]["annotations"] = notes
    hostile["spec"]["tasks"][0]["template"]["metadata"] = {"annotations": notes}
    hostile["spec"]["tasks"][0]["template"]["spec"]["containers"][0]["env"] = [{"name": "HOSTILE", "value": everything}, {"name": "__proto__", "value": "1"}]
    lone = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "lone", "annotations": notes}, "spec": dict(hostile["spec"])}
    mine = flow("f", [step("a", template="t")])
    mine["metadata"]["annotations"] = notes
    queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "q", "annotations": notes}, "spec": {"weight": 1}}
    write("o.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": [hostile, lone, mine, queue]}, ensure_ascii=False).encode())
    jobflow("apply", "--data-dir", "d", "o.json")
    wait_until("the flow has failed", lambda: "Failed" in jobflow("get", "jf/f", "--data-dir", "d").stdout)
    pods = [item["metadata"]["name"] for item in json.loads(jobflow("get", "pods", "-o", "json", "--data-dir", "d").stdout)["items"]]
    with Browser(Ui("--data-dir", "d"), path="/ui/flows") as browser:
        browser.shows("Failed")
        harmless(browser)
        places = ["/ui/flows/default/f", "/ui/flows/default/f?view=time", "/ui/flows/default/f?view=steps&step=a", "/ui/flows/default/f?step=a&tab=spec", "/ui/jobs",
                  "/ui/jobs/default/lone", "/ui/jobs/default/lone?tab=yaml", "/ui/jobs/default/lone?tab=logs", "/ui/pods", "/ui/queues", "/ui/templates", "/ui/templates/default/t", "/ui/templates/default/t?tab=yaml"]
        for place in places + ["/ui/pods/default/" + pod for pod in pods[:1]] + ["/ui/flows?q=" + text for text in ("%3Cimg%20src%3Dx%20onerror%3D%22window.ran%3D1%22%3E", "__proto__", "state%3A%3Cb%3E")]:
            browser.open(place)
            browser.wait("%s is there" % place, "return !!document.querySelector('main') && !/Loading/.test(document.querySelector('main').innerText)")
            harmless(browser)
            check_equal("objects have no new members at %s" % place, browser.js("return [({}).note ?? null, ({}).long ?? null]"), [None, None])
        browser.open("/ui/new")
        browser.wait("the editor", "return !!document.querySelector('#manifests')")
        bad = "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {name: g}\nspec:\n  '<img src=x onerror=window.ran=1>': 1\n"
        browser.js("const t = document.querySelector('#manifests'); t.value = arguments[0]; t.dispatchEvent(new Event('input', {bubbles: true}))", bad)
        browser.click("main button", "Check")
        browser.wait("the finding", "return document.querySelector('.result')?.innerText.includes('<img src=x')")
        harmless(browser)
    check_equal("the daemon ends", daemon.stop(), 0)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
