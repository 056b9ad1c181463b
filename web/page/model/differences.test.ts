import assert from "node:assert/strict";
import { test } from "node:test";
import { differencesOf } from "./differences";

const of = (from: unknown, to: unknown) => differencesOf(from, to).list.map(({ path, from: was, to: is }) => `${path}: ${was} → ${is}`);

test("values, members and items that differ are named by their paths", () => {
    assert.deepEqual(of({ a: { b: 1, c: "x" } }, { a: { b: 2, c: "x", d: [1] } }), ["a.b: 1 → 2", "a.d: null → [1]"]);
    assert.deepEqual(of([1, 2, 3], [1, 5]), ["[1]: 2 → 5", "[2]: 3 → null"]);
    assert.deepEqual(of({ a: [1] }, { a: { 0: 1 } }), ['a: [1] → {"0":1}']);
    assert.deepEqual(of({ a: 1 }, { a: 1 }), []);
});

test("items with names are told apart by name", () => {
    const flows = (...names: [string, string][]) => ({ flows: names.map(([name, run]) => ({ name, run })) });
    assert.deepEqual(of(flows(["a", "1"], ["b", "2"]), flows(["b", "3"], ["a", "1"], ["c", "4"])), ["flows[b].run: 2 → 3", 'flows[c]: null → {"name":"c","run":"4"}']);
    assert.deepEqual(of({ l: [{ name: "a" }, { name: "a" }] }, { l: [{ name: "a" }] }), ['l[1]: {"name":"a"} → null']);
});

test("names of the language's own members are names like others", () => {
    assert.deepEqual(of(JSON.parse('{"__proto__": 1}'), JSON.parse('{"__proto__": 2, "constructor": 3}')), ["__proto__: 1 → 2", "constructor: null → 3"]);
});

test("many differences are counted", () => {
    const { list, more } = differencesOf(Array.from({ length: 30 }, (_, i) => i), [], 10);
    assert.equal(list.length, 10);
    assert.equal(more, 20);
});
