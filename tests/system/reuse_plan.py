"""`plan` and `cache why FILE STEP` tell before a run which steps it reuses, and why the others run.

# covers: everyday.md EVD-133 EVD-134
"""
import json
import os
import random
import re
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403
from lib_reuse import *  # noqa: E402,F403

EDITS = int(os.environ.get("JOBFLOW_EDITS", "200"))


def planned(*flags, file="f.yaml"):
    """What the plan says of each step."""
    plan = json.loads(jobflow("plan", "-o", "json", *flags, file).stdout)
    return {step["name"]: step.get("then") for step in plan["flows"][0]["steps"]}


def EVD_133__the_plan_names_what_is_reused_and_why_the_rest_runs():
    project()
    never = "runs: it has never been recorded"
    check_equal("before the first run", planned(), {"prepare": never, "train": never})
    check(not os.path.exists(".jobflow"), "a plan writes nothing")
    ran()
    for then in planned().values():
        check(re.fullmatch("reused, made 20[0-9-]+ [0-9:]{5}", then), then)
    write("train.sh", "wc -c < clean.csv\n")
    check_equal("train", planned()["train"], "runs: train.sh changed")
    write("raw/a.csv", "2\n")
    check_equal("prepare", planned(), {"prepare": "runs: raw/a.csv changed", "train": "runs unless prepare writes the same"})
    table = [line.split("  ") for line in jobflow("plan", "f.yaml").stdout.splitlines() if "train" in line]
    check_equal("the table has a column", table[0][-1].strip(), "runs unless prepare writes the same")
    check_equal("as it said", ran(), "prepare train")
    manifest("f.yaml", pipeline(cache=None))
    check_equal("nobody asks", planned(), {"prepare": None, "train": None})
    planned("--only-changed")
    check_in("choose", "choose one", jobflow("plan", "--only-changed", "--from", "train", "f.yaml", code=2).stderr)


def of_loops_conditions_and_steps_without_paths():
    os.mkdir("p")
    os.chdir("p")

    def make(items, text):
        manifest("f.yaml", flow("f", [cached("loop", "echo $VC_FLOW_ITEM", **{"for": {"items": items}}), cached("a", text), cached("b", "true", ["a"]),
                                      cached("c", "true", ["b"], cache=None), cached("d", "true", ["c"])]))
    make(["x", "y", "z"], "true")
    ran()
    then = planned()
    check_equal("loop", then["loop"], "reused, 3 iterations")
    check_equal("without cache", (then["c"], then["d"]), ("runs", "runs: c runs"))
    make(["x", "y", "w"], "echo other")
    then = planned()
    check_equal("one item", then["loop"], "1 of 3 iterations: runs: value of VC_FLOW_ITEM changed")
    check_equal("without paths", (then["a"], then["b"]), ("runs: command changed", "runs: a runs"))


def EVD_134__why_of_a_file_names_what_did_not_matter():
    project()
    ran()
    os.utime("clean.csv", (2e9, 2e9))
    write("train.sh", "wc -c < clean.csv\n")
    lines = jobflow("cache", "why", "f.yaml", "train").stdout.splitlines()
    check_equal("verdict", lines[:2], ["train: runs: train.sh changed", "because of:"])
    check(re.match(r"  train\.sh \(named by its command\) +changed: [0-9a-f]{6}… -> [0-9a-f]{6}…$", lines[2]), lines[2])
    check_equal("what did not matter", [re.split("   +", line.strip()) for line in lines[3:]],
                [["not because of:"], ["clean.csv (reads)", "same content, newer date"], ["model.bin (writes)", "same content"],
                 ["prepare (target)", "same result"], ["resources, labels, queue", "do not count"]])
    check_in("nothing is started", "prepare: reused, made 20", jobflow("cache", "why", "f.yaml", "prepare").stdout)
    check_in("no such step", 'f.yaml has no step "x"', jobflow("cache", "why", "f.yaml", "x", code=1).stderr)
    os.remove("model.bin")
    check_in("gone", "train: runs: train.sh changed", jobflow("cache", "why", "f.yaml", "train").stdout)


def edit(pick):
    """One random edit of the project."""
    what = pick.randrange(8)
    if what < 3:
        write("in%d" % pick.randrange(3), "%d\n" % pick.randrange(3))
    elif what < 5:
        write("s%d.sh" % pick.randrange(3), "%s\n" % pick.choice(("cat", "sort", "rev", "wc -c")))
    elif what == 5:
        name = "out%d" % pick.randrange(4)
        if os.path.exists(name):
            os.remove(name)
    elif what == 6:
        write("out%d" % pick.randrange(4), "edited\n")
    else:
        os.utime("in%d" % pick.randrange(3))


def EVD_133__what_the_plan_says_is_what_happens():
    seed = int(os.environ.get("JOBFLOW_SEED", "0")) or random.SystemRandom().randrange(1 << 32)
    pick = random.Random(seed)
    print("    seed %d" % seed)
    os.mkdir("p")
    os.chdir("p")
    for i in range(3):
        write("in%d" % i, "%d\n" % i)
        write("s%d.sh" % i, "cat\n")
    steps = [cached("a", "sh s0.sh < in0 > out0", reads=["in0"], writes=["out0"]),
             cached("b", "sh s1.sh < out0 > out1", ["a"], reads=["out0", "in1"], writes=["out1"]),
             cached("c", "sh s2.sh < in2 > out2", writes=["out2"]),
             cached("d", "cat out1 out2 > out3", ["b", "c"], writes=["out3"]),
             cached("e", "cat out3", ["d"]), cached("f", "true", ["e"])]
    manifest("f.yaml", flow("f", steps))
    ran()
    for turn in range(EDITS):
        for _ in range(pick.choice((0, 1, 1, 2))):
            edit(pick)
        then, done = planned(), ran().split()
        for name, said in then.items():
            what = "seed %d, turn %d: %s %r" % (seed, turn, name, said)
            if said.startswith("reused"):
                check(name not in done, what + " and ran")
            elif " unless " not in said:
                check(name in done, what + " and was reused")
            else:
                check("runs unless" in said, what)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
