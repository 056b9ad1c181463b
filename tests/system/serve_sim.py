"""`jobflow serve --runtime sim`: a daemon whose pods are simulated.

# see docs/daemon.md, "A daemon without programs"
"""
import json
import signal
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_serve import *  # noqa: E402,F403: sys.path is set above; cases use all names


def sim_task(name, replicas=1, policy="Never", **annotations):
    made = task(name, "this is not run", replicas, restartPolicy=policy)
    made["template"]["metadata"] = {"annotations": {"sim.jobflow.dev/" + k.replace("_", "-"): v for k, v in annotations.items()}}
    return made


def job(name, *tasks, **spec):
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": name}, "spec": dict({"tasks": list(tasks)}, **spec)}


def sim_daemon(*args, **rest):
    return Daemon("--runtime", "sim", *args, **rest)


def create(daemon, path, body):
    status, text = daemon.ask("POST", path, body)
    check_equal("created: " + text, status, 201)


def job_phase(daemon, name):
    return json.loads(daemon.ask("GET", JOBS + "/" + name)[1]).get("status", {}).get("state", {}).get("phase")


def await_phase(daemon, name, phase):
    wait_until("%s is %s" % (name, phase), lambda: job_phase(daemon, name) == phase)


def pods_take_the_time_that_they_say_divided_by_the_speed():
    daemon = sim_daemon("--sim-speed", "36000", "-j", "100")
    create(daemon, JOBS, job("hours", sim_task("a", 50, duration="1h"), sim_task("b", 50, duration="30m")))
    await_phase(daemon, "hours", "Completed")
    create(daemon, JOBS, job("failing", sim_task("a", duration="1h", exit_code="3"), maxRetry=1))
    await_phase(daemon, "failing", "Failed")
    create(daemon, JOBS, job("restarted", sim_task("a", policy="OnFailure", duration="1h", exit_code="1,0")))
    await_phase(daemon, "restarted", "Completed")
    late = job("late", sim_task("a", duration="1000h"), maxRetry=1)
    late["spec"]["tasks"][0]["template"]["spec"]["activeDeadlineSeconds"] = 3600
    create(daemon, JOBS, late)
    await_phase(daemon, "late", "Failed")
    node = daemon.get("/api/v1/nodes/sim")
    check_equal("the node says so", node["status"]["nodeInfo"]["containerRuntimeVersion"], "sim://1")
    check_equal("nothing is executed", list(descendants()), [daemon.pid])


def flows_and_watches_work_as_with_pods_that_run():
    daemon = sim_daemon("--sim-speed", "3600")
    tasks = {"tasks": [sim_task("main", duration="10m", message="accuracy=0.9")]}
    for name in ("load", "train"):
        create(daemon, JF.replace("jobflows", "jobtemplates"), dict(template(name), spec=tasks))
    create(daemon, JF, flow("f", [step("load"), step("train", ["load"])]))
    wait_until("the flow succeeds", lambda: json.loads(daemon.ask("GET", JF + "/f")[1]).get("status", {}).get("state", {}).get("phase") == "Succeed")
    check_in("a client of it", "Succeed", jobflow("get", "jf", "--kubeconfig", daemon.kubeconfig).stdout)
    pods = daemon.get("/api/v1/namespaces/default/pods")["items"]
    check_equal("outputs", pods[0]["status"]["containerStatuses"][0]["state"]["terminated"]["message"], "accuracy=0.9")


def a_pod_runs_until_it_is_deleted():
    daemon = sim_daemon()
    create(daemon, JOBS, job("server", sim_task("a", duration="1000h")))
    await_phase(daemon, "server", "Running")
    pod = daemon.get("/api/v1/namespaces/default/pods")["items"][0]["metadata"]["name"]
    check_equal("its log is empty", daemon.ask("GET", "/api/v1/namespaces/default/pods/%s/log" % pod), (200, ""))
    check_equal("deleted", daemon.ask("DELETE", JOBS + "/server")[0], 200)
    wait_until("gone", lambda: not daemon.get("/api/v1/namespaces/default/pods")["items"])


def the_speed_of_a_simulation_can_be_changed_while_it_runs():
    write("settings.yaml", "sim-speed: 1\n")
    daemon = sim_daemon("--config", "settings.yaml")
    write("settings.yaml", "sim-speed: 36000\n")
    daemon.signal(signal.SIGHUP)

    def some_job_is_quick(count=[0]):  # the signal is handled at some time
        count[0] += 1
        name = "j%d" % count[0]
        create(daemon, JOBS, job(name, sim_task("a", duration="1h")))
        wait_until("it runs", lambda: job_phase(daemon, name) in ("Running", "Completed"))
        return "Completed" in [job_phase(daemon, "j%d" % i) for i in range(1, count[0] + 1)]

    wait_until("a job of an hour ends", some_job_is_quick)


def a_simulation_and_real_pods_keep_to_their_own_directories():
    sim_daemon().stop()
    check_equal("a real one refuses", (refused := Daemon(ready=False)).wait(), 2)
    check_in("the way out", "holds a simulation: use --runtime sim", refused.errors())
    Daemon(data_dir="real").stop()
    check_equal("a simulation refuses", (refused := sim_daemon(data_dir="real", ready=False)).wait(), 2)
    check_in("the way out", "a simulation needs a directory of its own", refused.errors())
    check_equal("back in its own", sim_daemon().stop(), 0)


def a_simulated_daemon_has_a_default_directory_of_its_own():
    state = os.path.abspath("state")
    os.mkdir(state)
    daemon = Background("serve", "--runtime", "sim", "--listen", "none", env=dict(os.environ, XDG_STATE_HOME=state), name="usual")
    wait_until("ready", lambda: "serving on" in daemon.output())
    check_in("where", state + "/jobflow-sim/api.sock", daemon.output())
    daemon.signal(signal.SIGTERM)
    check_equal("stopped", daemon.wait(), 0)
    check_equal("nothing else", os.listdir(state), ["jobflow-sim"])


def pods_that_ran_when_a_simulated_daemon_stopped_are_lost():
    daemon = sim_daemon()
    create(daemon, JOBS, job("long", sim_task("a", duration="1000h"), maxRetry=1))
    await_phase(daemon, "long", "Running")
    daemon.stop()
    daemon = sim_daemon()
    await_phase(daemon, "long", "Failed")


def a_speed_without_a_simulation_is_refused():
    check_in("told", "--sim-speed is the speed of simulated pods: it needs --runtime sim",
             jobflow("serve", "--data-dir", "x", "--sim-speed", "2", code=2).stderr)
    for flag in (("--isolation", "full"), ("--network", "private"), ("--trust-editors",), ("--hosts-as-addresses",), ("--allow-host-path", "/srv")):
        check_in("refused", "%s has no effect with --runtime sim" % flag[0],
                 jobflow("serve", "--data-dir", "x", "--runtime", "sim", *flag, code=2).stderr)
    manifest("f.yaml", template("t"), flow("f", [step("t")]))
    for runtime, flag in (("sim", ("--isolation", "full")), ("sim", ("--network", "private")), ("sim", ("--hosts-as-addresses",)),
                          ("host", ("--isolation", "full")), ("host", ("--network", "private"))):
        check_in("refused by run", "%s has no effect with --runtime %s" % (flag[0], runtime),
                 jobflow("run", "--runtime", runtime, *flag, "f.yaml", code=2).stderr)
    check_in("no speed", "--sim-speed", jobflow("serve", "--runtime", "sim", "--sim-speed", "0", code=2).stderr)
    check("x" not in os.listdir("."), "a directory was made")


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
