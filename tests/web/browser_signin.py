#!/usr/bin/env python3
"""Signing in to the page, in a browser.
"""
import gzip
import os
import sys

from lib_browser import Browser, cases_of, check, check_equal, need_browser
from lib import check_in, flow, jobflow, main, manifest, step, template
from lib_ui import Ui

BUDGET = {"app.js": 120, "app.css": 16, "index.html": 2}  # KB, gzipped


def finished_flow():
    manifest("f.yaml", flow("f", [step("a", template="t")]), template("t", "echo done"))
    jobflow("run", "f.yaml")


# covers: web.md WEB-016
def the_first_load_is_small():
    folder = os.path.join(os.environ["JOBFLOW_BUILD"], "web", "assets")
    total = 0
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as file:
            size = len(gzip.compress(file.read(), 9))
        total += size
        check(size <= BUDGET.get(name, 1) * 1000, "%s has %d bytes" % (name, size))
    print("first load: %d bytes gzipped" % total)
    check(total <= 150_000, "all files have %d bytes" % total)


# covers: web.md WEB-015 WEB-025 WEB-027 WEB-034
def a_link_signs_in_once_and_leaves_no_trace():
    need_browser()
    finished_flow()
    ui = Ui()
    with Browser(ui) as browser:
        browser.shows("Succeed")
        seen = browser.js("""return [location.href, document.title, document.documentElement.outerHTML, JSON.stringify({...localStorage}),
            JSON.stringify({...sessionStorage}), JSON.stringify(history.state), document.cookie].join('\\n')""")
        check(ui.ticket not in seen, "the ticket is gone: %s" % seen[:2000])
        check_equal("cookies that scripts see", browser.js("return document.cookie"), "")
        browser.click(".top button", "Sign out")
        browser.shows("Sign in")
        browser.allow("401")
        browser.open("/ui/#t=" + ui.ticket)
        browser.reload()
        browser.shows("works once")
        check_equal("place", browser.js("return location.hash"), "")


# covers: web.md WEB-093
def a_deep_link_leads_to_its_target_after_the_sign_in():
    need_browser()
    finished_flow()
    ui = Ui()
    with Browser(ui, path="/ui/flows/default/f?view=steps", signed_in=False) as browser:
        browser.allow("401")
        browser.shows("Sign in")
        first = browser.driver.current_window_handle
        browser.driver.switch_to.new_window("tab")
        browser.open("/ui/#t=" + ui.ticket)
        browser.shows("Succeed")
        browser.driver.switch_to.window(first)
        browser.wait("the table of steps", "return document.querySelectorAll('.steps tbody tr:not(.spacer)').length === 1")
        check_equal("place", browser.url(), "/ui/flows/default/f?view=steps")


# covers: web.md WEB-041
def planted_content_is_blocked():
    """Each planted script, style, image and frame causes a report of the policy and does nothing."""
    need_browser()
    finished_flow()
    with Browser(Ui()) as browser:
        browser.allow(".", policy=True)
        found = browser.driver.execute_async_script("""
            const done = arguments[0], seen = new Set(), reports = [];
            addEventListener('securitypolicyviolation', e => reports.push(e.effectiveDirective));
            const add = (tag, set) => { const e = document.createElement(tag); set(e); document.body.append(e); };
            try { add('script', e => { e.textContent = 'window.planted = 1'; }); } catch { seen.add('script'); }
            add('div', e => e.setAttribute('style', 'position: fixed'));
            try { add('div', e => { e.innerHTML = '<b>planted</b>'; }); } catch { seen.add('innerHTML'); }
            add('img', e => { e.src = 'http://127.0.0.2:9/x.png'; });
            add('iframe', e => { e.src = 'data:text/html,x'; });
            setTimeout(() => done([window.planted ?? null, [...seen], reports.map(r => r.replace(/-(elem|attr)$/, '')), document.body.innerText.includes('planted')]), 300);""")
        ran, thrown, reports, shown = found
        check_equal("what a planted script did", (ran, shown), (None, False))
        check("innerHTML" in thrown, "innerHTML is refused")
        for directive in ("style-src", "img-src", "frame-src"):
            check_in("reports", directive, reports)


# covers: web.md WEB-101
def the_theme_is_kept():
    need_browser()
    finished_flow()
    with Browser(Ui()) as browser:
        ground = "return getComputedStyle(document.body.parentElement).backgroundColor"
        browser.js("const s = document.querySelector('.theme select'); s.value = 'dark'; s.dispatchEvent(new Event('change', {bubbles: true}))")
        browser.wait("the page is dark", ground + " === 'rgb(15, 20, 26)'")
        browser.reload()
        browser.wait("the page is there", "return !!document.querySelector('header.top')")
        check_equal("ground after a reload", browser.js(ground), "rgb(15, 20, 26)")


# covers: web.md WEB-011
def a_link_to_a_flow_opens_it_or_says_that_there_is_none():
    need_browser()
    finished_flow()
    with Browser(Ui("jf/f")) as browser:
        browser.wait("the flow", "return location.pathname === '/ui/flows/default/f'")
    with Browser(Ui("jf/none", name="none")) as browser:
        browser.allow("404")
        browser.shows("There is no flow default/none.")
        check_equal("place", browser.url(), "/ui/")
        browser.click(".bar button", "OK")
        browser.wait("the note is gone", "return !document.body.innerText.includes('There is no flow')")


# covers: web.md WEB-033
def the_end_of_a_sign_in_is_said_before_and_put_off():
    """The gateway's answer is changed in the page: it says that the sign-in ends in two minutes, once."""
    need_browser()
    finished_flow()
    with Browser(Ui()) as browser:
        browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """
            const real = window.fetch; let soon = true;
            window.fetch = async (path, init) => {
                const answer = await real(path, init);
                if (path !== '/ui/v1/me' || !soon) return answer;
                soon = false;
                const me = await answer.json();
                me.signin.endsMs = me.timeMs + 7 * 86400000; me.signin.idleEndsMs = me.timeMs + 120000;
                return new Response(JSON.stringify(me), {status: 200, headers: {'Content-Type': 'application/json'}});
            };"""})
        browser.reload()
        browser.wait("the bar", "return [...document.querySelectorAll('.bar')].some(bar => /The sign-in of this browser ends in [0-9]/.test(bar.innerText))")
        browser.click(".bar button", "Stay signed in")
        browser.wait("the bar is gone", "return ![...document.querySelectorAll('.bar')].some(bar => /sign-in/.test(bar.innerText))")


# covers: web.md WEB-020
def a_page_of_another_program_offers_to_be_loaded_again():
    need_browser()
    finished_flow()
    with Browser(Ui()) as browser:
        browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """
            Object.defineProperty(HTMLMetaElement.prototype, 'content', {get() { return this.name === 'jf-digest' ? '0123456789abcdef' : this.getAttribute('content'); }});"""})
        browser.reload()
        browser.wait("the bar", "return [...document.querySelectorAll('.bar button')].some(button => button.innerText === 'Reload')")
        browser.js("window.kept = 1")
        check_equal("it is not loaded again by itself", browser.js("return window.kept"), 1)
        browser.click(".bar button", "Reload")
        browser.wait("it was loaded again", "return !window.kept && !!document.querySelector('header.top')")


# covers: web.md WEB-024
def a_browser_that_cannot_show_the_page_says_why():
    need_browser()
    finished_flow()
    with Browser(Ui()) as browser:
        browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": "if (location.search === '?unstreamed') delete Response.prototype.body;"})
        browser.open("/ui/flows?unstreamed")
        browser.shows("this one has no streamed answers of fetch")
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
        browser.open("/ui/flows?plain")
        shown = browser.driver.find_element("css selector", "noscript").text
        check_in("without script", "jobflow get", shown)
        check_in("without script", "jobflow report", shown)
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
        browser.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": ["*app.js"]})
        browser.allow("BLOCKED")
        browser.open("/ui/flows?old")
        browser.wait("a browser that cannot read the script", "return getComputedStyle(document.querySelector('.old')).visibility === 'visible'")
        browser.shows("needs a browser with ES2022")


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
