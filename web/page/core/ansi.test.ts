import assert from "node:assert/strict";
import { test } from "node:test";
import { contrast, inkOn, parseLine, readable, type Style } from "./ansi";

const text = (line: string) => parseLine(line, {}).spans.map((span) => span.text).join("");

test("colours and styles become spans, and last over lines", () => {
    const { spans, style } = parseLine("\u001b[31mred \u001b[1;4mbold\u001b[0m plain \u001b[38;5;196mcube \u001b[48;2;1;2;3mtrue", {});
    assert.deepEqual(spans, [
        { text: "red ", style: { fg: 1 } },
        { text: "bold", style: { fg: 1, bold: true, underline: true } },
        { text: " plain ", style: {} },
        { text: "cube ", style: { fg: "#ff0000" } },
        { text: "true", style: { fg: "#ff0000", bg: "#010203" } },
    ]);
    assert.deepEqual(parseLine("next", style).spans, [{ text: "next", style: { fg: "#ff0000", bg: "#010203" } }]);
});

test("a carriage return overwrites, an erased line is gone", () => {
    assert.equal(text(" 10 %\r 50 %\r100 %"), "100 %");
    assert.equal(text("long line\rabc"), "abcg line");
    assert.equal(text("long line\r\u001b[Kabc"), "abc");
    assert.equal(text("dos\r"), "dos");
});

test("other sequences are dropped, other controls shown", () => {
    assert.equal(text("a\u001b]0;title\u0007b\u001b]8;;http://x\u001b\\c\u001b[2J\u001b[?25ld\u001b(Be\u001bPq\u001b\\f"), "abcdef");
    assert.equal(text("a\u001b[31"), "a");
    assert.equal(text("a\u001b]52;c;never ends"), "a");
    assert.equal(text("nul\u0000bell\u0007\ttab"), "nul\\x00bell\\x07\ttab");
});

test("random lines throw nothing, and text without controls is as it was", () => {
    let state = 1;
    const random = (n: number) => ((state = (state * 48271) % 2147483647) % n);
    const parts = ["\u001b", "[", "]", "3", "8", ";", "5", "m", "K", "\r", "x", "é", "😀", "\u0007", "\\", "?", "0", "P", "(", "<b>"];
    for (let i = 0; i < 20_000; i++) {
        let line = "";
        for (let n = random(24); n > 0; n--) line += parts[random(parts.length)];
        let style: Style = {};
        const parsed = parseLine(line, style);
        style = parsed.style;
        assert.ok(!parsed.spans.some((span) => /[\u0000-\u0008\u000b-\u001f]/.test(span.text)), JSON.stringify(line));
        if (!/[\u001b\r\u0007]/.test(line)) assert.equal(text(line), line);
    }
});

test("any colour can be read on both grounds", () => {
    for (const ground of ["#ffffff", "#0b0f14"])
        for (let n = 0; n < 4096; n += 7) {
            const colour = `#${[n & 15, (n >> 4) & 15, n >> 8].map((part) => (part * 17).toString(16).padStart(2, "0")).join("")}`;
            assert.ok(contrast(readable(colour, ground), ground) >= 4.5, colour);
            assert.ok(contrast(inkOn(colour), colour) >= 4.5, colour);
        }
});
