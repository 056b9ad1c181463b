/* The colours of page.css: differences of the classes for all kinds of colour vision, contrasts of signs and texts. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

type Triple = [number, number, number];

const css = readFileSync(`${process.env["PAGE"]}/page.css`, "utf8");

function variables(selector: string): Map<string, string> {
    const block = css.slice(css.indexOf(`${selector} {`)).split("}")[0]!;
    return new Map([...block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map((found) => [found[1]!, found[2]!]));
}

const THEMES = { light: variables(":root"), dark: variables(':root[data-theme="dark"]') };
const CLASSES = ["waiting", "queued", "running", "done", "failed", "skipped"];

/* Machado, Oliveira and Fernandes 2009, severity 1; rows act on linear RGB. */
const VISION: Record<string, Triple[]> = {
    normal: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

function linear(hex: string): Triple {
    return [1, 3, 5].map((at) => {
        const value = parseInt(hex.slice(at, at + 2), 16) / 255;
        return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    }) as Triple;
}

function times(rows: Triple[], v: Triple): Triple {
    return rows.map((row) => row[0] * v[0] + row[1] * v[1] + row[2] * v[2]) as Triple;
}

function lab(rgb: Triple): Triple {
    const clipped = rgb.map((value) => Math.min(1, Math.max(0, value))) as Triple;
    const xyz = times([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]], clipped);
    const [x, y, z] = [xyz[0] / 0.95047, xyz[1], xyz[2] / 1.08883].map((t) => (t > 216 / 24389 ? Math.cbrt(t) : (24389 / 27 * t + 16) / 116)) as Triple;
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/* CIEDE2000, after Sharma, Wu and Dalal 2005. */
function difference([l1, a1, b1]: Triple, [l2, a2, b2]: Triple): number {
    const rad = Math.PI / 180;
    const mean7 = ((Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2) ** 7;
    const g = 0.5 * (1 - Math.sqrt(mean7 / (mean7 + 25 ** 7)));
    const [p1, p2] = [a1 * (1 + g), a2 * (1 + g)];
    const [c1, c2] = [Math.hypot(p1, b1), Math.hypot(p2, b2)];
    const hue = (b: number, a: number) => (a === 0 && b === 0 ? 0 : (Math.atan2(b, a) / rad + 360) % 360);
    const [h1, h2] = [hue(b1, p1), hue(b2, p2)];
    const turn = c1 * c2 === 0 ? 0 : Math.abs(h2 - h1) <= 180 ? h2 - h1 : h2 - h1 > 180 ? h2 - h1 - 360 : h2 - h1 + 360;
    const dH = 2 * Math.sqrt(c1 * c2) * Math.sin((turn * rad) / 2);
    const [l, c] = [(l1 + l2) / 2, (c1 + c2) / 2];
    const h = c1 * c2 === 0 ? h1 + h2 : Math.abs(h1 - h2) <= 180 ? (h1 + h2) / 2 : h1 + h2 < 360 ? (h1 + h2 + 360) / 2 : (h1 + h2 - 360) / 2;
    const t = 1 - 0.17 * Math.cos((h - 30) * rad) + 0.24 * Math.cos(2 * h * rad) + 0.32 * Math.cos((3 * h + 6) * rad) - 0.2 * Math.cos((4 * h - 63) * rad);
    const sl = 1 + (0.015 * (l - 50) ** 2) / Math.sqrt(20 + (l - 50) ** 2);
    const [sc, sh] = [1 + 0.045 * c, 1 + 0.015 * c * t];
    const rt = -2 * Math.sqrt(c ** 7 / (c ** 7 + 25 ** 7)) * Math.sin(60 * Math.exp(-(((h - 275) / 25) ** 2)) * rad);
    const [x, y, z] = [(l2 - l1) / sl, (c2 - c1) / sc, dH / sh];
    return Math.sqrt(x * x + y * y + z * z + rt * y * z);
}

function contrast(a: string, b: string): number {
    const [x, y] = [a, b].map((hex) => {
        const [r, g, blue] = linear(hex);
        return 0.2126 * r + 0.7152 * g + 0.0722 * blue + 0.05;
    }) as [number, number];
    return Math.max(x, y) / Math.min(x, y);
}

test("the difference is that of the published pairs", () => {
    assert.equal(difference([50, 2.6772, -79.7751], [50, 0, -82.7485]).toFixed(4), "2.0425");
    assert.equal(difference([50, 2.5, 0], [61, -5, 29]).toFixed(4), "22.8977");
    assert.equal(difference([6.7747, -0.2908, -2.4247], [5.8714, -0.0985, -2.2286]).toFixed(4), "0.6377");
});

for (const [theme, least] of [["light", 12], ["dark", 14]] as const) {
    const colours = THEMES[theme];
    const colour = (name: string) => colours.get(name) ?? "#missing";

    test(`${theme}: any two classes differ for each kind of vision`, () => {
        for (const [name, rows] of Object.entries(VISION)) {
            const seen = CLASSES.map((cls) => lab(times(rows, linear(colour(cls)))));
            for (let a = 0; a < seen.length; a++)
                for (let b = a + 1; b < seen.length; b++) {
                    const got = difference(seen[a]!, seen[b]!);
                    assert.ok(got >= least, `${name}: ${CLASSES[a]} and ${CLASSES[b]} differ by ${got.toFixed(1)}`);
                }
        }
    });

    test(`${theme}: contrasts of classes, signs and texts`, () => {
        const need = (a: string, b: string, wanted: number) => {
            const got = contrast(colour(a), colour(b));
            assert.ok(got >= wanted, `${a} on ${b}: ${got.toFixed(2)} instead of ${wanted}`);
        };
        for (const cls of ["queued", "running", "failed", "edge", "focus"]) need(cls, "page", 3);
        for (const cls of CLASSES) need(`${cls}-ink`, cls, 4.5);
        for (const text of ["text", "faint", "link"]) for (const ground of ["page", "raised", "select"]) need(text, ground, 4.5);
        for (let at = 0; at < 8; at++) need(`ansi-${at}`, "log", 4.5);
    });
}
