import assert from "node:assert/strict";
import { test } from "node:test";
import { parseQuantity, quantityText } from "./quantity";

test("amounts are read with decimal and binary units", () => {
    for (const [text, value] of [["500m", 0.5], ["2", 2], ["1Gi", 2 ** 30], ["1k", 1000], ["0.5", 0.5], ["1e3", 1000], [3, 3], ["", 0], ["x", 0], ["1Zi", 0], [null, 0]] as const)
        assert.equal(parseQuantity(text), value, String(text));
});

test("amounts read well", () => {
    assert.equal(quantityText("cpu", 1.5), "1.5");
    assert.equal(quantityText("cpu", 0.1 + 0.2), "0.3");
    assert.equal(quantityText("memory", 24684084 * 1024), "23.5Gi");
    assert.equal(quantityText("memory", 512), "512");
    assert.equal(quantityText("nvidia.com/gpu", 4), "4");
});
