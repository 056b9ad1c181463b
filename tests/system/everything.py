"""One flow that uses every field at once: validated, drawn, run with real processes, killed half-way and resumed.

# covers: see jobflow.md 13: all of it together
"""
import json
import os
import signal
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "everything.yaml")
ENDS = {"large": "Skipped", "fails": "Failed", "gate": "Skipped"}  # all steps not listed here complete


def ends_as_it_should(name):
    got = json.loads(jobflow("get", "jf/" + name, "-o", "json").stdout)["status"]
    check_equal("phase", got["state"]["phase"], "Succeed")
    phases = {n["name"]: n["phase"] for n in got["nodes"] if "step" not in n}
    check_equal("steps", phases, {step: ENDS.get(step, "Completed") for step in phases})
    attempts = {n["name"]: [a["phase"] for a in n["attempts"]] for n in got["nodes"] if "attempts" in n}
    check_equal("the flaky one's attempts", attempts["flaky"], ["Failed", "Completed"])
    others = [step for step in attempts if step != "flaky" and len(attempts[step]) != 1]
    check_equal("nothing else ran twice", others, [])
    check_equal("the loop's last output", [n["outputs"] for n in got["nodes"] if n["name"] == "refine-2"], [{"loss": "0.1"}])
    logs = jobflow("logs", "jf/" + name).stdout
    check_in("what a patch said", "ap 2 rows 2", logs)
    check_in("what was put out", "each 2", logs)
    check_in("what the end said", "ended everything Succeed", logs)


def goes_there_and_back(kinds):
    """Printed objects are accepted again as input and applying them changes nothing."""
    before = {kind: jobflow("get", kind, "-o", "yaml").stdout for kind in kinds}
    write("back.yaml", before["jt"] + "---\n" + before["jf"])
    check_equal("valid", jobflow("validate", "back.yaml").stderr, "")
    told = jobflow("apply", "-f", "back.yaml").stdout.splitlines()
    check(len(told) == 5 and all(line.endswith(" unchanged") for line in told), "five objects, none changed: %s" % told)
    for kind, text in before.items():
        check_equal(kind, jobflow("get", kind, "-o", "yaml").stdout, text)


def the_flow_with_every_field_is_valid_and_drawn():
    check_equal("findings", jobflow("validate", "--strict", FILE).stderr, "")
    drawn = jobflow("graph", FILE, env={"LC_ALL": "C.UTF-8"}).stdout
    for part in ("for 3", "for 2", "for prepare.rows", "until", "always", "any of", "probe"):
        check_in("graph", part, drawn)
    jobflow("plan", FILE)


def the_flow_with_every_field_runs_to_its_end():
    jobflow("run", FILE)
    ends_as_it_should("everything")
    goes_there_and_back(("jf", "jt"))


def the_flow_with_every_field_continues_after_a_kill():
    for ended in (1, 3, 6):  # completed steps at each kill, those of earlier runs included
        run = Background("run", "-o", "plain", FILE, name="life%d" % ended)
        wait_until("steps end", lambda: run.output().count("  Completed") >= ended or not run.running())
        run.signal(signal.SIGKILL)
        run.wait()
    jobflow("run", FILE)
    ends_as_it_should("everything")
    nothing_left()


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
