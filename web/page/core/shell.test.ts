import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { shellWord } from "./shell";

test("plain words stay as they are", () => {
    for (const word of ["jf/train-1", "a,b", "x.y_z"]) assert.equal(shellWord(word), word);
});

test("a shell reads every word back", () => {
    for (const word of ["", "a b", "a;echo x", "$(id)", "`id`", "it's", "a\nb", "*", "~", "\\", "é", "#x", "a\"b", "'"])
        assert.equal(execFileSync("sh", ["-c", `printf %s ${shellWord(word)}`], { encoding: "utf8" }), word);
});
