"""The scenario of requests that differential.py sends to both servers."""
import json
import threading

from lib_differential_odd import ODD
from lib_differential_words import APPLY, CM, JF, JSON, JT, LEASES, MERGE, NS, PARTIAL, PARTIAL_LIST, PODS, QUEUES, STRATEGIC, TABLE, cm, jf, jt, pod


def created(s):
    s("create a config map", "POST", CM, cm("c1", {"a": "1"}, labels={"x": "y"}, annotations={"n": "o"}))
    s("create it again", "POST", CM, cm("c1"))
    s("create with a generated name", "POST", CM, cm(None, generateName="gen-") | {"metadata": {"generateName": "gen-"}})
    s("create without a name", "POST", CM, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}})
    s("create with a bad name", "POST", CM, cm("Bad_Name"))
    s("create with a bad label value", "POST", CM, cm("c2", labels={"a": "b/c"}))
    s("create with a bad label key", "POST", CM, cm("c2", labels={"a/b/c": "b"}))
    s("create with a bad data key", "POST", CM, cm("c2", {"a b": "c"}))
    s("create with a bad finalizer", "POST", CM, cm("c2", finalizers=["nodomain"]))
    s("create a custom one with a plain finalizer", "POST", JT, jt("plain", finalizers=["nodomain"]))
    s("create with an owner without uid", "POST", CM,
      cm("c2", ownerReferences=[{"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": ""}]))
    s("create in another namespace than the path", "POST", CM, cm("c2", namespace="other"))
    s("create in a missing namespace", "POST", NS + "/nons/configmaps", cm("c2"))
    s("create of another kind", "POST", CM, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "c2"}})
    s("create of another version", "POST", CM, {"apiVersion": "v2", "kind": "ConfigMap", "metadata": {"name": "c2"}})
    s("create without kind and version", "POST", CM, {"metadata": {"name": "bare"}, "data": {"a": "b"}})
    s("create of no JSON", "POST", CM, "{not json")
    s("create of nothing", "POST", CM, "")
    s("create with wrong types", "POST", CM, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c2"}, "data": {"a": 1}})
    s("create at an object", "POST", CM + "/c1", cm("c1"))
    s("create of a media type unknown", "POST", CM, "x", kind="text/plain")
    s("create with server's metadata", "POST", CM,
      cm("c3", {"a": "1"}, uid="11111111-1111-1111-1111-111111111111", generation=7, creationTimestamp="2001-01-01T00:00:00Z", selfLink="/x"))
    s("create on trial", "POST", CM + "?dryRun=All", cm("dry", {"a": "1"}))
    s("it was not kept", "GET", CM + "/dry")
    s("create on a bad trial", "POST", CM + "?dryRun=Some", cm("dry"))
    s("create with a bad manager", "POST", CM + "?fieldManager=" + "m" * 129, cm("dry"))
    s("create in YAML", "POST", CM, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yaml}\ndata: {a: b}\n", kind="application/yaml")
    s("a secret's text becomes data", "POST", NS + "/default/secrets",
      {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s1"}, "stringData": {"k": "v"}})
    s("a service account", "POST", NS + "/default/serviceaccounts", {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "sa1"}})
    s("a priority class", "POST", "/apis/scheduling.k8s.io/v1/priorityclasses",
      {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 10})
    s("a lease", "POST", LEASES, {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l1"}, "spec": {
        "holderIdentity": "me", "leaseDurationSeconds": 15, "acquireTime": "2026-01-01T00:00:00.000000Z", "renewTime": "2026-01-01T00:00:00.000000Z"}})
    s("a namespace", "POST", NS, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}})
    s("a namespace of a bad name", "POST", NS, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a.b"}})
    s("a pod", "POST", PODS, pod("p1"))
    s("a pod of a bad container", "POST", PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p2"}, "spec": {
        "containers": [{"name": "B_d", "image": "x", "command": ["true"]}]}})
    s("a pod without containers", "POST", PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p2"}, "spec": {"containers": []}})
    s("a custom object", "POST", JT, jt("g1", labels={"x": "y"}))
    s("a custom object with a status", "POST", JT,
      {"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobTemplate", "metadata": {"name": "t1"}, "spec": {
          "minAvailable": 1, "maxRetry": 3, "queue": "default", "tasks": [{"name": "t", "replicas": 1, "template": {"spec": {"restartPolicy": "Never", "containers": [
              {"name": "c", "image": "x", "command": ["true"]}]}}}]}, "status": {"jobDependsOnList": ["a"]}})
    s("a custom object of a wrong type", "POST", JT, jt("g2", "x"))
    s("a custom object without kind", "POST", JT, {"metadata": {"name": "g2"}})
    s("a custom object of another version", "POST", JT, dict(jt("g2"), apiVersion="flow.volcano.sh/v9"))
    s("a custom object with a revision", "POST", JT, jt("g2", resourceVersion="7"))
    s("a flow of a value not known", "POST", JF, jf("f9", "keepish"))


def read(s):
    s("get", "GET", CM + "/c1")
    s("get what is not there", "GET", CM + "/none")
    s("get a custom one that is not there", "GET", JF + "/none")
    s("get of a group not there", "GET", "/apis/nope.io/v1/x")
    s("get of a resource not there", "GET", "/api/v1/namespaces/default/zzz")
    s("get of a subresource not there", "GET", CM + "/c1/status")
    s("get as a table", "GET", CM + "/c1", accept=TABLE)
    s("get its metadata", "GET", CM + "/c1", accept=PARTIAL)
    s("get in a form not there", "GET", CM + "/c1", accept="text/html")
    s("get as YAML", "GET", CM + "/yaml", accept="application/protobuf,application/json")
    s("list in a missing namespace", "GET", NS + "/nons/configmaps")
    s("list by label", "GET", CM + "?labelSelector=x%3Dy")
    s("list by a bad label selector", "GET", CM + "?labelSelector=a+b")
    s("list by a label selector without in", "GET", CM + "?labelSelector=a+in+b")
    s("list by a bad label key", "GET", CM + "?labelSelector=a/b/c%3Dd")
    s("list by field", "GET", CM + "?fieldSelector=metadata.name%3Dc1")
    s("list by a field not known", "GET", CM + "?fieldSelector=spec.foo%3Dbar")
    s("list a custom kind by a field not known", "GET", JT + "?fieldSelector=spec.foo%3Dbar")
    s("list by a bad field selector", "GET", CM + "?fieldSelector=abc")
    s("list as a table", "GET", CM + "?labelSelector=x%3Dy", accept=TABLE)
    s("list custom ones as a table", "GET", JT, accept=TABLE)
    s("list pods as a table", "GET", PODS, accept=TABLE)
    s("list as a table without objects", "GET", CM + "?includeObject=None&labelSelector=x%3Dy", accept=TABLE)
    s("list as a table of a bad form", "GET", CM + "?includeObject=Foo", accept=TABLE)
    s("list the metadata", "GET", CM + "?labelSelector=x%3Dy", accept=PARTIAL_LIST)
    s("list custom ones", "GET", JT)
    s("list nothing", "GET", NS + "/team/configmaps?labelSelector=a")
    for n in range(4):
        s.quietly("POST", NS + "/team/configmaps", cm("n%d" % n))
    first = s("list the first page", "GET", NS + "/team/configmaps?limit=2&fieldSelector=metadata.name!%3Dkube-root-ca.crt")
    s("list the next page", "GET", NS + "/team/configmaps?limit=2&fieldSelector=metadata.name!%3Dkube-root-ca.crt&continue="
      + first.json["metadata"]["continue"])
    s("list on from there with a revision", "GET", NS + "/team/configmaps?limit=2&resourceVersion=5&continue=" + first.json["metadata"]["continue"])
    s("list on from nonsense", "GET", CM + "?limit=2&continue=abc")
    s("list with a bad limit", "GET", CM + "?limit=abc")
    s("list with a match but no revision", "GET", CM + "?resourceVersionMatch=Exact")
    s("list exactly zero", "GET", CM + "?resourceVersionMatch=Exact&resourceVersion=0")
    s("list with a match not known", "GET", CM + "?resourceVersionMatch=Foo&resourceVersion=1")
    s("list of the future", "GET", CM + "?resourceVersion=99999999")
    s("list of a revision that is no number", "GET", CM + "?resourceVersion=abc")
    s("a method not known", "PUT", CM)
    s("delete of a collection of namespaces", "DELETE", NS)


def changed(s):
    one = s("create what is changed", "POST", CM, cm("u1", {"a": "1"})).json
    stale = json.loads(json.dumps(one))
    one["data"]["a"] = "2"
    s("put", "PUT", CM + "/u1", one)
    s("put of an old revision", "PUT", CM + "/u1", stale)
    s("put without a revision", "PUT", CM + "/u1", cm("u1", {"a": "3"}))
    s("put of another name", "PUT", CM + "/u1", cm("u2", {}))
    s("put without a name", "PUT", CM + "/u1", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}})
    s("put of what is not there", "PUT", CM + "/none", cm("none"))
    s("put of another uid", "PUT", CM + "/u1", cm("u1", {}, uid="11111111-1111-1111-1111-111111111111"))
    s("put a lease that is not there", "PUT", LEASES + "/l2",
      {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l2"}, "spec": {"holderIdentity": "me"}})
    group = s("create a custom one that is changed", "POST", JT, jt("u1")).json
    s("put a custom one without a revision", "PUT", JT + "/u1", jt("u1"))
    group["spec"]["minAvailable"] = 2
    s("put a custom one", "PUT", JT + "/u1", group)
    s("put it again, which is old", "PUT", JT + "/u1", group)
    s("merge", "PATCH", CM + "/u1", {"data": {"b": "2"}}, kind=MERGE)
    s("merge nothing", "PATCH", CM + "/u1", {}, kind=MERGE)
    s("merge away", "PATCH", CM + "/u1", {"data": {"b": None}}, kind=MERGE)
    s("merge a list", "PATCH", CM + "/u1", [], kind=MERGE)
    s("merge no JSON", "PATCH", CM + "/u1", "{x", kind=MERGE)
    s("merge an old revision", "PATCH", CM + "/u1", {"metadata": {"resourceVersion": "1"}, "data": {"z": "1"}}, kind=MERGE)
    s("merge another name", "PATCH", CM + "/u1", {"metadata": {"name": "zz"}}, kind=MERGE)
    s("merge another uid", "PATCH", CM + "/u1", {"metadata": {"uid": "zz"}}, kind=MERGE)
    s("merge into what is not there", "PATCH", CM + "/none", {"data": {"b": "2"}}, kind=MERGE)
    s("merge a bad value", "PATCH", CM + "/u1", {"metadata": {"labels": {"a": "b/c"}}}, kind=MERGE)
    s("merge labels on trial", "PATCH", CM + "/u1?dryRun=All", {"metadata": {"labels": {"a": "b"}}}, kind=MERGE)
    s("patch", "PATCH", CM + "/u1", [{"op": "add", "path": "/data/c", "value": "3"}], kind=JSON)
    s("patch with a test that fails", "PATCH", CM + "/u1", [{"op": "test", "path": "/data/c", "value": "4"}], kind=JSON)
    s("patch what is missing", "PATCH", CM + "/u1", [{"op": "replace", "path": "/data/zz", "value": "4"}], kind=JSON)
    s("patch away what is missing", "PATCH", CM + "/u1", [{"op": "remove", "path": "/data/zz"}], kind=JSON)
    s.quietly("PUT", CM + "/u1", cm("u1", {"a": "3", "c": "3"}))
    s("patch by an operation not known", "PATCH", CM + "/u1", [{"op": "zap", "path": "/data/c"}], kind=JSON)
    s("patch by an object", "PATCH", CM + "/u1", {}, kind=JSON)
    s("patch of plain JSON", "PATCH", CM + "/u1", {}, kind="application/json")
    s("patch a custom one strategically", "PATCH", JT + "/u1", {"spec": {"minAvailable": 3}}, kind=STRATEGIC)
    s("merge into a custom one", "PATCH", JT + "/u1", {"spec": {"minAvailable": 3}, "metadata": {"labels": {"a": "b"}}}, kind=MERGE)
    s("merge a wrong type into a custom one", "PATCH", JT + "/u1", {"spec": {"minAvailable": "x"}}, kind=MERGE)
    s("force without apply", "PATCH", CM + "/u1?force=true", {}, kind=MERGE)
    s("patch a pod strategically", "PATCH", PODS + "/p1", {"spec": {"containers": [{"name": "c", "image": "y:2"}]}}, kind=STRATEGIC)
    s("change a pod's command", "PATCH", PODS + "/p1", {"spec": {"containers": [{"name": "c", "command": ["false"]}]}}, kind=STRATEGIC)
    s("patch a pod with an owner", "PATCH", PODS + "/p1", {"metadata": {"ownerReferences": [
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "u1", "uid": one["metadata"]["uid"]}]}}, kind=STRATEGIC)
    s("patch a list with a directive", "PATCH", CM + "/u1", {"metadata": {"finalizers": ["x.io/a"]}}, kind=STRATEGIC)
    s("patch a list with another", "PATCH", CM + "/u1", {"metadata": {"finalizers": ["x.io/b"]}}, kind=STRATEGIC)
    s("patch one out of it", "PATCH", CM + "/u1", {"metadata": {"$deleteFromPrimitiveList/finalizers": ["x.io/a", "x.io/b"]}}, kind=STRATEGIC)
    s("status of what has one", "PATCH", JT + "/t1/status", {"status": {"jobDependsOnList": ["f-a"]}, "spec": {"minAvailable": 7}, "metadata": {
        "labels": {"a": "b"}}}, kind=MERGE)
    s("status through the object", "PATCH", JT + "/t1", {"status": {"jobDependsOnList": ["no"]}, "metadata": {"labels": {"c": "d"}}}, kind=MERGE)
    s("status alone read", "GET", JT + "/t1/status")
    s("status of a pod", "PATCH", PODS + "/p1/status", {"status": {"phase": "Pending", "message": "m"}}, kind=MERGE)


def applied(s):
    def apply(step, path, body, manager="m1", force=False, **rest):
        query = "?fieldManager=%s%s" % (manager, "&force=true" if force else "")
        return s(step, "PATCH", path + query, body, kind=APPLY, **rest)
    apply("apply makes it", CM + "/a1", cm("a1", {"a": "1", "b": "1"}))
    apply("apply again", CM + "/a1", cm("a1", {"a": "1", "b": "1"}))
    apply("another applies another key", CM + "/a1", cm("a1", {"c": "1"}), manager="m2")
    apply("another applies the same value", CM + "/a1", cm("a1", {"a": "1", "c": "1"}), manager="m2")
    apply("a conflict", CM + "/a1", cm("a1", {"a": "2"}), manager="m3")
    apply("two conflicts", CM + "/a1", cm("a1", {"a": "2", "b": "2"}), manager="m3")
    apply("what was dropped goes", CM + "/a1", cm("a1", {"b": "1"}))
    apply("by force", CM + "/a1", cm("a1", {"a": "3", "b": "3"}), manager="m3", force=True)
    apply("apply in YAML", CM + "/a2", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a2\ndata:\n  x: yes please\n")
    s("apply without a manager", "PATCH", CM + "/a1", cm("a1", {}), kind=APPLY)
    apply("apply of another kind", CM + "/a1", {"apiVersion": "v1", "kind": "Foo", "metadata": {"name": "a1"}})
    apply("apply without a version", CM + "/a1", {"kind": "ConfigMap", "metadata": {"name": "a1"}})
    apply("apply of another name", CM + "/a1", cm("zz", {}))
    apply("apply of managed fields", CM + "/a1", cm("a1", {}, managedFields=[{"manager": "x"}]))
    s("update what was applied", "PATCH", CM + "/a1?fieldManager=u", {"data": {"b": "9"}}, kind=MERGE)
    apply("a conflict with an update", CM + "/a1", cm("a1", {"a": "3", "b": "3"}), manager="m3")
    s("forget who has what", "PATCH", CM + "/a1", {"metadata": {"managedFields": [{}]}}, kind=MERGE)
    apply("apply after that", CM + "/a1", cm("a1", {"n": "1"}))
    apply("apply a custom one", JT + "/a1", jt("a1"))
    apply("apply it by another", JT + "/a1", jt("a1", 2), manager="m2")
    apply("apply it by force", JT + "/a1", jt("a1", 2), manager="m2", force=True)
    apply("apply a flow", JF + "/a1", jf("a1"))
    apply("apply a flow by another", JF + "/a1", jf("a1", "delete", ("a", "b")), manager="m2")
    apply("apply a pod", PODS + "/a1", pod("a1"))
    apply("apply one of its containers", PODS + "/a1", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a1"}, "spec": {
        "containers": [{"name": "d", "image": "z:9"}]}}, manager="m2")
    apply("apply it by force, too", PODS + "/a1", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a1"}, "spec": {
        "containers": [{"name": "d", "image": "z:9"}]}}, manager="m2", force=True)
    apply("apply on trial", CM + "/a9", cm("a9", {"a": "1"}))


def validated(s):
    if s.version < 25:
        return
    bogus = dict(jt("v1"), spec=dict(jt("x")["spec"], bogus=1), extra={"a": 1})
    s("unknown fields are warned of", "POST", JT, bogus)
    s("unknown fields strictly", "POST", JT + "?fieldValidation=Strict", dict(bogus, metadata={"name": "v2"}))
    s("unknown fields ignored", "POST", JT + "?fieldValidation=Ignore", dict(bogus, metadata={"name": "v3"}))
    s("validation not known", "POST", JT + "?fieldValidation=X", jt("v4"))
    s("unknown fields of a built-in kind", "POST", CM, dict(cm("v5"), bogus=1))
    s("unknown fields of a built-in kind strictly", "POST", CM + "?fieldValidation=Strict", dict(cm("v6"), bogus=1))
    s("merge of unknown fields strictly", "PATCH", JT + "/v1?fieldValidation=Strict", {"spec": {"bogus": 1}}, kind=MERGE)
    s("merge of unknown fields", "PATCH", JT + "/v1", {"spec": {"bogus": 1}}, kind=MERGE)
    place = {"namespace": "default"}
    odd = dict(jt("v7", **place), spec=dict(jt("v7")["spec"], bogus=1))
    twice = pod("v8", **place)
    twice["spec"]["containers"] = [twice["spec"]["containers"][1]] * 2
    s("apply an unknown field", "PATCH", CM + "/v9?fieldManager=m", dict(cm("v9", **place), bogus=1), kind=APPLY)
    s("apply an unknown field strictly", "PATCH", CM + "/v9?fieldManager=m&fieldValidation=Strict", dict(cm("v9", **place), bogus=1), kind=APPLY)
    s("apply an unknown field of a custom kind", "PATCH", JT + "/v7?fieldManager=m&fieldValidation=Ignore", odd, kind=APPLY)
    s("apply unknown metadata", "PATCH", CM + "/v9?fieldManager=m", cm("v9", odd=1, **place), kind=APPLY)
    s("apply a key twice", "PATCH", PODS + "/v8?fieldManager=m", twice, kind=APPLY)
    s("apply nothing of a kind", "PATCH", CM + "/v9?fieldManager=m", {"apiVersion": "v1", "metadata": {"name": "v9"}}, kind=APPLY)
    s("apply with a uid of nothing", "PATCH", CM + "/v9?fieldManager=m", cm("v9", uid="u"), kind=APPLY)
    nameless = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"}}
    s("apply with no name what is not there", "PATCH", CM + "/v9?fieldManager=m", nameless, kind=APPLY)
    s("apply it with a name", "PATCH", CM + "/v9?fieldManager=m", cm("v9"), kind=APPLY)
    s("apply with no name what is there", "PATCH", CM + "/v9?fieldManager=m", nameless, kind=APPLY)
    s("apply with another uid", "PATCH", CM + "/v9?fieldManager=m", cm("v9", uid="u"), kind=APPLY)
    s("apply with an old revision", "PATCH", CM + "/v9?fieldManager=m", cm("v9", {"a": "c"}, resourceVersion="1"), kind=APPLY)
    s("unknown and wrong strictly", "POST", PODS + "?fieldValidation=Strict", dict(pod("v10"), spec=dict(pod("v10")["spec"], bogus=1, restartPolicy="Sometimes")))
    s("unknown metadata", "POST", CM, cm("v7", bogus=1))


def deleted(s):
    s("delete what is not there", "DELETE", CM + "/none")
    s.quietly("POST", CM, cm("d1"))
    s("delete of another uid", "DELETE", CM + "/d1", {"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {"uid": "zz"}})
    s("delete of another revision", "DELETE", CM + "/d1", {"preconditions": {"resourceVersion": "1"}})
    s("delete by a policy not known", "DELETE", CM + "/d1?propagationPolicy=Zap")
    s("delete by two policies", "DELETE", CM + "/d1", {"propagationPolicy": "Orphan", "orphanDependents": True})
    s("delete on trial", "DELETE", CM + "/d1?dryRun=All")
    s("delete", "DELETE", CM + "/d1")
    s.quietly("POST", CM, cm("d2", finalizers=["x.io/f"]))
    s("delete with a finalizer", "DELETE", CM + "/d2")
    s("delete again", "DELETE", CM + "/d2")
    s("create what is being deleted", "POST", CM, cm("d2"))
    s("put more finalizers", "PATCH", CM + "/d2", {"metadata": {"finalizers": ["x.io/f", "x.io/g"]}}, kind=MERGE)
    s("labels of what goes", "PATCH", CM + "/d2", {"metadata": {"labels": {"a": "b"}}}, kind=MERGE)
    s("take the finalizer away", "PATCH", CM + "/d2", {"metadata": {"finalizers": None}}, kind=MERGE)
    s("it is gone", "GET", CM + "/d2")
    s.quietly("POST", JT, jt("d3", finalizers=["x.io/f"]))
    s("delete a custom one with a finalizer", "DELETE", JT + "/d3")
    s("take that away", "PATCH", JT + "/d3", {"metadata": {"finalizers": []}}, kind=MERGE)
    s.quietly("POST", JT, jt("d4"))
    s("delete a custom one", "DELETE", JT + "/d4")
    s("delete a pod not yet on a node", "DELETE", PODS + "/p1")
    s.quietly("POST", CM, cm("d5", labels={"del": "me"}))
    s.quietly("POST", CM, cm("d6", labels={"del": "me"}))
    s("delete some", "DELETE", CM + "?labelSelector=del%3Dme")
    s("delete the default namespace", "DELETE", NS + "/default")
    s.quietly("POST", NS, {"metadata": {"name": "gone"}})
    s("delete a namespace", "DELETE", NS + "/gone")


def watched(s):
    def events(query, count, act=lambda: None, accept="application/json"):
        """Returns the first events of a watch: type, name, and further fields that distinguish them."""
        seen = []
        own = s.server.connection()
        own.request("GET", query, headers={"Authorization": "Bearer " + s.server.token, "Accept": accept})
        answer = own.getresponse()
        acting = threading.Thread(target=act)
        acting.start()
        while len(seen) < count:
            line = answer.readline()
            if not line:
                break
            event = json.loads(line)
            one = event["object"]
            if one.get("kind") == "Table":
                seen.append([event["type"], one["kind"], one.get("columnDefinitions") is not None, [r["cells"][0] for r in one["rows"]]])
            else:
                meta = one.get("metadata", {})
                seen.append([event["type"], one.get("kind"), meta.get("name"), meta.get("labels"), one.get("data"), one.get("code"), one.get("reason"),
                             sorted(meta.get("annotations") or {})])
        acting.join()
        own.close()
        return seen

    path = NS + "/watched/configmaps"
    s.quietly("POST", NS, {"metadata": {"name": "watched"}})
    s.quietly("POST", path, cm("w1", {"a": "1"}, labels={"x": "y"}))
    revision = s.quietly("GET", path + "?labelSelector=x").json["metadata"]["resourceVersion"]

    def act():
        s.quietly("PATCH", path + "/w1", {"data": {"a": "2"}}, kind=MERGE)
        s.quietly("PATCH", path + "/w1", {"metadata": {"labels": {"x": "z"}}}, kind=MERGE)
        s.quietly("PATCH", path + "/w1", {"metadata": {"labels": {"x": "y"}}}, kind=MERGE)
        s.quietly("DELETE", path + "/w1")
        s.quietly("POST", path, cm("w2", labels={"x": "y"}))
    s.tell("events that match", events(path + "?watch=true&labelSelector=x%%3Dy&resourceVersion=%s&timeoutSeconds=10" % revision, 5, act))
    s.tell("what is there first", events(path + "?watch=true&labelSelector=x%3Dy&timeoutSeconds=10", 1))
    s.tell("one by name", events(path + "?watch=true&fieldSelector=metadata.name%3Dw2&timeoutSeconds=10", 1))
    s.tell("as tables", events(path + "?watch=true&labelSelector=x&timeoutSeconds=10&resourceVersion=%s" % revision, 2, accept=TABLE))
    s("watch with a bad selector", "GET", path + "?watch=true&labelSelector=a+b&timeoutSeconds=1")
    s("watch from no number", "GET", path + "?watch=true&resourceVersion=abc&timeoutSeconds=1")


def collected_dependents(s):
    for policy in ("Background", "Foreground", "Orphan"):
        low = policy.lower()
        owner = s.quietly("POST", CM, cm("owner-" + low)).json
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"],
                     "blockOwnerDeletion": True}
        s.quietly("POST", CM, cm("child-" + low, ownerReferences=[reference]))
        s.quietly("POST", CM, cm("other-" + low, ownerReferences=[reference, {"apiVersion": "v1", "kind": "ConfigMap", "name": "c1", "uid":
                  s.quietly("GET", CM + "/c1").json["metadata"]["uid"]}]))
        s("delete an owner, " + low, "DELETE", CM + "/owner-" + low, {"propagationPolicy": policy})
        s.until("the owner is gone", lambda: s.quietly("GET", CM + "/owner-" + low).status == 404)
        if policy == "Orphan":
            s.until("it is an orphan", lambda: not s.quietly("GET", CM + "/child-" + low).json["metadata"].get("ownerReferences"))
        else:
            s.until("the child is gone", lambda: s.quietly("GET", CM + "/child-" + low).status == 404)
        s.until("the other has one owner", lambda: len(s.quietly("GET", CM + "/other-" + low).json["metadata"]["ownerReferences"]) == 1)
        s("the other of " + low, "GET", CM + "/other-" + low)


def collected_namespaces(s):
    s.quietly("POST", NS, {"metadata": {"name": "stuck"}})
    s.quietly("POST", NS + "/stuck/configmaps", cm("k", finalizers=["x.io/f"]))
    s.quietly("DELETE", NS + "/stuck")
    s.until("it is being emptied", lambda: s.quietly("GET", NS + "/stuck/configmaps/k").json["metadata"].get("deletionTimestamp"))
    s("create in what goes", "POST", NS + "/stuck/configmaps", cm("late"))
    s.quietly("PATCH", NS + "/stuck/configmaps/k", {"metadata": {"finalizers": None}}, kind=MERGE)
    s.until("the namespace is gone", lambda: s.quietly("GET", NS + "/stuck").status == 404)


def small_kinds(s):
    services, claims, secrets, events = (NS + "/default/" + plural for plural in ("services", "persistentvolumeclaims", "secrets", "events"))
    s("a service", "POST", services, {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "svc"}, "spec": {
        "clusterIP": "None", "selector": {"a": "b"}, "ports": [{"port": 80}]}})
    s("a service of a bad name", "POST", services, {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "1svc"}, "spec": {"ports": [{"port": 80}]}})
    s("a service without ports", "POST", services, {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "svc2"}, "spec": {"ports": []}})
    s("a lease of negative transitions", "POST", "/apis/coordination.k8s.io/v1/namespaces/default/leases", {
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l0"}, "spec": {"leaseTransitions": -1}})
    s("a service as a table", "GET", services + "/svc", accept=TABLE)
    s("a service's port is patched", "PATCH", services + "/svc", {"spec": {"ports": [{"port": 80, "name": "http"}]}}, kind=STRATEGIC)
    s("a claim", "POST", claims, {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "pvc"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "storageClassName": "none", "resources": {"requests": {"storage": "1024Mi"}}}})
    s("a claim without modes", "POST", claims, {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "pvc2"}, "spec": {
        "resources": {"requests": {"storage": "1Gi"}}}})
    s("a claim of a bad quantity", "POST", claims, {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "pvc2"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1 Gi"}}}})
    s("a secret of no base64", "POST", secrets, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "bad"}, "data": {"a": "%%"}})
    s("a secret as a table", "GET", secrets + "/s1", accept=TABLE)
    s("a secret's type is changed", "PATCH", secrets + "/s1", {"type": "other"}, kind=MERGE)
    s("an immutable map", "POST", CM, dict(cm("frozen", {"a": "1"}), immutable=True))
    s("an immutable map is changed", "PATCH", CM + "/frozen", {"data": {"a": "2"}}, kind=MERGE)
    s("an immutable map thaws", "PATCH", CM + "/frozen", {"immutable": False}, kind=MERGE)
    s("binary data", "POST", CM, dict(cm("binary"), binaryData={"b": "AAE="}))
    s("the same key twice", "POST", CM, dict(cm("twice", {"b": "x"}), binaryData={"b": "AAE="}))
    s("an event", "POST", events, {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e1"}, "reason": "Why", "message": "m", "type": "Normal",
      "involvedObject": {"kind": "ConfigMap", "name": "c1", "namespace": "default", "apiVersion": "v1"}, "source": {"component": "me"},
      "firstTimestamp": "2026-01-01T00:00:00Z", "lastTimestamp": "2026-01-01T00:00:00Z", "count": 1})
    s("an event of another namespace", "POST", events, {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e2"}, "involvedObject": {
        "kind": "ConfigMap", "name": "c1", "namespace": "other"}})
    s("events by field", "GET", events + "?fieldSelector=involvedObject.name%3Dc1,reason%3DWhy")
    s("events by a field not known", "GET", events + "?fieldSelector=nope%3Dc1")
    s("the event in its other group", "GET", "/apis/events.k8s.io/v1/namespaces/default/events/e1")
    s("a lease without fractions", "POST", LEASES, {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l3"}, "spec": {
        "holderIdentity": "me", "renewTime": "2026-01-01T00:00:00Z"}})
    s("a lease of no seconds", "POST", LEASES, {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l4"}, "spec": {
        "leaseDurationSeconds": 0}})
    s("a lease as a table", "GET", LEASES + "/l1", accept=TABLE)
    s("a priority that is changed", "PATCH", "/apis/scheduling.k8s.io/v1/priorityclasses/high", {"value": 11}, kind=MERGE)
    s("a priority as a table", "GET", "/apis/scheduling.k8s.io/v1/priorityclasses/high", accept=TABLE)
    s("a policy", "POST", "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies", {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy",
      "metadata": {"name": "np"}, "spec": {"podSelector": {}}})
    s("a namespace as a table", "GET", NS + "/team", accept=TABLE)
    s("a queue", "POST", QUEUES, {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "q1"}, "spec": {
        "weight": 1, "parent": "root", "reclaimable": True}})
    inside = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "inside", "namespace": "default"},
              "spec": {"weight": 1, "parent": "root", "reclaimable": True}}
    s("a queue that names a namespace", "POST", QUEUES, inside)
    s("a queue merged with a namespace", "PATCH", QUEUES + "/inside", {"metadata": {"namespace": "default"}}, kind=MERGE)
    s("a queue applied with a namespace", "PATCH", QUEUES + "/inside?fieldManager=m&force=true", inside, kind=APPLY)
    s("a namespace that names a namespace", "POST", NS, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "inner", "namespace": "default"}})
    s("a priority that names a namespace", "POST", "/apis/scheduling.k8s.io/v1/priorityclasses",
      {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "inside", "namespace": "default"}, "value": 10})
    s("a priority put with a namespace", "PUT", "/apis/scheduling.k8s.io/v1/priorityclasses/inside",
      {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "inside", "namespace": "default"}, "value": 10})
    s("a priority merged with a namespace", "PATCH", "/apis/scheduling.k8s.io/v1/priorityclasses/inside",
      {"metadata": {"namespace": "default"}}, kind=STRATEGIC)
    s("a queue in a namespace", "POST", NS.replace("/api/v1", "/apis/scheduling.volcano.sh/v1beta1") + "/default/queues", {
        "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "q2"}})
    s.quietly("POST", PODS, pod("b1"))
    s("bind to a node", "POST", PODS + "/b1/binding", {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "b1"}, "target": {"kind": "Node", "name": "nobody"}})
    s("bind once more", "POST", PODS + "/b1/binding", {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "b1"}, "target": {"kind": "Node", "name": "other"}})
    s("a log of no pod", "GET", PODS + "/none/log")
    s("a log of too little", "GET", PODS + "/b1/log?tailLines=-1")
    s("a log of two times", "GET", PODS + "/b1/log?container=c&sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z")
    s("a log of several containers", "GET", PODS + "/a1/log")
    s("a log of no container", "GET", PODS + "/a1/log?container=zz")
    s("a pod of canonical quantities", "POST", PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "quantities"}, "spec": {
        "nodeSelector": {"no": "node"}, "restartPolicy": "Never", "containers": [{"name": "c", "image": "x", "command": ["true"], "resources": {
            "requests": {"cpu": "0.5", "memory": "1024Mi"}, "limits": {"cpu": 1, "memory": "1.5Gi"}}}]}})
    s("a pod of more than its limit", "POST", PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p9"}, "spec": {
        "containers": [{"name": "c", "image": "x", "command": ["true"], "resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}}]}})
    s("a pod of two containers of one name", "POST", PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p9"}, "spec": {
        "containers": [{"name": "c", "image": "x", "command": ["true"]}, {"name": "c", "image": "x", "command": ["true"]}]}})
    s("a pod of a bad policy", "POST", PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p9"}, "spec": {
        "restartPolicy": "Often", "containers": [{"name": "c", "image": "x", "command": ["true"]}]}})
    s("a pod mounts what it has not", "POST", PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p9"}, "spec": {
        "containers": [{"name": "c", "image": "x", "command": ["true"], "volumeMounts": [{"name": "v", "mountPath": "/v"}]}]}})


def found_out(s):
    for step, path in (("resources of the flow group", "/apis/flow.volcano.sh/v1alpha1"), ("the flow group", "/apis/flow.volcano.sh"),
                       ("resources of a group", "/apis/scheduling.volcano.sh/v1beta1"), ("health", "/healthz"), ("readiness", "/readyz"),
                       ("a path not known", "/foo/bar"), ("a group not known", "/apis/nope.io")):
        s(step, "GET", path)
    s("may I", "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {"apiVersion": "authorization.k8s.io/v1", "kind":
      "SelfSubjectAccessReview", "spec": {"resourceAttributes": {"verb": "get", "resource": "pods", "namespace": "default"}}})
    s("a token not known", "GET", "/version", headers={"Authorization": "Bearer nope"})
    s("a method not there", "OPTIONS", CM)


SCENARIOS = [created, read, changed, applied, validated, watched, small_kinds, collected_dependents, collected_namespaces, deleted, found_out, *ODD]
