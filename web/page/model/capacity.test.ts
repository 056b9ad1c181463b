import assert from "node:assert/strict";
import { test } from "node:test";
import { isWaiting, needsOf, queueTree, requestOf, roomsOf, type PodObject } from "./capacity";

const pod = (name: string, cpu: string, phase = "Running", init = "0"): PodObject => ({
    metadata: { name, namespace: "ml" }, status: { phase },
    spec: { nodeName: "vm", containers: [{ resources: { requests: { cpu } } }, {}], initContainers: [{ resources: { requests: { cpu: init } } }] },
});

test("a pod asks for its containers together, or for an initial container that asks for more", () => {
    assert.equal(requestOf(pod("a", "500m"), "cpu"), 0.5);
    assert.equal(requestOf(pod("a", "500m", "Running", "2"), "cpu"), 2);
    assert.equal(requestOf(pod("a", "500m"), "pods"), 1);
    assert.equal(requestOf({ metadata: { name: "x" } }, "memory"), 0);
});

test("rooms have what unfinished pods of the node hold", () => {
    const rooms = roomsOf({ metadata: { name: "vm" }, status: { allocatable: { cpu: "3", pods: "8" } } }, [pod("a", "1"), pod("b", "500m"), pod("c", "1", "Succeeded")]);
    assert.deepEqual(rooms.map((room) => [room.resource, room.all, room.used, room.holders.map((share) => share.name).join()]), [["cpu", 3, 1.5, "a,b"], ["pods", 8, 2, "a,b"]]);
});

test("queues form a tree, also a broken one", () => {
    const queue = (name: string, parent = "") => ({ metadata: { name }, spec: parent ? { parent } : {} });
    const rows = queueTree([queue("root"), queue("b", "root"), queue("a", "root"), queue("a1", "a"), queue("lost", "none"), queue("x", "y"), queue("y", "x")]);
    assert.deepEqual(rows.map((row) => `${row.depth}${row.queue.metadata.name}`).join(" "), "0lost 0root 1a 2a1 1b 0x 1y");
});

test("a group waits until it was admitted", () => {
    assert.ok(isWaiting({ metadata: { name: "g" } }) && isWaiting({ metadata: { name: "g" }, status: { phase: "Inqueue" } }));
    assert.ok(!isWaiting({ metadata: { name: "g" }, status: { phase: "Running" } }) && !isWaiting({ metadata: { name: "g" }, status: { phase: "Completed" } }));
    assert.deepEqual(needsOf({ metadata: { name: "g" }, spec: { minResources: { cpu: "3", "requests.cpu": "3", "count/pods": "3" } } }), [["cpu", 3]]);
});
