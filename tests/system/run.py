"""`jobflow run` as scripts use it: exit codes, sources of manifests, limits, data directories, resuming, signals.

# covers: reliability.md P-08 P-10 INV-N3
"""
import json
import os
import signal
import stat
import subprocess
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names

QUICK = [flow("f", [step("a"), step("b", ["a"])]), template("a", "echo a >> ran"), template("b", "echo b >> ran")]


def steps_of(run):
    """Returns {step: phase} of a run with -o json."""
    return {line["step"]: line["phase"] for line in map(json.loads, run.stdout.splitlines()) if line["type"] == "step"}


def the_exit_code_is_zero_when_every_flow_succeeds():
    manifest("f.yaml", *QUICK)
    run = jobflow("run", "f.yaml", code=0)
    check_equal("what ran", read("ran"), "a\nb\n")
    check_equal("stderr", run.stderr, "")
    check_in("stdout", "f Succeed in", run.stdout)
    nothing_left()


def the_exit_code_is_one_when_a_step_fails():
    manifest("f.yaml", flow("f", [step("a"), step("b", ["a"])]), template("a", "echo before; exit 3"), template("b", "echo b >> ran"))
    run = jobflow("run", "f.yaml", code=1)
    check_equal("a dependent of a failed step", read("ran"), "")
    for part in ("exit code 3", "before", "f Failed in", "jobflow describe jf/f", "jobflow logs job/f-a"):
        check_in("stdout", part, run.stdout)
    nothing_left()


def the_exit_code_is_one_when_a_job_without_a_flow_fails():
    manifest("j.yaml", {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "j"},
                        "spec": {"tasks": [task("main", "exit 9")]}})
    run = jobflow("run", "j.yaml", code=1)
    check_in("stdout", "exit code 9", run.stdout)
    nothing_left()


def the_exit_code_is_one_when_one_of_two_flows_fails():
    manifest("f.yaml", flow("good", [step("a")]), flow("bad", [step("b")]), template("a"), template("b", "exit 1"))
    run = jobflow("run", "f.yaml", code=1)
    for part in ("good Succeed", "bad Failed"):
        check_in("stdout", part, run.stdout)


def the_exit_code_is_two_when_refused_and_nothing_is_left():
    manifest("f.yaml", flow("f", [step("a", template="missing")]))
    jobflow("run", "f.yaml", code=2)
    check(not os.path.exists(".jobflow"), "a data directory was made")


def the_exit_code_is_two_for_wrong_command_lines():
    for args in (["run"], ["run", "--nonsense", "f.yaml"], ["run", "-o", "fancy", "f.yaml"], ["run", "-j", "0", "f.yaml"],
                 ["run", "-j", "many", "f.yaml"], ["run", "--timeout", "soon", "f.yaml"], ["rum", "f.yaml"], []):
        run = jobflow(*args, code=2)
        check_equal("stdout of %s" % args, run.stdout, "")
        check(run.stderr, "no word about %s" % args)
    check_in("a near miss", 'did you mean "run"', jobflow("rum", code=2).stderr)


def the_exit_code_is_four_after_a_timeout():
    def given(seconds):
        manifest("f.yaml", flow("f", [step("a"), step("b", ["a"])]), template("a", "touch begun; sleep 6000"), template("b"))
        run = jobflow("run", "--timeout", "%dms" % (300 * seconds), "f.yaml", code=4)
        check_in("stdout", "timed out", run.stdout)
        if os.path.exists("begun"):
            check_in("stdout", "Stopped", run.stdout)
        nothing_left()
        return os.path.exists("begun")
    with_more_time(given)


def a_timeout_that_is_not_reached_changes_nothing():
    manifest("f.yaml", *QUICK)
    jobflow("run", "--timeout", "1h", "f.yaml", code=0)


def manifests_are_read_from_standard_input():
    text = read(manifest("f.yaml", *QUICK)).encode()
    jobflow("run", "-", stdin=text, code=0)
    check_equal("what ran", read("ran"), "a\nb\n")


def manifests_are_read_from_a_directory_and_several_files():
    os.mkdir("manifests")
    manifest("manifests/1.yaml", QUICK[0])
    manifest("manifests/2.json", QUICK[1])
    manifest("manifests/.hidden.yaml", {"broken": True})
    write("manifests/README.md", "not a manifest\n")
    manifest("more.yml", QUICK[2])
    jobflow("run", "manifests", "more.yml", code=0)
    check_equal("what ran", read("ran"), "a\nb\n")


def manifests_are_read_from_a_named_pipe():
    manifest("f.yaml", *QUICK)
    run = subprocess.run(["bash", "-c", '"$JOBFLOW" run <(cat f.yaml)'], capture_output=True, timeout=DEADLINE, check=False)
    check_equal("exit code", run.returncode, 0)
    check_equal("what ran", read("ran"), "a\nb\n")


def a_list_is_taken_apart():
    manifest("l.yaml", {"apiVersion": "v1", "kind": "List", "items": QUICK})
    jobflow("run", "l.yaml", code=0)
    check_equal("what ran", read("ran"), "a\nb\n")


def paths_may_have_spaces_and_any_letters():
    path = fresh_dir("mit Leerzeichen, 'quotes' und ünïcode")
    manifest("my flow.yaml", *QUICK)
    jobflow("run", "--data-dir", "my data", "my flow.yaml", code=0)
    check_equal("what ran", read("ran"), "a\nb\n")
    check(os.path.isdir(os.path.join(path, "my data")), "no data directory")
    nothing_left()


def a_relative_data_directory_holds_in_any_working_directory():
    manifest("f.yaml", *QUICK)
    os.makedirs("deep/er")
    jobflow("run", "--data-dir", "../../there", "../../f.yaml", cwd="deep/er", code=0)
    check(os.path.isdir("there"), "no data directory where the flag said")
    check_equal("pods start where jobflow was started", read("deep/er/ran"), "a\nb\n")


def programs_get_an_environment_of_their_own():
    manifest("f.yaml", flow("f", [step("a")]), template("a", 'env > env'))
    jobflow("run", "f.yaml", env={"SOME_SETTING": "of the shell"}, code=0)
    names = {line.split("=")[0] for line in read("env").splitlines()}
    check("PATH" in names and "HOME" in names, "no usual environment: %s" % names)
    check("SOME_SETTING" not in names, "the environment of jobflow leaks into its pods")


def a_namespace_needs_no_manifest():
    manifest("f.yaml", *QUICK)
    jobflow("validate", "-n", "mine", "f.yaml", code=0)
    out = jobflow("run", "-n", "mine", "f.yaml", code=0).stdout
    check_in("stdout", "f Succeed", out)
    check_in("get", "Succeed", jobflow("get", "jf", "-n", "mine").stdout)
    jobflow("run", "-n", "mine", "f.yaml", code=0)
    check_equal("what ran", read("ran"), "a\nb\na\nb\n")


def no_more_pods_run_at_once_than_allowed():
    counted = """n=$(mktemp -p live); set -- live/*; echo $# >> counts; sleep 0.02; rm $n"""
    steps = [step("s%d" % i, template="s") for i in range(30)]
    for limit in (1, 3):
        fresh_dir("limit")
        os.mkdir("live")
        manifest("f.yaml", flow("f", steps), template("s", counted))
        jobflow("run", "-o", "quiet", "-j", limit, "f.yaml", code=0)
        counts = [int(n) for n in read("counts").split()]
        check_equal("programs", len(counts), 30)
        check(max(counts) <= limit, "%d at once with -j %d" % (max(counts), limit))


def a_gang_counts_each_of_its_pods():
    counted = """n=$(mktemp -p live); set -- live/*; echo $# >> counts; sleep 0.02; rm $n"""
    os.mkdir("live")
    manifest("f.yaml", flow("f", [step("s%d" % i, template="s") for i in range(6)]),
             template("s", tasks=[task("main", counted, replicas=3)]))
    jobflow("run", "-o", "quiet", "-j", 4, "f.yaml", code=0)
    counts = [int(n) for n in read("counts").split()]
    check_equal("programs", len(counts), 18)
    check(max(counts) <= 4, "%d at once with -j 4" % max(counts))


def a_gang_larger_than_allowed_is_refused():
    manifest("f.yaml", flow("f", [step("s")]), template("s", tasks=[task("main", "true", replicas=5)], minAvailable=5))
    run = jobflow("run", "-j", 4, "f.yaml", code=2)
    for part in ("f.yaml:10: spec.flows[0].name", "5 pods", "-j 4", "-j 5"):
        check_in("stderr", part, run.stderr)
    manifest("f.yaml", flow("f", [step("s", patch={"spec": {"tasks": [{"name": "main", "replicas": 6}]}})]), template("s"))
    check_in("patched", "f.yaml:11: spec.flows[0].patch: ", jobflow("run", "-j", 4, "f.yaml", code=2).stderr)
    manifest("j.yaml", {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "j"},
                        "spec": {"minAvailable": 7, "tasks": [task("main", "true", replicas=7)]}})
    check_in("a job", "j.yaml:8: spec.minAvailable: 7 pods", jobflow("run", "-j", 4, "j.yaml", code=2).stderr)
    check(not os.path.exists(".jobflow"), "a data directory was made")


def tasks_that_wait_for_others_need_no_place_beside_them():
    body = template("s", tasks=[task("first", "echo first >> ran", replicas=2), task("second", "echo second >> ran")], minAvailable=3)
    body["spec"]["tasks"][1]["dependsOn"] = {"name": ["first"]}
    manifest("f.yaml", flow("f", [step("s")]), body)
    jobflow("run", "-j", 2, "f.yaml", code=0)
    check_equal("what ran", read("ran"), "first\nfirst\nsecond\n")


def a_request_that_never_fits_says_so_while_it_waits():
    pod = task("main", "true")
    pod["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "100"}}
    manifest("f.yaml", flow("f", [step("s")]), template("s", tasks=[pod]))
    refused = jobflow("run", "f.yaml", code=2).stderr
    for part in ("can never fit this machine: needs 100 cpu", "--wait-for-resources"):
        check_in("without the flag", part, refused)
    check(not os.path.exists(".jobflow"), "a data directory was made")
    run = Background("run", "--wait-for-resources", "f.yaml")
    wait_until("the reason is told", lambda: "s  Pending" in run.output() and "needs 100 cpu" in run.output())
    run.signal(signal.SIGINT)
    check_equal("exit code", run.wait(), 130)


def a_data_directory_that_cannot_be_written_is_refused():
    manifest("f.yaml", *QUICK)
    write("file", "")
    run = jobflow("run", "--data-dir", "file/inside", "f.yaml", code=3)
    for part in ("error: ", "file/inside", "--data-dir"):
        check_in("stderr", part, run.stderr)
    check_equal("what ran", read("ran"), "")


def a_data_directory_without_rights_is_refused():
    if os.geteuid() == 0:
        raise Skip("root may write anywhere")
    manifest("f.yaml", *QUICK)
    os.mkdir("locked", stat.S_IRUSR | stat.S_IXUSR)
    run = jobflow("run", "--data-dir", "locked", "f.yaml", code=3)
    check_in("stderr", "locked", run.stderr)


def a_second_run_on_one_data_directory_is_told_which_process_is_there():
    manifest("f.yaml", flow("f", [step("a")]), template("a", "touch started; while [ ! -e go ]; do sleep 0.01; done"))
    first = Background("run", "f.yaml")
    wait_until("the first run is at work", lambda: os.path.exists("started"))
    second = jobflow("run", "f.yaml", code=2)
    check_in("stderr", "%d" % first.pid, second.stderr)
    check_in("stderr", "--data-dir", second.stderr)
    write("go", "")
    check_equal("the first run", first.wait(), 0)
    nothing_left()


def after_success_everything_runs_again():
    manifest("f.yaml", *QUICK)
    jobflow("run", "f.yaml", code=0)
    jobflow("run", "f.yaml", code=0)
    check_equal("what ran", read("ran"), "a\nb\na\nb\n")
    nothing_left()


def after_failure_everything_runs_again_from_the_start():
    manifest("f.yaml", flow("f", [step("a"), step("b", ["a"])]), template("a", "echo a >> ran"), template("b", "echo b >> ran; test -e good"))
    jobflow("run", "f.yaml", code=1)
    write("good", "")
    jobflow("run", "f.yaml", code=0)
    check_equal("what ran", read("ran"), "a\nb\na\nb\n")


def an_edited_flow_that_is_over_runs_as_edited():
    manifest("f.yaml", *QUICK)
    jobflow("run", "f.yaml", code=0)
    manifest("f.yaml", flow("f", [step("b")]), template("b", "echo other >> ran"))
    jobflow("run", "f.yaml", code=0)
    check_equal("what ran", read("ran"), "a\nb\nother\n")


GATED = [flow("f", [step("a"), step("b", ["a"]), step("c", ["b"])]), template("a", "echo a >> ran"),
         template("b", "echo b >> ran; touch at-b; while [ ! -e go ]; do sleep 0.01; done; echo b-end >> ran"),
         template("c", "echo c >> ran")]


def interrupted_at_b(number=signal.SIGINT):
    manifest("f.yaml", *GATED)
    run = Background("run", "f.yaml")
    wait_until("step b is at work", lambda: os.path.exists("at-b"))
    run.signal(number)
    return run


def an_interrupt_stops_the_pods_and_the_next_run_goes_on():
    run = interrupted_at_b()
    check_equal("exit code", run.wait(), 130)
    nothing_left()
    check_in("stdout", "interrupted", run.output())
    check_in("stdout", "Stopped", run.output())
    write("go", "")
    again = jobflow("run", "f.yaml", code=0)
    check_in("stdout", "resuming f: 1 of 3 steps", again.stdout)
    check_equal("what ran", read("ran"), "a\nb\nb\nb-end\nc\n")
    nothing_left()


def a_signal_before_anything_has_begun_ends_with_its_code():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        fresh_dir("early")
        os.mkfifo("f.yaml")
        run = Background("run", "f.yaml")
        with open("f.yaml", "w"):  # opens once the run reads its manifest, and holds it there
            run.signal(number)
            check_equal("exit code", run.wait(), 130)
        check_equal("what it said", run.output() + run.errors(), "")


def a_run_under_nohup_outlives_its_terminal():
    manifest("f.yaml", flow("f", [step("a")]), template("a", "touch began; while [ ! -e go ]; do sleep 0.02; done"))
    run = Background("run", "f.yaml", "-o", "plain", prefix=["nohup"])
    wait_until("a runs", lambda: os.path.exists("began"))
    run.signal(signal.SIGHUP)
    check_equal("it answers", jobflow("get", "jf", "-o", "name").stdout, "jobflow.flow.volcano.sh/f\n")
    write("go", "")
    check_equal("exit code", run.wait(), 0)


def sigterm_is_an_interrupt_too():
    run = interrupted_at_b(signal.SIGTERM)
    check_equal("exit code", run.wait(), 130)
    nothing_left()


def fresh_forgets_what_was_interrupted():
    run = interrupted_at_b()
    run.wait()
    write("go", "")
    jobflow("run", "--fresh", "f.yaml", code=0)
    check_equal("what ran", read("ran"), "a\nb\na\nb\nb-end\nc\n")
    nothing_left()


def an_edited_flow_is_not_taken_up_silently():
    run = interrupted_at_b()
    run.wait()
    manifest("f.yaml", flow("f", [step("a"), step("c", ["a"])]), *GATED[1:])
    again = jobflow("run", "f.yaml", code=2)
    for part in ("f.yaml:", "--fresh"):
        check_in("stderr", part, again.stderr)
    check_equal("what ran", read("ran"), "a\nb\n")
    jobflow("run", "--fresh", "f.yaml", code=0)


def nightly(*steps):
    """A manifest whose flow gets a name in each run; the step b waits for the file `go`."""
    flow_doc = flow("", list(steps))
    flow_doc["metadata"] = {"generateName": "night-"}
    return manifest("f.yaml", flow_doc, *GATED[1:])


def flows():
    return jobflow("get", "jf", "-o", "name").stdout.split()


def a_flow_with_a_generated_name_is_taken_up_and_no_second_one_starts():
    nightly(step("a"), step("b", ["a"]), step("c", ["b"]))
    run = Background("run", "f.yaml")
    wait_until("step b is at work", lambda: os.path.exists("at-b"))
    run.signal(signal.SIGINT)
    check_equal("exit code", run.wait(), 130)
    first = flows()
    check_equal("flows", len(first), 1)
    write("go", "")
    again = jobflow("run", "f.yaml", code=0)
    check_in("stdout", "resuming %s: 1 of 3 steps completed before\n" % first[0].split("/")[1], again.stdout)
    check_equal("no other flow", flows(), first)
    check_equal("what ran", read("ran"), "a\nb\nb\nb-end\nc\n")
    jobflow("run", "f.yaml", code=0)
    check_equal("what is over runs anew", len(flows()), 2)
    nothing_left()


def a_flow_with_a_generated_name_whose_file_changed_goes_on_beside_a_new_one():
    nightly(step("a"), step("b", ["a"]), step("c", ["b"]))
    run = Background("run", "f.yaml")
    wait_until("step b is at work", lambda: os.path.exists("at-b"))
    run.signal(signal.SIGINT)
    check_equal("exit code", run.wait(), 130)
    write("go", "")
    nightly(step("a"), step("c", ["a"]))
    again = jobflow("run", "f.yaml", code=0)
    check_in("stdout", "goes on beside a new one, because its file has changed since", again.stdout)
    check_equal("flows", len(flows()), 2)
    check_equal("what ran", sorted(read("ran").split()), sorted(["a", "b", "b", "b-end", "c", "a", "c"]))
    nothing_left()


def a_failed_flow_with_a_generated_name_is_retried():
    flow_doc = flow("", [step("a")])
    flow_doc["metadata"] = {"generateName": "night-"}
    manifest("f.yaml", flow_doc, template("a", "cd %s; echo a >> ran; [ -e good ]" % os.getcwd()))
    jobflow("run", "f.yaml", code=1)
    first = flows()
    write("good", "")
    check_in("stdout", "retrying night-", jobflow("run", "--retry-failed", "f.yaml", code=0).stdout)
    check_equal("no other flow", flows(), first)
    check_in("stdout", "succeeded before", jobflow("run", "--retry-failed", "f.yaml", code=0).stdout)
    check_equal("what ran", read("ran"), "a\na\n")


def other_unfinished_flows_of_the_directory_are_taken_up_and_named():
    run = interrupted_at_b()
    run.wait()
    write("go", "")
    manifest("g.yaml", flow("g", [step("d")]), template("d", "echo d >> ran"))
    again = jobflow("run", "g.yaml", code=0)
    check_in("stdout", "resuming f: 1 of 3 steps completed before", again.stdout)
    check_in("stdout", "--fresh", again.stdout)
    for part in ("f Succeed", "g Succeed"):
        check_in("stdout", part, again.stdout)
    check_equal("what ran", sorted(read("ran").split()), sorted(["a", "b", "b", "b-end", "c", "d"]))
    nothing_left()


def fresh_forgets_other_unfinished_flows_too():
    interrupted_at_b().wait()
    manifest("g.yaml", flow("g", [step("d")]), template("d", "echo d >> ran"))
    again = jobflow("run", "--fresh", "g.yaml", code=0)
    check("f-" not in again.stdout and "flow f " not in again.stdout, "the forgotten flow is told of:\n" + again.stdout)
    check_equal("what ran", read("ran"), "a\nb\nd\n")
    nothing_left()


def a_template_is_what_its_file_says_also_after_an_edit():
    body = template("s", "exit 1", policies=[{"event": "PodFailed", "action": "RestartJob"}], maxRetry=2)
    manifest("f.yaml", flow("f", [step("s")]), body)
    check_in("with a policy", "restart 1", jobflow("run", "f.yaml", code=1).stdout)
    del body["spec"]["policies"]
    manifest("f.yaml", flow("f", [step("s")]), body)
    second = jobflow("run", "f.yaml", code=1)
    check("restart" not in second.stdout, "the policy taken out of the file still acts:\n" + second.stdout)


def a_simulation_leaves_the_real_records_alone():
    interrupted_at_b().wait()
    jobflow("run", "--runtime", "sim", "f.yaml", code=0)
    write("go", "")
    check_in("stdout", "resuming f: 1 of 3 steps", jobflow("run", "f.yaml", code=0).stdout)
    fresh_dir("empty")
    manifest("f.yaml", *QUICK)
    jobflow("run", "--runtime", "sim", "f.yaml", code=0)
    check(not os.path.exists(".jobflow"), "a simulation has left records")


def a_reader_that_goes_away_interrupts():
    manifest("f.yaml", *GATED)
    run = subprocess.Popen(command("run", "--logs", "f.yaml"), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    wait_until("step b is at work", lambda: os.path.exists("at-b"))
    run.stdout.close()
    write("go", "")
    check_equal("exit code", run.wait(DEADLINE), 130)
    nothing_left()


DEAF_TO_TERM = [flow("f", [step("a")]), template("a", "trap 'touch asked' TERM; touch started; while :; do sleep 0.01; done",
                                             tasks=[task("main", "trap 'touch asked' TERM; touch started; while :; do sleep 0.01; done",
                                                         terminationGracePeriodSeconds=6000)])]


def a_second_interrupt_kills_at_once():
    manifest("f.yaml", *DEAF_TO_TERM)
    run = Background("run", "f.yaml")
    wait_until("it has started", lambda: os.path.exists("started"))
    run.signal(signal.SIGINT)
    wait_until("the program was asked to end", lambda: os.path.exists("asked"))
    check(run.running(), "ended without waiting for the pod")
    run.signal(signal.SIGINT)
    check_equal("exit code", run.wait(), 130)
    nothing_left()


def a_grace_period_is_kept_and_then_ends():
    def kept(seconds):
        """Whether the program could handle SIGTERM before it was killed."""
        manifest("f.yaml", flow("f", [step("a")]), template("a", tasks=[task(
            "main", "trap 'touch asked' TERM; touch started; while :; do sleep 0.01; done", terminationGracePeriodSeconds=seconds)]))
        run = Background("run", "f.yaml")
        wait_until("it has started", lambda: os.path.exists("started"))
        run.signal(signal.SIGTERM)
        check_equal("exit code", run.wait(seconds + DEADLINE), 130)
        nothing_left()
        return os.path.exists("asked")
    with_more_time(kept)


# The job succeeds with its first task while the other is slow to end.
LINGERING = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "j"}, "spec": {
    "minSuccess": 1, "minAvailable": 1, "tasks": [
        task("quick", "until [ -e up ]; do sleep 0.02; done"),
        task("slow", "trap 'touch asked; until [ -e go ]; do sleep 0.02; done; touch gone; exit 0' TERM; touch up; while :; do sleep 0.02; done",
             terminationGracePeriodSeconds=6000)]}}


def lingering():
    manifest("j.yaml", LINGERING)
    run = Background("run", "-o", "plain", "j.yaml")
    wait_until("it is told to end", lambda: os.path.exists("asked"))
    wait_until("what is waited for is said", lambda: "waiting for the last 1 pod to end" in run.output())
    check_in("its job is over", "j  Completed", run.output())
    check(run.running(), "the run has left its pod behind")
    return run


def a_run_ends_after_its_last_pods():
    run = lingering()
    write("go", "")
    check_equal("exit code", run.wait(), 0)
    check(os.path.exists("gone"), "its end was waited for")
    told = jobflow("describe", "job/j").stdout
    check("Waits For" not in told and "MinSuccessReached" in told, told)
    nothing_left()


def an_interrupt_kills_the_last_pods_of_what_is_over():
    run = lingering()
    run.signal(signal.SIGINT)
    check_equal("exit code", run.wait(), 0)
    check(not os.path.exists("gone"), "it was killed")
    nothing_left()


def a_thousand_steps_are_simulated_in_a_moment():
    steps = [step("s%d" % i, ["s%d" % (i - 1)] if i % 10 else [], template="s") for i in range(1000)]
    body = template("s")
    body["spec"]["tasks"][0]["template"]["metadata"] = {"annotations": {"sim.jobflow.dev/duration": "5m"}}
    manifest("f.yaml", flow("f", steps), body)
    run = jobflow("run", "--runtime", "sim", "-o", "json", "f.yaml", code=0)
    phases = steps_of(run)
    check_equal("steps", len(phases), 1000)
    check_equal("phases", set(phases.values()), {"Completed"})


def a_simulation_with_a_failed_flow_fails():
    body = template("s")
    body["spec"]["tasks"][0]["template"]["metadata"] = {"annotations": {"sim.jobflow.dev/exit-code": "7"}}
    manifest("f.yaml", flow("f", [step("s")]), body)
    run = jobflow("run", "--runtime", "sim", "f.yaml", code=1)
    check_in("stdout", "exit code 7", run.stdout)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
