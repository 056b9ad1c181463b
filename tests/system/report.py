"""`jobflow report`: one HTML file with everything in it, in which nothing from a flow is more than text."""
import base64
import gzip
import hashlib
import html.parser
import json
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_serve import *  # noqa: E402,F403: sys.path is set above; cases use all names

MARKUP = "</script></pre><script>alert(1)</script><img src=x onerror=alert(2)>"
ELEMENTS = set("""html head meta title style script body h1 h2 p strong time div svg defs marker path g rect text table thead tbody tr th td bdi
    details summary pre""".split())
ENDLESS = {"meta"}


class Page(html.parser.HTMLParser):
    """Reads a report: its elements with their attributes, the text of its styles and scripts, the cells of its tables, its logs, the data of its views."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.styles, self.scripts, self.rows, self.logs, self.text, self.data = [], [], [], [], {}, {}, "", None
        self.table = self.log = None
        self.feed(text)
        self.close()
        check_equal("elements that are not closed", self.open, [])

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in ENDLESS:
            self.open.append(tag)
        if tag == "style":
            self.styles.append("")
        if tag == "script":
            self.kind = dict(attrs).get("type", "script")
            self.scripts += [""] if self.kind == "script" else []
        if tag == "table":
            self.table = self.rows.setdefault(dict(attrs)["id"], [])
        if tag == "tr":
            self.table.append([])
        if tag in ("td", "th"):
            self.table[-1].append("")
        if tag == "summary":
            self.log = ""
        if tag == "pre":
            self.logs[self.log] = ""

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        check_equal("end of an element", tag, self.open.pop() if self.open else None)

    def handle_data(self, data):
        if "script" in self.open and self.kind == "script":
            self.scripts[-1] += data
        elif "script" in self.open:
            self.data = json.loads(gzip.decompress(base64.b64decode(data, validate=True)))
        elif "style" in self.open:
            self.styles[-1] += data
        else:
            self.text += data
        if "style" in self.open or "script" in self.open:
            return
        if "td" in self.open or "th" in self.open:
            self.table[-1][-1] += data
        elif "summary" in self.open:
            self.log += data
        elif "pre" in self.open:
            self.logs[self.log] += data


def digests_of(texts):
    """What a policy says of texts that it allows, each once, in order."""
    return list(dict.fromkeys("'sha256-%s'" % base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts))


def report_of(*args):
    """Writes a report, reads it, and checks that it runs nothing but its own script and can send nothing."""
    jobflow("report", "jf/f", "-o", "f.html", *args)
    page = Page(read("f.html"))
    check_equal("elements of other kinds", {tag for tag, _ in page.elements} - ELEMENTS, set())
    for tag, attributes in page.elements:
        bad = [name for name in attributes if name.startswith("on") or name in ("style", "src", "href", "xlink:href", "srcset", "action")]
        check(not bad, "<%s> has %s" % (tag, bad))
    policy = next(a["content"] for t, a in page.elements if t == "meta" and a.get("http-equiv") == "Content-Security-Policy")
    parts = {part.split()[0]: part.split()[1:] for part in policy.split(";")}
    check_equal("what is not named is not allowed", parts["default-src"], ["'none'"])
    check_equal("styles", parts["style-src"], digests_of(page.styles))
    check_equal("scripts", parts.get("script-src", []), digests_of(page.scripts))
    check_equal("text becomes no markup", (parts["trusted-types"], parts["require-trusted-types-for"]), (["'none'"], ["'script'"]))
    first = [t for t, _ in page.elements].index("style")
    check("Content-Security-Policy" in str(page.elements[:first]), "the policy stands before what it is about")
    return page


def run_flow(*steps, templates=(), code=0, **spec):
    manifest("f.yaml", flow("f", list(steps), **spec), *templates)
    jobflow("run", "-o", "quiet", "f.yaml", code=code)


def a_report_has_summary_graph_timeline_steps_attempts_and_logs():
    run_flow(step("a", template="t"), step("b", ["a"], template="u"), step("c", ["b"], template="t"),
             templates=[template("t", "echo fine"), template("u", "echo broken; exit 3")], code=1)
    page = report_of()
    check_in("summary", "Failed", page.text)
    check_in("counts", "1 of 3 steps completed, 1 failed, 1 not run", page.text)
    check_equal("headings", [h for h in ("Graph", "Timeline", "Steps", "Attempts", "Logs") if h not in page.text], [])
    check_equal("steps", [(row[0], row[1], row[3]) for row in page.rows["steps"][1:]],
                [("a", "Completed", "1"), ("b", "Failed", "1"), ("c", "Not run", "0")])
    check_equal("why", [row[4] for row in page.rows["steps"][2:]], ["exit code 3", "not run: b before it is Failed"])
    check_equal("attempts", [(row[0], row[1], row[2], row[9]) for row in page.rows["attempts"][1:]],
                [("a", "1", "Completed", '{"main":[0]}'), ("b", "1", "Failed", '{"main":[3]}')])
    check_equal("logs of what failed", page.logs, {"f-b-main-0/c": "broken\n"})
    check_equal("all logs", report_of("--logs", "all").logs, {"f-a-main-0/c": "fine\n", "f-b-main-0/c": "broken\n"})
    check_equal("no logs", report_of("--logs", "none").logs, {})
    check("prefers-color-scheme:dark" in page.styles[0], "light and dark")


def log_bytes_are_nothing_but_text():
    printed = "printf '%%s\\033[31m\\377\\000\\342\\200\\256\\n' '%s'; exit 1" % MARKUP
    run_flow(dict(step("l", template="t"), **{"for": {"items": [MARKUP, "x"]}}), templates=[template("t", printed)], code=1)
    page = report_of()
    check_equal("logs", set(page.logs.values()), {MARKUP + "[U+001B][31m\ufffd[U+0000][U+202E]\n"})


def the_pods_of_a_bounded_number_of_steps_are_read():
    pods = [{"name": "w", "replicas": 1, "template": {"metadata": {"annotations": {"sim.jobflow.dev/exit-code": "3"}}, "spec": {
        "restartPolicy": "Never", "containers": [{"name": "c", "image": "none"}]}}}]
    manifest("f.yaml", flow("f", [step("s%d" % i, template="t") for i in range(600)], failurePolicy="continue"), template("t", tasks=pods))
    jobflow("run", "--runtime", "sim", "--data-dir", "d", "-o", "quiet", "f.yaml", code=1)
    page = report_of("--data-dir", "d")
    whys = [row[4] for row in page.rows["steps"][1:]]
    check_equal("why", ([why for why in whys if why == "exit code 3"], len(whys)), (["exit code 3"] * 500, 600))


def of_a_crowded_namespace_it_has_only_what_belongs_to_the_flow():
    manifest("many.yaml", flow("e", [step("s%d" % i, template="t") for i in range(600)]), template("t", "true"))
    jobflow("run", "--runtime", "sim", "--data-dir", "d", "-o", "quiet", "many.yaml")
    manifest("f.yaml", flow("f", [step("a", template="t"), step("b", ["a"], template="t")]), template("t", "true"))
    jobflow("run", "--runtime", "sim", "--data-dir", "d", "-o", "quiet", "f.yaml")
    data = report_of("--data-dir", "d").data["flows"][0]
    check_equal("jobs, behind the first page of the list", [job["metadata"]["name"] for job in data["jobs"]], ["f-a", "f-b"])
    check_equal("their specs", [task["name"] for job in data["jobs"] for task in job["spec"]["tasks"]], ["main"] * 2)
    check_equal("pods", [pod["metadata"]["name"] for pod in data["pods"]], ["f-a-main-0", "f-b-main-0"])
    about = {event["involvedObject"]["name"] for event in data["events"]}
    check_equal("events of others", {name for name in about if name != "f" and not name.startswith("f-")}, set())
    check("f" in about, "events of the flow: %s" % sorted(about))
    check_equal("what is left out", data["leftOut"], [])


# covers: web.md WEB-208
def without_specs_no_value_of_a_parameter_is_there():
    run_flow(step("off", template="t", **{"if": {"terms": [{"parameter": {"name": "p", "operator": "In", "values": ["wanted"]}}]}}),
             dict(step("loop", template="t"), **{"for": {"items": ["$(params.p)"]}}),
             templates=[template("t", "true")], parameters=[{"name": "p", "value": "hidden"}])
    shown = report_of()
    check_equal("with specs", [row[4] for row in shown.rows["steps"][1:2]], ["its condition (if) was false: parameter p hidden = wanted is false"])
    page = report_of("--no-spec")
    check_equal("why", [row[4] for row in page.rows["steps"][1:2]], ["its condition (if) was false"])
    for word in ("hidden", "wanted"):
        check(word not in page.text and word not in json.dumps(page.data), word)


def of_a_long_log_the_end_is_there():
    run_flow(step("a", template="t"), templates=[template("t", "i=0; while [ $i -lt 5000 ]; do echo line $i; i=$((i+1)); done; exit 1")], code=1)
    page = report_of("--tail", "1Ki")
    (name, log), = page.logs.items()
    check_in("it says so", "earlier lines are left out", name)
    check(len(log) <= 1024 and log.startswith("line ") and log.endswith("line 4999\n"), "the end, in whole lines: %r" % log[:40])


def everything_in(page):
    """All that a report says, as one text."""
    return page.text + json.dumps(page.data)


# covers: web.md WEB-208
def secrets_and_specs_that_are_not_wanted_are_not_in_it():
    hidden, shown = "hunter2-is-hidden", "told-by-its-spec"
    secret = template("t", "exit 3 # " + shown)
    secret["spec"]["tasks"][0]["template"]["spec"]["containers"][0]["env"] = [
        {"name": "FROM_SECRET", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}, {"name": "FROM_MAP", "valueFrom": {"configMapKeyRef": {"name": "m", "key": "k"}}},
        {"name": "PLAIN", "value": "plain-value"}]
    run_flow(step("a", template="t"), code=1, parameters=[{"name": "p", "value": "parameter-value"}],
             templates=[secret, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"k": hidden}},
                        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"k": hidden}}])
    said = everything_in(report_of())
    check(hidden not in said and base64.b64encode(hidden.encode()).decode() not in said, "values of Secrets and ConfigMaps are not in a report")
    for wanted in (shown, "plain-value", "parameter-value"):
        check_in("spec", wanted, said)
    page = report_of("--no-spec")
    for unwanted in (shown, "plain-value", "parameter-value", "secretKeyRef"):
        check(unwanted not in everything_in(page), "--no-spec leaves out " + unwanted)
    check_equal("it says so", page.data["flows"][0]["leftOut"], ["Specs: commands, arguments, environment and parameters."])


# covers: web.md WEB-204
def several_flows_and_the_form_of_graph():
    manifest("f.yaml", flow("f", [step("a", template="t")]), flow("g", [step("b", template="t")]), template("t", "echo fine"))
    jobflow("run", "-o", "quiet", "f.yaml")
    jobflow("report", "jf/f", "jf/g", "-o", "both.html", "--logs", "all")
    page = Page(read("both.html"))
    check_equal("flows", [(f["ns"], f["name"], len(f["logs"])) for f in page.data["flows"]], [("default", "f", 1), ("default", "g", 1)])
    check_equal("their tables", sorted(page.rows), ["attempts", "attempts-2", "steps", "steps-2"])
    page = Page(jobflow("graph", "jf/f", "jf/g", "-o", "html").stdout)
    check_equal("without logs", [len(f["logs"]) for f in page.data["flows"]], [0, 0])
    check_in("a file is not stored", "stored flows", jobflow("graph", "f.yaml", "-o", "html", code=2).stderr)


# covers: web.md WEB-207
def the_same_flow_gives_the_same_bytes():
    run_flow(step("a", template="t"), templates=[template("t", "true")])
    pages = []
    for name in ("1.html", "2.html"):
        jobflow("report", "jf/f", "-o", name, env={"SOURCE_DATE_EPOCH": "1000000000"})
        pages.append(read(name))
    check_equal("bytes", pages[0], pages[1])
    check_in("time", "2001-09-09T01:46:40Z", pages[0])
    version = jobflow("version").stdout.split()[1].split("+")[0]
    check_in("version", "jobflow %s and does not follow the flow" % version, pages[0])
    revision = json.loads(jobflow("get", "jf/f", "-o", "json").stdout)["metadata"]["resourceVersion"]
    check_in("revision", "Revision %s." % revision, pages[0])


def a_flow_that_runs_can_be_reported():
    manifest("f.yaml", flow("f", [step("a", template="t"), step("b", ["a"], template="t")]),
             template("t", "echo begun; while [ ! -e %s/go ]; do sleep 0.02; done" % os.getcwd()))
    run = Background("run", "f.yaml")
    wait_until("a runs", lambda: '"state": "Running"' in jobflow("graph", "jf/f", "-o", "json", code=None).stdout)
    page = report_of()
    check_equal("steps", [row[1] for row in page.rows["steps"][1:]], ["Running", "Waiting"])
    write("go", "")
    check_equal("the run ends", run.wait(), 0)


def a_daemon_answers_by_its_socket_and_by_tls():
    daemon = Daemon()
    manifest("f.yaml", flow("f", [step("a", template="t")]), template("t", "echo broken; exit 3"))
    jobflow("apply", "--data-dir", "d", "f.yaml")
    jobflow("wait", "--data-dir", "d", "jf/f", code=1)
    for place in (["--data-dir", "d"], ["--kubeconfig", daemon.kubeconfig]):
        page = report_of(*place)
        check_equal("steps", [row[1] for row in page.rows["steps"][1:]], ["Failed"])
        check_equal("logs", page.logs, {"f-a-main-0/c": "broken\n"})
    check_equal("the daemon ends", daemon.stop(), 0)


def mistakes_are_named_with_the_way_out():
    run_flow(step("a", template="t"), templates=[template("t", "true")])
    check_in("why", "-o FILE says where", jobflow("report", "jf/f", code=2).stderr)
    check_in("why", "stored flows: jf/NAME", jobflow("report", "f.yaml", "-o", "x.html", code=2).stderr)
    check_in("why", "none", jobflow("report", "jf/none", "-o", "x.html", code=1).stderr)
    check_in("why", "between 1 and 8Mi", jobflow("report", "jf/f", "-o", "x.html", "--tail", "1Gi", code=2).stderr)
    check_in("why", "missing/", jobflow("report", "jf/f", "-o", "missing/x.html", code=1).stderr)
    check(not os.path.exists("x.html"), "nothing is written")
    full = jobflow("report", "jf/f", "-o", "-", code=1, prefix=("sh", "-c", 'exec "$@" > /dev/full', "sh"))
    check_in("a disk without room", "cannot write the output: No space left on device", full.stderr)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
