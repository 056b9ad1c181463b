"""A watch written with the Python client that goes on over a restart of the daemon; run by clients.py."""
import sys
import time

import urllib3
from kubernetes import client, config, watch

config.load_kube_config()
core = client.CoreV1Api()
urllib3.disable_warnings()
listed = core.list_namespaced_config_map("default")
known, revision, seen = {c.metadata.name for c in listed.items}, listed.metadata.resource_version, set()
print("synced", flush=True)
while not {"ADDED after", "DELETED before"} <= seen:
    try:
        for event in watch.Watch().stream(core.list_namespaced_config_map, "default", resource_version=revision, timeout_seconds=20):
            seen.add("%s %s" % (event["type"], event["object"].metadata.name))
            revision = event["object"].metadata.resource_version
            if {"ADDED after", "DELETED before"} <= seen:
                break
    except client.ApiException as error:  # too old: what a list says now is what happened
        assert error.status == 410, error
        listed = core.list_namespaced_config_map("default")
        names = {c.metadata.name for c in listed.items}
        seen |= {"ADDED " + name for name in names - known} | {"DELETED " + name for name in known - names}
        known, revision = names, listed.metadata.resource_version
    except urllib3.exceptions.HTTPError:
        time.sleep(0.05)
print("ok")
sys.exit(0)
