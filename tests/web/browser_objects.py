#!/usr/bin/env python3
"""Jobs, pods, templates, queues and room, in a browser."""
import os
import sys

from lib_browser import Browser, cases_of, check, check_equal, need_browser, wait_until
from lib import check_in, flow, jobflow, main, manifest, step, template
from lib_serve import Daemon
from lib_ui import Ui


def job(name, cpu, replicas=1, **spec):
    command = "echo begun of %s; while [ ! -e %s/go ]; do sleep 0.05; done" % (name, os.getcwd())
    container = {"name": "main", "command": ["sh", "-c", command], "resources": {"requests": {"cpu": cpu}}}
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": name},
            "spec": dict({"minAvailable": replicas, "tasks": [{"name": "w", "replicas": replicas, "template": {"spec": {"restartPolicy": "Never", "containers": [container]}}}]}, **spec)}


def begin(*objects):
    need_browser()
    daemon = Daemon("--node-resources", "cpu=3,memory=8Gi")
    manifest("objects.yaml", *objects)
    jobflow("apply", "--data-dir", "d", "objects.yaml")
    return daemon, Ui("--data-dir", "d")


def running(name):
    wait_until(name + " runs", lambda: "Running" in jobflow("get", "job/" + name, "--data-dir", "d").stdout)


# covers: web.md WEB-166 WEB-167
def jobs_and_pods_have_pages_without_a_flow():
    daemon, ui = begin(job("lone", "1", 2, policies=[{"event": "PodFailed", "action": "RestartJob"}]))
    running("lone")
    with Browser(ui, path="/ui/jobs") as browser:
        browser.wait("the list", "return document.querySelector('.objects tbody tr')?.innerText.includes('lone')")
        check_in("phase", "Running", browser.js("return document.querySelector('.objects tbody tr').innerText"))
        browser.click(".objects tbody a", "lone")
        browser.wait("the job", "return location.pathname === '/ui/jobs/default/lone' && document.querySelector('.fields')?.innerText.includes('PodFailed → RestartJob')")
        for text in ("2 pods", "default", "Running 2"):
            browser.shows(text)
        browser.click(".tabs button", "Logs")
        browser.wait("its log", "return [...document.querySelectorAll('.log .line')].some(line => line.textContent === 'begun of lone\\n')")
        browser.click(".tabs button", "Pods")
        browser.click(".card a", "lone-w-0")
        browser.wait("the pod leads back to its job", "return location.pathname === '/ui/pods/default/lone-w-0' && document.querySelector('.fields a')?.getAttribute('href') === '/ui/jobs/default/lone'")
        browser.open("/ui/jobs/default/lone?tab=events")
        browser.wait("its events", "return document.querySelectorAll('.events li').length > 0")
        with open("go", "w", encoding="ascii"):
            pass
        browser.open("/ui/jobs?q=lone")
        browser.wait("its end is seen live", "return document.querySelector('.objects tbody tr')?.innerText.includes('Completed')")
        browser.open("/ui/pods?q=nothing-like-it")
        browser.shows("Nothing matches the filter.")
    check_equal("the daemon ends", daemon.stop(), 0)


# covers: web.md WEB-168 WEB-169 WEB-170
def who_has_the_room_and_who_waits_for_it():
    queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "research"}, "spec": {"weight": 3, "capability": {"cpu": 4}, "parent": "root"}}
    daemon, ui = begin(queue, job("first", "1500m"))
    running("first")
    manifest("more.yaml", job("second", "2"), job("third", "9"))
    jobflow("apply", "--data-dir", "d", "more.yaml")
    with Browser(ui, path="/ui/queues") as browser:
        browser.shows("1.5 of 3 cpu, 1.5 free")
        browser.wait("two wait", "return [...document.querySelectorAll('h2')].some(h => h.textContent === '2 gangs wait for room')")
        browser.wait("in their order, with their reasons", """const rows = [...document.querySelectorAll('table')].find(t => t.innerText.includes('Needs')).querySelectorAll('tbody tr');
            return rows.length === 2 && rows[0].innerText.startsWith('second') && rows[0].innerText.includes('2 cpu') && /room|free/.test(rows[0].innerText) && rows[1].innerText.startsWith('third')""")
        browser.wait("queues as a tree", "return [...document.querySelectorAll('tbody th')].map(th => th.innerText.trim()).join().includes('root,└ default,└ research')")
        check_in("capability", "cpu 4", browser.text())
        with open("go", "w", encoding="ascii"):
            pass
        browser.wait("the second gets the room, live", "return document.body.innerText.includes('1 gang waits for room')")
    check_equal("the daemon ends", daemon.stop(), 0)


# covers: web.md WEB-053 WEB-168
def lists_that_are_refused_are_told():
    """A user of one namespace sees the nodes, and reads instead of empty lists why there is nothing else."""
    need_browser()
    daemon = Daemon()
    with open("token", "w", encoding="ascii", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        file.write(jobflow("token", "create", "looker", "--role", "viewer", "--namespace", "team", "--data-dir", "d").stdout)
    ui = Ui("--kubeconfig", daemon.kubeconfig, "--token-file", "token", "-n", "team")
    with Browser(ui, path="/ui/queues") as browser:
        browser.allow("403")
        browser.shows("The pods could not be read: pods is forbidden: User \"looker\" cannot list resource \"pods\"")
        browser.shows("The podgroups could not be read")
        check(browser.js("return document.querySelector('.rooms')"), "the node is shown")
        check("The nodes could" not in browser.text(), "the nodes are read")
    check_equal("the daemon ends", daemon.stop(), 0)


# covers: web.md WEB-172
def templates_tell_who_uses_them_and_can_be_edited():
    daemon, ui = begin(template("t", "true"), flow("f", [step("a", template="t")]))
    wait_until("the flow is done", lambda: "Succeed" in jobflow("get", "jf/f", "--data-dir", "d").stdout)
    with Browser(ui, path="/ui/templates/default/t") as browser:
        browser.wait("its jobs", "return document.querySelector('.fields a[href=\"/ui/jobs/default/f-a\"]')")
        browser.click(".fields a", "f-a")
        browser.wait("the job names its step", "return document.querySelector('.fields a')?.getAttribute('href') === '/ui/flows/default/f?step=a'")
        browser.open("/ui/templates/default/t")
        browser.click(".fields a", "Edit the YAML")
        browser.wait("the text", "return document.querySelector('#manifests')?.value.includes('kind: JobTemplate')")
        browser.js("const t = document.querySelector('#manifests'); t.value = t.value.replace(/- \"?true\"?$/m, '- \"false\"'); t.dispatchEvent(new Event('input', {bubbles: true}))")
        browser.click("main button", "Check")
        browser.wait("what changes", "return document.querySelector('.result').innerText.includes('JobTemplate t')")
    check_equal("the daemon ends", daemon.stop(), 0)


def what_runs_by_itself_has_pages():
    """A schedule of jobs, a trigger of flows, and what they say of their times."""
    schedule = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "CronJob", "metadata": {"name": "backup"},
                "spec": {"schedule": "30 2 29 2 *", "timeZone": "Europe/Berlin", "concurrencyPolicy": "Forbid", "jobTemplate": {"spec": job("x", "1")["spec"]}}}
    pattern = flow("etl", [step("load", template="t")], suspend=True)
    trigger = {"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "FlowTrigger", "metadata": {"name": "nightly"},
               "spec": {"flowName": "etl", "schedule": {"cron": "0 3 1 1 *"}, "flows": [{"name": "fetch", "phases": ["Succeed", "Failed"]}]}}
    daemon, ui = begin(schedule, template("t", "true"), pattern, trigger)
    with Browser(ui, path="/ui/schedules") as browser:
        browser.wait("the list", "return /backup\\s+default\\s+30 2 29 2 \\*/.test(document.querySelector('.objects tbody tr')?.innerText ?? '')")
        browser.click(".objects tbody a", "backup")
        for text in ("30 2 29 2 *", "Europe/Berlin", "Forbid", "nothing", "jobflow trigger cronvj/backup"):
            browser.shows(text)
        browser.click(".top nav a", "Triggers")
        browser.click(".objects tbody a", "nightly")
        for text in ("0 3 1 1 *", "Succeed, Failed", "Next time", "jobflow trigger ft/nightly"):
            browser.shows(text)
        check_equal("links", browser.js("return [...document.querySelectorAll('.fields a')].map(a => a.getAttribute('href'))"), ["/ui/flows/default/fetch", "/ui/flows/default/etl"])
        jobflow("trigger", "ft/nightly", "--data-dir", "d")
        browser.wait("what it has made is seen live", "return /Made so far\\s+1/.test(document.querySelector('.fields')?.innerText ?? '')")
        browser.click(".tabs button", "Spec")
        browser.shows("flowName: etl")
    check_equal("the daemon ends", daemon.stop(), 0)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
