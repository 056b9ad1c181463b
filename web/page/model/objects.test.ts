import assert from "node:assert/strict";
import { test } from "node:test";
import { compareKeys, objectRow, searchableObject, sortKey } from "./objects";
import { TopicTable } from "./topic_table";

const row = { key: "ml/f", cells: ["f", "Running", 3, null], object: { metadata: { name: "f", namespace: "ml", creationTimestamp: "2026-11-23T13:00:00Z", labels: { a: "b" } } } };

test("cells are found whatever the case of their columns", () => {
    const read = objectRow(["Name", "STATUS", "minAvailable", "QUEUE"], row);
    assert.deepEqual([read.ns, read.name, read.status, read.cells.get("minavailable"), read.cells.get("queue")], ["ml", "f", "Running", "3", ""]);
    assert.equal(sortKey(read, "MinAvailable"), 3);
    assert.equal(searchableObject(read, read.created + 5000).fields["age"], 5000);
    assert.equal(searchableObject(read, 0).fields["label"], "a=b");
});

test("numbers come before texts, and texts are ordered by the numbers in them", () => {
    assert.deepEqual(["s-10", 2, "s-9", 1].sort(compareKeys), [1, 2, "s-9", "s-10"]);
});

test("rows stay until those after a reset are complete", () => {
    const table = new TopicTable(objectRow);
    table.take({ reset: true, columns: [{ name: "Name", priority: 0 }], rows: [row] });
    assert.equal(table.take({ ready: true }).rows.size, 1);
    table.take({ reset: true, columns: [] });
    assert.equal(table.take({ waiting: "gone" }).rows.size, 1);
    assert.equal(table.take({ ready: true }).rows.size, 0);
    assert.equal(table.take({ rows: [row] }).rows.size, 1);
    assert.equal(table.take({ gone: ["ml/f"] }).rows.size, 0);
});
