import assert from "node:assert/strict";
import { test } from "node:test";
import { links, pieces, plain } from "./marked";

const HOSTILE = ["<img src=x onerror=alert(1)>", "a\u202eb", "\u200bzero\u200d", "\ud800lone", "x\udc00", "nul\u0000", "\u001b[31mred", "$&", "__proto__", "😀 whole"];

test("pieces joined give the name, and odd characters stand alone", () => {
    for (const name of HOSTILE) {
        assert.equal(pieces(name).map((piece) => piece.text).join(""), name);
        for (const piece of pieces(name)) if (piece.odd) assert.equal(piece.text.length, 1);
    }
    assert.equal(plain("a\u202eb"), "a⟨U+202E⟩b");
    assert.equal(plain("😀 whole"), "😀 whole");
});

test("only http and https become links, and all text stays", () => {
    const found = links("see https://x.example/a?b=(c). or javascript:alert(1), data:text/html,x http://y.example");
    assert.deepEqual(found.flatMap((part) => part.href ?? []), ["https://x.example/a?b=(c", "http://y.example"]);
    assert.equal(found.map((part) => part.text).join(""), "see https://x.example/a?b=(c). or javascript:alert(1), data:text/html,x http://y.example");
});
