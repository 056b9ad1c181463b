"""kubectl itself against the daemon: discovery, explain, create and apply.

# covers: kube-api.md 19 20 21 22 25 26 27 28 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 54 55
"""
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_kubectl import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_serve import *  # noqa: E402,F403: sys.path is set above; cases use all names


def resources_and_versions_are_listed():
    daemon = Daemon()
    for k in oldest_and_newest(daemon):
        table = k.out("api-resources")
        for kind in ("JobFlow", "JobTemplate", "Job", "Command", "PodGroup", "Queue", "Pod", "ConfigMap", "Secret", "Lease",
                     "ServiceAccount", "PriorityClass"):
            check_in("kinds", " %s\n" % kind, table)
        check(re.search(r"^jobflows +jf +flow.volcano.sh/v1alpha1 +true +JobFlow$", table, re.M), "short names")
        check_in("verbs", "deletecollection", k.out("api-resources", "-o", "wide"))
        check_equal("names", sorted(k.out("api-resources", "--api-group=flow.volcano.sh", "-o", "name").split()),
                    ["flowtriggers.flow.volcano.sh", "jobflows.flow.volcano.sh", "jobtemplates.flow.volcano.sh"])
        versions = k.out("api-versions").split()
        check_equal("once each", len(versions), len(set(versions)))
        check({"v1", "flow.volcano.sh/v1alpha1", "batch.volcano.sh/v1alpha1"} <= set(versions), "versions")
        for _ in range(2):  # the second time from kubectl's disk cache
            k.run("get", "jf")
        k.says('error: the server doesn\'t have a resource type "zzz"', "get", "zzz", code=1)
        k.says("error: Metrics API not available", "top", "pod", code=1)


def the_commands_of_the_readme_work():
    """Runs the lines `$ kubectl …` of README.md with its first flow. A watch runs until it has shown the flow."""
    text = read(os.path.join(SOURCE, "README.md"))
    write("hello.yaml", next(b for b in re.findall(r"^```yaml\n(.*?)^```", text, re.M | re.S) if "# hello.yaml" in b))
    k = newest(Daemon())
    lines = re.findall(r"^\$ kubectl (.*)$", text, re.M)
    check(len(lines) >= 3, "commands: %s" % lines)
    for line in lines:
        if "--watch" not in line.split():
            check(k.out(*line.split()), "kubectl %s prints nothing" % line)
            continue
        with open("watch.out", "w", encoding="utf-8") as out:
            process = subprocess.Popen(k.command(*line.split()), stdout=out, stderr=out)
        try:
            wait_until("kubectl %s shows the flow" % line, lambda: "hello" in read("watch.out") or process.poll() is not None)
            check_in("kubectl " + line, "hello", read("watch.out"))
        finally:
            process.kill()
            process.wait()


def versions_and_addresses_are_told():
    daemon = Daemon()
    k = newest(daemon)
    check_in("cluster-info", "https://127.0.0.1:%d" % daemon.port, k.out("cluster-info"))
    for k in every(daemon):
        done = k.run("version")
        skewed = abs(k.version[1] - 32) > 1 and k.version[1] >= 25
        check_equal("warning of %d.%d" % k.version, "WARNING" in done.stderr + done.stdout, skewed)
    k = newest(daemon)
    check_equal("may", k.out("auth", "can-i", "create", "jobflows"), "yes\n")
    check_in("rules", "[*]", k.out("auth", "can-i", "--list"))
    if k.version[1] >= 28:
        check_in("who", "admin", k.out("auth", "whoami"))


def kinds_and_fields_are_explained():
    daemon = Daemon()
    for k in oldest_and_newest(daemon):
        text = k.out("explain", "jf")
        check(re.search(r"KIND: +JobFlow\n", text), "kind")
        check_in("fields", "spec", text)
        check_in("required", "-required-", k.out("explain", "jf.spec.flows"))
        check_in("tree", "dependsOn", k.out("explain", "jobflow.spec", "--recursive"))
        check_in("pods", "containers", k.out("explain", "pod.spec"))
        k.says('field "zzz" does not exist', "explain", "jf.spec.zzz", code=1)


def what_is_applied_again_is_unchanged():
    daemon = Daemon()
    manifest("jf.yaml", manifests())
    manifest("jf2.yaml", manifests("retain"))
    for k in oldest_and_newest(daemon):
        k.says("jobflow.flow.volcano.sh/flow1 created", "apply", "-f", "jf.yaml")
        before = k.at("jf/flow1", ".metadata.resourceVersion")
        k.says("jobflow.flow.volcano.sh/flow1 unchanged", "apply", "-f", "jf.yaml")
        check_equal("not written", k.at("jf/flow1", ".metadata.resourceVersion"), before)
        k.says("(server dry run)", "apply", "-f", "jf2.yaml", "--dry-run=server")
        check_equal("dry", k.at("jf/flow1", ".spec.jobRetainPolicy"), "delete")
        diff = k.run("diff", "-f", "jf2.yaml", code=1).stdout
        check_in("diff", "+  jobRetainPolicy: retain", diff)
        k.says("configured", "apply", "-f", "jf2.yaml")
        check_equal("generation", k.at("jf/flow1", ".metadata.generation"), "2")
        k.run("diff", "-f", "jf2.yaml", code=0)
        k.says('Error from server (AlreadyExists): error when creating "jf.yaml": jobflows.flow.volcano.sh "flow1" already exists',
               "create", "-f", "jf.yaml", code=1)
        k.says("force deleted", "delete", "jf", "flow1", "--force", "--grace-period=0")


def every_version_creates_applies_and_deletes():
    daemon = Daemon()
    objects("all.yaml", manifests(), pod(), config_map("c", a="1"))
    for k in every(daemon):
        check_in("explained", "flows", k.out("explain", "jf.spec"))
        done = k.run("apply", "-f", "all.yaml")
        check_equal("created by %d.%d" % k.version, done.stdout.count(" created"), 3)
        check_equal("unchanged", k.out("apply", "-f", "all.yaml").count(" unchanged"), 3)
        manifest("c2.yaml", config_map("c", a="2"))
        k.says("configmap/c configured", "apply", "-f", "c2.yaml")
        check_equal("value", k.at("cm/c", ".data.a"), "2")
        k.says("serverside-applied", "apply", "--server-side", "--force-conflicts", "-f", "c2.yaml")
        k.says("deleted", "delete", "-f", "all.yaml", "--force", "--grace-period=0")
        k.says("NotFound", "delete", "cm", "c", code=1)
        k.run("delete", "cm", "c", "--ignore-not-found")


def mistakes_in_manifests_are_told():
    daemon = Daemon()
    bad = manifests()
    bad["metadata"]["name"], bad["spec"]["bogus"], bad["spec"]["flows"][0]["nope"] = "bad", 1, 2
    manifest("jfbad.yaml", bad)
    wrong = manifests("keepish")
    wrong["metadata"]["name"], wrong["spec"]["flows"] = "bad2", "x"
    manifest("jfbad2.yaml", wrong)
    k = newest(daemon)
    k.says('strict decoding error: unknown field "spec.bogus", unknown field "spec.flows[0].nope"', "create", "-f", "jfbad.yaml",
           code=1)
    done = k.says("created", "create", "-f", "jfbad.yaml", "--validate=warn")
    check_equal("warnings", done.stderr.count("Warning: unknown field"), 2)
    spec = json.loads(k.at("jf/bad", ".spec"))
    check("bogus" not in spec and "nope" not in spec["flows"][0], "pruned")
    k.run("delete", "jf", "bad", "--force", "--grace-period=0")
    done = k.run("create", "-f", "jfbad.yaml", "--validate=ignore")
    check("unknown field" not in done.stderr, "no warning")
    text = k.says('The JobFlow "bad2" is invalid: \n', "create", "-f", "jfbad2.yaml", "--validate=false", code=1).stderr
    check_equal("causes", len(re.findall(r"^\* spec\.", text, re.M)), 2)


def kubectl_creates_objects_by_typed_commands():
    daemon = Daemon()
    for k in oldest_and_newest(daemon):
        k.says("namespace/team1 created", "create", "ns", "team1")
        k.says("configmap/cm2 created", "create", "configmap", "cm2", "--from-literal=a=b")
        k.says("secret/s2 created", "create", "secret", "generic", "s2", "--from-literal=x=y")
        k.says("serviceaccount/sa created", "create", "serviceaccount", "sa")
        k.says("service/svc created", "create", "service", "clusterip", "svc", "--tcp=80:8080")
        k.says("priorityclass.scheduling.k8s.io/high created", "create", "priorityclass", "high", "--value=100")
        check_equal("text", k.at("cm/cm2", ".data.a"), "b")
        check_equal("base64", k.at("secret/s2", ".data.x"), "eQ==")
        check_equal("port", k.at("svc/svc", ".spec.ports[0].targetPort"), "8080")
        manifest("sec.yaml", {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s3"}, "stringData": {"k": "v"}})
        k.run("apply", "-f", "sec.yaml")
        secret = json.loads(k.out("get", "secret", "s3", "-o", "json"))
        check_equal("secret", (secret["data"], secret["type"], "stringData" in secret), ({"k": "dg=="}, "Opaque", False))
        k.says("deleted", "delete", "cm/cm2", "secret/s2", "secret/s3", "sa/sa", "svc/svc", "pc/high", "ns/team1")
    k = newest(daemon)
    write("big.txt", "x" * (1 << 20) + "y")
    k.says("Too long: must have at most 1048576", "create", "configmap", "big", "--from-file=big.txt", code=1)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
