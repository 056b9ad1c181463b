/* Choices that are kept for this browser. Where it keeps nothing, as for some files, they last as long as the page. */

const here = new Map<string, string>();

/** The kept text; "" when there is none. */
export function kept(key: string): string {
    try {
        return localStorage.getItem(key) ?? "";
    } catch {
        return here.get(key) ?? "";
    }
}

/** Keeps a text; "" forgets it. */
export function keep(key: string, text: string): void {
    try {
        if (text) localStorage.setItem(key, text);
        else localStorage.removeItem(key);
    } catch {
        here.set(key, text);
    }
}
