/* Writes YAML, for reading: block style, texts of several lines as literal blocks. */

const PLAIN = /^(?:[A-Za-z_/]|\.[A-Za-z/])[A-Za-z0-9_./$()@+-]*(?: [A-Za-z0-9_./$()@+-]+)*$/;
const RESERVED = /^(?:true|false|yes|no|on|off|null|y|n|~|\.inf|\.nan)$/i;
const ODD = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/;

function scalar(value: unknown): string {
    if (value === null || value === undefined) return "null";
    if (typeof value !== "string") return String(value);
    return PLAIN.test(value) && !RESERVED.test(value) ? value : quoted(value);
}

function quoted(text: string): string {
    return JSON.stringify(text).replace(/[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function isEmpty(value: object): boolean {
    return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0;
}

function isBlock(value: unknown): value is string {
    return typeof value === "string" && value.includes("\n") && !ODD.test(value) && !/^[ \n]/.test(value) && !/[ \t]\n/.test(value);
}

/* What follows "key:" or "-" at this indentation, with the separating blank or newline. */
function after(value: unknown, indent: string, inList: boolean): string {
    if (value && typeof value === "object") {
        if (isEmpty(value)) return Array.isArray(value) ? " []\n" : " {}\n";
        const inner = lines(value, Array.isArray(value) && !inList ? indent : `${indent}  `);
        return inList ? ` ${inner.trimStart()}` : `\n${inner}`;
    }
    if (isBlock(value)) {
        const ends = value.endsWith("\n\n") ? "|+" : value.endsWith("\n") ? "|" : "|-";
        const body = value.replace(/\n$/, "").split("\n").map((line) => (line ? `${indent}  ${line}` : "")).join("\n");
        return ` ${ends}\n${body}\n`;
    }
    return ` ${scalar(value)}\n`;
}

function lines(value: object, indent: string): string {
    if (Array.isArray(value)) return value.map((item) => `${indent}-${after(item, indent, true)}`).join("");
    return Object.entries(value).filter(([, member]) => member !== undefined).map(([key, member]) => `${indent}${scalar(key)}:${after(member, indent, false)}`).join("");
}

/** A document as YAML text. */
export function toYaml(value: unknown): string {
    if (value && typeof value === "object" && !isEmpty(value)) return lines(value, "");
    return after(value, "", false).trimStart();
}
