"""`jobflow graph` and `jobflow explain`: drawings show exactly the edges of the flow; formats, states, times and reasons are right."""
import json
import random
import re
import sys
import xml.etree.ElementTree as ElementTree

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names

UTF8 = {"LC_ALL": "C.UTF-8"}
UP, DOWN, LEFT, RIGHT = (-1, 0), (1, 0), (0, -1), (0, 1)
WAYS = {" ": (), "│": (UP, DOWN), "─": (LEFT, RIGHT), "┌": (DOWN, RIGHT), "┐": (DOWN, LEFT), "└": (UP, RIGHT), "┘": (UP, LEFT),
        "├": (UP, DOWN, RIGHT), "┤": (UP, DOWN, LEFT), "┬": (DOWN, LEFT, RIGHT), "┴": (UP, LEFT, RIGHT), "┼": (UP, DOWN, LEFT, RIGHT),
        "▼": (UP,), "╷": (DOWN,), "╵": (UP,)}


def back(way):
    return (-way[0], -way[1])


def boxes_of(rows):
    """Returns {name: (top, left, bottom, right)} of a drawing; a name is in the line below the upper border of its box."""
    found = {}
    for r, line in enumerate(rows):
        for c, letter in enumerate(line):
            if letter != "┌" or c + 1 >= len(line) or line[c + 1] not in "─▼":
                continue
            end = c + 1
            while end < len(line) and line[end] in "─▼":
                end += 1
            below = rows[r + 1] if r + 1 < len(rows) else ""
            if end >= len(line) or line[end] != "┐" or len(below) <= end or below[c] not in "│" or below[end] != "│":
                continue
            name = below[c + 1:end].strip().lstrip("* ")
            bottom = r + 1
            while rows[bottom][c] == "│":
                bottom += 1
            if name and rows[bottom][c] == "└":
                found[name] = (r, c, bottom, end)
    return found


def edges_of(text):
    """Returns the edges as drawn: every path along lines from the lower border of a box to the arrow of another box."""
    rows = text.split("\n")
    boxes = boxes_of(rows)
    arrows = {(r, c): name for name, (r, left, _, right) in boxes.items() for c in range(left, right + 1)
              if rows[r][c] == "▼"}
    edges = set()

    def at(row, column):
        return rows[row][column] if row < len(rows) and column < len(rows[row]) else " "

    for name, (_, left, bottom, right) in boxes.items():
        for column in range(left + 1, right):
            if at(bottom, column) != "┬":
                continue
            seen, ahead = set(), [((bottom, column), DOWN)]
            while ahead:
                (row, col), way = ahead.pop()
                row, col = row + way[0], col + way[1]
                if ((row, col), way) in seen:
                    continue
                seen.add(((row, col), way))
                if (row, col) in arrows:
                    edges.add((name, arrows[row, col]))
                    continue
                ways = WAYS[at(row, col)]
                if back(way) not in ways:  # a vertical line crosses this one
                    check(at(row, col) == "│", "a line ends at %r (%d, %d):\n%s" % (at(row, col), row, col, text))
                    ahead.append(((row, col), way))
                    continue
                ahead += [((row, col), w) for w in ways if w != back(way) and w != UP]
    return edges


def drawn(name, steps, *flags):
    manifest("g.yaml", flow(name, steps))
    return jobflow("graph", "g.yaml", "--no-state", *flags, env=UTF8).stdout


def a_small_graph_is_drawn_to_the_letter():
    text = drawn("f", [step("a"), step("b", ["a"]), step("c", ["a"]), step("d", ["b", "c"])])
    check_equal("drawing", text, """\
    ┌─────┐
    │ * a │
    └──┬──┘
   ┌───┴───┐
┌──▼──┐  ┌─▼─┐
│ * b │  │ c │
└──┬──┘  └─┬─┘
   └───┬───┘
    ┌──▼──┐
    │ * d │
    └─────┘

* longest way, 3 steps: a → b → d
""")
    plain = jobflow("graph", "g.yaml", "--ascii", env=UTF8).stdout
    check(all(ord(c) < 128 for c in plain), "letters beyond ASCII:\n" + plain)
    check_equal("the same in ASCII", plain.split("\n")[3], "   +---+---+")
    check_equal("without UTF-8", jobflow("graph", "g.yaml", env={"LC_ALL": "C"}).stdout, plain)


def the_drawn_lines_are_exactly_the_edges():
    chance, compared = random.Random(7), 0
    for n in (1, 2, 5, 9, 12, 14):
        for density in (0.1, 0.25, 0.5):
            steps, wanted = [], set()
            for i in range(n):
                after = [j for j in range(i) if chance.random() < density]
                wanted |= {("n%d" % j, "n%d" % i) for j in after}
                steps.append(step("n%d" % i, ["n%d" % j for j in after]))
            text = drawn("f", steps)
            if "LAYER" in text:
                continue  # the drawing is wider than a page
            check_equal("steps", len(boxes_of(text.split("\n"))), n)
            check_equal("edges of\n" + text, edges_of(text), wanted)
            compared += 1
    check(compared > 10, "only %d were drawn" % compared)


def what_does_not_fit_is_a_table():
    manifest("g.yaml", flow("f", [step("split")] + [step("work-%d" % i, ["split"]) for i in range(40)]
                            + [step("join", ["work-%d" % i for i in range(40)])]))
    out = jobflow("graph", "g.yaml", env=UTF8).stdout
    rows = out.split("\n")
    check_equal("title", rows[0].split(), ["LAYER", "STEP", "STATE", "AFTER"])
    check_equal("first", rows[1].split(), ["1", "*", "split"])
    check_equal("in the middle", rows[5].split()[:2] + rows[5].split()[-1:], ["2", "work-3", "split"])
    check_equal("rows", len([r for r in rows if "work-" in r and r.startswith("2")]), 40)
    code, data = on_terminal("graph", "g.yaml", columns=40)
    check_equal("on a terminal", (code, b"LAYER" in data), (0, True))


def what_steps_have_beyond_targets_is_shown():
    text = drawn("f", [step("a"), step("b"), dict(step("c", ["a", "b"]), **{"for": {"items": [1, 2, 3]}}),
                       {"name": "r", "dependsOn": {"targets": ["a"]},
                        "switch": {"cases": [{"name": "x", "if": {"terms": []}, "flows": ["d"]}], "default": ["e"]}},
                       dict(step("d"), **{"if": {"terms": []}}), step("e"),
                       {"name": "z", "dependsOn": {"targets": ["d", "e"], "strategy": "any"}}])
    for part in ("for 3", "switch", "if", "any of"):
        check_in("marks", part, text)
    check_equal("a switch leads to what it lists", {("r", "d"), ("r", "e")} & edges_of(text), {("r", "d"), ("r", "e")})


def without_igraph_there_is_a_table_and_the_package_is_named():
    manifest("g.yaml", flow("f", [step("a"), step("b", ["a"])]))
    os.mkdir("lib")
    write("lib/libigraph.so.3", "")
    without = {"LD_LIBRARY_PATH": os.path.abspath("lib")}
    out = jobflow("graph", "g.yaml", env=without).stdout
    check_equal("title", out.split("\n")[0].split(), ["LAYER", "STEP", "STATE", "AFTER"])
    check_in("why", "libigraph.so.3 cannot be loaded: is Debian's package libigraph3 installed?", out)
    check_in("a picture", "libigraph3", jobflow("graph", "g.yaml", "-o", "svg", code=1, env=without).stderr)
    jobflow("graph", "g.yaml", "-o", "json", env=without)


def json_output_has_the_graph():
    manifest("g.yaml", flow("f", [step("a"), step("b", ["a"]), step("c", ["a", "a", "b"], template="b")]),
             template("a", runningEstimate="1m"), template("b", runningEstimate="30s"))
    graph = json.loads(jobflow("graph", "g.yaml", "-o", "json").stdout)["flows"][0]
    check_equal("flow", (graph["name"], graph["namespace"], "phase" in graph), ("f", "default", False))
    check_equal("steps", [(s["name"], s["layer"], s["after"], s["template"], s["estimateSeconds"]) for s in graph["steps"]],
                [("a", 0, [], "a", 60.0), ("b", 1, ["a"], "b", 30.0), ("c", 2, ["a", "b"], "b", 30.0)])
    check_equal("edges", [(e["from"], e["to"]) for e in graph["edges"]], [("a", "b"), ("a", "c"), ("b", "c")])
    check_equal("path", (graph["criticalPath"], graph["criticalPathSeconds"]), (["a", "b", "c"], 120.0))
    check_in("in words", "* critical path, 2m: a -> b -> c", jobflow("graph", "g.yaml", "--ascii").stdout)


def graphviz_reads_the_dot_output():
    manifest("g.yaml", flow("f", [step("a"), step("b", ["a"])]))
    dot = jobflow("graph", "g.yaml", "-o", "dot").stdout
    check_in("dot", "digraph \"f\" {", dot)
    check_in("dot", "s0 -> s1 [style=bold];", dot)
    if shutil.which("dot"):
        done = subprocess.run(["dot", "-Tsvg"], input=dot, capture_output=True, text=True, timeout=DEADLINE, check=False)
        check_equal("dot\n" + done.stderr, done.returncode, 0)


def a_picture_is_well_formed_and_shows_every_step():
    names = ["a&b", "<c>", "d"]
    steps = [dict(step("x%d" % i), name=n) for i, n in enumerate(names)]
    steps[2]["dependsOn"] = {"targets": names[:2], "strategy": "any"}
    manifest("g.yaml", flow("f", steps))
    svg = ElementTree.fromstring(jobflow("graph", "g.yaml", "-o", "svg").stdout)
    texts = [t.text for t in svg.iter("{http://www.w3.org/2000/svg}text")]
    check_equal("names", [t for t in texts if t in names], texts[0:1] + [t for t in texts[1:] if t in names])
    check_equal("all", set(names) - set(texts), set())
    width = float(svg.get("width"))
    for rect in svg.iter("{http://www.w3.org/2000/svg}rect"):
        check(float(rect.get("x")) >= 0 and float(rect.get("x")) + float(rect.get("width")) <= width, "a box outside")


def lines_of_the_critical_path_are_strong():
    steps = [step("long"), step("a"), step("b", ["a"]), step("c", ["b"]), step("end", ["long", "a", "c"])]
    steps[0]["patch"] = {"spec": {"runningEstimate": "1h"}}
    manifest("g.yaml", flow("f", steps))
    svg = ElementTree.fromstring(jobflow("graph", "g.yaml", "-o", "svg").stdout)
    lines = svg.findall("{http://www.w3.org/2000/svg}path")
    strong = [line for line in lines if "critical" in line.get("class", "")]
    check_equal("rows the line from long to end goes through", len(strong), 3)
    check_equal("heads", len([line for line in strong if line.get("marker-end")]), 1)

    del steps[0]["patch"]
    manifest("g.yaml", flow("f", steps))
    svg = ElementTree.fromstring(jobflow("graph", "g.yaml", "-o", "svg").stdout)
    strong = [line for line in svg.findall("{http://www.w3.org/2000/svg}path") if line.get("class")]
    check_equal("a to b to c to end, not the short cut", len(strong), 3)


def mistakes_are_named_with_their_line():
    write("bad.yaml", "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {name: f}\nspec:\n  flows:\n"
                      "  - name: a\n  - name: b\n    dependsOn:\n      targets: [zzz]\n")
    check_in("stderr", "error: bad.yaml:9: spec.flows[1].dependsOn.targets[0]: no step zzz",
             jobflow("graph", "bad.yaml", code=2).stderr)
    manifest("cycle.yaml", flow("f", [step("a", ["c"]), step("b", ["a"]), step("c", ["b"])]))
    check_in("stderr", "jobflow Flow is not DAG: a -> b -> c -> a", jobflow("graph", "cycle.yaml", code=2).stderr)
    manifest("none.yaml", template("a"))
    check_in("stderr", "define no JobFlow", jobflow("graph", "none.yaml", code=2).stderr)
    check_in("stderr", "no data directory", jobflow("graph", "jf/f", code=1).stderr)
    manifest("two.yaml", flow("f", [step("a")]), flow("g", [step("a")]))
    jobflow("graph", "two.yaml", "-o", "svg", code=2)
    check_equal("two", jobflow("graph", "two.yaml", "-o", "dot").stdout.count("digraph"), 2)


STUCK = [flow("f", [step("a"), step("b", ["a"]), step("c", ["b"]), step("d", ["a"])], failurePolicy="continue"),
         template("a", "true"), template("b", "exit 3"), template("c"), template("d", "while [ ! -e go ]; do sleep 0.02; done",
                                                                                  runningEstimate="1h")]


def a_run_at_work_is_explained():
    manifest("f.yaml", *STUCK)
    run = Background("run", "f.yaml", "-o", "plain")
    text = wait_until("b has failed and d runs", lambda: (lambda t: t if "exit code 3" in t and "for " in t else "")(
        jobflow("explain", "jf/f", code=None).stdout))
    check_in("flow", "default/f is Running", text)
    check_in("counts", "1 of 4 steps completed, 1 failed, 1 at work, 1 waiting.", text)
    check_in("failed", "b    Failed      exit code 3\n", text)
    check_in("running", "by runningEstimate", text)
    check_in("waiting", "waits for b (Failed)", text)
    one = jobflow("explain", "jf/f", "c").stdout
    for part in ("Step       c", "State      Waiting", "b is Failed: exit code 3"):
        check_in("one step", part, one)
    graph = jobflow("graph", "f.yaml", env=UTF8).stdout
    for part in ("f: Running, 1 of 4 steps completed", "Completed", "Failed", "Waiting"):
        check_in("graph of the file with states", part, graph)
    check("Running" not in jobflow("graph", "f.yaml", "--no-state", env=UTF8).stdout, "states though --no-state")
    as_json = json.loads(jobflow("explain", "jf/f", "-o", "json").stdout)
    d = [s for s in as_json["steps"] if s["name"] == "d"][0]
    check_equal("json", (d["state"], d["estimateSeconds"], "expectedEnd" in d, "for" in d["why"]), ("Running", 3600.0, True, True))
    write("go", "")
    check_equal("exit code", run.wait(), 1)
    text = jobflow("explain", "jf/f").stdout
    check_in("afterwards", "not run: b before it is Failed", text)
    check_in("afterwards", "* critical path", text)


def colours_come_on_a_terminal_only():
    manifest("f.yaml", *STUCK)
    write("go", "")
    jobflow("run", "f.yaml", code=1)
    for args in (("graph", "jf/f"), ("explain", "jf/f"), ("explain", "jf/f", "b")):
        code, data = on_terminal(*args, columns=120)
        check_equal("exit code", code, 0)
        check(b"\x1b[31m" in data, "no red on a terminal: %r" % data)
        check("\x1b" not in jobflow(*args).stdout, "colours without a terminal")
        code, data = on_terminal(*args, columns=120, env={"NO_COLOR": "1"})
        check(b"\x1b[3" not in data, "colours though NO_COLOR: %r" % data)


def what_a_pending_job_waits_for_is_told():
    manifest("f.yaml", flow("f", [step("a")]), template("a", tasks=[dict(task("main", "true"))]))
    job = template("a")
    job["spec"]["tasks"][0]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "9999"}}
    manifest("f.yaml", flow("f", [step("a")]), job)
    run = Background("run", "--wait-for-resources", "f.yaml")
    text = wait_until("it waits", lambda: (lambda t: t if "9999" in t else "")(jobflow("explain", "jf/f", "a", code=None).stdout))
    check_in("why", "needs 9999 cpu", text)
    run.signal(signal.SIGINT)
    check_equal("exit code", run.wait(), 130)


def decisions_retries_loops_and_gangs_are_explained():
    ok = template("ok", "echo num=5 > /dev/termination-log")
    choose = {"name": "route", "dependsOn": {"targets": ["ok"]}, "switch": {
        "cases": [{"name": "big", "if": {"terms": [{"target": "ok", "output": {"key": "num", "operator": "Gt", "values": ["3"]}}]}, "flows": ["l"]}],
        "default": ["m"]}}
    steps = [dict(step("a"), retry={"maxRetry": 3, "backoffSeconds": 300}), step("b", ["a"]), step("ok"), choose, step("l", template="t"),
             step("m", template="t"), dict(step("loop", template="gate"), **{"for": {"items": ["x", "z"], "parallelism": 1}}),
             step("gx", template="t"), step("gz", ["loop"], template="t"),
             dict(step("no", ["ok"], template="t"), **{"if": {"terms": [{"target": "ok", "phases": ["Failed"]}]}})]
    manifest("f.yaml", flow("f", steps, gangs=[{"name": "both", "flows": ["gx", "gz"]}]), template("a", "exit 3"), template("b"), ok, template("t"),
             template("gate", "while [ ! -e go ]; do sleep 0.02; done", runningEstimate="1h"))
    run = Background("run", "f.yaml")
    text = wait_until("all is decided", lambda: (lambda t: t if "chose big\n" in t and "Retrying" in t and "Skipped" in t and "gang" in t else "")(
        jobflow("explain", "jf/f", code=None).stdout))
    said = " ".join(text.replace("* ", "").split())
    for line in ("a Retrying attempt 1 has failed (main ended with 3); the next begins in ", "m Skipped route chose big",
                 "no Skipped its condition (if) was false: phase of ok Completed = Failed is false", "b Waiting waits for a (Retrying)",
                 "gx Waiting is ready, and starts together with its gang both: waits for gz (Waiting)",
                 "loop Running for N, 0/2 iterations; expected to end in N (by runningEstimate)"):
        check_in("explained", line, re.sub(r"(for|in) \d+[a-z0-9]+", r"\1 N", said) if " N" in line else said)
    check_in("attempts", "1: Failed, TaskMinAvailableMissed, main ended with 3",
             re.sub(r"Failed \d+s,", "Failed,", jobflow("explain", "jf/f", "a").stdout))
    check_in("outputs", "Outputs    num=5", jobflow("explain", "jf/f", "ok").stdout)
    check_in("loop", "for 2", jobflow("graph", "jf/f", env=UTF8).stdout)
    run.signal(signal.SIGINT)
    check_equal("exit code", run.wait(), 130)


def a_switch_that_took_its_default_says_so():
    never = {"terms": [{"parameter": {"name": "p", "values": ["other"]}}]}
    choose = {"name": "route", "switch": {"cases": [{"name": "one", "if": never, "flows": ["l"]}], "default": ["m"]}}
    manifest("f.yaml", flow("f", [choose, step("l", template="t"), step("m", template="t")], parameters=[{"name": "p", "default": "x"}]),
             template("t"))
    jobflow("run", "f.yaml", "--runtime", "sim", "--data-dir", "d")
    said = [" ".join(line.replace("* ", "").split()) for line in jobflow("explain", "jf/f", "--data-dir", "d").stdout.splitlines()]
    check_in("the switch", "route Completed chose the default: no case holds", said)
    check_in("the other way", "l Skipped route chose the default: no case holds", said)


def unknown_names_are_reported_as_errors():
    manifest("f.yaml", flow("f", [step("a")]), template("a"))
    jobflow("run", "f.yaml")
    check_in("step", 'no step zzz in flow f', jobflow("explain", "jf/f", "zzz", code=1).stderr)
    check_in("nearly a step", 'no step aa in flow f; did you mean "a"?', jobflow("explain", "jf/f", "aa", code=1).stderr)
    check_in("flow", 'jobflows.flow.volcano.sh "x" not found', jobflow("explain", "jf/x", code=1).stderr)
    check_in("kind", "names no flow", jobflow("explain", "pod/x", code=2).stderr)
    check_in("word", "is not of the form jf/NAME", jobflow("explain", "f", code=2).stderr)


def ten_thousand_steps_are_listed_in_no_time():
    manifest("big.yaml", flow("big", [step("a")] + [step("s%d" % i, ["a"], template="a") for i in range(9998)]
                              + [step("z", ["s%d" % i for i in range(9998)], template="a")]))
    done, seconds = cost_of(lambda: jobflow("graph", "big.yaml"))
    check_equal("rows", len(done.stdout.split("\n")) - 4, 10000)
    check(seconds < 5 * SLOW, "it took %.1f s of the processor" % seconds)
    check_in("svg", "too many to draw", jobflow("graph", "big.yaml", "-o", "svg", code=1).stderr)


def a_flow_without_steps_says_so():
    manifest("f.yaml", flow("f", []))
    check_in("text", "(no steps)\n", jobflow("graph", "f.yaml").stdout)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
