import assert from "node:assert/strict";
import { test } from "node:test";
import { graphOf } from "../model/graph";
import { Columns } from "./columns";

type Values = Uint8Array | Uint32Array;

/* Writes columns as base/encoding/columns.c does. */
function written(members: Record<string, unknown>, sections: [string, string, Values][]): ArrayBuffer {
    const padded = (n: number) => Math.ceil(n / 8) * 8;
    let offset = 0;
    const list = sections.map(([name, type, values]) => {
        const section = { name, type, offset, length: values.byteLength };
        offset += padded(values.byteLength);
        return section;
    });
    const header = new TextEncoder().encode(JSON.stringify({ ...members, sections: list }));
    const start = padded(8 + header.length);
    const bytes = new Uint8Array(start + offset);
    bytes.set(new TextEncoder().encode("JFC1"));
    new DataView(bytes.buffer).setUint32(4, header.length, true);
    bytes.set(header, 8);
    sections.forEach(([, , values], at) => bytes.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), start + list[at]!.offset));
    return bytes.buffer;
}

function texts(name: string, list: string[]): [string, string, Values][] {
    const parts = list.map((one) => new TextEncoder().encode(one));
    const at = new Uint32Array(list.length + 1);
    parts.forEach((part, i) => (at[i + 1] = at[i]! + part.length));
    return [[name, "utf8", Uint8Array.from(parts.flatMap((part) => [...part]))], [`${name}At`, "u32", at]];
}

const graph = (extra: [string, string, Values][] = []) => written(
    { kind: "FlowGraph", count: 3, states: ["", "Running"], marks: ["", "any of"], criticalPath: [0, 2, 9] },
    [
        ...texts("name", ["a", "b", "c"]), ...texts("templateName", ["t"]),
        ["template", "u32", Uint32Array.of(0, 0xffffffff, 0)], ["layer", "u32", Uint32Array.of(0, 1, 2)], ["flags", "u8", Uint8Array.of(0, 1, 2)],
        ["state", "u8", Uint8Array.of(1, 0, 0)], ["mark", "u32", Uint32Array.of(0, 1, 0)], ["estimate", "u32", Uint32Array.of(5, 0xffffffff, 0)],
        ["afterAt", "u32", Uint32Array.of(0, 0, 1, 3)], ["after", "u32", Uint32Array.of(0, 0, 1)], ...extra,
    ]);

test("columns are read as they were written, and sections that are not known are skipped", () => {
    const read = graphOf(graph([["later", "f99", Uint8Array.of(1, 2, 3)]]));
    assert.deepEqual([read.names, read.templates, [...read.template], read.states, read.criticalPath], [["a", "b", "c"], ["t"], [0, 0xffffffff, 0], ["", "Running"], [0, 2]]);
    assert.deepEqual([[...read.links.afterAt], [...read.links.after]], [[0, 0, 1, 3], [0, 0, 1]]);
    assert.deepEqual(new Columns(written({}, texts("x", ["", "ä€", "𝄞", "z"]))).texts("x", 4), ["", "ä€", "𝄞", "z"]);
});

test("a section that is missing, or of another type or length, is named", () => {
    const columns = new Columns(graph());
    for (const [read, why] of [
        [() => columns.u32("none", 3), /section none is missing/], [() => columns.u32("flags", 3), /section flags is of type u8, not u32/],
        [() => columns.u32("layer", 4), /section layer has 12 bytes/], [() => columns.texts("name", 2), /section nameAt has 16 bytes/],
    ] as const)
        assert.match(String(thrown(read)), why);
});

function thrown(run: () => unknown): unknown {
    try {
        run();
    } catch (error) {
        return error;
    }
    return "nothing was thrown";
}

test("damaged columns are refused with a text, or read within their bounds", () => {
    let state = 11;
    const random = (n: number) => ((state = (state * 48271) % 2147483647) % n);
    const whole = new Uint8Array(graph());
    let refused = 0;
    for (let round = 0; round < 10_000; round++) {
        let bytes = whole.slice();
        for (let k = 1 + random(4); k > 0; k--) bytes[random(bytes.length)] = random(256);
        if (random(4) === 0) bytes = bytes.slice(0, random(bytes.length));
        try {
            const read = graphOf(bytes.buffer);
            assert.ok(read.links.after.every((at) => at < read.count) && read.state.every((at) => at < read.states.length) && read.names.length === read.count);
        } catch (error) {
            assert.ok(error instanceof Error && error.message.startsWith("the answer cannot be read"), String(error));
            refused++;
        }
    }
    assert.ok(refused > 5000, `${refused} refused`);
});
