#!/usr/bin/env python3
"""What can be done with a flow, through the dialogs of the page, with the effect checked at the API."""
import json
import os
import sys

from lib_browser import Browser, cases_of, check, check_equal, need_browser, wait_until
from lib import check_in, flow, jobflow, main, manifest, step, template
from lib_serve import Daemon
from lib_ui import Ui

FLOW = "/ui/flows/default/f"


def begin(*steps, **spec):
    """A daemon with a flow f, and the gateway before it."""
    need_browser()
    daemon = Daemon()
    manifest("f.yaml", flow("f", list(steps), **spec), template("t", "echo begun; while [ ! -e %s/go ]; do sleep 0.05; done" % os.getcwd()))
    jobflow("apply", "--data-dir", "d", "f.yaml")
    return daemon, Ui("--data-dir", "d")


def stored(name="f"):
    return json.loads(jobflow("get", "jf/" + name, "-o", "json", "--data-dir", "d").stdout)


def phase(name="f"):
    return stored(name).get("status", {}).get("state", {}).get("phase")


def states():
    return {s["name"]: s["state"] for s in json.loads(jobflow("graph", "jf/f", "-o", "json", "--data-dir", "d").stdout)["flows"][0]["steps"]}


def open_dialog(browser, action, place=".head"):
    """Opens a dialog and returns its sentence. The safe button has the focus."""
    browser.click(place + " .actions button", action)
    browser.wait("the sentence", "return document.querySelector('dialog.action #action-text') && !document.querySelector('dialog.action').innerText.includes('Loading')")
    check_equal("focus", browser.js("return document.activeElement.textContent"), "Cancel")
    return browser.js("return document.querySelector('#action-text').innerText")


def confirm(browser, action):
    browser.click("dialog.action .buttons button:last-child", action)
    browser.wait("the dialog closes when the stream shows it", "return !document.querySelector('dialog.action')")


# covers: web.md WEB-178 WEB-184 WEB-226
def a_running_flow_is_suspended_resumed_and_aborted():
    daemon, ui = begin(step("a", template="t"), step("b", ["a"], template="t"), step("c", ["b"], template="t"))
    with Browser(ui, path=FLOW) as browser:
        browser.wait("a runs", "return document.querySelector('.head .chips').innerText.includes('Running')")
        check_in("suspend", "2 steps that have not begun wait. 1 job goes on.", open_dialog(browser, "Suspend"))
        check_in("command", "jobflow suspend jf/f", browser.text())
        check(not stored()["spec"].get("suspend"), "nothing is done before it is confirmed")
        confirm(browser, "Suspend")
        check_equal("suspended", stored()["spec"]["suspend"], True)
        check_in("resume", "2 steps that have not begun get their jobs", open_dialog(browser, "Resume"))
        confirm(browser, "Resume")
        check(not stored()["spec"].get("suspend"), "resumed")
        check_in("abort", "1 job at work is terminated, 2 steps never run, and f is Failed.", open_dialog(browser, "Abort"))
        confirm(browser, "Abort")
        browser.wait("the flow has failed", "return document.querySelector('.head .phase').innerText.trim() === 'Failed'")
        wait_until("as was said", lambda: phase() == "Failed" and not set(states().values()) & {"Running", "Pending", "Completed"})
    check_equal("the daemon ends", daemon.stop(), 0)


# covers: web.md WEB-178 WEB-180 WEB-186 WEB-226
def a_failed_flow_is_retried_run_again_and_deleted():
    script = "[ -e %s/go ]" % os.getcwd()
    daemon, ui = begin(step("a", template="t", script="true"), step("b", ["a"], template="t", script=script), step("c", ["b"], template="t", script="true"))
    wait_until("the flow has failed", lambda: phase() == "Failed")
    with open("go", "w", encoding="ascii"):
        pass
    with Browser(ui, path=FLOW) as browser:
        check_in("retry", "1 step runs again with a new attempt, 1 step may run after it, and 1 step stays as it is.", open_dialog(browser, "Retry"))
        check_equal("fates", browser.js("return [...document.querySelectorAll('dialog.action tr')].map(row => [...row.children].map(cell => cell.textContent))"),
                    [["a", "kept"], ["b", "runs again"], ["c", "may run"]])
        confirm(browser, "Retry")
        browser.wait("the flow succeeds", "return document.querySelector('.head .phase').innerText.trim() === 'Succeed'")
        nodes = {node["name"]: len(node.get("attempts", [1])) for node in stored()["status"].get("nodes", [])}
        check_equal("attempts as was said", (nodes.get("a"), nodes.get("b"), nodes.get("c")), (1, 2, 1))
        browser.open(FLOW + "?step=b")
        check_in("only this step", "1 step runs again", open_dialog(browser, "Run only this step again", ".drawer"))
        confirm(browser, "Run only this step again")
        wait_until("a third attempt", lambda: [len(n["attempts"]) for n in stored()["status"]["nodes"] if n["name"] == "b"] == [3])
        browser.wait("the flow succeeds", "return document.querySelector('.head .phase').innerText.trim() === 'Succeed'")
        check_in("again", "A new flow is made of the spec of f, with all its 3 steps.", open_dialog(browser, "Run again…"))
        browser.click("dialog.action .buttons button:last-child", "Run again")
        browser.wait("the new flow is open", "return /^.ui.flows.default.f-[a-z0-9]{5}$/.test(location.pathname)")
        name = browser.url().rsplit("/", 1)[1]
        browser.wait("and succeeds", "return document.querySelector('.head .phase')?.innerText.trim() === 'Succeed'")
        check_equal("series", stored(name)["metadata"]["labels"]["flow.volcano.sh/series"], "f")
        check_in("delete", name + " is deleted with its jobs, their pods and their logs.", open_dialog(browser, "Delete"))
        confirm(browser, "Delete")
        browser.shows("This flow has been deleted.")
        wait_until("it is gone", lambda: "NotFound" in jobflow("get", "jf/" + name, "--data-dir", "d", code=None).stderr
                   or "not found" in jobflow("get", "jf/" + name, "--data-dir", "d", code=None).stderr)
    check_equal("the daemon ends", daemon.stop(), 0)


# covers: web.md WEB-181 WEB-226
def an_unfinished_flow_is_deleted_when_its_name_is_typed():
    daemon, ui = begin(step("a", template="t"), step("b", ["a"], template="t"))
    with Browser(ui, path=FLOW) as browser:
        browser.wait("a runs", "return document.querySelector('.head .chips').innerText.includes('Running')")
        check_in("what it says", "1 job at work is killed, and 1 step never runs", open_dialog(browser, "Delete"))
        button = "return document.querySelector('dialog.action .buttons button:last-child').disabled"
        check(browser.js(button), "it cannot be confirmed yet")
        browser.click("dialog.action .row input")
        browser.press("f")
        check(not browser.js(button), "its name was typed")
        confirm(browser, "Delete")
        browser.shows("This flow has been deleted.")
    check_equal("the daemon ends", daemon.stop(), 0)


# covers: web.md WEB-182
def what_changed_meanwhile_is_shown_and_nothing_is_done():
    daemon, ui = begin(step("a", template="t", script="exit 1"), step("b", template="t", script="exit 1"))
    wait_until("the flow has failed", lambda: phase() == "Failed")
    labelled = flow("f", [step("a", template="t", script="exit 1"), step("b", template="t", script="exit 1")])
    labelled["metadata"]["labels"] = {"seen": "yes"}
    manifest("labelled.yaml", labelled)
    with Browser(ui, path=FLOW) as browser:
        browser.allow("409")
        open_dialog(browser, "Retry")
        jobflow("apply", "--data-dir", "d", "labelled.yaml")
        browser.click("dialog.action .buttons button:last-child", "Retry")
        browser.shows("The flow has changed meanwhile, and nothing was done.")
        check("volcano.sh/jobFlowRetry" not in stored()["metadata"].get("annotations", {}), "nothing was done")
        browser.wait("it can be confirmed", "return document.querySelector('dialog.action .buttons button:last-child').disabled === false")
        confirm(browser, "Retry")
        wait_until("it was retried", lambda: "volcano.sh/jobFlowRetry" in stored()["metadata"].get("annotations", {}))
    check_equal("the daemon ends", daemon.stop(), 0)


# covers: web.md WEB-182
def a_failed_forecast_leaves_the_retry_possible():
    daemon, ui = begin(step("a", template="t", script="exit 1"))
    wait_until("the flow has failed", lambda: phase() == "Failed")
    with Browser(ui, path=FLOW) as browser:
        browser.js("const real = window.fetch; window.fetch = (path, ...rest) => String(path).includes('/ui/v1/foresee') ? Promise.resolve(new Response('{}', {status: 503})) : real(path, ...rest)")
        check_in("retry", "1 failed step begins again", open_dialog(browser, "Retry"))
        browser.shows("What happens to each step could not be foreseen")
        confirm(browser, "Retry")
        wait_until("it was retried", lambda: "volcano.sh/jobFlowRetry" in stored()["metadata"].get("annotations", {}))
    check_equal("the daemon ends", daemon.stop(), 0)


# covers: web.md WEB-108 WEB-109 WEB-228
def a_viewer_is_offered_nothing_that_is_refused():
    daemon, ui = begin(step("a", template="t", script="exit 1"))
    wait_until("the flow has failed", lambda: phase() == "Failed")
    with open("token", "w", encoding="ascii") as file:
        file.write(jobflow("token", "create", "looker", "--role", "viewer", "--data-dir", "d").stdout)
    os.chmod("token", 0o600)
    look = Ui("--kubeconfig", daemon.kubeconfig, "--token-file", "token", name="look")
    for gateway, reason in ((look, "looker may not patch jobflows in namespace default."), (Ui("--data-dir", "d", "--read-only", name="only"), "--read-only")):
        with Browser(gateway, path=FLOW + "?step=a") as browser:
            browser.wait("the buttons are off, and say why",
                         "const b = [...document.querySelectorAll('.actions button')]; return b.length >= 5 && b.every(x => x.disabled && x.title) && b.some(x => x.title.includes(arguments[0]))", reason)
            for path in ("/ui/flows", FLOW + "?view=steps", FLOW + "?step=a&tab=logs", FLOW + "?step=a&tab=spec", FLOW + "?step=a&tab=events"):
                browser.open(path)
                browser.wait("it is there", "return document.querySelector('main h1') && !document.body.innerText.includes('Loading')")
            statuses = [m["params"]["response"]["status"] for m in browser.messages() if m["method"] == "Network.responseReceived"]
            check(403 not in statuses, "nothing was refused: %s" % statuses)
    check_equal("the daemon ends", daemon.stop(), 0)


# covers: web.md WEB-188 WEB-226
def a_new_flow_is_checked_before_it_is_applied():
    daemon, ui = begin(step("a", template="t", script="true"))
    with Browser(ui, path="/ui/new") as browser:
        browser.wait("the text area", "return document.querySelector('#manifests')")
        good = "\n---\n".join(["# two documents, the later one needed first",
                               json.dumps(flow("g", [step("one", template="u"), step("two", ["one"], template="u")]), indent=1),
                               json.dumps(template("u", "true"))])
        for text, shown in ((good.replace('"u"', '"missing"', 1), "missing"), ("kind: [", "line 2"), ("kind: Nothing\napiVersion: v1\nmetadata: {name: x}\n", "Nothing")):
            browser.js("const t = document.querySelector('#manifests'); t.value = arguments[0]; t.dispatchEvent(new Event('input', {bubbles: true}))", text)
            browser.allow("400|422")
            browser.click("main button", "Check")
            browser.wait("it is refused: " + shown, "return document.querySelector('.result').innerText.includes(arguments[0])", shown)
            check(not browser.js("return [...document.querySelectorAll('.result button')].some(b => b.textContent.startsWith('Apply') && !b.disabled)"), "it cannot be applied")
        edit = "const t = document.querySelector('#manifests'); t.value = arguments[0]; t.dispatchEvent(new Event('input', {bubbles: true}))"
        browser.js(edit, good)
        browser.js("const real = window.fetch; window.fetch = async (path, ...rest) => { const answer = await real(path, ...rest); if (String(path).includes('/ui/v1/plan')) await new Promise(done => { window.letGo = done; }); return answer; }")
        browser.click("main button", "Check")
        browser.wait("the answer is held back", "return !!window.letGo")
        browser.js(edit, "# edited\n" + good)
        browser.js("window.letGo()")
        browser.wait("the check is over", "return document.querySelector('main [role=status]').textContent === ''")
        check_equal("an answer for another text is dropped", browser.js("return document.querySelector('.result').innerText"), "")
        browser.reload()
        browser.wait("the text area", "return document.querySelector('#manifests')")
        browser.js(edit, good)
        browser.click("main button", "Check")
        browser.wait("the plan", "const r = document.querySelector('.result').innerText; return r.includes('JobFlow g') && r.includes('is made') && document.querySelector('.preview canvas')")
        check("not found" in jobflow("get", "jf/g", "--data-dir", "d", code=None).stderr.lower().replace("notfound", "not found"), "nothing is made by checking")
        browser.reload()
        browser.wait("the text outlives a reload", "return document.querySelector('#manifests')?.value === arguments[0]", good)
        browser.click("main button", "Check")
        browser.click(".result button", "Apply 2 objects")
        browser.wait("both are made", "return [...document.querySelectorAll('.findings li')].map(li => li.innerText).join('|').startsWith('✓ JobTemplate u|✓ JobFlow g')")
        browser.click(".findings a", "open")
        browser.wait("the flow succeeds", "return document.querySelector('.head .phase')?.innerText.trim() === 'Succeed'")
    check_equal("the daemon ends", daemon.stop(), 0)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
