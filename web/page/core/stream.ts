/*
 * The one streamed answer of a visible tab. Views subscribe to topics; all topics share the stream.
 *
 * A tab that is hidden for ten seconds drops its stream and resumes it when it is shown again. After
 * a break it tries again, with growing pauses; `link` says since when and why, for the bar.
 */
import { ApiError, me, ownDigest, postJson, request, signedIn, whoAmI, type Server } from "./api";
import { setServerTime } from "./clock";
import { LineReader } from "./ndjson";
import { forgetRights } from "./rights";
import { signal } from "./signal";
import { theSource } from "./source";

export type Line = Record<string, unknown>;
type Handler = (line: Line) => void;

export interface Link {
    state: "idle" | "connecting" | "live" | "broken" | "ended";
    /** When the newest line came, by performance.now(); 0: none yet. */
    lastLine: number;
    /** Why it is broken or has ended. */
    why: string;
    /** When it is tried again, by performance.now(). */
    retryAt: number;
}

export const link = signal<Link>({ state: "idle", lastLine: 0, why: "", retryAt: 0 });
/** The program behind the gateway is newer than this page. */
export const outdated = signal(false);

const HIDDEN_MS = 10_000;
const SILENT_MS = 40_000; /* the gateway sends a line at least every 15 s */
const PAUSE_MIN_MS = 500;
const PAUSE_MAX_MS = 30_000;

const topics = new Map<string, Set<Handler>>();
const tab = Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");

let id = ""; /* id of the open stream; "": no stream is open */
let abort: AbortController | null = null;
let pause = PAUSE_MIN_MS;
let retryTimer = 0;
let hiddenTimer = 0;
let silentTimer = 0;
let changes = { add: new Set<string>(), drop: new Set<string>() };
let changesTimer = 0;

function setLink(change: Partial<Link>): void {
    link.value = { ...link.peek(), ...change };
}

/** Sends what was subscribed and dropped since the last time, in one request. */
async function sendChanges(): Promise<void> {
    changesTimer = 0;
    const { add, drop } = changes;
    changes = { add: new Set(), drop: new Set() };
    if (!id || (!add.size && !drop.size)) return;
    try {
        await postJson(`/ui/v1/stream/${encodeURIComponent(id)}`, { add: [...add], drop: [...drop] });
    } catch (error) {
        if (error instanceof ApiError && error.code === 400)
            for (const topic of add) for (const handler of topics.get(topic) ?? []) handler({ topic, error: error.message });
        else if (abort) abort.abort(); /* a stream without its topics is as good as broken */
    }
}

/* The gateway drops before it adds. A topic in both lists begins anew, which a handler that joins a known topic needs. */
function change(topic: string, { drop, add }: { drop: boolean; add: boolean }): void {
    if (drop) changes.drop.add(topic);
    if (add) changes.add.add(topic);
    else changes.add.delete(topic);
    if (!changesTimer) changesTimer = window.setTimeout(sendChanges, 0);
}

/** Calls `handler` with each line of a topic, from its beginning on, until the returned function is called. */
export function subscribe(topic: string, handler: Handler): () => void {
    if (REPORT) {
        const timer = window.setTimeout(() => theSource().lines(topic).forEach(handler), 0);
        return () => window.clearTimeout(timer);
    }
    let handlers = topics.get(topic);
    const first = !handlers;
    if (!handlers) topics.set(topic, (handlers = new Set()));
    handlers.add(handler);
    if (id) change(topic, { drop: !first, add: true });
    if (!id) connect();
    return () => {
        if (!handlers!.delete(handler) || handlers!.size) return;
        topics.delete(topic);
        if (id) change(topic, { drop: true, add: false });
    };
}

function heard(): void {
    window.clearTimeout(silentTimer);
    silentTimer = window.setTimeout(() => abort?.abort(), SILENT_MS);
}

function onServer(server: unknown): void {
    const known = me.peek();
    if (!known || !server || typeof server !== "object") return;
    const next = server as Server;
    const other = next.kind !== known.server.kind || next.live !== known.server.live || next.name !== known.server.name;
    me.value = { ...known, server: next };
    if (!other) return;
    forgetRights(); /* what may be done depends on the server */
    void whoAmI().catch(() => undefined);
}

/** Takes a line. Returns false when the stream is over. */
function take(line: Line): boolean {
    setLink({ lastLine: performance.now() });
    if (typeof line["timeMs"] === "number") setServerTime(line["timeMs"]);
    if (typeof line["topic"] === "string") {
        for (const handler of [...(topics.get(line["topic"]) ?? [])]) handler(line);
        return true;
    }
    switch (line["type"]) {
        case "hello":
            id = String(line["id"] ?? "");
            pause = PAUSE_MIN_MS;
            onServer(line["server"]);
            if (ownDigest && line["digest"] && line["digest"] !== ownDigest) outdated.value = true;
            changes = { add: new Set(topics.keys()), drop: new Set() };
            void sendChanges();
            setLink({ state: "live", why: "" });
            return true;
        case "server":
            onServer(line["server"]);
            return true;
        case "again":
            return false;
        case "ended":
            setLink({ state: "ended", why: String(line["reason"] ?? "") });
            return false;
        default:
            return true;
    }
}

async function run(control: AbortController): Promise<void> {
    const reader = (await request(`/ui/v1/stream?tab=${tab}`, { signal: control.signal })).body!.getReader();
    const lines = new LineReader();
    for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        heard();
        for (const line of lines.take(value)) {
            if (take(line)) continue;
            void reader.cancel();
            return;
        }
    }
}

/** Opens the stream unless one is open, being opened, or of no use: signed out, hidden, or without a topic. */
export function connect(): void {
    if (abort || signedIn.peek() !== "in" || document.hidden || topics.size === 0) return;
    window.clearTimeout(retryTimer);
    const control = (abort = new AbortController());
    if (link.peek().state !== "broken") setLink({ state: "connecting" });
    heard();
    run(control)
        .then(() => "", (error: unknown) => (error instanceof ApiError ? error.message : "the connection broke"))
        .then((why) => {
            window.clearTimeout(silentTimer);
            id = "";
            abort = null;
            const state = link.peek().state;
            if (signedIn.peek() !== "in" || document.hidden || topics.size === 0) setLink({ state: "idle" });
            else if (state === "live" && !why) connect(); /* it ended by itself, to be opened again */
            else retry(why || link.peek().why || "the gateway ended the connection");
        });
}

function retry(why: string): void {
    const wait = pause * (0.75 + Math.random() / 2);
    pause = Math.min(pause * 2, PAUSE_MAX_MS);
    setLink({ state: "broken", why, retryAt: performance.now() + wait });
    retryTimer = window.setTimeout(connect, wait);
}

/** Tries again at once, for the button of the bar. */
export function retryNow(): void {
    window.clearTimeout(retryTimer);
    connect();
}

/** Closes the stream, when the browser has signed out. */
export function disconnect(): void {
    window.clearTimeout(retryTimer);
    abort?.abort();
}

document.addEventListener("visibilitychange", () => {
    window.clearTimeout(hiddenTimer);
    if (document.hidden) hiddenTimer = window.setTimeout(() => abort?.abort(), HIDDEN_MS);
    else connect();
});

/* A page that was left may be kept by the browser for the Back button, with its connections: it gives them up. */
window.addEventListener("pagehide", () => abort?.abort());
window.addEventListener("pageshow", (event) => {
    if (event.persisted) connect();
});
