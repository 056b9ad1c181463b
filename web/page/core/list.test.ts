import assert from "node:assert/strict";
import { test } from "node:test";
import { listAll, PAGE_ITEMS } from "./list";

const server = (all: number) => async (query: string) => {
    const asked = new URLSearchParams(query);
    const from = Number(asked.get("continue") ?? 0);
    const to = Math.min(all, from + Number(asked.get("limit")));
    return { items: Array.from({ length: to - from }, (_, i) => from + i), metadata: to < all ? { continue: String(to) } : {} };
};

test("a list is read to its end, in its order", async () => {
    const { items, cut, refused } = await listAll(server(2 * PAGE_ITEMS + 1));
    assert.deepEqual([items.length, items.at(-1), cut, refused], [2 * PAGE_ITEMS + 1, 2 * PAGE_ITEMS, false, ""]);
    assert.deepEqual((await listAll(server(0))).items, []);
});

test("a list that is too long says so", async () => {
    const { items, cut } = await listAll(server(5 * PAGE_ITEMS), "", 2 * PAGE_ITEMS);
    assert.deepEqual([items.length, cut], [2 * PAGE_ITEMS, true]);
});

test("a refusal is told, and an abort is thrown", async () => {
    assert.deepEqual(await listAll(async () => { throw new Error("may not list nodes"); }), { items: [], cut: false, refused: "may not list nodes" });
    await assert.rejects(listAll(async () => { throw new DOMException("", "AbortError"); }));
});

test("queries are kept on each page", async () => {
    const asked: string[] = [];
    await listAll(async (query) => { asked.push(query); return asked.length === 1 ? { metadata: { continue: "a b" } } : {}; }, "&fieldSelector=x");
    assert.deepEqual(asked, ["?limit=1000&fieldSelector=x", "?limit=1000&fieldSelector=x&continue=a%20b"]);
});
