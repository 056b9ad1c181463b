/*
 * The search language of lists: words that a row must contain, `name:value` for one of its fields,
 * `name:>10m` for numbers and durations; `-` before a word negates it, quotes keep blanks.
 */
import { parseDuration } from "./format";

/** What a row offers: its text for plain words, and fields by name. Numbers and durations (in milliseconds) compare with < and >. */
export interface Searchable {
    text: string;
    fields: Record<string, string | number | undefined>;
}

export interface Filter {
    matches(row: Searchable): boolean;
    /** What is wrong with the text, as a sentence; "": nothing. */
    error: string;
    empty: boolean;
}

interface Term {
    not: boolean;
    key: string;
    op: "" | "<" | ">";
    value: string;
    number: number;
}

/** The kind of each field: a text that is compared without case, a number, or a duration. */
export type FieldKinds = Record<string, "text" | "number" | "duration">;

function words(text: string): string[] {
    return [...text.matchAll(/(?:[^\s"]+|"[^"]*"?)+/g)].map((found) => found[0]!);
}

function termOf(word: string, kinds: FieldKinds): Term | string {
    const not = word.startsWith("-") && word.length > 1;
    const rest = not ? word.slice(1) : word;
    const found = /^([a-z]+):(.*)$/s.exec(rest);
    const known = Object.keys(kinds).map((key) => `${key}:`).join(", ");
    if (!found || rest.startsWith('"')) return { not, key: "", op: "", value: rest.replaceAll('"', "").toLowerCase(), number: 0 };
    const [, key, raw] = found as unknown as [string, string, string];
    const kind = Object.hasOwn(kinds, key) ? kinds[key] : undefined;
    if (!kind) return `“${key}:” is not known; known are ${known}`;
    const op = raw.startsWith(">") ? ">" : raw.startsWith("<") ? "<" : "";
    const value = (op ? raw.slice(1) : raw).replaceAll('"', "").toLowerCase();
    if (!value) return `“${word}” names no value`;
    const number = kind === "duration" ? parseDuration(value) : kind === "number" && /^\d+(\.\d+)?$/.test(value) ? Number(value) : null;
    if (kind !== "text" && number === null) return `“${value}” is no ${kind}${kind === "duration" ? " such as 90s or 10m" : ""}`;
    if (kind === "text" && op) return `“${key}:” has no order`;
    return { not, key, op, value, number: number ?? 0 };
}

function holds(term: Term, row: Searchable, kinds: FieldKinds): boolean {
    if (!term.key) return row.text.includes(term.value);
    const value = row.fields[term.key];
    if (value === undefined) return false;
    if (kinds[term.key] === "text") return String(value).toLowerCase().includes(term.value);
    if (term.op === ">") return Number(value) > term.number;
    if (term.op === "<") return Number(value) < term.number;
    return Number(value) === term.number;
}

/** Parses a search. `text` of rows must be in lower case. A search with a mistake matches everything and says what is wrong. */
export function parseFilter(text: string, kinds: FieldKinds): Filter {
    const terms: Term[] = [];
    for (const word of words(text)) {
        const term = termOf(word, kinds);
        if (typeof term === "string") return { matches: () => true, error: term, empty: false };
        terms.push(term);
    }
    return { matches: (row) => terms.every((term) => holds(term, row, kinds) !== term.not), error: "", empty: terms.length === 0 };
}
