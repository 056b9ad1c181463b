"""Jobs without a flow: combinations of policies, checked to the second on the virtual clock, and the output of commands about jobs."""
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from behaviour import ended, exits, job, needs, obj, on, queue, real, row, sim  # noqa: E402: sys.path is set above

RESTART_POD, RESTART_JOB = on("PodFailed", "RestartPod"), on("PodFailed", "RestartJob")

INTERPLAY = [
    # covers: job.md POL-06 POL-07 POL-08
    row("a task's exit code comes before its event and both before the job's", 1,
        [job("j", sim("code", 1, "3,0", policies=[exits(3, "RestartTask"), on("PodFailed", "AbortJob")]),
             sim("other", 9, "1"), policies=[on("PodFailed", "TerminateJob"), exits(3, "CompleteJob")]),
         job("event", sim("a", 1, "3", policies=[on("PodEvicted", "AbortJob")]), sim("b", 9),
             policies=[exits(3, "CompleteJob"), on("*", "AbortJob")]),
         job("any", sim("a", 1, "5"), sim("b", 9), policies=[exits(3, "CompleteJob"), on("*", "TerminateJob")])],
        {"vcjob/j": ended("Terminated", retryCount=1, succeeded=1, failed=1, seconds=9),
         "vcjob/event": ended("Completed", failed=1, retryCount=None, seconds=1),
         "vcjob/any": ended("Terminated", failed=1, seconds=1)}),
    # covers: job.md ST-23 ST-36
    row("a restarted pod, then a restarted job, out of one budget", 1,
        [job("enough", sim("a", 1, "3,4,0", policies=[exits(3, "RestartPod"), exits(4, "RestartJob")]), sim("b", 5), maxRetry=3),
         job("used-up", sim("a", 1, "3,4,3,0", policies=[exits(3, "RestartPod"), exits(4, "RestartJob")]), sim("b", 5), maxRetry=3),
         job("job-first", sim("a", 1, "4,3,0", policies=[exits(3, "RestartPod"), exits(4, "RestartJob")]), sim("b", 5), maxRetry=3)],
        {"vcjob/enough": ended("Completed", retryCount=2, version=2, succeeded=2, seconds=7),
         "vcjob/used-up": ended("Failed", retryCount=3, version=1, failed=None),
         "vcjob/job-first": ended("Completed", retryCount=2, version=2, succeeded=2, seconds=6)}),
    # covers: job.md DLY-07 DLY-08 DLY-13; see O-28
    row("a timeout races with recovery and loses, or wins", 0,
        [job("recovers", sim("a", 4, "1,0"), policies=[RESTART_POD, on("PodEvicted", "TerminateJob", timeout="3s")]),
         job("too-late", sim("a", 4, "1", policies=[on("PodFailed", "CompleteJob", timeout="3s")]), sim("b", 20)),
         job("in-time", sim("a", 4, "1", policies=[on("PodFailed", "RestartJob", timeout="30s")]), sim("b", 20),
             minAvailable=1)],
        {"vcjob/recovers": ended("Completed", retryCount=1, seconds=8),
         "vcjob/too-late": ended("Completed", retryCount=None, failed=1, seconds=7),
         "vcjob/in-time": ended("Completed", retryCount=None, failed=1, succeeded=1, seconds=20)}),
    # covers: job.md DLY-01 DLY-02 DLY-11
    row("pods that wait for room are given up one by one, or get it in time", 1,
        [queue("q", cpu="2"), queue("r", cpu="2"),
         job("late", sim("a", 30, replicas=3, minAvailable=2, resources=needs(1)), queue="q", minAvailable=2,
             policies=[on("PodPending", "AbortJob", timeout="10s")]),
         job("soon", sim("a", 8, replicas=3, minAvailable=2, resources=needs(1)), queue="r", minAvailable=2,
             policies=[on("PodPending", "AbortJob", timeout="10s")])],
        {"vcjob/late": ended("Aborted", seconds=10), "vcjob/soon": ended("Completed", succeeded=3, seconds=16)}),
    # covers: job.md POL-17 POL-28
    row("a task that completes ends what a failure began again", 0,
        [job("j", sim("a", 5, replicas=2, policies=[on("TaskCompleted", "CompleteJob")]),
             sim("b", 2, "1,0", policies=[on("PodFailed", "RestartTask")]), sim("c", 900))],
        {"vcjob/j": ended("Completed", retryCount=1, succeeded=3, seconds=5)}),
]


def lines_after(text, heading):
    lines = text.split("\n")
    at = lines.index(heading)
    out = []
    for line in lines[at + 1:]:
        if not line.startswith("  "):
            break
        out.append(line.split())
    return out


# covers: see job.md 21
def a_job_tells_its_story():
    manifest("m.yaml", job("j", sim("a", 2, "3,4,0", policies=[exits(3, "RestartPod"), exits(4, "RestartJob")]),
                           sim("b", 10, replicas=2), maxRetry=5))
    jobflow("run", "m.yaml", "--data-dir", "state", "--runtime", "sim", code=0)
    text = jobflow("describe", "vcjob", "j", "--data-dir", "state").stdout
    check_in("the budget", "Retries:            2 of 5\n", text)
    check_in("how it ended", "Reason:             PodsSucceeded\n", text)
    restarts = [" ".join(line[1:]) for line in lines_after(text, "Restarts:")[1:]]
    check_equal("restarts", restarts, ["RestartPod after PodFailed of pod j-a-0 with exit code 3",
                                       "RestartJob after PodFailed of pod j-a-0 with exit code 4"])
    phases = [line[0] for line in lines_after(text, "Phases:")[1:]]
    check_equal("phases", phases, ["Restarting", "Pending", "Running", "Completed"])
    check_equal("tasks", lines_after(text, "Tasks:")[1:], [["a", "1", "1", "0", "0", "1", "0", "0"],
                                                           ["b", "2", "2", "0", "0", "2", "0", "0"]])


def a_job_says_what_it_waits_for():
    until_told = "while [ ! -e fin ]; do sleep 0.02; done"
    manifest("m.yaml", queue("q", cpu="100m"),
             job("first", real("a", until_told, resources=needs("100m")), queue="q"),
             job("j", real("a", "true", resources=needs("100m")), queue="q"),
             job("chain", real("b", "true", dependsOn={"name": ["a"]}), real("a", "true", resources=needs("100m")), queue="q"))
    run = Background("run", "m.yaml", "--data-dir", "state")

    def described(name):
        return jobflow("describe", "vcjob", name, "--data-dir", "state", code=None).stdout
    text = wait_until("the job says what it waits for",
                      lambda: [line for line in described("j").split("\n") if line.startswith("Waits For:")])[0]
    check_in("what the job waits for", "queue q", text)
    check_equal("what a task waits for", lines_after(described("chain"), "Tasks:")[1], ["b", "1", "1", "0", "0", "0", "0", "0", "a"])
    write("fin", "")
    check_equal("exit code", run.wait(), 0)
    check("Waits For:" not in described("j"), "a completed job waits:\n" + described("j"))


# covers: see job.md O-26
def a_job_says_what_it_will_do_unless_something_happens():
    until_told = "while [ ! -e fin ]; do sleep 0.02; done"
    manifest("m.yaml", job("j", real("a", "exit 3"), real("b", until_told), minAvailable=1,
                           policies=[on("PodFailed", "AbortJob", timeout="1h")]))
    run = Background("run", "m.yaml", "--data-dir", "state")

    def described():
        return jobflow("describe", "vcjob", "j", "--data-dir", "state", code=None).stdout
    text = wait_until("it is due", lambda: described().partition("Due:")[2].partition("Tasks:")[0])
    check_in("the action and its cause", "AbortJob   PodFailed of pod j-a-0\n", text)
    write("fin", "")
    run.wait()
    check("Due:" not in described(), "a job at its end will do something:\n" + described())


# covers: job.md WQ-09
def lists_show_the_columns_of_upstream():
    manifest("m.yaml", queue("q", cpu="1"), job("j", sim("a", 2)),
             obj("PodGroup", "scheduling.volcano.sh/v1beta1", "pg", spec={"minMember": 1, "queue": "q"}))
    jobflow("run", "m.yaml", "--data-dir", "state", "--runtime", "sim", code=0)
    for names, plain, wide in ((("vcjob", "vj", "jobs.batch.volcano.sh"), "NAME STATUS MINAVAILABLE RUNNINGS AGE", "QUEUE"),
                               (("pg", "podgroup", "podgroup-v1beta1"), "NAME STATUS MINMEMBER RUNNINGS AGE", "QUEUE"),
                               (("queue", "q", "queue-v1beta1"), "NAME PARENT", "")):
        for name in names:
            def header(*flags):
                return jobflow("get", name, "--data-dir", "state", *flags).stdout.split("\n")[0].split()
            check_equal("columns of " + name, " ".join(header()), plain)
            check_equal("wide columns of " + name, header("-o", "wide")[:len(plain.split()) + bool(wide)],
                        plain.split() + wide.split())


if __name__ == "__main__":
    sys.exit(main(*INTERPLAY, a_job_tells_its_story, a_job_says_what_it_waits_for,
                  a_job_says_what_it_will_do_unless_something_happens, lists_show_the_columns_of_upstream))
