import assert from "node:assert/strict";
import { test } from "node:test";
import { toYaml } from "./yaml";

test("objects, lists and scalars in block style", () => {
    assert.equal(toYaml({ a: 1, b: [{ c: "x", d: [] }, "y", [1, 2]], e: {}, f: { g: null } }),
        "a: 1\nb:\n- c: x\n  d: []\n- \"y\"\n- - 1\n  - 2\ne: {}\nf:\n  g: null\n");
    assert.equal(toYaml([]), "[]\n");
});

test("texts that YAML would read as something else are quoted", () => {
    for (const text of ["", "true", "no", "12", "1e3", ".5", "a: b", "- x", "#c", "{", "*a", " lead", "trail ", "a\u202eb", "0x10", "2026-01-01", "|", "'", "\"", "a\tb"])
        assert.equal(toYaml({ k: text }), `k: ${JSON.stringify(text).replace("\u202e", "\\u202e")}\n`, text);
    assert.equal(toYaml({ k: "echo $(steps.x.outputs.y)" }), "k: echo $(steps.x.outputs.y)\n");
});

test("texts of several lines are literal blocks", () => {
    assert.equal(toYaml({ k: "one\ntwo\n", l: ["a\n\nb"] }), "k: |\n  one\n  two\nl:\n- |-\n  a\n\n  b\n");
});
