"""Job plugins with real processes: names, keys, ports and ranks of pods, when jobs are scaled, restarted or run in parallel.

The pods run small programs that read the same settings as the frameworks do; frameworks.py tests the frameworks themselves.
"""
import base64
import glob
import re
import socket
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_plugins import *  # noqa: E402,F403: sys.path is set above; cases use all names


# covers: job-plugins.md PLG-006
@untouched
def the_plugins_variable_wins_over_the_authors():
    tasks = [task("w", "echo index $VC_TASK_INDEX $(cat /etc/volcano/w.host | tr '\\n' ,)", 2)]
    tasks[0]["template"]["spec"]["containers"][0]["env"] = [{"name": "VC_TASK_INDEX", "value": "9"}]
    out = run_jobs(job("j", tasks, plugins={"env": [], "svc": []}))
    check_in("first", "[j-w-0] index 0 j-w-0.j,j-w-1.j", out)
    check_in("second", "[j-w-1] index 1 j-w-0.j,j-w-1.j", out)


# covers: job-plugins.md PLG-141; local-runtime.md LRT-52
@untouched
def jobs_with_equal_ports_do_not_meet():
    """Uses no framework: every master answers with its own job's name on the port that all of them declare."""
    code = ("import os, socket, time\n"
            "at = (os.environ['MASTER_ADDR'], int(os.environ['MASTER_PORT']))\n"
            "if os.environ['RANK'] == '0':\n"
            "    server = socket.create_server(('0.0.0.0', at[1]))\n"
            "    for _ in range(int(os.environ['WORLD_SIZE']) - 1):\n"
            "        server.accept()[0].sendall(os.uname().nodename.encode())\n"
            "else:\n"
            "    while True:\n"
            "        try:\n"
            "            c = socket.create_connection(at)\n"
            "            break\n"
            "        except ConnectionRefusedError:\n"
            "            time.sleep(0.02)\n"
            "    print('rank', os.environ['RANK'], 'met', c.recv(99).decode())\n")
    jobs = [job(name, [python_task("master", code), python_task("worker", code, 2)], plugins={"pytorch": []}) for name in ("a", "b")]
    out = run_jobs(*jobs)
    for name in ("a", "b"):
        for index in (0, 1):
            check_in("job " + name, "[%s-worker-%d] rank %d met %s-master-0" % (name, index, index + 1, name), out)


# Starts late, counts connections that send nothing, and ends at the first one that sends data.
LATE_MASTER = """
import socket, time
time.sleep(1)
server, asked = socket.create_server(('0.0.0.0', 23456)), 0
while not server.accept()[0].recv(9):
    asked += 1
print('asked', asked)
"""


# covers: job-plugins.md PLG-091; local-runtime.md LRT-55
@untouched
def a_worker_waits_for_its_master_with_what_there_is():
    """Tests the wait in pods, then the wait script by itself, without nc and with dash as sh, so that each of its variants runs."""
    worker = python_task("worker", "import os, socket; s = socket.create_connection((os.environ['MASTER_ADDR'], 23456)); s.sendall(b'here')")
    out = run_jobs(job("j", [python_task("master", LATE_MASTER), worker], plugins={"pytorch": ["--wait-master-enabled"]}))
    check_in("waiting", "[j-worker-0/wait-for-master] waiting for j-master-0.j:23456", out)
    check_in("the first answer is enough", "[j-master-0] asked 1\n", out)
    pod = json.loads(jobflow("get", "pod/j-worker-0", "-o", "json").stdout)
    script = pod["spec"]["initContainers"][0]["command"][2]
    with socket.create_server(("127.0.0.1", 0)) as server:
        here = script.replace("j-master-0.j", "127.0.0.1").replace("port=23456", "port=%d" % server.getsockname()[1])
        nowhere = script.replace("j-master-0.j", "127.0.0.1").replace("port=23456 limit=300", "port=1 limit=0")
        for way in ("bash", "python3"):
            os.mkdir(way)
            for program in ("sleep", way):
                os.symlink(os.path.realpath(shutil.which(program, path="/usr/bin:/bin")), os.path.join(way, program))
            for text, code in ((here, 0), (nowhere, 1)):
                done = subprocess.run(["/bin/sh", "-c", text], env={"PATH": os.path.abspath(way)}, capture_output=True, timeout=DEADLINE, check=False)
                check_equal("with %s alone" % way, done.returncode, code)


# covers: job-plugins.md PLG-089
@untouched
def a_worker_whose_master_never_listens_fails():
    tasks = [task("master", "sleep 60"), task("worker", "echo never")]
    out = run_jobs(job("j", tasks, plugins={"pytorch": ["--wait-master-enabled", "--wait-master-timeout=4"]},
                       policies=[on("PodFailed", "AbortJob")]), code=1)
    check_in("message", "j-master-0.j:23456 does not answer, waited 4 of 4 s", out)
    check("[j-worker-0/main] never" not in out and "] never" not in out, "the worker's container never ran")
    pod = json.loads(jobflow("get", "pod/j-worker-0", "-o", "json").stdout)["status"]
    ended = pod["initContainerStatuses"][0]["state"]["terminated"]
    check_equal("exit code", ended["exitCode"], 1)
    check_equal("phase", pod["phase"], "Failed")


def shared(path, text):
    """Returns a shell command that appends a line to a file of the host in one write."""
    return "echo %s > %s.new; mv %s.new %s" % (text, path, path, path)


# covers: job-plugins.md PLG-050; see PLG-024
@untouched
def a_job_scaled_while_it_runs_is_known_to_all_its_pods():
    """Hosts files change in running pods. New pods get the new configuration of ssh; running pods keep theirs."""
    here = os.getcwd()
    script = ("while [ ! -e %s/end ]; do "
              "%s; sleep 0.05; done" % (here, shared(here + "/seen.$VC_TASK_INDEX",
                                                     "$(grep -c ' j-w-[0-9]*$' /etc/hosts) $(grep -c ^Host /root/.ssh/config) "
                                                     "$(md5sum < /root/.ssh/id_rsa | cut -c1-32)")))

    def scaled(n):
        return job("j", [task("w", script, n)], minAvailable=1, plugins={"svc": [], "ssh": ["--ssh-key-type=ed25519"], "env": []})

    def seen(index):
        return read("seen.%d" % index).split()

    daemon = Daemon()
    daemon.apply(scaled(2))
    wait_until("both see two hosts", lambda: [seen(i)[:2] for i in (0, 1)] == [["2", "2"]] * 2)
    key = seen(0)[2]
    daemon.apply(scaled(3))
    wait_until("all see three hosts", lambda: [seen(i)[:1] for i in (0, 1, 2)] == [["3"]] * 3)
    check_equal("old and new pods: hosts, hosts in the configuration, key", [seen(i) for i in (0, 1, 2)],
                [["3", "2", key], ["3", "2", key], ["3", "3", key]])
    daemon.apply(scaled(1))
    wait_until("one is left", lambda: seen(0)[:1] == ["1"])
    check_equal("the first pod never restarted", daemon.get("pod/j-w-0")["status"]["containerStatuses"][0]["restartCount"], 0)
    write("end", "")
    daemon("wait", "job/j", "--for=jsonpath={.status.state.phase}=Completed")
    daemon.stop()


@untouched
def the_example_of_scaling_does_what_it_says():
    text = read(os.path.join(SOURCE, "examples", "scale.yaml"))
    check_in("the example", 'value: "3"', text)
    write("scale.yaml", text.replace('value: "3"', 'value: "60"'))
    daemon = Daemon()
    daemon("apply", "-f", "scale.yaml")
    wait_until("both have begun", lambda: all("2 pods" in daemon("logs", "pod/scale-group-worker-%d" % i, code=None).stdout for i in (0, 1)))
    grown = daemon.get("job/scale-group")
    grown["spec"]["tasks"][0]["replicas"] = 3
    del grown["metadata"]["resourceVersion"]  # its status changes meanwhile
    daemon.apply(grown)
    daemon("wait", "jf/scale", "--for=jsonpath={.status.state.phase}=Succeed")
    address = daemon.get("pod/scale-group-worker-2")["status"]["podIP"]
    for index in (0, 1, 2):
        check_in("pod %d" % index, "3 pods, the last of them at %s\n" % address, daemon("logs", "pod/scale-group-worker-%d" % index).stdout)
    daemon.stop()


# covers: job-plugins.md PLG-142
@untouched
def the_lists_of_hosts_change_at_once_in_pods_that_run():
    """A reader in a loop sees two lines, then three, and no other state."""
    here = os.getcwd()
    script = ("n=0 last=; while [ ! -e %s/end ]; do got=$(grep -c . /etc/volcano/w.host); n=$((n + 1)); "
              "if [ \"$got\" != \"$last\" ]; then echo saw $got; last=$got; %s; fi; done; echo $n reads"
              % (here, shared(here + "/seen.$VC_TASK_INDEX", "$got")))

    def scaled(n):
        return job("j", [task("w", script, n)], minAvailable=1, plugins={"svc": [], "env": []})

    daemon = Daemon()
    daemon.apply(scaled(2))
    wait_until("both see two", lambda: [read("seen.%d" % i).strip() for i in (0, 1)] == ["2"] * 2)
    daemon.apply(scaled(3))
    wait_until("both see three", lambda: [read("seen.%d" % i).strip() for i in (0, 1)] == ["3"] * 2)
    write("end", "")
    daemon("wait", "job/j", "--for=jsonpath={.status.state.phase}=Completed")
    out = daemon("logs", "pod/j-w-0").stdout
    check_equal("what the first pod saw", re.findall("saw (.*)", out), ["2", "3"])
    daemon.stop()


# covers: job-plugins.md PLG-034
@untouched
def a_container_that_restarts_has_the_variables_of_its_start():
    """A container that did not restart keeps its variables as well. The job also waits for a sidecar's startup probe."""
    here = os.getcwd()
    script = ("echo $VC_W_NUM >> %s/nums.$VC_TASK_INDEX; test -e %s/up.$VC_TASK_INDEX || exit 9\n"
              "until [ -e %s/go.$VC_TASK_INDEX ]; do sleep 0.05; done; rm %s/go.$VC_TASK_INDEX; exec sh -c \"$(cat %s/then)\""
              % ((here,) * 5))

    def scaled(n):
        made = task("w", script, n, restartPolicy="OnFailure")
        up = {"exec": {"command": ["sh", "-c", "test $VC_TASK_INDEX && touch %s/up.$VC_TASK_INDEX" % here]}, "periodSeconds": 1}
        made["template"]["spec"]["initContainers"] = [{"name": "side", "command": ["sleep", "600"], "restartPolicy": "Always", "startupProbe": up}]
        return job("j", [made], minAvailable=1, plugins={"svc": [], "env": []})

    write("then", "exit 1")
    daemon = Daemon("--restart-backoff=100ms")
    daemon.apply(scaled(2))
    wait_until("both have begun", lambda: [read("nums.%d" % i).split() for i in (0, 1)] == [["2"]] * 2)
    daemon.apply(scaled(3))
    wait_until("the third has begun", lambda: read("nums.2").split() == ["3"])
    write("go.0", "")
    wait_until("the first restarts", lambda: read("nums.0").split() == ["2", "3"])
    check_equal("its sibling", read("nums.1").split(), ["2"])
    write("then", "exit 0")
    for index in (0, 1, 2):
        write("go.%d" % index, "")
    daemon("wait", "job/j", "--for=jsonpath={.status.state.phase}=Completed")
    check_equal("what each began with", [read("nums.%d" % i).split() for i in (0, 1, 2)], [["2", "3"], ["2"], ["3"]])
    daemon.stop()


# covers: job-plugins.md PLG-051; local-runtime.md LRT-54
@untouched
def a_restarted_pod_and_the_survivors_reach_each_other():
    need_sshd()
    here = os.getcwd()
    script = ("mkdir -p /run/sshd; /usr/sbin/sshd -e\n"
              "if [ $VC_TASK_INDEX = 0 ]; then\n"
              "  until ssh -q j-w-1.j true; do sleep 0.1; done\n"
              "  if [ ! -e %s/once ]; then touch %s/once; exit 3; fi\n"
              "  echo there: $(ssh -q j-w-1.j hostname)\n"
              "  echo and back: $(ssh -q j-w-1.j ssh -q j-w-0.j hostname)\n"
              "  touch %s/done\n"
              "else\n"
              "  while [ ! -e %s/done ]; do sleep 0.1; done; echo never restarted\n"
              "fi\n" % (here, here, here, here))
    out = run_jobs(job("j", [task("w", script, 2)], plugins={"svc": [], "ssh": [], "env": []}, maxRetry=3,
                       policies=[on("PodFailed", "RestartPod")]))
    check_in("there", "[j-w-0] there: j-w-1", out)
    check_in("back", "[j-w-0] and back: j-w-0", out)
    check_equal("starts of the survivor", out.count("[j-w-1] never restarted"), 1)


@untouched
def the_keys_are_those_of_openssh():
    """OpenSSH's own program reads both kinds of keys. A pod gets exactly the four files, readable by their owner only."""
    need_success("ssh-keygen makes no key", ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", os.path.abspath("trial")])
    script = ("cd /keys; ls -A | tr '\\n' ' '; stat -c %a id_rsa; ssh-keygen -l -f id_rsa.pub\n"
              "[ \"$(ssh-keygen -y -f id_rsa | cut -d' ' -f1,2)\" = \"$(cut -d' ' -f1,2 id_rsa.pub)\" ] && echo the pair fits")
    for kind, told in (("rsa", "3072 SHA256"), ("ed25519", "256 SHA256")):
        fresh_dir("keys")
        out = run_jobs(job("j", [task("w", script)], plugins={"ssh": ["--ssh-key-file-path=/keys", "--ssh-key-type=" + kind]}))
        check_in(kind, "authorized_keys config id_rsa id_rsa.pub 600", out)
        check_in(kind, "the pair fits", out)
        check_in(kind, told, out)


# covers: job-plugins.md PLG-046
@untouched
def keys_elsewhere_are_for_the_containers_user_alone():
    script = "for f in id_rsa config; do [ \"$(stat -c '%a %u' /a/b/$f)\" = \"600 $(id -u)\" ] && cat /a/b/$f > /dev/null && echo own; done"
    out = run_jobs(job("j", [task("w", script)], plugins={"ssh": ["--ssh-key-file-path=/a/b"]}))
    check_equal("files of the container's user alone", out.count("[j-w-0] own"), 2)


CANARY = "MIICanaryCanaryCanaryCanaryCanaryCanaryCanary"


# covers: reliability.md SEC-30; see SEC-29 FT-33
def no_key_is_ever_written_where_people_read():
    """Generated and given keys, in correct and wrong places, at the most verbose log level: keys appear only in the store and the pods' own files."""
    given = "-----BEGIN RSA PRIVATE KEY-----\n%s\n-----END RSA PRIVATE KEY-----\n" % CANARY
    daemon = Daemon("--verbose", "--allow-ssh-key-arguments")
    told = []
    jobs = {"made": [], "given": ["--ssh-private-key", given, "--ssh-public-key=p"], "alone": ["--ssh-private-key=" + given],
            "misplaced": ["--ssh-port", given], "misspelt": ["--ssh-privat-key", given], "loose": [given]}
    for name, words in jobs.items():
        manifest("one.yaml", job(name, [task("w", "true")], plugins={"ssh": words, "svc": []}))
        for verb in ("validate", "apply"):
            done = jobflow("validate", "one.yaml", code=None) if verb == "validate" else daemon("apply", "-f", "one.yaml", code=None)
            told += [done.stdout, done.stderr]
        if name != "alone":
            wait_until(name + " has a secret", lambda: name in daemon("get", "secrets", "-o", "name").stdout or
                       "Completed" in daemon("get", "job/" + name).stdout)
    secret = None
    manifest("slow.yaml", job("slow", [task("w", "sleep 60")], plugins={"ssh": []}))
    daemon("apply", "-f", "slow.yaml")
    wait_until("a pair", lambda: "slow-ssh" in daemon("get", "secrets", "-o", "name").stdout)
    secret = base64.b64decode(daemon.get("secret/slow-ssh")["data"]["id_rsa"]).decode()
    encoded = base64.b64encode(secret.encode()).decode()
    for args in (["get", "secrets"], ["get", "secrets", "-o", "wide"], ["get", "events"], ["events"], ["get", "pods", "-o", "wide"], ["describe", "job/slow"],
                 ["describe", "secret/slow-ssh"], ["describe", "pod/slow-w-0"], ["get", "pod/slow-w-0", "-o", "yaml"], ["get", "configmaps", "-o", "yaml"]):
        done = daemon(*args, code=None)
        told += [done.stdout, done.stderr]
    daemon("delete", "job/slow")
    daemon.stop()
    told += [read("serve.stdout"), read("serve.stderr")]
    check(len(told[-1]) > 1000, "the daemon was verbose")
    lines = [line for line in secret.splitlines() if not line.startswith("-----")]
    for text in told:
        for part in [CANARY] + lines + [encoded[100:160]]:
            check(part not in text, "a key is shown:\n%s" % text[max(0, text.find(part) - 300):text.find(part) + 100])
    stored = ("db", "wal", "shm")
    for path in glob.glob("data/**", recursive=True, include_hidden=True):
        if os.path.isfile(path) and not path.endswith(stored) and not path.endswith("/.ssh/id_rsa"): # files of a pod itself
            with open(path, "rb") as file:
                data = file.read()
            for part in [CANARY] + lines:
                check(part.encode() not in data, "a key is in %s" % path)


# covers: see SEC-29
def a_daemon_takes_no_key_in_arguments_unless_told_to():
    daemon = Daemon()
    manifest("one.yaml", job("j", [task("w", "true")], plugins={"ssh": ["--ssh-private-key=" + CANARY, "--ssh-public-key=p"]}))
    refused = daemon("apply", "-f", "one.yaml", code=None)
    check(refused.returncode != 0, "accepted")
    check_in("the way out", "--allow-ssh-key-arguments", refused.stderr)
    check(CANARY not in refused.stderr + refused.stdout, "the key is shown")
    daemon.stop()


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
