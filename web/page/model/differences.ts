/* Differences of two documents, by path. */

export interface Difference {
    path: string;
    /** The values as text; null: that document has none there. */
    from: string | null;
    to: string | null;
}

type Members = Record<string, unknown>;

const isObject = (value: unknown): value is Members => typeof value === "object" && value !== null && !Array.isArray(value);
const textOf = (value: unknown) => (value === undefined ? null : typeof value === "string" ? value : JSON.stringify(value));

/* The items of a list by their names, when each has one of its own: such lists are told apart by name, not by place. */
function byName(list: readonly unknown[]): Map<string, unknown> | null {
    const out = new Map<string, unknown>();
    for (const item of list) {
        const name = isObject(item) && Object.hasOwn(item, "name") ? item["name"] : undefined;
        if (typeof name !== "string" || out.has(name)) return null;
        out.set(name, item);
    }
    return out;
}

/* The parts of a value with the words that lead to them; null: it has none. */
function partsOf(value: unknown, named: boolean): Map<string, unknown> | null {
    if (isObject(value)) return new Map(Object.entries(value).map(([key, part]) => [`.${key}`, part]));
    if (!Array.isArray(value)) return null;
    if (named) return new Map([...byName(value)!].map(([name, part]) => [`[${name}]`, part]));
    return new Map(value.map((part, at) => [`[${at}]`, part]));
}

function bothNamed(from: unknown, to: unknown): boolean {
    return Array.isArray(from) && Array.isArray(to) && byName(from) !== null && byName(to) !== null;
}

/** The differences of two documents, at most `most`; `more` says how many were left out. */
export function differencesOf(from: unknown, to: unknown, most = 500): { list: Difference[]; more: number } {
    const list: Difference[] = [];
    let more = 0;
    const walk = (path: string, was: unknown, is: unknown) => {
        if (was === is) return;
        const named = bothNamed(was, is);
        const [before, after] = [partsOf(was, named), partsOf(is, named)];
        if (before && after && Array.isArray(was) === Array.isArray(is)) {
            for (const key of new Set([...before.keys(), ...after.keys()])) walk(path + key, before.get(key), after.get(key));
        } else if (textOf(was) !== textOf(is)) {
            if (list.length < most) list.push({ path: path.replace(/^\./, ""), from: textOf(was), to: textOf(is) });
            else more++;
        }
    };
    walk("", from, to);
    return { list, more };
}
