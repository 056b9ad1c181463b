import assert from "node:assert/strict";
import { test } from "node:test";
import { LineReader } from "./ndjson";

test("lines are the same wherever the bytes are cut", () => {
    const bytes = new TextEncoder().encode('{"a":"é😀"}\n\n[1]\n{"broken\n{"b":2}\n{"rest":');
    for (let cut = 0; cut <= bytes.length; cut++) {
        const reader = new LineReader();
        const lines = [...reader.take(bytes.slice(0, cut)), ...reader.take(bytes.slice(cut))];
        assert.deepEqual(lines, [{ a: "é😀" }, { b: 2 }]);
    }
});
