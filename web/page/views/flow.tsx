/* One flow: its head, and its steps as graph, timeline or table, with the drawer of the chosen one. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ApiError, flowPath, getBytes } from "../core/api";
import { COLUMNS_TYPE } from "../core/columns";
import { now } from "../core/clock";
import { parseFilter } from "../core/filter";
import { count } from "../core/format";
import { bindKeys } from "../core/keys";
import { plain } from "../core/marked";
import { CLASSES, isStepOver, phaseOf } from "../core/phase";
import { compareHref, FLOWS_HREF, route, setQuery, type View } from "../core/route";
import { useSignal } from "../core/signal";
import { subscribe } from "../core/stream";
import { T } from "../core/text";
import { AttemptsCache } from "../model/attempts";
import { FlowModel, searchableStep, STEP_FIELDS, type Step } from "../model/flow";
import { WhyCache } from "../model/why";
import { About } from "./about";
import { Drawer } from "./drawer";
import { Failures } from "./failures";
import { ActionDialog, FlowActions } from "./flow_actions";
import { GraphView } from "./graph";
import { Ago, Boundary, Message, Name, Phase, Sign, Took } from "./parts";
import { ProgressBar } from "./progress";
import { StepsView } from "./steps";
import { TimelineView } from "./timeline";
import { setIcon, setTitle } from "./title";

const VIEWS: View[] = ["graph", "time", "steps"];

/** The model of a flow, and a number that grows with each change of it. */
export function useFlow(ns: string, name: string): { model: FlowModel; version: number } {
    const model = useMemo(() => new FlowModel(), [ns, name]);
    const [version, setVersion] = useState(0);
    useEffect(() => {
        const control = new AbortController();
        const changed = () => setVersion((old) => old + 1);
        let asking = false;
        const fetchGraph = async () => {
            asking = true;
            try {
                model.takeColumns(await getBytes(`${flowPath(ns, name, "graph")}?part=steps`, COLUMNS_TYPE, control.signal));
            } catch (error) {
                if (control.signal.aborted) return;
                model.missing = error instanceof ApiError && error.code === 404;
                model.error = (error as Error).message;
            }
            asking = false;
            changed();
            if (model.ready && !REPORT) fetchLater(500); /* the stream may have told of another version meanwhile */
        };
        const fetchLater = (ms: number) => void window.setTimeout(() => {
            if (!asking && !model.gone && model.uid && !model.fits() && !control.signal.aborted) void fetchGraph();
        }, ms);
        void fetchGraph();
        const stop = subscribe(`flow ${ns}/${name}`, (line) => {
            if (model.take(line) && !REPORT) fetchLater(50); /* a flow that is gone is told right after its reset */
            changed();
        });
        return () => {
            control.abort();
            stop();
        };
    }, [model]);
    return { model, version };
}

function useHeadSigns(model: FlowModel, name: string, version: number): void {
    useEffect(() => {
        const counts = model.counts();
        const all = model.steps.length || 1;
        const tenths = Math.min(10, Math.floor((10 * ((counts.done ?? 0) + (counts.skipped ?? 0))) / all));
        const failed = model.head.phase === "Failed";
        const done = model.head.phase === "Succeed";
        setTitle(`${failed ? "✗ " : done ? "✓ " : model.ready ? `${Math.floor((100 * ((counts.done ?? 0) + (counts.skipped ?? 0))) / all)} % ` : ""}${plain(name)}`);
        setIcon(failed ? "failed" : done ? "done" : String(tenths));
    }, [model, name, version]);
    useEffect(() => () => setIcon("0"), []);
}

function Counts({ model, chosen }: { model: FlowModel; chosen: string }) {
    const rank = (state: string) => CLASSES.indexOf(phaseOf(state).cls);
    return (
        <div class="chips" data-told={model.told}>
            {[...model.countsByState()].sort(([a], [b]) => rank(a) - rank(b) || a.localeCompare(b)).map(([state, n]) => (
                <button type="button" class="chip" aria-pressed={chosen === state} onClick={() => setQuery({ state: chosen === state ? "" : state })}>
                    <Sign phase={state} size={14} /> {state} <b>{count(n)}</b>
                </button>
            ))}
        </div>
    );
}

function Head({ ns, name, model, chosen }: { ns: string; name: string; model: FlowModel; chosen: string }) {
    const counts = model.counts();
    const done = (counts.done ?? 0) + (counts.skipped ?? 0);
    const label = T.progress(done, model.steps.length, counts.failed ?? 0);
    const { head } = model;
    return (
        <header class="head">
            <div class="line-1">
                <a class="faint" href={FLOWS_HREF}>{T.flows}</a>
                <span class="faint">/ <Name name={ns} /> /</span>
                <h1><Name name={name} /></h1>
                {head.phase && <Phase phase={head.phase} />}
                <ProgressBar counts={counts} label={label} />
                <span class="bar-text">{label}</span>
                {head.startedMs > 0 && <span class="faint">{T.startedAgo} <Ago ms={head.startedMs} /></span>}
                {head.startedMs > 0 && <span class="faint">{T.took} <b><Took from={head.startedMs} to={head.endedMs} running={!model.isOver()} /></b></span>}
                <Counts model={model} chosen={chosen} />
                {!REPORT && model.ready && !model.gone && <FlowActions ns={ns} name={name} model={model} />}
                {!REPORT && model.ready && <a class="button small" href={compareHref("", `${ns}/${name}`)}>{T.compare}</a>}
            </div>
            {!counts.failed && (head.remark || head.message || head.reason) && <p class="line-2"><Message text={head.remark || head.message || head.reason} /></p>}
        </header>
    );
}

/* The next step after the chosen one that fits, around the end of the list. */
function nextStep(steps: readonly Step[], selected: number, fits: (step: Step) => boolean, back = false): Step | undefined {
    const list = steps.filter(fits);
    if (back) return list.filter((step) => step.at < selected).pop() ?? list[list.length - 1];
    return list.find((step) => step.at > selected) ?? list[0];
}

export function FlowPage({ ns, name }: { ns: string; name: string }) {
    const { query } = useSignal(route);
    const { model, version } = useFlow(ns, name);
    const why = useMemo(() => new WhyCache(`${ns}/${name}`, model), [model]);
    const attempts = useMemo(() => new AttemptsCache(ns, name), [model]);
    const search = useRef<HTMLInputElement>(null);
    const view = VIEWS.find((other) => other === query.get("view")) ?? "graph";
    const [q, state, hide, path] = [query.get("q") ?? "", query.get("state") ?? "", query.get("hide") === "1", query.get("path") === "1"];
    const filter = useMemo(() => parseFilter(q, STEP_FIELDS), [q]);
    const fits = useMemo(() => (step: Step) =>
        (!state || step.state === state) && (!hide || !isStepOver(step.state) || phaseOf(step.state).cls === "failed") && (!path || step.critical) && (filter.empty || filter.matches(searchableStep(step, now()))),
    [filter, state, hide, path, version]);
    const dim = useMemo(() => (step: Step) => !fits(step), [fits]);
    const shown = useMemo(() => model.steps.filter(fits), [fits, version]);
    const selected = model.step(query.get("step") ?? "")?.at ?? -1;
    const narrowed = shown.length < model.steps.length;
    useHeadSigns(model, name, version);

    const now_ = useRef({ selected, fits });
    now_.current = { selected, fits };
    useEffect(() => {
        const jump = (wanted: (step: Step) => boolean, back = false) => {
            const found = nextStep(model.steps, now_.current.selected, wanted, back);
            if (found) setQuery({ step: found.name });
        };
        const cls = (wanted: string) => (step: Step) => phaseOf(step.state).cls === wanted;
        const flip = (member: string) => () => setQuery({ [member]: route.peek().query.get(member) === "1" ? "" : "1" });
        return bindKeys([
            { keys: "/", does: T.keySearch, run: () => search.current?.focus() },
            ...VIEWS.map((id, at) => ({ keys: String(at + 1), does: T.views[id], run: () => setQuery({ view: id === "graph" ? "" : id, sort: "", down: "" }) })),
            { keys: "n", does: T.keyNext, run: () => jump((step) => now_.current.fits(step)) },
            { keys: "p", does: T.keyPrevious, run: () => jump((step) => now_.current.fits(step), true) },
            { keys: "e", does: T.keyFailed, run: () => jump(cls("failed")) },
            { keys: "r", does: T.keyRunning, run: () => jump(cls("running")) },
            { keys: "w", does: T.keyQueued, run: () => jump(cls("queued")) },
            { keys: "c", does: T.keyPath, run: flip("path") },
            { keys: "h", does: T.keyHide, run: flip("hide") },
        ]);
    }, [model]);

    const props = { model, version, selected };
    return (
        <main id="content" class="fill">
            <Head ns={ns} name={name} model={model} chosen={state} />
            <Failures ns={ns} model={model} version={version} why={why} attempts={attempts} />
            {model.ready && <About ns={ns} name={name} model={model} />}
            <div class="tools">
                <nav class="tabs" aria-label={T.view}>
                    {VIEWS.map((id) => <button type="button" aria-current={id === view} onClick={() => setQuery({ view: id === "graph" ? "" : id, sort: "", down: "" })}>{T.views[id]}</button>)}
                </nav>
                <input ref={search} type="search" class="search" aria-label={T.keySearch} placeholder={T.filterSteps} value={q} aria-invalid={filter.error !== ""}
                    onInput={(event) => setQuery({ q: event.currentTarget.value }, true)}
                    onKeyDown={(event) => event.key === "Enter" && shown[0] && setQuery({ step: (nextStep(model.steps, selected, fits) ?? shown[0]).name })} />
                <button type="button" class="chip" aria-pressed={path} onClick={() => setQuery({ path: path ? "" : "1" })} title="c">{T.pathOnly}</button>
                <button type="button" class="chip" aria-pressed={hide} onClick={() => setQuery({ hide: hide ? "" : "1" })} title="h">{T.hideDone}</button>
                {narrowed && <span class="faint" role="status">{T.matches(shown.length, model.steps.length)}</span>}
                {(q || state || hide || path) && <button type="button" class="small" onClick={() => setQuery({ q: "", state: "", hide: "", path: "" })}>{T.dropFilter}</button>}
            </div>
            {filter.error && <p class="note bad">{filter.error}</p>}
            {model.gone && <p class="note bad">{T.flowGone}</p>}
            {model.missing && !model.ready && <p class="note">{T.flowMissing} <a href={FLOWS_HREF}>{T.flowMissingList}</a></p>}
            {model.error && !model.gone && !model.missing && <p class="note bad"><Message text={model.error} /></p>}
            {model.waiting && <p class="note bad"><Message text={T.waitingServer(model.waiting)} /></p>}
            {!model.ready && !model.error && !model.missing && !model.gone && <p class="note faint">{T.loading}</p>}
            <div class="split">
                <div class="view">
                    <Boundary key={view}>
                        {model.ready && view === "graph" && <GraphView {...props} dim={dim} />}
                        {model.ready && view === "time" && <TimelineView {...props} shown={shown} attempts={attempts} />}
                        {model.ready && view === "steps" && <StepsView {...props} shown={shown} why={why} />}
                    </Boundary>
                </div>
                {!REPORT && <ActionDialog ns={ns} name={name} model={model} version={version} />}
                {selected >= 0 && <Boundary><Drawer ns={ns} flow={name} model={model} version={version} step={model.steps[selected]!} why={why} attempts={attempts} /></Boundary>}
            </div>
        </main>
    );
}
