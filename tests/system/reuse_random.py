"""Random walks over reuse: edits, kills, and flows that do the same at once; and who may see what is remembered.

# covers: everyday.md EVD-123 EVD-140 EVD-143
"""
import os
import random
import subprocess
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403
import lib_serve  # noqa: E402
from lib_reuse import *  # noqa: E402,F403

SEED = int(os.environ.get("JOBFLOW_SEED", "0")) or random.SystemRandom().randrange(1 << 32)
WALKS = int(os.environ.get("JOBFLOW_WALKS", "2"))
TURNS = 12


def run_and_kill(pick, *flags):
    """A run that is killed after a random time, or not at all."""
    run = subprocess.Popen(command("run", "-o", "quiet", *flags, "f.yaml"), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        run.wait(pick.choice((0.02, 0.05, 0.1, DEADLINE)))
    except subprocess.TimeoutExpired:
        run.kill()
        run.wait()


def graph(pick):
    """Twelve steps: each reads up to two inputs and the results of up to two earlier steps. Returns the steps and their scripts."""
    steps, scripts = [], []
    for i in range(12):
        after = sorted(pick.sample(range(i), min(i, pick.randrange(3))))
        files = ["in%d" % pick.randrange(30) for _ in range(pick.randrange(1, 3))] + ["out%d" % a for a in after]
        script = "cat %s | sort | cksum > out%d" % (" ".join(files), i)
        rest = {"reads": files, "writes": ["out%d" % i]} if pick.randrange(2) else {}
        steps.append(step("s%d" % i, ["s%d" % a for a in after], run=script, cache={}, **rest))
        scripts.append(script)
    return steps, scripts


def wanted(scripts):
    """The results of a clean run from the same inputs."""
    os.mkdir("clean")
    for name in os.listdir("."):
        if name.startswith("in"):
            os.link(name, "clean/" + name)
    for script in scripts:
        subprocess.run(["/bin/sh", "-ec", script], cwd="clean", check=True)
    results = [read("clean/out%d" % i) for i in range(len(scripts))]
    subprocess.run(["rm", "-rf", "clean"], check=True)
    return results


def EVD_143__results_are_always_those_of_a_clean_run():
    print("    seed %d" % SEED)
    for walk in range(WALKS):
        pick = random.Random(SEED + walk)
        fresh_dir("walk")
        for i in range(30):
            write("in%d" % i, "%d\n" % i)
        steps, scripts = graph(pick)
        manifest("f.yaml", flow("f", steps))
        for turn in range(TURNS):
            for _ in range(pick.randrange(3)):
                write("in%d" % pick.randrange(30), "%d\n" % pick.randrange(4))
            if not pick.randrange(4):
                write("out%d" % pick.randrange(12), "spoilt\n")
            flags = pick.choice(((), (), ("--no-cache",), ("--only-changed",)))
            if not pick.randrange(3):
                run_and_kill(pick, *flags)
            jobflow("run", "-o", "quiet", *flags, "f.yaml")  # goes on after a kill, perhaps with what was read before the edit
            jobflow("run", "-o", "quiet", *flags, "f.yaml")
            check_equal("seed %d, turn %d" % (SEED + walk, turn), [read("out%d" % i) for i in range(12)], wanted(scripts))
    nothing_left()


def EVD_123__of_many_flows_of_one_key_one_job_runs_at_a_time():
    pick = random.Random(SEED)
    print("    seed %d" % SEED)
    write("n", "0")
    script = ("mkdir ../busy || echo overlap >> ../overlaps; n=$(cat ../n); echo $((n + 1)) > ../n; sleep 0.0$((n %% 3)); rmdir ../busy; "
              "test $n -ge %d && echo made > out" % pick.randrange(3, 9))
    os.mkdir("p")
    os.chdir("p")
    manifest("f.yaml", *[flow("f%d" % i, [step("s", run=script, writes=["out"], cache={})], failurePolicy="continue") for i in range(64)])
    done = jobflow("run", "-o", "quiet", "f.yaml", code=1)
    check(not os.path.exists("../overlaps"), "two jobs of one key ran at the same time: " + done.stderr)
    phases = jobflow("get", "jf", "-o", "jsonpath={.items[*].status.state.phase}").stdout.split()
    check_equal("all have ended", (len(phases), set(phases)), (64, {"Failed", "Succeed"}))
    check_equal("those that failed ran, and one that did not", int(read("../n")), phases.count("Failed") + 1)


def EVD_140__what_is_remembered_is_seen_by_those_of_its_namespace():
    daemon = lib_serve.Daemon()
    where = "/apis/jobflow.dev/v1/namespaces/default/cacheentries"

    def token(*words):
        return jobflow("token", "create", *words, "--data-dir", daemon.data_dir).stdout.strip()

    check_equal("a viewer", daemon.ask("GET", where, token=token("v", "--role", "viewer"))[0], 200)
    check_equal("a viewer elsewhere", daemon.ask("GET", where, token=token("w", "--role", "viewer", "-n", "elsewhere"))[0], 403)
    check_equal("an editor elsewhere", daemon.ask("DELETE", where + "/x", token=token("e", "--role", "editor", "-n", "elsewhere"))[0], 403)
    check_equal("a viewer deletes nothing", daemon.ask("DELETE", where + "/x", token=token("x", "--role", "viewer"))[0], 403)
    check_equal("an editor may", daemon.ask("DELETE", where + "/x", token=token("y", "--role", "editor"))[0], 404)
    daemon.stop()


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
