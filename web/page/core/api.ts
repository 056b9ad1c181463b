/*
 * Requests to the gateway. A sign-in has two halves: a cookie that the page cannot read, and a key
 * that it keeps in storage and sends with each request.
 */
import { ApiError } from "./api_error";
import { now, setServerTime } from "./clock";
import { endsAfterRequest, type SignInEnds } from "./signin_time";
import { signal } from "./signal";
import { theSource } from "./source";

export { ApiError } from "./api_error";
export { apiPath, flowPath } from "./paths";

export interface Server {
    kind: string;
    name: string;
    live: boolean;
    reason?: string;
}

/** The answer of /ui/v1/me, as far as the page uses it. */
export interface Me {
    user: string;
    server: Server;
    readOnly: boolean;
    readOnlyReason?: string;
    timeMs: number;
    digest: string;
    namespace: string;
    open?: string;
    signin?: { idleEndsMs: number; endsMs: number };
}

export type SignIn = "unknown" | "in" | "out";

export const signedIn = signal<SignIn>("unknown");
export const me = signal<Me | null>(null);
/** When the sign-in ends; null: not known. */
export const signInEnds = signal<SignInEnds | null>(null);
/** Why the page does not show what its link named; "": it does. */
export const openNote = signal("");
/** Why the sign-in page is shown, when it is more than that there was no sign-in. */
export const signInNote = signal("");

function meta(name: string): string {
    return document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? "";
}

/** The digest of the assets that this page was loaded with. */
export const ownDigest = meta("jf-digest");

/** Whether this gateway takes tokens: the page of a daemon does, over TLS. */
export const takesTokens = meta("jf-tokens") === "yes";

const KEY = `jf-${meta("jf-id")}`;

function headers(more?: Record<string, string>): Record<string, string> {
    return { "Jobflow-Key": localStorage.getItem(KEY) ?? "", ...more };
}

async function refusal(answer: Response): Promise<ApiError> {
    let reason = "";
    let message = answer.statusText || `status ${answer.status}`;
    try {
        const status = (await answer.json()) as { reason?: string; message?: string };
        reason = status.reason ?? "";
        message = status.message ?? message;
    } catch {
        /* no Status: the status line says all there is */
    }
    return new ApiError(answer.status, reason, message);
}

/** Sends a request and returns its answer. Throws ApiError for any status but 2xx; 401 leads to the sign-in page. */
export async function request(path: string, init: RequestInit & { headers?: Record<string, string> } = {}): Promise<Response> {
    if (REPORT) return new Response(theSource().text(path));
    let answer: Response;
    try {
        answer = await fetch(path, { ...init, headers: headers(init.headers), redirect: "error" });
    } catch (error) {
        if (error instanceof DOMException && error.name === "AbortError") throw error;
        throw new ApiError(0, "Unreachable", "the gateway does not answer");
    }
    if (answer.ok) {
        if (signInEnds.peek()) signInEnds.value = endsAfterRequest(signInEnds.peek()!, now());
        return answer;
    }
    if (answer.status === 401) signedIn.value = "out";
    throw await refusal(answer);
}

/** Gets a document. */
export async function getJson<T>(path: string, signal?: AbortSignal, accept = "application/json"): Promise<T> {
    if (REPORT) return theSource().document(path) as T;
    const answer = await request(path, { headers: { Accept: accept }, ...(signal ? { signal } : {}) });
    return (await answer.json()) as T;
}

/** Gets the bytes of an answer that is no document. */
export async function getBytes(path: string, accept: string, signal: AbortSignal): Promise<ArrayBuffer> {
    if (REPORT) return theSource().bytes(path);
    return (await request(path, { headers: { Accept: accept }, signal })).arrayBuffer();
}

/** Posts a document and returns the answer's. */
export async function postJson<T>(path: string, body: unknown): Promise<T> {
    const answer = await request(path, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } });
    return (await answer.json()) as T;
}

/** Sends a change and returns what the server answers. */
export async function change<T>(method: "POST" | "PATCH" | "DELETE", path: string, body: unknown, type = "application/json"): Promise<T> {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const answer = await request(path, { method, body: text, headers: { "Content-Type": type, Accept: "application/json" } });
    return (await answer.json()) as T;
}

/** Takes the ticket of a link out of the URL before any request is sent. */
export function takeTicket(): string {
    const found = /^#t=([A-Za-z0-9_-]+)$/.exec(location.hash);
    if (location.hash) history.replaceState(null, "", location.pathname + location.search);
    return found?.[1] ?? "";
}

/** Asks who is signed in and what may be done. */
export async function whoAmI(): Promise<void> {
    const answer = await getJson<Me>("/ui/v1/me");
    setServerTime(answer.timeMs);
    me.value = answer;
    signInEnds.value = answer.signin ? { idleMs: answer.signin.idleEndsMs - answer.timeMs, idleEnds: answer.signin.idleEndsMs, ends: answer.signin.endsMs } : null;
    signedIn.value = "in";
}

/** Signs in with a ticket, or with the sign-in of this browser. Sets `signedIn`. */
export async function startSignIn(ticket: string): Promise<void> {
    try {
        if (ticket) {
            const made = await postJson<{ key: string }>("/ui/signin", { ticket });
            localStorage.setItem(KEY, made.key);
        }
        await whoAmI();
    } catch (error) {
        signInNote.value = ticket || !(error instanceof ApiError) || error.code !== 401 ? String((error as Error).message) : "";
        signedIn.value = "out";
    }
}

/** Exchanges a token for a sign-in. The token is not kept. Throws ApiError when it is not known. */
export async function signInByToken(token: string): Promise<void> {
    const made = await postJson<{ key: string }>("/ui/signin", { token });
    localStorage.setItem(KEY, made.key);
    await whoAmI();
}

/** Signs in here when another tab of this browser has: a page that a link led to shows its target then. */
export function followSignIn(): void {
    window.addEventListener("storage", (event) => {
        if (event.key === KEY && event.newValue && signedIn.peek() === "out") void startSignIn("");
        if (event.key === KEY && !event.newValue && signedIn.peek() === "in") signedIn.value = "out";
    });
}

/** Ends the sign-in at the gateway and in this browser. */
export async function signOut(): Promise<void> {
    try {
        await postJson("/ui/signout", {});
    } catch {
        /* the sign-in is over either way: without its key nothing passes */
    }
    localStorage.removeItem(KEY);
    signedIn.value = "out";
}
