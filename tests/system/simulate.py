"""`jobflow run --runtime sim`: it reports flows that can never continue, and rejects invalid annotations."""
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names


def sim(name, annotations=None, **spec):
    made = template(name, tasks=[task("main", "true", replicas=spec.pop("replicas", 1))], **spec)
    if annotations:
        made["spec"]["tasks"][0]["template"]["metadata"] = {"annotations": {"sim.jobflow.dev/" + k: v for k, v in annotations.items()}}
    return made


def simulate(*objects, code=0, flags=()):
    manifest("f.yaml", *objects)
    return jobflow("run", "--runtime", "sim", "f.yaml", *flags, code=code)


def a_simulation_that_cannot_go_on_says_what_waits_for_what():
    queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "small"},
             "spec": {"capability": {"cpu": "3"}}}
    large = sim("a", replicas=2, queue="small")
    large["spec"]["tasks"][0]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "2"}}
    done = simulate(flow("f", [step("a"), step("b", ["a"]), step("c", ["b"])]), large, sim("b"), sim("c"), queue, code=1,
                    flags=("--wait-for-resources",))
    for part in ('error: jobflow "f" can never go on', "  a is Pending: ", "queue small allows 3", "  2 more steps wait behind it"):
        check_in("stderr", part, done.stderr)
    check_in("stdout", "f stuck after", done.stdout)
    check("goes on from here" not in done.stdout, "promises to go on:\n" + done.stdout)


def a_simulation_that_goes_in_circles_is_ended():
    server = sim("a")
    server["spec"]["tasks"][0]["template"]["spec"]["restartPolicy"] = "Always"
    done = simulate(flow("f", [step("a"), step("b", ["a"])]), server, sim("b"), code=1)
    check_in("stderr", 'jobflow "f" can never go on', done.stderr)
    check_in("stderr", "  a is Running: ", done.stderr)


def a_job_that_cannot_continue_is_reported():
    job = dict(sim("j", replicas=2), kind="Job", apiVersion="batch.volcano.sh/v1alpha1")
    job["spec"]["queue"] = "closed"
    queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "closed"},
             "spec": {"capability": {"cpu": "1"}}}
    job["spec"]["tasks"][0]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "2"}}
    check_in("stderr", 'error: job "j" can never go on: it is Pending: ', simulate(job, queue, code=1, flags=("--wait-for-resources",)).stderr)


def a_timeout_comes_before_the_end_of_hope():
    server = sim("a", {"duration": "1000h"})
    check_equal("exit code", simulate(flow("f", [step("a")]), server, code=4, flags=("--timeout", "1h")).returncode, 4)


def what_a_simulation_leaves_has_ages():
    """A simulation of two hours stores times in the future of the wall clock. Ages are relative to the end of the simulation."""
    simulate(flow("f", [step("a"), step("b", ["a"])]), sim("a", {"duration": "1h"}), sim("b", {"duration": "1h"}), flags=("--data-dir", ".jobflow"))
    for kind, name in (("jf", "f"), ("vcjob", "f-a"), ("jt", "a")):
        check_in(kind, "120m", jobflow("get", kind, name).stdout)
    check_in("b", "60m", jobflow("get", "vcjob", "f-b").stdout)
    for command in (("describe", "jf/f"), ("describe", "job/f-b"), ("explain", "jf/f"), ("graph", "jf/f"), ("events",), ("get", "pods"),
                    ("vcctl", "jobflow", "list")):
        check("invalid" not in jobflow(*command).stdout, " ".join(command) + " says what is invalid")


def annotations_that_say_nothing_are_refused_with_their_line():
    done = simulate(flow("f", [step("a")]), sim("a", {"duration": "soon", "exit-code": "1,x"}), code=2)
    for part in ("metadata.annotations[sim.jobflow.dev/duration]: Invalid value: \"soon\"",
                 "metadata.annotations[sim.jobflow.dev/exit-code]: Invalid value: \"x\""):
        check_in("stderr", part, done.stderr)
    check(done.stderr.startswith("error: f.yaml:"), "no line:\n" + done.stderr)


def namespaces_without_a_manifest_are_made():
    first, made = flow("f", [step("a")]), sim("a")
    first["metadata"]["namespace"] = made["metadata"]["namespace"] = "team-a"
    check_in("stdout", "f Succeed", simulate(first, made).stdout)


def the_critical_path_goes_through_the_end_to_final_steps():
    steps = [step("short"), step("long"), step("after", ["short"], template="short"), step("bye", template="short", when="always")]
    out = simulate(flow("f", steps), sim("short", {"duration": "1m"}), sim("long", {"duration": "5m"})).stdout
    marked = [line.split()[1] for line in out[out.index("  STEP"):].splitlines() if line.startswith("* ")]
    check_equal("the path", marked, ["long", "bye"])
    check_in("in words", "Critical path (*): 2 steps, 6m", out)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
