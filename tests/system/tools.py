"""Third-party tools against the daemon: helm, kustomize (in kubectl) and Volcano's own vcctl.

helm and vcctl are tested only where they are installed: in PATH, or as JOBFLOW_HELM and JOBFLOW_VCCTL name them.
"""
import json
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_serve import *  # noqa: E402,F403: sys.path is set above; cases use all names

RELEASE = "{{ .Release.Name }}"
CHART = {
    "Chart.yaml": "apiVersion: v2\nname: pipe\nversion: 0.1.0\n",
    "values.yaml": "word: hello\nreplicas: 1\nretain: retain\n",
    "templates/config.yaml": """apiVersion: v1
kind: ConfigMap
metadata: {name: %(r)s-words}
data: {word: {{ .Values.word | quote }}}
---
apiVersion: v1
kind: Service
metadata: {name: %(r)s}
spec: {selector: {app: %(r)s}, ports: [{port: 80}]}
""" % {"r": RELEASE},
    "templates/flow.yaml": """apiVersion: flow.volcano.sh/v1alpha1
kind: JobTemplate
metadata: {name: %(r)s-say}
spec:
  tasks:
  - name: main
    replicas: {{ .Values.replicas }}
    template:
      spec:
        restartPolicy: Never
        containers:
        - name: main
          image: busybox
          command: [sh, -c, "echo $WORD"]
          env: [{name: WORD, valueFrom: {configMapKeyRef: {name: %(r)s-words, key: word}}}]
---
apiVersion: flow.volcano.sh/v1alpha1
kind: JobFlow
metadata:
  name: %(r)s
  annotations: {flow.volcano.sh/allow-updates: "true", flow.volcano.sh/deletion-protection: "false"}
spec: {jobRetainPolicy: {{ .Values.retain }}, flows: [{name: %(r)s-say}]}
""" % {"r": RELEASE},
    "templates/hooks.yaml": """apiVersion: v1
kind: Pod
metadata:
  name: %(r)s-before
  annotations: {helm.sh/hook: "pre-install,pre-upgrade", helm.sh/hook-delete-policy: before-hook-creation}
spec: {restartPolicy: Never, containers: [{name: main, image: busybox, command: ["true"]}]}
---
apiVersion: v1
kind: Pod
metadata: {name: %(r)s-test, annotations: {helm.sh/hook: test}}
spec: {restartPolicy: Never, containers: [{name: main, image: busybox, command: [echo, it is tested]}]}
""" % {"r": RELEASE},
}


class Tool:
    """A program that finds the daemon through KUBECONFIG."""

    def __init__(self, name, daemon):
        self.path = os.environ.get("JOBFLOW_" + name.upper()) or shutil.which(name)
        self.name, self.daemon = name, daemon
        if not self.path:
            raise Skip("%s is not installed; JOBFLOW_%s may name it" % (name, name.upper()))

    def __call__(self, *args, code=0):
        home = os.path.abspath("home")
        done = subprocess.run([self.path, *args], capture_output=True, text=True, timeout=DEADLINE * 3, stdin=subprocess.DEVNULL,
                              env=dict(os.environ, HOME=home, KUBECONFIG=self.daemon.kubeconfig))
        if code is not None and done.returncode != code:
            raise Failure("%s %s: exit code %d\n%s%s" % (self.name, " ".join(args), done.returncode, done.stdout, done.stderr))
        return done.stdout


def write_all(files, base):
    for name, text in files.items():
        path = os.path.join(base, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write(path, text)


def at(daemon, what, path):
    return daemon.kubectl("get", what, "-o", "jsonpath={%s}" % path).stdout


def a_chart_is_installed_upgraded_rolled_back_and_removed():
    daemon = Daemon()
    helm = Tool("helm", daemon)
    write_all(CHART, "chart")
    check_in("installed", "STATUS: deployed", helm("install", "r", "chart", "--wait", "--timeout", "%ds" % DEADLINE))
    check_equal("its record", at(daemon, "secret/sh.helm.release.v1.r.v1", ".type"), "helm.sh/release.v1")
    daemon.kubectl_waits("jf/r")
    check_in("upgraded", "REVISION: 2", helm("upgrade", "r", "chart", "--set", "word=bye", "--set", "replicas=2"))
    check_equal("changed", (at(daemon, "cm/r-words", ".data.word"), at(daemon, "jt/r-say", ".spec.tasks[0].replicas")), ("bye", "2"))
    helm("rollback", "r", "1")
    check_equal("as before", (at(daemon, "cm/r-words", ".data.word"), at(daemon, "jt/r-say", ".spec.tasks[0].replicas")), ("hello", "1"))
    check_equal("history", [h["status"] for h in json.loads(helm("history", "r", "-o", "json"))], ["superseded", "superseded", "deployed"])
    check_in("tested", "it is tested", helm("test", "r", "--logs"))
    helm("uninstall", "r", "--wait")
    check_equal("nothing is left", daemon.kubectl("get", "jf,jt,vcjob,cm,secret", "-o", "name").stdout, "")


def a_chart_with_a_mistake_is_refused_and_can_be_mended():
    daemon = Daemon()
    helm = Tool("helm", daemon)
    write_all(CHART, "chart")
    helm("install", "r", "chart", "--set", "replicas=-1", code=1)
    check_equal("said so", json.loads(helm("list", "-a", "-o", "json"))[0]["status"], "failed")
    check_in("mended", "STATUS: deployed", helm("upgrade", "--install", "r", "chart", "--force", "--reset-values"))
    helm("install", "other", "chart", "--atomic", "--create-namespace", "-n", "elsewhere", "--set", "retain=never", code=1)
    check_equal("undone", json.loads(helm("list", "-A", "-a", "-o", "json", "-n", "elsewhere"))[0]["name"], "r")


def a_kustomization_is_applied_compared_and_deleted():
    daemon = Daemon()
    write_all({
        "base/kustomization.yaml": "resources: [say.yaml, f.yaml]\nconfigMapGenerator: [{name: words, literals: [word=hello]}]\n",
        "base/say.yaml": json.dumps(template("say")), "base/f.yaml": json.dumps(flow("f", [step("say")])),
        # The older names of fields: kubectl before 1.21 has kustomize 2, which knows no others.
        "over/kustomization.yaml": "bases: [../base]\nnamespace: over\npatchesJson6902:\n- path: two.yaml\n"
                                   "  target: {group: flow.volcano.sh, version: v1alpha1, kind: JobTemplate, name: say}\n",
        "over/two.yaml": '[{"op": "replace", "path": "/spec/tasks/0/replicas", "value": 2}]'}, ".")
    daemon.kubectl("create", "ns", "over")
    check_in("applied", "jobflow.flow.volcano.sh/f created", daemon.kubectl("apply", "-k", "over").stdout)
    daemon.kubectl("diff", "-k", "over")
    daemon.kubectl_waits("jf/f", "-n", "over")
    check_equal("patched", daemon.kubectl("get", "-n", "over", "jt/say", "-o", "jsonpath={.spec.tasks[0].replicas}").stdout, "2")
    check_in("by the server", "serverside-applied", daemon.kubectl("apply", "-k", "over", "--server-side").stdout)
    daemon.kubectl("delete", "-k", "over")
    check_equal("gone", daemon.kubectl("get", "jf,jt,cm", "-A", "-o", "name").stdout, "")


def jobs_are_run_suspended_resumed_and_deleted_by_vcctl():
    daemon = Daemon()
    vcctl = Tool("vcctl", daemon)
    manifest("job.yaml", {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "j"},
                          "spec": {"minAvailable": 1, "tasks": [task("main", "sleep 1000")]}})

    def phase():
        return at(daemon, "vcjob/j", ".status.state.phase")

    check_in("run", "run job j successfully", vcctl("job", "run", "-f", "job.yaml"))
    wait_until("it runs", lambda: phase() == "Running")
    check_equal("a row", vcctl("job", "list").splitlines()[1].split()[::2][:2], ["j", "Running"])
    check_in("viewed", "Running", vcctl("job", "view", "-N", "j"))
    check_in("its pod", "j-main-0", vcctl("pod", "list", "-j", "j"))
    vcctl("job", "suspend", "-N", "j")
    wait_until("it is aborted", lambda: phase() == "Aborted")
    vcctl("job", "resume", "-N", "j")
    wait_until("it runs again", lambda: phase() == "Running")
    check_in("deleted", "delete job j successfully", vcctl("job", "delete", "-N", "j"))


def queues_are_operated_by_vcctl():
    daemon = Daemon()
    vcctl = Tool("vcctl", daemon)

    def queue():
        return vcctl("queue", "get", "-n", "q").splitlines()[1].split()[:3]

    vcctl("queue", "create", "-n", "q", "-w", "4")
    check_equal("made", queue(), ["q", "4", "Open"])
    vcctl("queue", "operate", "-n", "q", "-a", "close")
    wait_until("closed", lambda: queue()[2] == "Closed")
    vcctl("queue", "operate", "-n", "q", "-a", "open")
    wait_until("open", lambda: queue()[2] == "Open")
    vcctl("queue", "operate", "-n", "q", "-a", "update", "-w", "9")
    check_equal("its weight", queue()[1], "9")
    vcctl("queue", "delete", "-n", "q")
    check("gone", "q " not in vcctl("queue", "list"))


def flows_and_templates_are_made_listed_and_deleted_by_vcctl():
    daemon = Daemon()
    vcctl = Tool("vcctl", daemon)
    manifest("t.yaml", template("say"))
    manifest("f.yaml", flow("f", [step("say")], jobRetainPolicy="retain"))
    check_equal("template", vcctl("jobtemplate", "create", "-f", "t.yaml"), "Created JobTemplate: default/say\n")
    check_equal("flow", vcctl("jobflow", "create", "-f", "f.yaml"), "Created JobFlow: default/f\n")
    wait_until("it is done", lambda: "Succeed" in vcctl("jobflow", "get", "-N", "f"))
    check_in("listed", "default", vcctl("jobtemplate", "list"))
    check_in("described", "phase: Succeed", vcctl("jobflow", "describe", "-N", "f", "-o", "yaml"))
    check_equal("flow", vcctl("jobflow", "delete", "-N", "f"), "Deleted JobFlow: default/f\n")
    check_equal("template", vcctl("jobtemplate", "delete", "-f", "t.yaml"), "Deleted JobTemplate: default/say\n")


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
