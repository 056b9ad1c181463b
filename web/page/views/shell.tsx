/* The frame of all views: bar at the top, note about the connection, the view itself. */
import { useEffect, useState } from "preact/hooks";
import { me, openNote, signedIn, signInEnds, signOut, whoAmI } from "../core/api";
import { now } from "../core/clock";
import { duration } from "../core/format";
import { startKeys } from "../core/keys";
import { FLOWS_HREF, NEW_HREF, route } from "../core/route";
import { useSignal } from "../core/signal";
import { endsSoon } from "../core/signin_time";
import { disconnect, link, outdated, retryNow } from "../core/stream";
import { T } from "../core/text";
import { setTheme, theme, type Theme } from "../core/theme";
import { OBJECT_PAGES } from "../model/objects";
import { ComparePage } from "./compare";
import { FlowPage } from "./flow";
import { FlowsPage } from "./flows";
import { KeysDialog, showKeys } from "./keys_dialog";
import { NewPage } from "./new";
import { ObjectPage } from "./object";
import { ObjectsPage } from "./objects";
import { Boundary, Message } from "./parts";
import { QueuesPage } from "./queues";
import { SignInPage } from "./signin";

function ServerName() {
    const known = useSignal(me);
    if (!known) return null;
    const kind = T.serverKinds[known.server.kind] ?? known.server.kind;
    return (
        <span class="server" title={known.server.reason ?? ""}>
            <span class={`dot ${known.server.live ? "live" : ""}`} aria-hidden="true" />
            {kind} <bdi>{known.server.name}</bdi>
            {" "}
            {known.readOnly && <span class="tag" title={known.readOnlyReason ?? ""}>{T.readOnly}</span>}
        </span>
    );
}

const PLACES = [
    { href: FLOWS_HREF, title: T.flows, pages: ["flows", "flow", "compare"] },
    { href: "/ui/jobs", title: T.objects.jobs, pages: ["jobs"] },
    { href: "/ui/pods", title: T.objects.pods, pages: ["pods"] },
    { href: "/ui/queues", title: T.queues, pages: ["queues"] },
    { href: "/ui/templates", title: T.objects.templates, pages: ["templates"] },
    { href: "/ui/schedules", title: T.objects.schedules, pages: ["schedules"] },
    { href: "/ui/triggers", title: T.objects.triggers, pages: ["triggers"] },
    { href: NEW_HREF, title: T.newTitle, pages: ["new"] },
];

function TopBar() {
    const at = useSignal(route);
    const chosen = useSignal(theme);
    const known = useSignal(me);
    return (
        <header class="top">
            <a class="brand" href={FLOWS_HREF}>{T.product}</a>
            <nav aria-label={T.product}>
                {PLACES.map(({ href, title, pages }) => <a href={href} aria-current={pages.includes(at.page) ? "page" : undefined}>{title}</a>)}
            </nav>
            <span class="space" />
            <ServerName />
            <label class="theme">
                <span class="hidden">{T.theme}</span>
                <select value={chosen} onChange={(event) => setTheme(event.currentTarget.value as Theme)}>
                    {Object.entries(T.themes).map(([value, text]) => <option value={value}>{text}</option>)}
                </select>
            </label>
            <button type="button" class="quiet" onClick={() => (showKeys.value = true)} aria-label={T.keys} title={T.keys}>?</button>
            <button type="button" class="quiet" title={known?.user ?? ""} onClick={() => void signOut().then(disconnect)}>{T.signOut}</button>
        </header>
    );
}

/** Says since when data are old, why, and when the next try is. Nothing else of the page changes. */
function LinkBar() {
    const state = useSignal(link);
    const [shown, setShown] = useState(false);
    const [, redraw] = useState({});
    const broken = state.state === "broken" || state.state === "ended";
    useEffect(() => {
        if (!broken) return setShown(false);
        const late = setTimeout(() => setShown(true), Math.max(0, state.lastLine + 2000 - performance.now()));
        const timer = setInterval(() => redraw({}), 1000);
        return () => {
            clearTimeout(late);
            clearInterval(timer);
        };
    }, [broken]);
    const known = useSignal(me);
    const old = useSignal(outdated);
    const wait = state.retryAt - performance.now();
    return (
        <div role="status" class="bars">
            {shown && (
                <div class="bar bad">
                    {T.broken(duration(performance.now() - state.lastLine), state.why)} {state.state === "broken" && (wait > 0 ? T.trying(duration(wait + 999)) : T.tryingNow)}
                    {state.state === "broken" && <button type="button" class="small" onClick={retryNow}>{T.retryNow}</button>}
                </div>
            )}
            {!shown && known && !known.server.live && known.server.reason && <div class="bar"><Message text={known.server.reason} /></div>}
            {old && <div class="bar">{T.outdated} <button type="button" class="small" onClick={() => location.reload()}>{T.reload}</button></div>}
        </div>
    );
}

const LOOK_MS = 10_000;

/* Says five minutes before that the sign-in ends. Nothing is asked of the gateway for it. */
function SignInBar() {
    const ends = useSignal(signInEnds);
    const [, redraw] = useState({});
    useEffect(() => {
        const timer = setInterval(() => redraw({}), LOOK_MS);
        return () => clearInterval(timer);
    }, []);
    const soon = ends && endsSoon(ends, now());
    if (!soon) return null;
    const left = duration(soon.left);
    return (
        <div class="bar" role="status">
            {soon.fixed ? T.endsFixed(left) : T.endsSoon(left)}
            {!soon.fixed && <button type="button" class="small" onClick={() => void whoAmI().catch(() => undefined)}>{T.staySignedIn}</button>}
        </div>
    );
}

function OpenNote() {
    const note = useSignal(openNote);
    return note ? <div class="bar" role="status"><Message text={note} /> <button type="button" class="small" onClick={() => (openNote.value = "")}>{T.dismiss}</button></div> : null;
}

function Content() {
    const at = useSignal(route);
    if (at.page === "flows") return <FlowsPage />;
    if (at.page === "flow") return <FlowPage key={`${at.ns}/${at.name}`} ns={at.ns} name={at.name} />;
    if (at.page === "compare") return <ComparePage />;
    if (at.page === "new") return <NewPage />;
    if (at.page === "queues") return <QueuesPage />;
    const page = OBJECT_PAGES.find((other) => other === at.page);
    if (page) return at.name ? <ObjectPage key={`${page}/${at.ns}/${at.name}`} page={page} ns={at.ns} name={at.name} /> : <ObjectsPage key={page} page={page} />;
    return <main id="content"><h1>{T.notFound}</h1></main>;
}

export function Shell() {
    const state = useSignal(signedIn);
    useEffect(startKeys, []);
    if (state === "unknown") return <p class="note faint">{T.loading}</p>;
    if (state === "out") return <SignInPage />;
    return (
        <>
            <a class="skip" href="#content">{T.skip}</a>
            <TopBar />
            <LinkBar />
            <SignInBar />
            <OpenNote />
            <Boundary><Content /></Boundary>
            <KeysDialog />
        </>
    );
}
