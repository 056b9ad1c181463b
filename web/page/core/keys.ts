/* Keys of the page. Views add theirs while they are shown; none acts while a text is typed or with a modifier of the browser. */
import { signal } from "./signal";

export interface KeyBinding {
    /** One key, or two after another such as "g f". */
    keys: string;
    does: string;
    run(event: KeyboardEvent): void;
}

/** The bindings of what is shown, the innermost last. The last binding of a key wins. */
export const bindings = signal<readonly KeyBinding[]>([]);

/** Adds bindings until the returned function is called. */
export function bindKeys(list: readonly KeyBinding[]): () => void {
    bindings.value = [...bindings.peek(), ...list];
    return () => {
        bindings.value = bindings.peek().filter((binding) => !list.includes(binding));
    };
}

/** Whether a key goes to a field in which a text is typed. Escape never does. */
function isTyping(event: KeyboardEvent): boolean {
    const target = event.target;
    return event.key !== "Escape" && target instanceof Element && target.closest("input, textarea, select, [contenteditable]") !== null;
}

/** The binding for a key after the one before it. */
export function findBinding(list: readonly KeyBinding[], before: string, key: string): KeyBinding | undefined {
    const last = (keys: string) => [...list].reverse().find((binding) => binding.keys === keys);
    return (before && last(`${before} ${key}`)) || last(key);
}

/** Listens for keys until the returned function is called. */
export function startKeys(): () => void {
    let before = "";
    const onKey = (event: KeyboardEvent) => {
        if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented || isTyping(event)) return;
        const found = findBinding(bindings.peek(), before, event.key);
        before = found ? "" : event.key;
        if (!found) return;
        event.preventDefault();
        found.run(event);
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
}
