/*
 * Lines of logs: colours and styles of SGR sequences become spans, a carriage return overwrites,
 * every other sequence is dropped. Nothing of it is ever HTML.
 */

/** A colour: one of the 16 of terminals by number, or "#rrggbb". */
export type Colour = number | string;

export interface Style {
    fg?: Colour;
    bg?: Colour;
    bold?: boolean;
    dim?: boolean;
    italic?: boolean;
    underline?: boolean;
    inverse?: boolean;
}

export interface Span {
    text: string;
    style: Style;
}

const PLAIN: Style = {};

/* An escape sequence: CSI; OSC, DCS, SOS, PM and APC with their strings; others of two or more characters. One that does not
 * end takes the rest of the line. */
const SEQUENCE = /\u001b(?:\[([0-?]*)[ -/]*([@-~])|\[[^@-~]*$|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\|$|(?=\u001b))|[ -/]+[0-~]?|[0-Z\\`-~]?)/y;

function cubeColour(n: number): Colour {
    if (n < 16) return n;
    const hex = (value: number) => value.toString(16).padStart(2, "0");
    if (n >= 232) return `#${hex(8 + (n - 232) * 10).repeat(3)}`;
    const level = (value: number) => hex(value ? 55 + value * 40 : 0);
    return `#${level(Math.trunc((n - 16) / 36))}${level(Math.trunc((n - 16) / 6) % 6)}${level((n - 16) % 6)}`;
}

/* Reads the colour after 38 or 48 and returns it with the number of parameters that it took. */
function extended(params: number[], at: number): { colour?: Colour; took: number } {
    const byte = (i: number) => Math.min(255, Math.max(0, params[i] || 0));
    if (params[at] === 5) return { colour: cubeColour(byte(at + 1)), took: 2 };
    if (params[at] === 2) return { colour: `#${[1, 2, 3].map((i) => byte(at + i).toString(16).padStart(2, "0")).join("")}`, took: 4 };
    return { took: 1 };
}

function without(style: Style, ...names: (keyof Style)[]): Style {
    const out = { ...style };
    for (const name of names) delete out[name];
    return out;
}

/** The style after an SGR sequence with these parameters. */
export function applySgr(before: Style, text: string): Style {
    const params = text.split(/[;:]/).map(Number);
    let style = before;
    for (let at = 0; at < params.length; at++) {
        const n = params[at]!;
        if (n === 0) style = PLAIN;
        else if (n === 1) style = { ...style, bold: true };
        else if (n === 2) style = { ...style, dim: true };
        else if (n === 3) style = { ...style, italic: true };
        else if (n === 4) style = { ...style, underline: true };
        else if (n === 7) style = { ...style, inverse: true };
        else if (n === 22) style = without(style, "bold", "dim");
        else if (n === 23) style = without(style, "italic");
        else if (n === 24) style = without(style, "underline");
        else if (n === 27) style = without(style, "inverse");
        else if (n >= 30 && n <= 37) style = { ...style, fg: n - 30 };
        else if (n >= 90 && n <= 97) style = { ...style, fg: n - 82 };
        else if (n === 39) style = without(style, "fg");
        else if (n >= 40 && n <= 47) style = { ...style, bg: n - 40 };
        else if (n >= 100 && n <= 107) style = { ...style, bg: n - 92 };
        else if (n === 49) style = without(style, "bg");
        else if (n === 38 || n === 48) {
            const { colour, took } = extended(params, at + 1);
            at += took;
            if (colour !== undefined) style = { ...style, [n === 38 ? "fg" : "bg"]: colour };
        }
    }
    return style;
}

const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f]/g;

/** Control characters as text: "\x00". Tabs stay. */
export function visible(text: string): string {
    return text.replace(CONTROL, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

/** Splits a line, which has no newline, into spans. `style` is that at the end of the line before; the new one is returned. */
export function parseLine(line: string, style: Style): { spans: Span[]; style: Style } {
    if (!/[\u0000-\u0008\u000b-\u001f\u007f]/.test(line)) return { spans: line ? [{ text: line, style }] : [], style };
    const cells: { text: string; style: Style }[] = [];
    let cursor = 0;
    let at = 0;
    while (at < line.length) {
        const char = line[at]!;
        if (char === "\u001b") {
            SEQUENCE.lastIndex = at;
            const found = SEQUENCE.exec(line);
            at += found?.[0]?.length || 1;
            if (found?.[2] === "m" && !/[<-?]/.test(found[1]!)) style = applySgr(style, found[1]!);
            if (found?.[2] === "K") cells.length = Number(found[1] || 0) === 0 ? Math.min(cursor, cells.length) : 0;
            if (found?.[2] === "K" && cells.length < cursor) cursor = cells.length;
            continue;
        }
        at++;
        if (char === "\r") cursor = 0;
        else cells[cursor++] = { text: visible(char), style };
    }
    const spans: Span[] = [];
    for (const cell of cells) {
        const last = spans[spans.length - 1];
        if (last && last.style === cell.style) last.text += cell.text;
        else spans.push({ ...cell });
    }
    return { spans, style };
}

type Rgb = [number, number, number];

function rgbOf(hex: string): Rgb {
    return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)) as Rgb;
}

function luminance(rgb: Rgb): number {
    const [r, g, b] = rgb.map((value) => {
        const part = value / 255;
        return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    }) as Rgb;
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** The contrast of two colours "#rrggbb". */
export function contrast(a: string, b: string): number {
    const [x, y] = [luminance(rgbOf(a)) + 0.05, luminance(rgbOf(b)) + 0.05];
    return Math.max(x, y) / Math.min(x, y);
}

/** The colour, moved towards black or white until its contrast with the ground is 4.5 or more. */
export function readable(colour: string, ground: string): string {
    const target = luminance(rgbOf(ground)) > 0.18 ? 0 : 255;
    for (let part = 0; part <= 1; part += 0.05) {
        const mixed = `#${rgbOf(colour).map((value) => Math.round(value + (target - value) * part).toString(16).padStart(2, "0")).join("")}`;
        if (contrast(mixed, ground) >= 4.5) return mixed;
    }
    return target ? "#ffffff" : "#000000";
}

/** Black or white, whichever can be read on the ground. */
export function inkOn(ground: string): string {
    return contrast("#000000", ground) >= contrast("#ffffff", ground) ? "#000000" : "#ffffff";
}
