#!/usr/bin/env python3
"""The page of a daemon in a browser: signing in by a token and by a link, two roles, a token that is revoked while the page is looked at, and
a daemon that is killed and comes back."""
import os
import re
import sys

from lib_browser import Browser, cases_of, check, check_equal, need_browser, wait_until
from lib import check_in, flow, jobflow, main, manifest, step, template
from lib_serve import Daemon

CARD = "return document.querySelector('.steps tbody .w-state')?.innerText.trim() === arguments[0]"


def begin():
    """A daemon with a flow whose step runs until the file `go` is there."""
    need_browser()
    daemon = Daemon()
    manifest("f.yaml", flow("f", [step("a", template="t")]), template("t", "echo begun; while [ ! -e %s/go ]; do sleep 0.05; done" % os.getcwd()))
    jobflow("apply", "--data-dir", "d", "f.yaml")
    wait_until("a runs", lambda: '"state": "Running"' in jobflow("graph", "jf/f", "-o", "json", "--data-dir", "d", code=None).stdout)
    return daemon


def go():
    with open("go", "w", encoding="ascii"):
        pass


def browse(daemon, ticket=None):
    browser = Browser(daemon, signed_in=False, base="https://127.0.0.1:%d" % daemon.port)
    if ticket:
        browser.open("/ui/#t=" + ticket)
        browser.wait("the page is signed in", "return !!document.querySelector('header.top')")
    return browser


def link():
    return re.search("#t=(.*)", jobflow("ui", "--link", "--data-dir", "d").stdout).group(1)


def token(name, role, *args):
    return jobflow("token", "create", name, "--role", role, "--data-dir", "d", *args).stdout.strip()


def give_token(browser, text):
    browser.wait("the field", "return !!document.querySelector('#token')")
    browser.js("const field = document.querySelector('#token'); field.value = arguments[0]; field.form.requestSubmit()", text)


# covers: web.md WEB-035 WEB-227
def a_token_signs_in_and_its_end_shows_the_sign_in_page():
    daemon = begin()
    secret = token("alice", "viewer")
    with browse(daemon) as browser:
        browser.allow("401")
        browser.open("/ui/flows/default/f?view=steps")
        browser.wait("the field", "return !!document.querySelector('#token')")
        check_equal("field", browser.js("const f = document.querySelector('#token'); return [f.type, f.autocomplete]"), ["password", "off"])
        give_token(browser, "jf_" + "A" * 43)
        browser.shows("does not know this token")
        give_token(browser, secret)
        browser.wait("the flow is shown", CARD, "Running")
        kept = browser.js("return [location.href, JSON.stringify({...localStorage}), JSON.stringify({...sessionStorage}), document.documentElement.outerHTML].join()")
        check(secret not in kept, "the token is not kept")
        browser.reload()
        browser.wait("the sign-in stays", CARD, "Running")
        browser.wait("a viewer changes nothing", "const found = [...document.querySelectorAll('.head .actions button, .head button')].filter(b => /Abort|Suspend|Delete/.test(b.innerText)); return found.length && found.every(b => b.disabled || b.getAttribute('aria-disabled') === 'true')")
        jobflow("token", "revoke", "alice", "--data-dir", "d")
        browser.wait("the sign-in page", "return !!document.querySelector('#token')")
        check_equal("nothing of the flow is left", browser.js("return document.querySelectorAll('.steps, .head').length"), 0)
    go()
    check_equal("the daemon ends", daemon.stop(), 0)


# covers: web.md WEB-014 WEB-108 WEB-228
def two_roles_look_at_once():
    daemon = begin()
    with browse(daemon, link()) as owner, browse(daemon) as viewer:
        viewer.allow("401")
        viewer.open("/ui/flows/default/f?view=steps")
        give_token(viewer, token("looker", "viewer"))
        viewer.wait("the viewer sees the flow", CARD, "Running")
        owner.open("/ui/flows/default/f?view=steps")
        owner.wait("the owner sees it", CARD, "Running")
        forged = "return fetch('/ui/api' + arguments[0], {method: 'DELETE', headers: {'Jobflow-Key': Object.entries(localStorage).find(([k]) => /^jf-[0-9a-f]{8}$/.test(k))[1]}}).then(a => a.status)"
        path = "/apis/flow.volcano.sh/v1alpha1/namespaces/default/jobflows/f"
        viewer.allow("403|404")
        owner.allow("404")
        check_equal("what the viewer forges", viewer.js(forged, path), 403)
        go()
        for browser in (owner, viewer):
            browser.wait("the end is seen", CARD, "Completed")
        check_equal("what the owner may", owner.js(forged, path), 200)
        for browser in (owner, viewer):
            browser.wait("the flow is gone", "return /gone|deleted|no longer/i.test(document.body.innerText)")
    check_equal("the daemon ends", daemon.stop(), 0)


# covers: web.md WEB-032 WEB-223
def a_killed_daemon_comes_back_below_its_page():
    daemon = begin()
    port = daemon.port
    with browse(daemon, link()) as browser:
        browser.allow("ERR_|Failed to load|404")
        browser.open("/ui/flows/default/f?view=steps")
        browser.wait("the flow is shown", CARD, "Running")
        daemon.signal(9)
        daemon.wait()
        browser.wait("the bar says so", "return !!document.querySelector('.bars .bar.bad')")
        check(browser.js(CARD, "Running"), "what was known stays readable")
        go()
        daemon = Daemon(listen="127.0.0.1:%d" % port, name="second")
        browser.wait("the end is seen, without another sign-in", CARD, "Completed")
        browser.wait("the bar is gone", "return !document.querySelector('.bars .bar.bad')")
    check_equal("the daemon ends", daemon.stop(), 0)


# covers: web.md WEB-230
def forty_tabs_of_one_browser_work():
    daemon = begin()
    with browse(daemon, link()) as browser:
        browser.open("/ui/flows/default/f?view=steps")
        browser.wait("its step", CARD, "Running")
        for _ in range(39):
            browser.driver.execute_cdp_cmd("Target.createTarget", {"url": browser.base + "/ui/flows/default/f?view=steps"})
        wait_until("forty tabs are there", lambda: len(browser.driver.window_handles) == 40)
        for handle in browser.driver.window_handles[1::13]:
            browser.driver.switch_to.window(handle)
            browser.wait("its step, when it is shown", CARD, "Running")
        go()
        browser.wait("the shown one is live", CARD, "Completed")
        for handle in browser.driver.window_handles[::13]:
            browser.driver.switch_to.window(handle)
            browser.wait("another one, when it is shown", CARD, "Completed")
    check_equal("the daemon ends", daemon.stop(), 0)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
