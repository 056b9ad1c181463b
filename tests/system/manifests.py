"""`jobflow manifests` without a cluster: documents, files for kustomize, and the Helm chart.

# covers: cluster.md CLU-191 CLU-192 CLU-236 CLU-237 CLU-238 CLU-239 CLU-244; see cluster_install.py
"""
import filecmp
import json
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_tools import need_modules  # noqa: E402: sys.path is set above

CHART = os.path.join(os.environ["JOBFLOW_SOURCE"], "contrib/helm/jobflow")
MODES = ("flows", "jobs", "kube")


def need_yaml():
    need_modules("yaml", python=sys.executable)
    import yaml
    return yaml


def documents(*args):
    return [json.loads(line) for line in jobflow("manifests", "-o", "json", *args).stdout.splitlines()]


def name_of(doc):
    return (doc["kind"], doc["metadata"].get("namespace"), doc["metadata"]["name"])


def files_of(directory):
    return sorted(os.path.relpath(os.path.join(at, name), directory) for at, _, names in os.walk(directory) for name in names)


def definitions_are_small_and_always_the_same():
    for mode in MODES:
        text = jobflow("manifests", "--mode=" + mode, "-o", "json").stdout
        check_equal("twice", jobflow("manifests", "--mode=" + mode, "-o", "json").stdout, text)
    sizes = {json.loads(line)["metadata"]["name"]: len(line) for line in text.splitlines() if '"CustomResourceDefinition"' in line}
    check_equal("definitions", list(sizes), ["jobflows.flow.volcano.sh", "jobtemplates.flow.volcano.sh", "jobs.batch.volcano.sh", "commands.bus.volcano.sh"])
    check(sizes["jobflows.flow.volcano.sh"] <= 60000 and sizes["jobs.batch.volcano.sh"] <= 90000 and sum(sizes.values()) <= 250000, "sizes: %s" % sizes)


def flags_choose_parts_and_contents():
    made = documents("--mode=kube", "--replicas=3", "--image=r.example/jobflow:1", "--image-pull-secret=s", "--arg=--max-inflight=128", "--arg=--verbose")
    check_equal("order", [doc["kind"] for doc in made], [
        "Namespace", *["CustomResourceDefinition"] * 4, "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "ClusterRole",
        "ClusterRole", "FlowSchema", "Service", "Deployment", "PodDisruptionBudget", "NetworkPolicy"])
    deployment = [doc for doc in made if doc["kind"] == "Deployment"][0]
    pod = deployment["spec"]["template"]["spec"]
    check_equal("replicas", deployment["spec"]["replicas"], 3)
    check_equal("image", (pod["containers"][0]["image"], pod["imagePullSecrets"]), ("r.example/jobflow:1", [{"name": "s"}]))
    check_equal("args", pod["containers"][0]["args"], [
        "controller", "--mode=kube", "--leader-elect-resource-name=jobflow-controller", "--max-inflight=128", "--verbose"])
    check_equal("selected", deployment["spec"]["selector"]["matchLabels"].items() <= deployment["spec"]["template"]["metadata"]["labels"].items(), True)
    check_equal("only", [doc["kind"] for doc in documents("--only=namespace,pdb")], ["Namespace", "PodDisruptionBudget"])
    check_equal("alone", [doc["kind"] for doc in documents("--only=namespace,pdb", "--replicas=1")], ["Namespace"])
    check("Service" not in [doc["kind"] for doc in documents("--monitoring=none")], "no Service without monitoring")
    for version, wanted in (("1.34", "v1"), ("1.29", "v1"), ("1.28", "v1beta3"), ("1.25", "v1beta2"), ("1.20", None)):
        found = [doc["apiVersion"] for doc in documents("--kube-version=" + version, "--only=flowschema")]
        check_equal(version, found, ["flowcontrol.apiserver.k8s.io/" + wanted] if wanted else [])


def wrong_flags_are_refused_by_name():
    for args, text in ((["--arg=--nonsense"], "'jobflow controller' has no flag --nonsense"), (["--arg=--max-inflight=none"], "none"),
                       (["--arg=--max-inflight"], "--max-inflight needs a value"), (["--only=crds,nothing"], '"nothing" is no part'),
                       (["--kube-version=2.1"], '"2.1" is no version'), (["--name=-a"], '"-a" is no name'), (["--mode=none"], "none"),
                       (["-o", "helm"], "-o helm needs the directory"), (["here"], "-o yaml takes no directory")):
        check_in(" ".join(args), text, jobflow("manifests", *args, code=2).stderr)


def two_installations_share_nothing_but_definitions():
    first, second = documents("--mode=jobs"), documents("--mode=jobs", "--name=other", "-n", "elsewhere")
    shared = {name_of(doc) for doc in first} & {name_of(doc) for doc in second}
    check_equal("shared", {kind for kind, _, _ in shared}, {"CustomResourceDefinition"})
    leases = [arg for doc in second if doc["kind"] == "Deployment" for arg in doc["spec"]["template"]["spec"]["containers"][0]["args"] if "lease" in arg
              or "leader" in arg]
    check_equal("lease", leases, ["--leader-elect-resource-name=other-controller"])


def kustomize_has_the_same_documents():
    yaml = need_yaml()
    for mode in MODES:
        jobflow("manifests", "--mode=" + mode, "-o", "kustomize", mode)
        wanted = documents("--mode=" + mode)
        with open(mode + "/kustomization.yaml") as file:
            listed = yaml.safe_load(file)["resources"]
        check_equal("files", sorted(listed + ["kustomization.yaml"]), files_of(mode))
        found = [doc for name in listed for doc in yaml.safe_load_all(read("%s/%s" % (mode, name)))]
        check_equal(mode, found, wanted)
        if shutil.which("kubectl"):
            built = subprocess.run(["kubectl", "kustomize", mode], check=True, capture_output=True, text=True).stdout
            check_equal("kubectl kustomize", sorted(yaml.safe_load_all(built), key=name_of), sorted(wanted, key=name_of))


def of_values(values, path):
    return values[re.fullmatch(r"\.Values\.(\w+)", path).group(1)]


def rendered(yaml, text, values, namespace):
    """What Helm makes of the few actions that the chart has."""
    def condition(match):
        at_least = re.fullmatch(r"ge \(int (\S+)\) (\d+)", match.group(1))
        holds = of_values(values, at_least.group(1)) >= int(at_least.group(2)) if at_least else of_values(values, match.group(1))
        return match.group(2) if holds else ""

    def block(match):
        lines = yaml.safe_dump(of_values(values, match.group(1)), default_flow_style=False).splitlines()
        return "".join("\n" + " " * int(match.group(2)) + line for line in lines)

    text = re.sub(r"\s*\{\{- if (.*?) \}\}(.*?)\s*\{\{- end \}\}", condition, text, flags=re.DOTALL)
    text = re.sub(r"(?:\s*\{\{-|\{\{) toYaml (\S+) \| nindent (\d+) \}\}", block, text)
    text = re.sub(r"\{\{ (\.Values\.\w+) \| quote \}\}", lambda match: json.dumps(of_values(values, match.group(1))), text)
    text = re.sub(r"\{\{ (\.Values\.\w+) \}\}", lambda match: str(of_values(values, match.group(1))), text).replace("{{ .Release.Namespace }}", namespace)
    check("{{" not in text, "an action of another form: " + text)
    return text


def chart_documents(yaml, directory, **changed):
    values = dict(yaml.safe_load(read(directory + "/values.yaml")), **changed)
    made = []
    for name in sorted(os.listdir(directory + "/templates")):
        if name.endswith(".yaml"):
            made += [doc for doc in yaml.safe_load_all(rendered(yaml, read("%s/templates/%s" % (directory, name)), values, "jobflow-system")) if doc]
    return sorted(made, key=name_of)


def a_rendered_chart_has_the_same_documents():
    yaml = need_yaml()
    for mode in MODES:
        jobflow("manifests", "--mode=" + mode, "-o", "helm", mode)
        plain = ["--mode=" + mode, "--skip=namespace,crds"]
        check_equal(mode, chart_documents(yaml, mode), sorted(documents(*plain), key=name_of))
        check_equal("other values", chart_documents(yaml, mode, name="other", replicas=1, image="i:2", args=["--verbose"], imagePullSecrets=[{"name": "s"}]),
                    sorted(documents(*plain, "--name=other", "--replicas=1", "--image=i:2", "--arg=--verbose", "--image-pull-secret=s"), key=name_of))
        crds = list(yaml.safe_load_all(read(mode + "/crds/crds.yaml")))
        check_equal("definitions", crds, documents("--mode=" + mode, "--only=crds"))


def a_name_that_yaml_reads_as_another_value_stays_a_text():
    yaml = need_yaml()
    jobflow("manifests", "--name=no", "-o", "helm", "named")
    check_equal("value", yaml.safe_load(read("named/values.yaml"))["name"], "no")
    check_equal("documents", chart_documents(yaml, "named"), sorted(documents("--skip=namespace,crds", "--name=no"), key=name_of))


def a_text_that_is_not_utf8_is_refused():
    for flag in ("--image", "--image-pull-secret", "--arg=--leader-elect-resource-name"):
        done = jobflow("manifests", os.fsdecode(flag.encode() + b"=a\xff"), code=2)
        check_in(flag, "the text is not UTF-8", done.stderr)


def the_chart_of_the_project_is_up_to_date():
    for name in ("once", "again"):
        jobflow("manifests", "-o", "helm", name)
    check_equal("files", files_of(CHART), files_of("once"))
    for other in ("again", CHART):
        _, different, missing = filecmp.cmpfiles("once", other, files_of("once"), shallow=False)
        check_equal("equal to %s; otherwise: jobflow manifests -o helm contrib/helm/jobflow" % other, (different, missing), ([], []))


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
