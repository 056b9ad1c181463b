"""Paths, media types and objects used by the scenarios of differential.py."""
NS = "/api/v1/namespaces"
CM = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"
JF = "/apis/flow.volcano.sh/v1alpha1/namespaces/default/jobflows"
JT = "/apis/flow.volcano.sh/v1alpha1/namespaces/default/jobtemplates"
QUEUES = "/apis/scheduling.volcano.sh/v1beta1/queues"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"

MERGE = "application/merge-patch+json"
JSON = "application/json-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1,application/json"
PARTIAL = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
PARTIAL_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"


def cm(name, data=None, **metadata):
    one = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": dict({"name": name}, **metadata)}
    return dict(one, data=data) if data is not None else one


def jt(name, least=1, **metadata):
    """An object that no controller modifies."""
    return {"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobTemplate", "metadata": dict({"name": name}, **metadata),
            "spec": {"minAvailable": least, "queue": "default", "maxRetry": 3, "tasks": [{"name": "t", "replicas": 5, "template": {"spec": {
                "restartPolicy": "Never", "containers": [{"name": "c", "image": "x", "command": ["true"]}]}}}]}}


def jf(name, policy="retain", flows=("a",), **metadata):
    annotations = dict({"flow.volcano.sh/allow-updates": "true", "flow.volcano.sh/deletion-protection": "false"},
                       **metadata.pop("annotations", {}))
    return {"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow", "metadata": dict({"name": name, "annotations": annotations}, **metadata),
            "spec": {"jobRetainPolicy": policy, "flows": [{"name": f} for f in flows]}}


def pod(name, **metadata):
    """A pod that no kubelet starts."""
    return {"apiVersion": "v1", "kind": "Pod", "metadata": dict({"name": name}, **metadata), "spec": {
        "nodeSelector": {"no": "node"}, "restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "automountServiceAccountToken": False, "serviceAccountName": "default",
        "containers": [{"name": "c", "image": "x:1", "command": ["true"], "ports": [{"containerPort": 80}]},
                       {"name": "d", "image": "x:1", "command": ["true"]}]}}
