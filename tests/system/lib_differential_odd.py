"""More of the scenario that differential.py sends to both servers: requests that are rare in practice."""
import json
from urllib.parse import quote

from lib_differential_words import APPLY, CM, JF, JSON, JT, LEASES, MERGE, NS, PARTIAL, PARTIAL_LIST, PODS, QUEUES, STRATEGIC, TABLE, cm, jf, jt, pod


def said_twice(s):
    if s.version < 25:
        return
    text = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"%s","labels":{"a":"1","a":"2"}},"data":{"k":"1","k":"2"}}'
    custom = json.dumps(jt("%s")).replace('"maxRetry": 3', '"maxRetry": 3, "maxRetry": 4').replace('"replicas": 5', '"replicas": 5, "replicas": 6')
    both = custom.replace('"queue"', '"bogus": 1, "queue"')
    for mode, query in (("", ""), (" warned", "?fieldValidation=Warn"), (" ignored", "?fieldValidation=Ignore"), (" strictly", "?fieldValidation=Strict")):
        name = "twice" + mode.strip()
        s("said twice" + mode, "POST", CM + query, text % name)
        s("said twice of a custom kind" + mode, "POST", JT + query, custom % name)
        s("said twice and not known" + mode, "POST", JT + query, both % ("both" + mode.strip()))
        s.quietly("POST", CM, cm("odd", {"k": "0"}))
        s("merge said twice" + mode, "PATCH", CM + "/odd" + query, '{"data":{"k":"1","k":"2"}}', kind=MERGE)
        s("patch said twice" + mode, "PATCH", CM + "/odd" + query, '[{"op":"add","path":"/data/x","path":"/data/y","value":"1"}]', kind=JSON)
        s("patch with more than is read" + mode, "PATCH", CM + "/odd" + query, [{"op": "add", "path": "/data/z", "value": "1", "foo": {"bar": 1}}], kind=JSON)
        s("put said twice" + mode, "PUT", CM + "/odd" + query, text % "odd")
        s("strategic said twice" + mode, "PATCH", CM + "/odd" + query, '{"metadata":{"labels":{"q":"1","q":"2"}}}', kind=STRATEGIC)
        s.quietly("DELETE", CM + "/odd")


def wrong_types(s):
    s.quietly("POST", CM, cm("wt", {"k": "0"}))
    s.quietly("POST", JT, jt("wt"))
    s.quietly("POST", PODS, pod("wt"))
    for name, path, bad in (
            ("data a number", CM + "/wt", {"data": 7}), ("data a list", CM + "/wt", {"data": ["a"]}), ("a value an object", CM + "/wt", {"data": {"k": {}}}),
            ("labels a text", CM + "/wt", {"metadata": {"labels": "x"}}), ("a label a number", CM + "/wt", {"metadata": {"labels": {"a": 1}}}),
            ("finalizers a text", CM + "/wt", {"metadata": {"finalizers": "x.io/y"}}), ("metadata a list", CM + "/wt", {"metadata": []}),
            ("tasks an object", JT + "/wt", {"spec": {"tasks": {}}}), ("a task a text", JT + "/wt", {"spec": {"tasks": ["t"]}}),
            ("a spec a text", JT + "/wt", {"spec": "x"}), ("containers an object", PODS + "/wt", {"spec": {"containers": {}}})):
        base = {"apiVersion": "v1", "kind": "ConfigMap" if "configmaps" in path else "Pod", "metadata": {"name": "wt"}}
        if "jobtemplates" in path:
            base.update(apiVersion="flow.volcano.sh/v1alpha1", kind="JobTemplate")
        s("apply where %s is" % name, "PATCH", path + "?fieldManager=m&force=true", dict(base, **bad) if "metadata" not in bad or not isinstance(bad["metadata"], dict)
          else dict(base, metadata=dict(base["metadata"], **bad["metadata"])), kind=APPLY)
        s("merge where %s is" % name, "PATCH", path, bad, kind=MERGE)
    s("a body that is a list", "POST", CM, [])
    s("a body that is a text", "POST", CM, '"x"')
    s("a body that is null", "POST", CM, "null")
    s("a custom body that is a list", "POST", JT, [])
    s("merge null", "PATCH", CM + "/wt", "null", kind=MERGE)
    s("merge a text", "PATCH", CM + "/wt", '"x"', kind=MERGE)
    s("patch by nothing", "PATCH", CM + "/wt", [], kind=JSON)
    s("patch by a text in it", "PATCH", CM + "/wt", ["x"], kind=JSON)
    s("patch without a path", "PATCH", CM + "/wt", [{"op": "add", "value": 1}], kind=JSON)
    s("patch without a value", "PATCH", CM + "/wt", [{"op": "add", "path": "/data/q"}], kind=JSON)
    s("patch of a path that is none", "PATCH", CM + "/wt", [{"op": "add", "path": "data/q", "value": "1"}], kind=JSON)
    s("patch of the whole", "PATCH", CM + "/wt", [{"op": "replace", "path": "", "value": cm("wt", {"k": "9"})}], kind=JSON)
    s("patch away a name", "PATCH", CM + "/wt", [{"op": "remove", "path": "/metadata/name"}], kind=JSON)
    s("patch away metadata", "PATCH", CM + "/wt", [{"op": "remove", "path": "/metadata"}], kind=JSON)
    s.quietly("PUT", CM + "/wt", cm("wt", {"k": "0"}))
    s("patch by copy and move", "PATCH", CM + "/wt", [{"op": "copy", "from": "/data/k", "path": "/data/l"}, {"op": "move", "from": "/data/k", "path": "/data/m"},
      {"op": "test", "path": "/data/l", "value": "0"}], kind=JSON)
    s("merge null into data", "PATCH", CM + "/wt", {"data": None}, kind=MERGE)
    s("merge null into labels and annotations", "PATCH", CM + "/wt", {"metadata": {"labels": None, "annotations": None}}, kind=MERGE)
    s("empty text as a value", "PATCH", CM + "/wt", {"data": {"e": ""}, "metadata": {"labels": {"e": ""}, "annotations": {"x": ""}}}, kind=MERGE)
    s("other alphabets", "PATCH", CM + "/wt", {"data": {"u": "日本語 \u00e9 \U0001f600"}, "metadata": {"annotations": {"u": "ключ"}}}, kind=MERGE)
    s("a key of another alphabet", "PATCH", CM + "/wt", {"data": {"ключ": "1"}}, kind=MERGE)


def paged(s):
    path = NS + "/paged/configmaps"
    s.quietly("POST", NS, {"metadata": {"name": "paged"}})
    for n in range(5):
        s.quietly("POST", path, cm("n%d" % n, labels={"odd": str(n % 2), "app": "x"}, annotations={"n": str(n)}))
    for name, selector in (("two terms", "app=x,odd=1"), ("a set", "odd in (0,1),app"), ("not in a set", "odd notin (0),app"), ("absence", "!odd"),
                           ("no equality", "odd!=1,app"), ("two equals", "odd==1"), ("spaces", " app = x "), ("more than", "odd>0"), ("an empty value", "odd="),
                           ("nothing after a comma", "app,"), ("a bad value", "app=-x-"), ("an operator alone", "="), ("a long value", "app=" + "x" * 64)):
        s("select by " + name, "GET", path + "?labelSelector=" + quote(selector), accept=PARTIAL_LIST)
    first = s("a page of a selection", "GET", path + "?limit=1&labelSelector=odd%3D0", accept=PARTIAL_LIST)
    s("the page behind it", "GET", path + "?limit=1&labelSelector=odd%3D0&continue=" + first.json["metadata"]["continue"], accept=PARTIAL_LIST)
    s("a page as a table", "GET", path + "?limit=2&labelSelector=app", accept=TABLE)
    s("a limit of nothing", "GET", path + "?limit=0&labelSelector=app", accept=PARTIAL_LIST)
    s("a limit below nothing", "GET", path + "?limit=-1&labelSelector=app", accept=PARTIAL_LIST)
    s("two names", "GET", path + "?fieldSelector=metadata.name%3Dn1,metadata.namespace%3Dpaged", accept=PARTIAL_LIST)
    s("another namespace", "GET", path + "?fieldSelector=metadata.namespace%3Dother", accept=PARTIAL_LIST)
    s("not a name", "GET", path + "?fieldSelector=metadata.name!%3Dn1&labelSelector=app", accept=PARTIAL_LIST)
    s("get of any revision", "GET", path + "/n1?resourceVersion=0", accept=PARTIAL)
    s("all namespaces", "GET", "/api/v1/configmaps?labelSelector=app%3Dx", accept=PARTIAL_LIST)
    s("pretty", "GET", path + "/n1?pretty=true")
    s("a watch of one that is not there", "GET", path + "?watch=1&fieldSelector=metadata.name%3Dzz&timeoutSeconds=1")
    s("a watch of a time that is none", "GET", path + "?watch=1&timeoutSeconds=x")
    s("a list of a time that is none", "GET", path + "?timeoutSeconds=x")
    s("delete the selected", "DELETE", path + "?labelSelector=odd%3D1", accept="application/json")
    s("what is left", "GET", path + "?labelSelector=app", accept=PARTIAL_LIST)
    s("delete some on trial", "DELETE", path + "?labelSelector=app&dryRun=All")
    s("delete some by field", "DELETE", path + "?fieldSelector=metadata.name%3Dn0")
    s("delete by options in a body", "DELETE", path + "/n2", {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0, "propagationPolicy": "Foreground"})
    s("delete by options of another kind", "DELETE", path + "/n4", {"kind": "Foo", "apiVersion": "v1"})
    s("delete by options not read", "DELETE", path + "/n4", {"kind": "DeleteOptions", "apiVersion": "v1", "bogus": 1})
    s("delete by no JSON", "DELETE", path + "/n4", "{x")


def owned(s):
    one = s.quietly("POST", CM, cm("own", {})).json
    ref = {"apiVersion": "v1", "kind": "ConfigMap", "name": "own", "uid": one["metadata"]["uid"]}
    s("two controllers", "POST", CM, cm("o1", ownerReferences=[dict(ref, controller=True), dict(ref, uid="x", controller=True)]))
    s("an owner without a kind", "POST", CM, cm("o1", ownerReferences=[dict(ref, kind="")]))
    s("an owner without a name", "POST", CM, cm("o1", ownerReferences=[dict(ref, name="")]))
    s("an owner without a version", "POST", CM, cm("o1", ownerReferences=[dict(ref, apiVersion="")]))
    s("an event that owns", "POST", CM, cm("o1", ownerReferences=[dict(ref, kind="Event")]))
    s("an owner twice", "POST", CM, cm("o2", ownerReferences=[ref, ref]))
    s("an owner and a finalizer", "POST", CM, cm("o3", ownerReferences=[dict(ref, controller=True, blockOwnerDeletion=True)], finalizers=["x.io/f", "x.io/f"]))
    s("a bad annotation", "POST", CM, cm("o4", annotations={"a b": "c"}))
    s("an annotation too long", "POST", CM, cm("o4", annotations={"a": "x" * 300000}))
    s("a label key too long", "POST", CM, cm("o4", labels={"x" * 64: "c"}))
    s("a label prefix", "POST", CM, cm("o5", labels={"a.b/c": "d", "e": ""}))
    s("a name too long", "POST", CM, cm("n" * 254))
    s("a name as long as may be", "POST", CM, cm("n" * 253))
    s("a prefix too long", "POST", CM, {"metadata": {"generateName": "p" * 300}})
    s("a bad prefix", "POST", CM, {"metadata": {"generateName": "Bad_"}})
    s("a name and a prefix", "POST", CM, {"metadata": {"name": "o6", "generateName": "gen-"}})
    s("a bad name of a custom one", "POST", JT, jt("Bad_Name"))
    s("data too large", "POST", CM, cm("o7", {"a": "x" * (1 << 20), "b": "y"}))
    s("a key that is a path", "POST", CM, cm("o7", {"../x": "y"}))
    s("a key of dots", "POST", CM, cm("o7", {"..": "y"}))
    s("put with a finalizer more", "PUT", CM + "/o5", cm("o5", {"x": "y"}, finalizers=["x.io/f"]))
    s("delete it", "DELETE", CM + "/o5")
    s("change it while it goes", "PATCH", CM + "/o5", {"data": {"x": "z"}}, kind=MERGE)
    s("take its mark of deletion away", "PATCH", CM + "/o5", {"metadata": {"deletionTimestamp": None}}, kind=MERGE)
    s("apply to it", "PATCH", CM + "/o5?fieldManager=m", cm("o5", {"k": "l"}), kind=APPLY)
    s("delete it without grace", "DELETE", CM + "/o5?gracePeriodSeconds=0")
    s("put without its finalizer", "PUT", CM + "/o5", cm("o5", {"x": "y"}))
    s("create with a mark of deletion", "POST", CM, cm("o8", deletionTimestamp="2026-01-01T00:00:00Z", deletionGracePeriodSeconds=5))
    s("change its name by a patch", "PATCH", CM + "/o8", [{"op": "replace", "path": "/metadata/name", "value": "zz"}], kind=JSON)
    s("change its time of birth", "PATCH", CM + "/o8", {"metadata": {"creationTimestamp": "2001-01-01T00:00:00Z"}}, kind=MERGE)
    s("change its generation", "PATCH", CM + "/o8", {"metadata": {"generation": 9}}, kind=MERGE)


def parts(s):
    s.quietly("POST", JT, jt("st"))
    s("put a status", "PUT", JT + "/st/status", dict(s.quietly("GET", JT + "/st").json, status={"jobDependsOnList": ["x"]}))
    s("its generation stays", "GET", JT + "/st", accept=PARTIAL)
    s("put a status without a revision", "PUT", JT + "/st/status", dict(jt("st"), status={"jobDependsOnList": ["x"]}))
    s("apply a status", "PATCH", JT + "/st/status?fieldManager=s", {"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobTemplate", "metadata": {"name": "st"},
      "status": {"jobDependsOnList": ["y"]}}, kind=APPLY)
    s("apply a status by force", "PATCH", JT + "/st/status?fieldManager=s&force=true", {"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobTemplate",
      "metadata": {"name": "st"}, "status": {"jobDependsOnList": ["y"]}}, kind=APPLY)
    s("a status of a wrong type", "PATCH", JT + "/st/status", {"status": {"jobDependsOnList": 7}}, kind=MERGE)
    s("a status that is a text", "PATCH", JT + "/st/status", {"status": "x"}, kind=MERGE)
    s("no status", "PATCH", JT + "/st/status", {"status": None}, kind=MERGE)
    s("a patch of a status", "PATCH", JT + "/st/status", [{"op": "add", "path": "/status", "value": {"jobDependsOnList": ["z"]}}], kind=JSON)
    s("delete a status", "DELETE", JT + "/st/status")
    s("create a status", "POST", JT + "/st/status", jt("st"))
    s("status of what is not there", "GET", JT + "/none/status")
    s("scale of what has none", "GET", CM + "/c1/scale")
    s("a part nobody knows", "GET", JT + "/st/zzz")


def applied_more(s):
    def apply(step, path, body, manager="m1", query="", **rest):
        return s(step, "PATCH", path + "?fieldManager=%s%s" % (manager, query), body, kind=APPLY, **rest)
    apply("apply labels", CM + "/ap", cm("ap", {"a": "1"}, labels={"l": "1", "m": "1"}, annotations={"n": "1"}, finalizers=["x.io/a"]))
    apply("apply a finalizer more", CM + "/ap", cm("ap", finalizers=["x.io/b"]), manager="m2")
    apply("apply without the first", CM + "/ap", cm("ap", {"a": "1"}, labels={"l": "1"}))
    apply("apply a conflict of labels", CM + "/ap", cm("ap", labels={"l": "2"}), manager="m2")
    apply("apply a conflict on trial", CM + "/ap", cm("ap", labels={"l": "2"}), manager="m2", query="&dryRun=All")
    apply("apply force on trial", CM + "/ap", cm("ap", labels={"l": "2"}), manager="m2", query="&dryRun=All&force=true")
    apply("apply nothing", CM + "/ap", cm("ap"))
    apply("apply with an empty manager", CM + "/ap", cm("ap"), manager="")
    s("put over what was applied", "PUT", CM + "/ap?fieldManager=u", cm("ap", {"z": "1"}))
    apply("apply after the put", CM + "/ap", cm("ap", {"z": "2"}))
    apply("apply in the wrong namespace", CM + "/ap", cm("ap", namespace="other"))
    apply("apply a list", CM + "/ap", [])
    apply("apply in bad YAML", CM + "/ap", "a: [b\n")
    apply("apply null values", CM + "/ap", cm("ap", {"a": None}))
    apply("apply into a missing namespace", NS + "/nons/configmaps/x", cm("x"))
    apply("apply a queue", QUEUES + "/aq", {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "aq"}, "spec": {
        "weight": 2, "parent": "root", "reclaimable": True}})
    apply("apply a lease", LEASES + "/al", {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "al"}, "spec": {"holderIdentity": "me"}})
    s.quietly("DELETE", CM + "/ap")
    s.quietly("PATCH", CM + "/ap", {"metadata": {"finalizers": None}}, kind=MERGE)
    s("apply of a flow with a revision", "PATCH", JF + "/none?fieldManager=m", dict(jf("none"), metadata={"name": "none", "resourceVersion": "1"}), kind=APPLY)


ODD = [said_twice, wrong_types, paged, owned, parts, applied_more]
