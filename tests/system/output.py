"""Output of `jobflow run`: plain, json, quiet, and the live view on a pseudo terminal.

# covers: reliability.md P-13
"""
import json
import os
import re
import signal
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names

FAN = [flow("fan", [step("split")] + [step("work-%d" % i, ["split"], template="work") for i in range(6)]
            + [step("gather", ["work-%d" % i for i in range(6)])]),
       template("split"), template("work", "sleep 0.3"), template("gather")]
FAILING = [flow("f", [step("good"), step("bad", ["good"]), step("never", ["bad"])]), template("good"),
           template("bad", "echo first; echo second >&2; exit 3"), template("never")]


def screen_of(*args, columns=80, rows=24, code=0, **rest):
    """Returns the final content of the terminal; wrapped lines and unknown escape sequences are failures."""
    got, data = on_terminal(*args, columns=columns, rows=rows, **rest)
    screen = Screen(columns, rows).feed(data)
    if code is not None:
        check_equal("exit code\n" + screen.text(), got, code)
    check(not screen.unknown, "unknown control sequences: %r" % screen.unknown[:5])
    check(screen.cursor_visible, "the cursor is left hidden")
    return screen, data


def plain_has_a_line_for_each_transition_in_time():
    manifest("f.yaml", *FAILING)
    out = jobflow("run", "-o", "plain", "f.yaml", code=1).stdout
    times = [float(t) for t in re.findall(r"^ +(\d+\.\d+)s  ", out, re.M)]
    check(times and times == sorted(times), "times run backwards:\n" + out)
    states = re.findall(r"s  bad  (\w+)", out)
    check_equal("the states of bad", states, ["Pending", "Running", "Failed"])
    for part in ("(exit code 3)", "[f-bad-main-0] first", "[f-bad-main-0] second", "1 of 3 steps completed, 1 failed"):
        check_in("stdout", part, out)
    check("\x1b" not in out, "colours without a terminal")
    check_in("the table", "never  Not run", out)


def plain_lines_are_printed_while_steps_run():
    manifest("f.yaml", flow("f", [step("a"), step("b", ["a"])]), template("a"),
             template("b", "while [ ! -e go ]; do sleep 0.01; done"))
    run = Background("run", "-o", "plain", "f.yaml")
    wait_until("the first step is told of", lambda: "a  Completed" in run.output())
    write("go", "")
    check_equal("exit code", run.wait(), 0)


def what_a_failed_flow_still_waits_for_is_told():
    manifest("f.yaml", flow("f", [step("slow"), step("bad")]), template("slow", "while [ ! -e go ]; do sleep 0.01; done"),
             template("bad", "exit 1"))
    run = Background("run", "f.yaml")
    wait_until("the remark", lambda: "1 step is still at work: slow" in run.output())
    write("go", "")
    check_equal("exit code", run.wait(), 1)


def json_is_an_object_a_line():
    manifest("f.yaml", *FAILING)
    out = jobflow("run", "-o", "json", "f.yaml", code=1).stdout
    lines = [json.loads(line) for line in out.splitlines()]
    for line in lines:
        check(line["type"] in ("flow", "step", "log", "note") and re.match(r"\d{4}-\d\d-\d\dT.*Z$", line["time"]), "odd: %s" % line)
    bad = [line for line in lines if line["type"] == "step" and line["step"] == "bad"]
    check_equal("phases", [line["phase"] for line in bad], ["Pending", "Running", "Failed"])
    check_equal("reason", bad[-1]["reason"], "exit code 3")
    check(isinstance(bad[-1]["durationMilliseconds"], int), "no duration")
    check_equal("the last line", (lines[-1]["type"], lines[-1]["phase"], lines[-1]["failed"]), ("flow", "Failed", 1))
    logs = [line["line"] for line in lines if line["type"] == "log"]
    check("first" in logs and "second" in logs, "logs: %s" % logs)


def json_logs_keep_every_character():
    text = 'quote " backslash \\\\ tab \\t bell \\007 ü'
    manifest("f.yaml", flow("f", [step("a")]), template("a", "printf '%s\\n'" % text))
    lines = [json.loads(line) for line in jobflow("run", "-o", "json", "--logs", "f.yaml").stdout.splitlines()]
    logs = [line["line"] for line in lines if line["type"] == "log"]
    check_equal("the line", logs, ['quote " backslash \\ tab \t bell \a ü'])


def quiet_prints_nothing_about_progress():
    manifest("f.yaml", *FAILING)
    run = jobflow("run", "-o", "quiet", "f.yaml", code=1)
    check_equal("output", run.stdout + run.stderr, "")


def logs_come_with_their_pods_and_before_the_end_of_their_step():
    manifest("f.yaml", flow("f", [step("a"), step("b", ["a"])]), template("a", "echo one; printf two"),
             template("b", tasks=[task("x", "echo three", replicas=2)]))
    out = jobflow("run", "--logs", "f.yaml").stdout
    for part in ("[f-a-main-0] one", "[f-a-main-0] two", "[f-b-x-0] three", "[f-b-x-1] three"):
        check_equal("lines %r" % part, out.splitlines().count(part), 1)
    check(out.index("] two") < out.index("a  Completed"), "the log comes after the end:\n" + out)


def a_long_log_is_complete():
    manifest("f.yaml", flow("f", [step("a")]), template("a", "seq 1 20000"))
    out = jobflow("run", "--logs", "f.yaml").stdout
    numbers = [line.split("] ")[1] for line in out.splitlines() if line.startswith("[f-a-main-0] ")]
    check_equal("lines", numbers, [str(n) for n in range(1, 20001)])


def live_on_a_terminal_and_clean_at_the_end():
    manifest("f.yaml", *FAN)
    screen, data = screen_of("run", "f.yaml")
    text = screen.text()
    for part in ("✓ split", "✓ gather", "work-3  Completed", "fan Succeed in", "8 of 8 steps completed"):
        check_in("the screen", part, text)
    check("Running" not in text and "[" not in text.split("STEP")[0], "the view is left over:\n" + text)
    check(b"\x1b[32m" in data, "no colours on a terminal")
    check_equal("wrapped lines", screen.wraps, 0)


def live_shows_steps_and_bar_while_they_run():
    manifest("f.yaml", flow("f", [step("a"), step("b")]), template("a", "while [ ! -e go ]; do sleep 0.01; done"),
             template("b", tasks=[task("w", "while [ ! -e go ]; do sleep 0.01; done", replicas=3)]))
    seen = []

    def look(process, data):
        text = Screen(80, 24).feed(data).text()
        if not seen and "a         Running" in text and "3/3 pods" in text and "0/2 steps" in text:
            seen.append(text)
            write("go", "")
    screen_of("run", "f.yaml", while_running=look)
    check(seen, "never seen")


def live_shows_how_far_a_loop_has_come():
    loop = {"maxIterations": 500, "until": {"terms": [{"target": "try", "output": {"key": "done", "operator": "Exists"}}]}}
    manifest("f.yaml", flow("f", [dict(step("try"), **{"for": loop}), step("after", ["try"])]), template("after"),
             template("try", "n=$(ls | grep -c ^at-); touch at-$n; while [ ! -e go-$n ]; do sleep 0.01; done; "
                             "if [ $n = 2 ]; then echo done=1 > /dev/termination-log; fi"))
    seen = []

    def look(process, data):
        text = Screen(80, 24).feed(data).text()
        if len(seen) < 3 and os.path.exists("at-%d" % len(seen)) and "0/2 steps, try %d/500" % len(seen) in text:
            seen.append(write("go-%d" % len(seen), ""))
    screen_of("run", "f.yaml", while_running=look)
    check_equal("how often it was seen", len(seen), 3)
    for i in range(3):
        os.remove("at-%d" % i)
    lines = [json.loads(line) for line in jobflow("run", "-o", "json", "--fresh", "f.yaml").stdout.splitlines()]
    last = [line for line in lines if line.get("step") == "try"][-1]
    check_equal("json", (last["iterations"], last["phase"]), (500, "Completed"))


def live_fits_narrow_and_low_terminals():
    long = "a-step-with-quite-a-long-name-that-does-not-fit"
    manifest("f.yaml", flow("f", [step("%s-%d" % (long, i), template="s") for i in range(30)]), template("s", "sleep 0.25"))
    for columns, rows in ((20, 5), (40, 10), (60, 4), (10, 3)):
        got, data = on_terminal("run", "f.yaml", "-j", 30, columns=columns, rows=rows)
        view = data.split(b"STEP")[0]
        frames = [f for f in re.split(rb"\x1b\[\d+A\r(?:\x1b\[K\r\n)+\x1b\[\d+A", view) if b"\x1b[K" in f]
        check(frames, "no view on %dx%d" % (columns, rows))
        for frame in frames:
            drawn = [line for line in frame.decode().replace("\r", "").split("\n") if line.endswith("\x1b[K")]
            for line in drawn:
                width = len(re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", line))
                check(width < columns, "%d columns on %dx%d: %r" % (width, columns, rows, line))
            check(len(drawn) < rows, "%d lines on %dx%d" % (len(drawn), columns, rows))
        check_equal("exit code", got, 0)


def live_leaves_no_frames_behind_where_it_begins():
    """The view begins at the top row of the terminal, fills it, or is pushed down by lines above it."""
    manifest("f.yaml", flow("f", [step("a"), step("talks")] + [step("s%d" % i, template="a") for i in range(4)]),
             template("a", "sleep 0.6"), template("talks", "for i in 1 2 3 4 5; do echo line $i; sleep 0.15; done"))
    for rows in (24, 6, 4):
        screen, data = screen_of("run", "f.yaml", "--logs", "--fresh", "-j", 6, rows=rows)
        check(data.count(b"/6 steps") > 4, "only %d frames on %d rows" % (data.count(b"/6 steps"), rows))
        view = screen.text().split("  STEP")[0].split("\n")
        check_equal("what is left on %d rows" % rows, sorted(re.sub(r"  .*", "", line) for line in view if line),
                    ["[f-talks-main-0] line %d" % i for i in range(1, 6)] + sorted("✓ " + n for n in ["a", "talks", "s0", "s1", "s2", "s3"]))


REWRITES = "for i in 1 2 3; do printf '\\r%s0%% of it' $i; touch at-$i; while [ ! -e go-$i ]; do sleep 0.01; done; done; echo; echo end"


def rewriting(show):
    """Runs a program that rewrites a line, and lets it go on when `show` says that the text is to be seen."""
    manifest("f.yaml", flow("f", [step("a")]), template("a", REWRITES))
    seen = []

    def look(process, data):
        at = len(seen) + 1
        if at <= 3 and os.path.exists("at-%d" % at) and show(data, "[f-a-main-0] %d0%% of it" % at):
            seen.append(write("go-%d" % at, ""))
    return seen, look


def a_line_that_is_rewritten_is_shown_as_it_grows():
    seen, look = rewriting(lambda data, text: text in Screen(80, 24).feed(data).text())
    screen, _ = screen_of("run", "f.yaml", "--logs", while_running=look)
    check_equal("how often it was seen", len(seen), 3)
    check_equal("what is left of it", re.findall(r"\[f-a-main-0\] .*", screen.text()), ["[f-a-main-0] 30% of it", "[f-a-main-0] end"])


def a_line_that_is_rewritten_keeps_its_label_in_plain_output():
    seen, look = rewriting(lambda data, text: text.encode() in data)
    screen, _ = screen_of("run", "f.yaml", "--logs", "-o", "plain", while_running=look)
    check_equal("how often it was seen", len(seen), 3)
    check_equal("what is left of it", re.findall(r"\[f-a-main-0\] .*", screen.text()), ["[f-a-main-0] 30% of it", "[f-a-main-0] end"])
    check_in("of all its pods", "\r[f-a-main-0/c] 20% of it\r[f-a-main-0/c] 30% of it\n[f-a-main-0/c] end\n",
             subprocess.run(command("logs", "jf/f"), capture_output=True, check=True).stdout.decode())
    check_equal("of one", subprocess.run(command("logs", "f-a-main-0"), capture_output=True, check=True).stdout, b"\r10% of it\r20% of it\r30% of it\nend\n")


def followed_logs_are_printed_as_they_grow():
    manifest("f.yaml", flow("f", [step("a")]), template("a", REWRITES))
    run = Background("run", "f.yaml", "-o", "quiet")
    wait_until("the first text", lambda: os.path.exists("at-1"))
    logs = Background("logs", "-f", "jf/f", name="logs")
    for i in (1, 2, 3):
        wait_until("text %d" % i, lambda i=i: "[f-a-main-0/c] %d0%% of it" % i in logs.output())
        write("go-%d" % i, "")
    check_equal("exit codes", (run.wait(), logs.wait()), (0, 0))
    check_in("the end", "[f-a-main-0/c] end", logs.output())


def live_output_has_no_colours_with_no_color():
    manifest("f.yaml", *FAN)
    screen, data = screen_of("run", "f.yaml", env={"NO_COLOR": "1"})
    check(not re.search(rb"\x1b\[[0-9;]*m", data), "colours in spite of NO_COLOR")
    check_in("the screen", "fan Succeed", screen.text())


def a_dumb_terminal_gets_plain_output():
    manifest("f.yaml", *FAN)
    got, data = on_terminal("run", "f.yaml", env={"TERM": "dumb"})
    check_equal("exit code", got, 0)
    check(b"\x1b" not in data, "control sequences on a dumb terminal")


def an_ascii_locale_gets_ascii_drawings():
    manifest("f.yaml", *FAN)
    _, data = screen_of("run", "f.yaml", env={"LC_ALL": "C", "LANG": "C"})
    check(all(b < 128 for b in data.split(b"STEP")[0]), "not ASCII in the locale C")


def live_output_of_a_failure_shows_the_end_of_its_log():
    manifest("f.yaml", *FAILING)
    screen, _ = screen_of("run", "f.yaml", code=1)
    for part in ("✗ bad", "Failed (exit code 3)", "[f-bad-main-0] first", "f Failed in", "jobflow logs job/f-bad"):
        check_in("the screen", part, screen.text())


def logs_cannot_take_over_the_terminal():
    manifest("f.yaml", flow("f", [step("a")]),
             template("a", r"printf '\033[2J\033[Hevil\033]0;title\007\n10%%\r20%%\r100%%\n\033[31mred\033[0m\n'"))
    screen, data = screen_of("run", "--logs", "f.yaml")
    check(b"\x1b[2J" not in data and b"\x1b]0" not in data and b"\x07" not in data, "control sequences of a program came through")
    check_in("the screen", "] 100%", screen.text())
    check("10%" not in screen.text().replace("100%", ""), "all of a progress bar is shown")
    check(b"\x1b[31mred" in data, "its colours are lost")


def an_interrupt_is_shown_on_the_terminal():
    manifest("f.yaml", flow("f", [step("a")]), template("a", "touch started; sleep 600"))
    sent = []

    def interrupt(process, data):
        if not sent and os.path.exists("started") and b"Running" in data:
            sent.append(os.kill(process.pid, signal.SIGINT))
    screen, _ = screen_of("run", "f.yaml", code=130, while_running=interrupt)
    for part in ("interrupted: stopping 1 pod", "a     Stopped", "f interrupted after"):
        check_in("the screen", part, screen.text())
    nothing_left()


def ctrl_c_at_the_terminal_interrupts_the_run():
    manifest("f.yaml", flow("f", [step("a")]), template("a", "touch started; sleep 600"))
    typed = []

    def interrupt(process, data):
        if not typed and os.path.exists("started") and b"Running" in data:
            typed.append(os.killpg(os.getpgid(process.pid), signal.SIGINT))
    screen, _ = screen_of("run", "f.yaml", code=130, while_running=interrupt)
    check_in("the screen", "f interrupted after", screen.text())
    nothing_left()


def killed_on_a_terminal_leaves_it_usable():
    manifest("f.yaml", flow("f", [step("a")]), template("a", "touch started; while [ ! -e go ]; do sleep 0.01; done"))

    def kill(process, data):
        if os.path.exists("started") and b"Running" in data:
            process.kill()
    screen, _ = screen_of("run", "f.yaml", code=-signal.SIGKILL, while_running=kill)
    write("go", "")
    jobflow("run", "f.yaml")
    nothing_left()


def a_thousand_steps_are_not_a_table_of_a_thousand_lines():
    manifest("f.yaml", flow("big", [step("s%d" % i, template="s") for i in range(1000)]), template("s"))
    screen, _ = screen_of("run", "--runtime", "sim", "f.yaml")
    text = screen.text()
    check_equal("finished steps", len(set(re.findall(r"^✓ (s\d+)", text, re.M))), 1000)
    check_in("the screen", "big Succeed in", text)
    check(len(text.split("STEP")[1].splitlines()) < 40, "a table of a thousand lines")


def iterations_are_told_one_by_one():
    again = dict(step("fan", template="t"), **{"for": {"items": ["x", "y"], "parallelism": 1}})
    never = dict(step("loop", ["fan"], template="t"), **{"for": {"maxIterations": 2, "until": {"terms": [
        {"target": "loop", "output": {"key": "done", "operator": "Exists"}}]}}})
    way = dict(step("way", ["fan"]), switch={"cases": [{"name": "good", "if": {"terms": [{"target": "fan", "phases": ["Completed"]}]},
                                                       "flows": ["a"]}], "default": ["b"]})
    manifest("f.yaml", flow("f", [again, never, way, step("a", template="t"), step("b", template="t")]), template("t"))
    out = jobflow("run", "-o", "plain", "f.yaml", code=1).stdout
    for part in ("  fan  Running\n", "  fan-0  Completed\n", "  fan-1  Completed\n", "  fan  Completed\n", "  loop-1  Completed\n",
                 "  loop  Failed", "  way  Completed  (chose good)\n"):
        check_in("plain", part, out)
    check("attempt 2" not in out, "an iteration is no attempt:\n" + out)
    table = [line.lstrip("* ").split() for line in out[out.index("  STEP"):].split("\n")]
    check_equal("table", [(row[0], row[1], row[4]) for row in table if len(row) >= 5 and row[0][:4] in ("fan", "fan-", "loop", "a")],
                [("fan", "Completed", "2"), ("fan-0", "Completed", "1"), ("fan-1", "Completed", "1"),
                 ("loop", "Failed", "2"), ("loop-0", "Completed", "1"), ("loop-1", "Completed", "1"), ("a", "Completed", "1")])
    told = re.search(r"^Step Count: +(.*)$", jobflow("describe", "jf/f").stdout, re.M).group(1)
    check_equal("step count", told, "3 of 5 steps completed, 1 failed, 1 skipped")
    lines = [json.loads(line) for line in jobflow("run", "-o", "json", "--fresh", "f.yaml", code=1).stdout.split("\n") if line]
    check_equal("json", sorted({(l["step"], l.get("loop")) for l in lines if l["type"] == "step" and l["step"].startswith("fan")}, key=str),
                [("fan", None), ("fan-0", "fan"), ("fan-1", "fan")])


def output_that_cannot_be_written_is_a_failure():
    manifest("f.yaml", flow("f", [step("a")]), template("a", "echo " + "x" * 9000))
    jobflow("run", "-o", "quiet", "f.yaml")
    full = ("sh", "-c", 'exec "$@" > /dev/full', "sh")
    for words in ("get jf", "get jf -o yaml", "get jobs -o json", "describe jf/f", "graph jf/f", "graph f.yaml -o dot",
                  "explain jf/f", "logs jf/f", "events", "validate f.yaml", "plan f.yaml", "report jf/f -o -",
                  "history", "convert f.yaml", "completion bash", "version", "help",
                  "help reference", "--help", "get --help", "vcctl --help", "vcctl job list", "doctor"):
        got = jobflow(*words.split(), code=None, prefix=full)
        check(got.returncode != 0, words + " ends with 0")
        check_in(words, "cannot write the output: No space left on device", got.stderr)


def a_reader_that_wants_no_more_is_no_failure():
    manifest("f.yaml", flow("f", [step("a")]), template("a"))
    jobflow("run", "-o", "quiet", "f.yaml")
    script = 'trap "" PIPE; { "$@"; echo $? > code; } | true; cat code'
    got = jobflow("help", "reference", prefix=("sh", "-c", script, "sh"))
    check_equal("exit code", got.stdout.strip(), "0")
    check_equal("stderr", got.stderr, "")


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
