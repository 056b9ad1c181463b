/* The URL is the state: what is shown, selected, filtered and searched stands in it. */
import { OBJECT_PAGES, type ObjectPage } from "../model/objects";
import { signal } from "./signal";

export type View = "graph" | "time" | "steps";

export interface Route {
    page: "flows" | "flow" | "compare" | "new" | "queues" | ObjectPage | "unknown";
    ns: string;
    name: string;
    /** Members of the query, such as view, step, tab, attempt, q, state. */
    query: ReadonlyMap<string, string>;
}

/* Where places begin. A report is one file: its places stand in the fragment. */
const ROOT = REPORT ? "#" : "/ui";

/** Reads a path below /ui/, or the fragment of a report, and its query. */
export function parseRoute(path: string, search: string): Route {
    const parts = path.replace(/^(\/ui|#)\/?/, "").split("/").filter(Boolean).map(decode);
    const query = new Map(new URLSearchParams(search));
    const route: Route = { page: "unknown", ns: "", name: "", query };
    if (parts.length === 0 || (parts.length === 1 && parts[0] === "flows")) route.page = "flows";
    const [first] = parts;
    if (parts.length === 1 && (first === "new" || first === "compare" || first === "queues")) route.page = first;
    const objects = OBJECT_PAGES.find((page) => page === first);
    if (parts.length === 1 && objects) route.page = objects;
    if (parts.length === 3 && objects) Object.assign(route, { page: objects, ns: parts[1], name: parts[2] });
    if (parts.length === 3 && parts[0] === "flows") Object.assign(route, { page: "flow", ns: parts[1], name: parts[2] });
    return route;
}

function decode(part: string): string {
    try {
        return decodeURIComponent(part);
    } catch {
        return part;
    }
}

/** The path and query of a place. Members that are empty are left out. */
export function hrefOf(path: string, query: Iterable<readonly [string, string]> = []): string {
    const search = new URLSearchParams([...query].filter(([, value]) => value !== "").map(([name, value]) => [name, value])).toString();
    return path + (search ? `?${search}` : "");
}

export function flowHref(ns: string, name: string, query: Record<string, string> = {}): string {
    return hrefOf(`${ROOT}/flows/${encodeURIComponent(ns)}/${encodeURIComponent(name)}`, Object.entries(query));
}

/** The place where two runs are compared, each "NS/NAME"; "": not chosen yet. */
export function compareHref(before: string, after: string): string {
    return hrefOf(`${ROOT}/compare`, [["a", before], ["b", after]]);
}

/** The place of an object that has a page of its own. */
export function objectHref(page: ObjectPage, ns: string, name: string): string {
    return hrefOf(`/ui/${page}/${encodeURIComponent(ns)}/${encodeURIComponent(name)}`);
}

export const FLOWS_HREF = `${ROOT}/flows`;
export const NEW_HREF = "/ui/new";

export const route = signal<Route>({ page: "flows", ns: "", name: "", query: new Map() });

/** The place without its query. */
export function here(): string {
    return REPORT ? location.hash.split("?", 1)[0]! : location.pathname;
}

const search = () => (REPORT ? location.hash.slice(here().length) : location.search);

function read(): void {
    if (!REPORT || /^(#\/|$)/.test(location.hash)) route.value = parseRoute(here(), search());
}

/** Goes to a place. `replace` is for what the Back button should not undo one by one, such as keystrokes of a filter. */
export function go(href: string, replace = false): void {
    if (href === here() + search()) return;
    if (replace) history.replaceState(null, "", href);
    else history.pushState(null, "", href);
    read();
}

/** Changes members of the query of this place; an empty text removes one. */
export function setQuery(changes: Record<string, string>, replace = false): void {
    const query = new Map(route.peek().query);
    for (const [name, value] of Object.entries(changes)) query.set(name, value);
    go(hrefOf(here() || FLOWS_HREF, query), replace);
}

/** Follows the Back button, and links to places of the page without loading it anew. */
export function startRoute(): void {
    read();
    window.addEventListener("popstate", read);
    if (REPORT) return; /* links to fragments load nothing */
    document.addEventListener("click", (event) => {
        const link = event.target instanceof Element ? event.target.closest("a") : null;
        if (!link || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        if (link.origin !== location.origin || link.target || link.hasAttribute("download") || !link.pathname.startsWith("/ui/")) return;
        if (link.hash && link.pathname === location.pathname) return;
        event.preventDefault();
        go(link.pathname + link.search);
    });
}
