"""What a program written with the Python client does; run by clients.py."""
import datetime
import threading
import time

from kubernetes import client, config, watch

FLOW = ("flow.volcano.sh", "v1alpha1", "default", "jobflows")
config.load_kube_config()
core, custom, leases = client.CoreV1Api(), client.CustomObjectsApi(), client.CoordinationV1Api()

version = client.VersionApi().get_code()
assert version.major == "1", version
assert "flow.volcano.sh" in [group.name for group in client.ApisApi().get_api_versions().groups]

# objects with types
made = core.create_namespaced_config_map("default", client.V1ConfigMap(metadata=client.V1ObjectMeta(name="c"), data={"a": "1"}))
assert made.metadata.uid and made.data == {"a": "1"}
patched = core.patch_namespaced_config_map("c", "default", {"data": {"b": "2"}})
assert patched.data == {"a": "1", "b": "2"}
assert [c.metadata.name for c in core.list_namespaced_config_map("default", limit=1).items] == ["c"]
try:
    core.create_namespaced_config_map("default", client.V1ConfigMap(metadata=client.V1ObjectMeta(name="c")))
    raise AssertionError("made twice")
except client.ApiException as error:
    assert error.status == 409, error

# custom objects, and a watch of them
seen = []


def look():
    for event in watch.Watch().stream(custom.list_namespaced_custom_object, *FLOW, timeout_seconds=20):
        seen.append((event["type"], event["object"]["metadata"]["name"]))
        if event["type"] == "DELETED":
            return


flow = {"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow", "metadata": {"name": "f"}, "spec": {"flows": [{"name": "a"}]}}
looker = threading.Thread(target=look)
looker.start()
custom.create_namespaced_custom_object(*FLOW, flow)
custom.patch_namespaced_custom_object(*FLOW, "f", {"metadata": {"labels": {"x": "y"}}})
listed = custom.list_namespaced_custom_object(*FLOW, label_selector="x=y")
assert [o["metadata"]["name"] for o in listed["items"]] == ["f"], listed
while ("MODIFIED", "f") not in seen and ("ADDED", "f") not in seen:
    time.sleep(0.01)
custom.delete_namespaced_custom_object(*FLOW, "f", grace_period_seconds=0)
looker.join()
assert ("DELETED", "f") in seen, seen

# a pod, read with all its types, and its log
core.create_namespaced_pod("default", client.V1Pod(metadata=client.V1ObjectMeta(name="p"), spec=client.V1PodSpec(
    restart_policy="Never", containers=[client.V1Container(name="c", image="x", command=["sh", "-c", "echo from the pod"])])))
while core.read_namespaced_pod("p", "default").status.phase != "Succeeded":
    time.sleep(0.02)
assert core.read_namespaced_pod("p", "default").status.container_statuses[0].state.terminated.exit_code == 0
assert core.read_namespaced_pod_log("p", "default") == "from the pod\n"
assert core.list_namespaced_event("default").items is not None
assert core.list_node().items[0].status.node_info.kernel_version

# leader election's lease
now = datetime.datetime.now(datetime.timezone.utc)
lease = leases.create_namespaced_lease("default", client.V1Lease(metadata=client.V1ObjectMeta(name="l"), spec=client.V1LeaseSpec(
    holder_identity="me", lease_duration_seconds=15, acquire_time=now, renew_time=now)))
lease.spec.holder_identity = "you"
assert leases.replace_namespaced_lease("l", "default", lease).spec.holder_identity == "you"
try:
    leases.replace_namespaced_lease("l", "default", lease)
    raise AssertionError("an old revision was taken")
except client.ApiException as error:
    assert error.status == 409, error
print("ok")
