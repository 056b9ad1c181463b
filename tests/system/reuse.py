"""Steps with cache are reused when their inputs, results and the results of their targets are as they were.

# covers: everyday.md EVD-099 EVD-100 EVD-101 EVD-102 EVD-107 EVD-108 EVD-109 EVD-110 EVD-111 EVD-113 EVD-114 EVD-115
# covers: everyday.md EVD-097 EVD-118 EVD-119 EVD-144 EVD-120 EVD-124 EVD-132 EVD-134 EVD-135 EVD-136 EVD-137 EVD-142
"""
import base64
import hashlib
import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403
from lib_reuse import *  # noqa: E402,F403

LIBRARY = os.environ.get("JOBFLOW_SYSCALLS", "")


def EVD_099__the_second_run_of_the_manifest_runs_nothing():
    project()
    check_equal("first", ran(), "prepare train")
    check_equal("second", ran(), "")
    for name in ("prepare", "train"):
        check_equal("phase", (node(name)["phase"], node(name)["reason"]), ("Completed", "Cached"))
        check_in("message", "reused: made by job f-%s on 20" % name, node(name)["message"])
    status = json.loads(jobflow("get", "jf/f", "-o", "json").stdout)["status"]
    check_equal("jobs", status["completedJobs"], ["f-prepare", "f-train"])
    check_equal("counts", (status["stepCounts"]["cached"], status["stepCounts"]["completed"]), (2, 2))
    check_equal("no job was made", jobflow("get", "vcjob", "-o", "name").stdout, "")
    check_equal("third", ran(), "")


def EVD_100__only_changed_needs_no_cache():
    project()
    manifest("f.yaml", pipeline(cache=None))
    check_equal("first", ran("--only-changed"), "prepare train")
    check_equal("second", ran("--only-changed"), "")
    write("prepare.sh", "cat raw/*.csv raw/*.csv > clean.csv\n")
    check_equal("prepare and train", ran("--only-changed"), "prepare train")
    check_equal("without the flag all run", ran(), "prepare train")


def EVD_101__content_decides_and_time_does_not():
    project()
    write("train.sh", "echo one\n")
    check_equal("first", ran(), "prepare train")
    write("train.sh", "echo two\n")
    check_equal("edited", ran(), "train")
    check_in("why", "ran because train.sh changed", node("train")["reuse"])
    os.utime("train.sh")
    check_equal("touched", ran(), "")
    before = os.stat("train.sh")
    write("../other", "echo thr\n")
    os.utime("../other", ns=(before.st_atime_ns, before.st_mtime_ns))
    shutil.copy2("../other", "train.sh")
    after = os.stat("train.sh")
    check_equal("size and time are as before", (after.st_size, after.st_mtime_ns), (before.st_size, before.st_mtime_ns))
    check_equal("other content", ran(), "train")


def EVD_102__what_is_changed_back_is_reused():
    project()
    write("train.sh", "echo same\n")
    ran()
    write("raw/a.csv", "2\n")
    check_equal("changed", ran(), "prepare train")
    write("raw/a.csv", "1\n")
    write("clean.csv", "1\n")
    check_equal("changed back", ran(), "")


def EVD_107__a_secret_leaves_no_plain_hash():
    pin = "4711"
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"pin": pin}}
    steps = [cached("a", "test -n \"$PIN\"", env=[{"name": "PIN", "valueFrom": {"secretKeyRef": {"name": "s", "key": "pin"}}}])]
    os.mkdir("p")
    os.chdir("p")
    manifest("f.yaml", secret, flow("f", steps))
    check_equal("first", ran(), "a")
    check_equal("second", ran(), "")
    entries = jobflow("get", "cacheentries", "-o", "yaml").stdout
    for text in (pin, json.dumps(pin), base64.b64encode(pin.encode()).decode(), json.dumps(base64.b64encode(pin.encode()).decode())):
        check(hashlib.sha256(text.encode()).hexdigest() not in entries, "the hash of %s is told" % text)
    secret["stringData"]["pin"] = "4712"
    manifest("f.yaml", secret, flow("f", steps))
    check_equal("another secret", ran(), "a")
    check_equal("the key is private", os.stat(".jobflow/cache.key").st_mode & 0o777, 0o600)


def EVD_108__a_pattern_sees_new_removed_and_renamed_files():
    project()
    write("train.sh", "echo same\n")
    ran()
    write("raw/b.csv", "2\n")
    check_equal("new", ran(), "prepare train")
    check_in("why", "raw/b.csv is new", node("prepare")["reuse"])
    os.remove("raw/b.csv")
    write("raw/c.csv", "3\n")
    check_equal("another", ran(), "prepare train")
    os.rename("raw/c.csv", "raw/d.csv")
    check_equal("renamed", ran(), "prepare")
    check_equal("as before", ran(), "")


def EVD_109__a_result_that_is_gone_or_changed_is_none():
    project()
    ran()
    os.remove("model.bin")
    check_equal("deleted", ran(), "train")
    check_in("why", "model.bin is gone", node("train")["reuse"])
    write("model.bin", "other")
    check_equal("changed", ran(), "train")
    check_in("why", "model.bin changed", node("train")["reuse"])
    os.utime("model.bin", (1, 1))
    check_equal("its time", ran(), "")


def EVD_127__a_loop_of_which_every_iteration_is_reused_is_shown_as_reused():
    manifest("f.yaml", flow("f", [cached("l", "true", **{"for": {"items": ["x", "z"]}}), cached("b", "true", ["l"])]))
    jobflow("run", "f.yaml")
    check_equal("it ran", node("l").get("reason"), None)
    out = jobflow("run", "-o", "plain", "f.yaml").stdout
    check_equal("reused", (node("l")["phase"], node("l")["reason"], node("l")["message"]), ("Completed", "Cached", "all 2 iterations were reused"))
    check_in("the run", "l  Completed  (Cached: all 2 iterations were reused)", out)
    check(any(line.split()[:2] == ["l", "Cached"] for line in jobflow("explain", "jf/f").stdout.splitlines()), "explain says Cached")
    manifest("f.yaml", flow("f", [cached("l", "true", **{"for": {"items": ["x", "q"]}}), cached("b", "true", ["l"])]))
    jobflow("run", "f.yaml")
    check_equal("one of two", node("l").get("reason"), None)


def EVD_110__a_step_whose_inputs_were_made_anew_with_the_same_content_is_reused():
    project()
    ran()
    write("prepare.sh", "cat raw/*.csv > clean.csv # the same\n")
    check_equal("prepare alone", ran(), "prepare")


def EVD_111__without_paths_what_stands_behind_a_step_that_ran_runs():
    os.mkdir("p")
    os.chdir("p")
    names = "abcde"
    for name in names:
        write(name + ".sh", "true\n")
    manifest("f.yaml", flow("f", [cached(n, "sh %s.sh" % n, names[i - 1:i] if i else ()) for i, n in enumerate(names)]))
    check_equal("first", ran(), "a b c d e")
    check_equal("second", ran(), "")
    write("b.sh", "true # edited\n")
    check_equal("b and all behind it", ran(), "b c d e")
    check_equal("then nothing", ran(), "")


def EVD_113__a_project_may_move():
    project()
    ran()
    os.chdir("..")
    os.rename("p", "moved")
    os.chdir("moved")
    check_equal("moved", ran(), "")
    os.mkdir("below")
    os.chdir("below")
    check_equal("paths begin where it is started", ran("--data-dir", "../.jobflow", code=1, file="../f.yaml"), "prepare")


def EVD_114__files_that_a_command_names_need_no_declaration():
    os.mkdir("p")
    os.chdir("p")
    write("in.txt", "b\na\n")
    manifest("f.yaml", flow("f", [cached("s", "sort in.txt > out.txt")]))
    check_equal("first", ran(), "s")
    check_equal("second", ran(), "")
    check_equal("third", ran(), "")
    write("out.txt", "edited")
    check_equal("its result was edited", ran(), "s")
    check_equal("and is right again", read("out.txt"), "a\nb\n")
    check_equal("then it is reused", ran(), "")
    write("in.txt", "c\n")
    check_equal("its input was edited", ran(), "s")
    check_equal("then it is reused", ran(), "")
    manifest("f.yaml", flow("f", [cached("s", "sort -r in.txt > out.txt")]))
    check_equal("its command was edited", ran(), "s")
    check_equal("what it overwrote is its result, and it is reused", ran(), "")


def EVD_115__an_input_that_changes_while_the_step_runs_is_told():
    os.mkdir("p")
    os.chdir("p")
    write("data", "1")
    for text in ("cp data out; echo 2 >> data", "echo 2 >> data; cp data out"):
        manifest("f.yaml", flow("f", [cached("s", text, reads=["data"], writes=["out"])]))
        check_equal("first", ran(), "s")
        check_equal("why not", node("s")["reuse"], "not recorded: input data changed while it ran")
        check_in("event", "input data changed while it ran", jobflow("get", "events", "-o", "yaml").stdout)
        check_equal("the step has completed", node("s")["phase"], "Completed")
        check_equal("again", ran(), "s")


def EVD_118__a_result_that_is_not_made_is_told():
    os.mkdir("p")
    os.chdir("p")
    manifest("f.yaml", flow("f", [cached("s", "true", writes=["model.bin"])]))
    check_equal("first", ran(), "s")
    check_equal("phase", node("s")["phase"], "Completed")
    check_equal("why", node("s")["reuse"], "not recorded: writes model.bin, which is not there")
    check_equal("again", ran(), "s")
    manifest("f.yaml", flow("f", [cached("s", "echo 1 >> db", reads=["db"], writes=["d*"])]))
    write("db", "1")
    ran()
    check_equal("read and written", node("s")["reuse"], "not recorded: db is read and written")


def EVD_120__of_two_flows_that_do_the_same_at_once_one_does_it():
    os.mkdir("p")
    os.chdir("p")
    same = cached("s", "while ! test -e ../go; do sleep 0.02; done; echo made > out", writes=["out"])
    manifest("f.yaml", flow("one", [same]), flow("two", [same]))
    run = Background("run", "-o", "quiet", "f.yaml")

    def waits():
        for name in ("one", "two"):
            done = jobflow("get", "jf/" + name, "-o", "json", code=None)
            nodes = json.loads(done.stdout)["status"].get("nodes", [{}]) if done.returncode == 0 else [{}]
            if nodes[0].get("reason") == "SameWorkRunning":
                return nodes[0]
        return None
    waiting = wait_until("one of them waits", waits)
    check_equal("phase", waiting["phase"], "Waiting")
    check_in("message", "does the same: it is reused when that succeeds", waiting["message"])
    write("../go", "")
    run.wait()
    check_equal("once", read(LOG), "s\n")
    check_equal("reasons", sorted(node("s", name)["reason"] for name in ("one", "two")), ["Cached", "PodsSucceeded"])


def EVD_132__no_cache_runs_all_and_records():
    project()
    ran()
    check_equal("all", ran("--no-cache"), "prepare train")
    check_equal("then nothing", ran(), "")
    check_in("choose", "choose one", jobflow("run", "--no-cache", "--only-changed", "f.yaml", code=2).stderr)


def EVD_135__links_count_by_what_they_lead_to():
    os.mkdir("p")
    os.chdir("p")
    os.mkdir("tree")
    write("../goal", "1")
    os.symlink("../goal", "data")
    os.symlink("x", "tree/link")
    manifest("f.yaml", flow("f", [cached("s", "true", reads=["data", "tree"])]))
    ran()
    check_equal("unchanged", ran(), "")
    write("../goal", "2")
    check_equal("goal", ran(), "s")
    os.remove("tree/link")
    os.symlink("y", "tree/link")
    check_equal("link in a tree", ran(), "s")
    os.remove("data")
    os.symlink("data", "data")
    check_equal("loop", ran(), "s")
    check_in("why", "not recorded: data: Too many levels", node("s")["reuse"])


def EVD_136__what_is_no_file_is_never_opened():
    os.mkdir("p")
    os.chdir("p")
    os.mkfifo("fifo")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("sock")
    for path, what in (("fifo", "a FIFO"), ("sock", "a socket"), ("/dev/zero", "a device")):
        manifest("f.yaml", flow("f", [cached("s", "true", reads=[path])]))
        check_equal(path, ran(), "s")
        check_equal(path, node("s")["reuse"], "not recorded: %s: it is %s, which has no content" % (path, what))


def EVD_137__very_many_files_are_too_many():
    os.mkdir("p")
    os.chdir("p")
    os.mkdir("many")
    for i in range(100001):
        os.close(os.open("many/%d" % i, os.O_CREAT | os.O_WRONLY, 0o600))
    manifest("f.yaml", flow("f", [cached("s", "true", reads=["many"])]))
    check_equal("too many", ran(), "s")
    check_in("why", "more than 100000 files", node("s")["reuse"])
    shutil.rmtree("many")
    odd = b"\xff" * 255
    with open(odd, "wb") as out:
        out.write(b"1")
    manifest("../g.yaml", flow("f", [cached("s", "true", reads=["[!a-z]*"])]))
    check_equal("odd name", ran(file="../g.yaml"), "s")
    check_equal("reused", ran(file="../g.yaml"), "")
    with open(odd, "wb") as out:
        out.write(b"2")
    check_equal("changed", ran(file="../g.yaml"), "s")


def EVD_142__a_backup_has_the_entries():
    project()
    ran()
    jobflow("backup", "../saved.db", "--data-dir", ".jobflow")
    shutil.rmtree(".jobflow")
    check_equal("without", ran(), "prepare train")
    shutil.rmtree(".jobflow")
    jobflow("repair", "--data-dir", ".jobflow", "--from", "../saved.db")
    check_equal("restored", ran(), "")


def the_example_of_the_guide_is_as_it_says():
    text = read(os.path.join(SOURCE, "docs", "reuse.md"))
    os.mkdir("p")
    os.chdir("p")
    write("counting.yaml", text.split("```yaml\n")[1].split("```")[0])
    jobflow("run", "-o", "quiet", "counting.yaml")
    done = jobflow("run", "-o", "plain", "counting.yaml")
    for name in ("numbers", "count"):
        check("%s  Cached" % name in " ".join(done.stdout.split("\n")).replace("   ", "  ") or
              any(line.split()[:2] == [name, "Cached"] for line in done.stdout.splitlines()), "the table says Cached:\n" + done.stdout)
    write("numbers.txt", "1\n")
    jobflow("run", "-o", "quiet", "counting.yaml")
    check_equal("numbers was edited", jobflow("cache", "why", "jf/counting", "numbers").stdout, "numbers ran because numbers.txt changed\n")
    check_in("count is as before", "count was reused: made by job counting-count on ", jobflow("cache", "why", "jf/counting", "count").stdout)
    check_in("explain", "reused: made by job counting-count", jobflow("explain", "jf/counting").stdout)


def parts():
    """A loop that copies each of two files, and a step behind it that joins the copies."""
    os.mkdir("p")
    os.chdir("p")
    write("x.txt", "x\n")
    write("y.txt", "y\n")
    loop = dict(cached("copy", 'echo "copy-$I" >> %s; cat "$I.txt" | tr -d z > "$I.out"' % LOG, reads=["$(item).txt"], writes=["$(item).out"]),
                env=[{"name": "I", "value": "$(item)"}])
    loop["for"] = {"items": ["x", "y"]}
    return flow("f", [loop, cached("join", "cat ?.out > all.txt", ["copy"], writes=["all.txt"])])


def a_loop_that_wrote_the_same_is_no_reason_to_run():
    """What is behind a loop looks at what its iterations wrote, not at whether they ran."""
    manifest("f.yaml", parts())
    check_equal("first", ran(), "copy copy copy-x copy-y join")
    check_equal("second", ran(), "")
    check_in("all reused", "all 2 iterations were reused", jobflow("explain", "jf/f").stdout)
    os.remove("y.out")
    check_equal("written again as it was", ran(), "copy copy-y")
    check(int(re.match(r"\d+", node("copy")["duration"]).group()) > 0, "the loop has a duration")
    write("y.txt", "y\nz\n")
    check_equal("another result", ran(), "copy copy-y join")
    check_in("a way out", "as in copy-0", jobflow("cache", "why", "jf/f", "copy").stdout)


def logs_of_a_reused_step_name_the_job_that_made_it():
    project()
    write("train.sh", "echo trained >&2\n")
    ran()
    ran()
    told = "step train was reused; the log of the job that made it: jobflow logs job/f-train"
    check_in("it is left", told, jobflow("logs", "jf/f", "train", code=1).stderr)
    check_equal("it is that one", jobflow("logs", "job/f-train").stdout, "[f-train-main-0/main] trained\n")
    record = jobflow("history", "f", "-o", "name").stdout.split()[1]
    jobflow("delete", record)
    check_in("it is gone", "step train was reused; the log of job f-train, which made it, is gone", jobflow("logs", "jf/f", "train", code=1).stderr)


def EVD_134__why_names_what_differs():
    project()
    ran()
    check_equal("first", jobflow("cache", "why", "jf/f", "train").stdout, "train ran: it had never been recorded\n")
    causes = (("R2", lambda: write("clean.csv", "9\n"), "prepare", "ran because clean.csv changed"),
              ("R3", lambda: write("train.sh", "wc -c < clean.csv\n"), "train", "ran because train.sh changed"),
              ("R4", lambda: os.remove("model.bin"), "train", "ran because model.bin is gone"))
    for name, change, one, text in causes:
        change()
        ran()
        check_equal(name, jobflow("cache", "why", "jf/f", one).stdout, "%s %s\n" % (one, text))
    check_equal("what did not change", jobflow("cache", "why", "jf/f", "prepare").stdout[:22], "prepare was reused: ma")
    steps = [cached("a", "true"), cached("b", "true", ["a"])]
    manifest("g.yaml", flow("g", steps))
    ran(file="g.yaml")
    manifest("g.yaml", flow("g", [cached("a", "echo other"), steps[1]]))
    ran(file="g.yaml")
    check_equal("the key", jobflow("cache", "why", "jf/g", "a").stdout, "a ran because command changed\n")
    check_equal("R5", jobflow("cache", "why", "jf/g", "b").stdout, "b ran because a ran\n")
    for cache, text in (({"maxAge": "0s"}, "its result is older than 0s"), ({"key": "2"}, "its cache key, a variable of the run, a ConfigMap or a Secret changed")):
        manifest("g.yaml", flow("g", [cached("a", "echo other", cache=cache), steps[1]]))
        ran(file="g.yaml")
        check_equal("R1 and the key", jobflow("cache", "why", "jf/g", "a").stdout, "a ran because %s\n" % text)
    manifest("g.yaml", flow("g", [cached("a", "true", cache=None)]))
    ran(file="g.yaml")
    check_equal("not set", jobflow("cache", "why", "jf/g", "a").stdout, "a has never been recorded: 'cache' is not set\n")


def entries_are_listed_and_forgotten():
    project()
    ran()
    rows = [line.split() for line in jobflow("cache", "list").stdout.splitlines()]
    check_equal("titles", rows[0], ["KEY", "FLOW", "STEP", "MADE", "TOOK", "USED", "FILES"])
    check_equal("steps", sorted(row[2] for row in rows[1:]), ["prepare", "train"])
    check_in("what is forgotten must be said", "say what is forgotten", jobflow("cache", "remove", code=2).stderr)
    key = next(row[0] for row in rows if row[2] == "train")
    check_equal("by key", jobflow("cache", "remove", key).stdout, "1 entry forgotten\n")
    check_equal("it runs", ran(), "train")
    check_equal("none is old", jobflow("cache", "prune", "--unused-for", "1h").stdout, "0 entries forgotten\n")
    check_equal("by flow", jobflow("cache", "remove", "--flow", "f").stdout, "2 entries forgotten\n")
    check_equal("all run", ran(), "prepare train")
    check_in("a word", "none of list", jobflow("cache", "clear", code=2).stderr)


def EVD_097__files_in_no_certain_order_are_warned_of():
    os.mkdir("p")
    os.chdir("p")
    after_a = {"dependsOn": {"targets": ["a"]}}
    steps = [{"name": "a", "run": "true", "writes": ["data.csv", "./m.bin", "items/$(params.x)"]},
             {"name": "b", "run": "true", "reads": ["data.csv"]},
             {"name": "c", "run": "true", "reads": ["*.csv", "items/$(params.x)"], **after_a},
             {"name": "d", "run": "true", "reads": ["d*.csv"]},
             {"name": "e", "run": "true", "writes": ["m.bin"]},
             {"name": "f", "run": "true", "reads": ["db.sqlite"], "writes": ["db.sqlite"]},
             {"name": "g", "run": "true", "writes": ["m.bin"], "dependsOn": {"targets": ["e"]}},
             {"name": "h", "run": "true", "reads": ["data.csv"], "patch": {"spec": {"tasks": []}}},
             {"name": "i", "run": "true", "writes": ["/abs"]},
             {"name": "j", "run": "true", "reads": ["/abs"], "patch": {"spec": {"tasks": []}}},
             {"name": "k", "run": "true", "reads": ["data.csv"], "when": "always"},
             {"name": "l", "run": "true", "writes": ["n-$(index)"], "for": {"range": {"end": 2}}},
             {"name": "m", "run": "true", "writes": ["n-$(index)"]}]
    text = "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {name: f}\nspec:\n  parameters: [{name: x, value: '1'}]\n  flows:\n"
    write("f.yaml", text + "".join("  - %s\n" % json.dumps(one) for one in steps[:11]))
    said = [line for line in jobflow("validate", "f.yaml").stderr.splitlines() if "warning" in line]
    check_equal("warnings", sorted(said), sorted("warning: f.yaml:%d: spec.flows[%d].%s: %s" % (n + 7, n, field, what) for n, field, what in (
        (1, "reads[0]", "step b reads data.csv, which a writes, and does not depend on a"),
        (3, "reads[0]", "step d reads data.csv, which a writes, and does not depend on a"),
        (4, "writes[0]", "steps a and e both write m.bin and may run at the same time"),
        (5, "writes[0]", "step f reads and writes db.sqlite: it is never reused"),
        (9, "reads[0]", "step j reads /abs, which i writes, and does not depend on i"))))
    write("g.yaml", text + "".join("  - %s\n" % json.dumps(one) for one in steps[11:]))
    check_in("what differs between iterations", "valid", jobflow("validate", "g.yaml").stdout)
    check("both write" not in jobflow("validate", "g.yaml").stderr, "texts that vary are not compared")
    examples = os.path.join(SOURCE, "examples")
    for name in sorted(os.listdir(examples)):
        if name.endswith(".yaml"):
            said = jobflow("validate", os.path.join(examples, name), code=None).stderr
            check("reads " not in said and "both write" not in said, "%s: %s" % (name, said))


def EVD_119__an_input_that_cannot_be_read_runs_the_step_each_time():
    os.mkdir("p")
    os.chdir("p")
    manifest("f.yaml", flow("f", [cached("s", "true", reads=["/proc/self/mem"])]))  # a regular file; reading it is an I/O error
    for turn in ("first", "second"):
        check_equal(turn, ran(), "s")
        check_equal(turn, node("s")["reuse"], "not recorded: /proc/self/mem: Input/output error")
        check_equal(turn, node("s")["phase"], "Completed")


def EVD_144__a_run_in_which_nothing_is_to_be_done_starts_nothing():
    os.mkdir("p")
    os.chdir("p")
    os.mkdir("in")
    os.mkdir("out")
    steps = []
    for i in range(1000):
        write("in/%d" % i, str(i))
        steps.append({"name": "s%d" % i, "run": "cat in/%d > out/%d" % (i, i), "reads": ["in/%d" % i], "writes": ["out/%d" % i], "cache": {}})
    manifest("f.yaml", flow("f", steps))
    jobflow("run", "-o", "quiet", "f.yaml")
    jobflow("run", "-o", "quiet", "f.yaml")
    status = json.loads(jobflow("get", "jf/f", "-o", "json").stdout)["status"]
    check_equal("reused", status["stepCounts"]["cached"], 1000)
    check_equal("jobs", jobflow("get", "vcjob", "-o", "name").stdout, "")
    write("in/500", "x")
    jobflow("run", "-o", "quiet", "f.yaml")
    check_equal("one ran", json.loads(jobflow("get", "jf/f", "-o", "json").stdout)["status"]["stepCounts"]["cached"], 999)
    check_equal("its result", read("out/500"), "x")


def mistakes_are_refused():
    os.mkdir("p")
    os.chdir("p")
    for fields, text in (({"writes": ["../x"]}, 'spec.flows[0].writes[0]: Invalid value: "../x" leads out of the working directory: write an absolute path'),
                         ({"reads": ["a/../../x"]}, "leads out of the working directory"),
                         ({"reads": [""]}, "a path or a pattern"),
                         ({"cache": {"key": "$(params.none)"}}, "the flow has no parameter of that name"),
                         ({"cache": {"maxAge": "-1s"}}, "maxAge")):
        manifest("f.yaml", flow("f", [step("s", run="true", **fields)]))
        check_in(str(fields), text, jobflow("validate", "f.yaml", code=2).stderr + jobflow("validate", "f.yaml", code=2).stdout)


# ---- kill -9 ----

def killed_at(n):
    env = dict(os.environ, LD_PRELOAD=LIBRARY, SYSCALLS_KILL_AT=str(n))
    done = subprocess.run(command("run", "-o", "quiet", "f.yaml"), env=env, capture_output=True, timeout=DEADLINE, stdin=subprocess.DEVNULL)
    check(done.returncode in (0, -9), "exit code %d: %s" % (done.returncode, done.stderr.decode()))
    return done.returncode == -9


def results():
    return read("mid"), read("out")


def goes_on_after(n):
    """Kills a run before its n-th write, with an edit before the next. False when it ended before that write."""
    fresh_dir("write")
    os.mkdir("p")
    os.chdir("p")
    write("raw", "one\n")
    manifest("f.yaml", flow("f", [cached("a", "tr a-z A-Z < raw > mid", reads=["raw"], writes=["mid"]),
                                  cached("b", "rev < mid > out", ["a"])]))
    met = killed_at(n)
    if met and n % 2:
        write("raw", "two\n")
    ran()  # goes on where the run was killed, or begins anew
    ran()
    want = ("TWO\n", "OWT\n") if met and n % 2 else ("ONE\n", "ENO\n")
    check_equal("killed before write %d: the results" % n, results(), want)
    check_equal("killed before write %d: nothing is left to do" % n, ran(), "")
    check_equal("killed before write %d: entries" % n, set(jobflow("get", "cacheentries", "-o", "jsonpath={.items[*].status.state}").stdout.split()), {"Recorded"})
    write("raw", "three\n")
    ran()
    check_equal("killed before write %d: the results of another input" % n, results(), ("THREE\n", "EERHT\n"))
    nothing_left()
    return met


def EVD_124__a_run_that_is_killed_never_leaves_a_result_that_was_not_looked_at():
    if not os.path.exists(LIBRARY):
        raise Skip("nothing is preloaded into a program with sanitizers")
    seed = int(os.environ.get("JOBFLOW_SEED", "0")) or random.SystemRandom().randrange(1 << 32)
    most = int(os.environ.get("JOBFLOW_POINTS", "25"))
    met, missed = 1, 2
    while goes_on_after(missed):
        met, missed = missed, 2 * missed
    while missed - met > 1:
        half = (met + missed) // 2
        met, missed = (half, missed) if goes_on_after(half) else (met, half)
    points = range(1, met + 1)
    if most and len(points) > most:
        points = sorted(random.Random(seed).sample(points, most))
    tried = sum(goes_on_after(n) for n in points)
    print("    seed %d: killed before %d of %d writes" % (seed, tried, met))
    check(tried > 10, "only %d writes were met" % tried)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
