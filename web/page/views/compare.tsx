/* Two runs side by side: totals, the steps by what they cost more or less, graph, timeline, and the differences of their specs. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { now } from "../core/clock";
import { count, duration, preciseDuration } from "../core/format";
import { plain } from "../core/marked";
import { phaseOf } from "../core/phase";
import { flowHref, route, setQuery } from "../core/route";
import { useSignal } from "../core/signal";
import { T } from "../core/text";
import { countsOf, joinRuns, runStep, totalsOf, type Change, type RunStep, type StepChange, type Totals } from "../model/compare";
import type { FlowModel } from "../model/flow";
import type { FlowRow } from "../model/rows";
import { ComparedSpecs } from "./compare_specs";
import { ComparedStep } from "./compare_step";
import { ComparedTimeline } from "./compare_time";
import { useFlow } from "./flow";
import { useFlows } from "./flows";
import { GraphView } from "./graph";
import { Boundary, Moment, Name, Phase, Sign } from "./parts";
import { setTitle } from "./title";
import { VirtualTable, type Column } from "./virtual";

const ROW_HEIGHT = 30;
const OFFERED_MAX = 500; /* runs that can be chosen */
const VIEWS = ["steps", "graph", "time", "spec"] as const;

/** A run that is compared. */
export interface Run {
    ns: string;
    name: string;
    model: FlowModel;
    version: number;
}

/* Runs to choose from: those of the other run's series first, and of them the newest. */
function offered(rows: Iterable<FlowRow>, other: FlowRow | undefined): FlowRow[] {
    const own = (row: FlowRow) => (other && row.ns === other.ns && row.series === other.series ? 0 : 1);
    return [...rows].sort((a, b) => own(a) - own(b) || b.created - a.created || a.key.localeCompare(b.key)).slice(0, OFFERED_MAX);
}

function Choice({ label, member, chosen, rows, other }: { label: string; member: "a" | "b"; chosen: string; rows: ReadonlyMap<string, FlowRow>; other: string }) {
    const list = offered(rows.values(), rows.get(other));
    return (
        <label class="choice">
            {label}{" "}
            <select value={chosen} onChange={(event) => setQuery({ [member]: event.currentTarget.value, step: "" })}>
                <option value="">{T.chooseRun}</option>
                {chosen && !list.some((row) => row.key === chosen) && <option value={chosen}>{plain(chosen)}</option>}
                {list.map((row) => <option value={row.key}>{plain(row.key)} · {row.phase}{row.started && row.ended ? ` · ${duration(row.ended - row.started)}` : ""}</option>)}
            </select>
        </label>
    );
}

const stepsOf = (model: FlowModel): RunStep[] => {
    const at = now();
    return model.steps.map((step) => runStep(step, phaseOf(step.state).cls === "failed", at));
};

/** A difference of durations with its sign. */
export function more(ms: number): string {
    if (Math.abs(ms) < 10) return "–";
    return `${ms > 0 ? "+" : "−"}${preciseDuration(Math.abs(ms))}`;
}

const took = (model: FlowModel) => (model.head.startedMs ? (model.head.endedMs || now()) - model.head.startedMs : 0);

function TotalsTable({ before, after, of }: { before: Run; after: Run; of: [Totals, Totals] }) {
    const [was, is] = of;
    const row = (title: string, a: string, b: string, by = "") => <tr><th scope="row">{title}</th><td>{a}</td><td>{b}</td><td>{by}</td></tr>;
    const number = (title: string, a: number, b: number) => row(title, count(a), count(b), a === b ? "–" : `${b > a ? "+" : "−"}${count(Math.abs(b - a))}`);
    const span = (title: string, a: number, b: number) => row(title, preciseDuration(a), preciseDuration(b), more(b - a));
    const head = ({ ns, name, model }: Run) => <th scope="col"><a href={flowHref(ns, name)}><Name name={name} /></a> {model.head.phase && <Phase phase={model.head.phase} />}</th>;
    const path = (run: Run) => <td class="path">{run.model.criticalPath.slice(0, 12).map((name, at) => <>{at > 0 && <span class="faint"> → </span>}<Name name={name} /></>)}{run.model.criticalPath.length > 12 && ` ${T.more(run.model.criticalPath.length - 12)}`}</td>;
    return (
        <div class="totals">
            <table class="plain" aria-label={T.totals}>
                <thead><tr><td />{head(before)}{head(after)}<th scope="col">{T.difference}</th></tr></thead>
                <tbody>
                    <tr><th scope="row">{T.columns.started}</th>{[before, after].map(({ model }) => <td>{model.head.startedMs > 0 && <Moment ms={model.head.startedMs}>{new Date(model.head.startedMs).toLocaleString()}</Moment>}</td>)}<td /></tr>
                    {span(T.columns.took, took(before.model), took(after.model))}
                    {was.whole || is.whole
                        ? span(T.waitedAndRan, was.workMs + was.waitedMs, is.workMs + is.waitedMs)
                        : [span(T.work, was.workMs, is.workMs), span(T.waitedAll, was.waitedMs, is.waitedMs)]}
                    {number(T.columns.attempts, was.attempts, is.attempts)}
                    {number(T.stepsTable, was.steps, is.steps)}
                    {number(T.failedSteps, was.failed, is.failed)}
                    <tr><th scope="row">{T.pathOnly}</th>{path(before)}{path(after)}<td /></tr>
                </tbody>
            </table>
        </div>
    );
}

const COLUMNS: Column[] = [
    { id: "change", title: T.change, class: "w-change" },
    { id: "name", title: T.columns.name, class: "w-step" },
    { id: "cost", title: T.costs, class: "w-time" },
    { id: "before", title: T.before1, class: "w-when" },
    { id: "after", title: T.after1, class: "w-when" },
    { id: "ranBefore", title: T.ranBefore, class: "w-time" },
    { id: "ranAfter", title: T.ranAfter, class: "w-time" },
    { id: "waitedBefore", title: T.waitedBefore, class: "w-time w-waited" },
    { id: "waitedAfter", title: T.waitedAfter, class: "w-time w-waited" },
    { id: "attempts", title: T.columns.attempts, class: "w-num" },
];

const spanText = (ms: number) => (ms < 0 ? "" : preciseDuration(ms));
const length = (step: RunStep | null) => (step ? `${step.whole ? T.about : ""}${spanText(step.ranMs)}` : "");
const key = (id: string, row: StepChange): string | number => {
    const values: Record<string, string | number> = {
        change: row.change, name: row.name, cost: -row.costMs, before: row.before?.state ?? "", after: row.after?.state ?? "", ranBefore: -(row.before?.ranMs ?? -1),
        ranAfter: -(row.after?.ranMs ?? -1), waitedBefore: -(row.before?.waitedMs ?? -1), waitedAfter: -(row.after?.waitedMs ?? -1), attempts: (row.before?.attempts ?? 0) - (row.after?.attempts ?? 0),
    };
    return values[id] ?? 0;
};

function StepsTable({ rows, selected }: { rows: StepChange[]; selected: string }) {
    const query = useSignal(route).query;
    const by = COLUMNS.find((column) => column.id === query.get("sort"))?.id ?? "";
    const down = query.get("down") === "1";
    const sorted = useMemo(() => {
        if (!by) return rows;
        const order = (a: StepChange, b: StepChange) => {
            const [x, y] = [key(by, a), key(by, b)];
            return typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), undefined, { numeric: true });
        };
        return [...rows].sort((a, b) => (down ? -order(a, b) : order(a, b)));
    }, [rows, by, down]);
    const onSort = (id: string) => setQuery(id === by ? (down ? { sort: "", down: "" } : { down: "1" }) : { sort: id, down: "" });
    return (
        <VirtualTable label={T.stepsTable} class="steps compared" columns={COLUMNS} count={sorted.length} rowHeight={ROW_HEIGHT} sort={{ by, down, onSort }} reveal={selected ? sorted.findIndex((row) => row.name === selected) : -1}
            row={(i) => {
                const { name, change, costMs, before, after } = sorted[i]!;
                const pick = () => setQuery({ step: name });
                return (
                    <tr key={name} aria-rowindex={i + 2} aria-selected={name === selected} onClick={pick}>
                        <td class="w-change"><Phase phase={change} /></td>
                        <td class="w-step"><button type="button" class="link" onClick={(event) => { event.stopPropagation(); pick(); }}><Name name={name} /></button></td>
                        <td class="w-time">{more(costMs)}</td>
                        <td class="w-when">{before && <Phase phase={before.state} />}</td>
                        <td class="w-when">{after && <Phase phase={after.state} />}</td>
                        <td class="w-time">{length(before)}</td>
                        <td class="w-time">{length(after)}</td>
                        <td class="w-time w-waited">{before && spanText(before.waitedMs)}</td>
                        <td class="w-time w-waited">{after && spanText(after.waitedMs)}</td>
                        <td class="w-num">{before?.attempts === after?.attempts ? after?.attempts || "" : `${before?.attempts ?? 0} → ${after?.attempts ?? 0}`}</td>
                    </tr>
                );
            }} />
    );
}

/* The newer run as the graph draws it, with what has changed in place of the states. */
function changedModel(model: FlowModel, changes: ReadonlyMap<string, StepChange>): FlowModel {
    const steps = model.steps.map((step) => Object.create(step, { state: { value: changes.get(step.name)?.change ?? "As before" } }) as typeof step);
    return Object.create(model, { steps: { value: steps } }) as FlowModel;
}

function ComparedGraph({ after, changes, version, selected, dim }: { after: Run; changes: ReadonlyMap<string, StepChange>; version: number; selected: string; dim(name: string): boolean }) {
    const model = useMemo(() => changedModel(after.model, changes), [after.model, changes]);
    const gone = [...changes.values()].filter(({ change }) => change === "Gone").length;
    return (
        <>
            {gone > 0 && <p class="note">{T.goneSteps(gone)}</p>}
            <GraphView model={model} version={version} selected={model.step(selected)?.at ?? -1} dim={(step) => dim(step.name)} />
        </>
    );
}

function Compared({ before, after }: { before: Run; after: Run }) {
    const { query } = useSignal(route);
    const view = VIEWS.find((other) => other === query.get("view")) ?? "steps";
    const wanted = (query.get("state") ?? "") as Change | "";
    const selected = query.get("step") ?? "";
    const version = before.version + after.version;
    const [was, is] = useMemo(() => [stepsOf(before.model), stepsOf(after.model)], [before.model, after.model, version]);
    const changes = useMemo(() => joinRuns(was, is), [was, is]);
    const byName = useMemo(() => new Map(changes.map((change) => [change.name, change])), [changes]);
    const shown = useMemo(() => (wanted ? changes.filter(({ change }) => change === wanted) : changes), [changes, wanted]);
    const chosen = byName.get(selected);
    const fits = (name: string) => !wanted || byName.get(name)?.change === wanted;
    return (
        <>
            <TotalsTable before={before} after={after} of={[totalsOf(was), totalsOf(is)]} />
            <div class="tools">
                <nav class="tabs" aria-label={T.view}>
                    {VIEWS.map((id) => <button type="button" aria-current={id === view} onClick={() => setQuery({ view: id === "steps" ? "" : id, sort: "", down: "" })}>{T.compareViews[id]}</button>)}
                </nav>
                <div class="chips">
                    {[...countsOf(changes)].map(([change, n]) => (
                        <button type="button" class="chip" aria-pressed={wanted === change} onClick={() => setQuery({ state: wanted === change ? "" : change })}>
                            <Sign phase={change} size={14} /> {change} <b>{count(n)}</b>
                        </button>
                    ))}
                </div>
            </div>
            <div class="split">
                <div class="view">
                    <Boundary key={view}>
                        {view === "steps" && <StepsTable rows={shown} selected={selected} />}
                        {view === "graph" && <ComparedGraph after={after} changes={byName} version={version} selected={selected} dim={(name) => !fits(name)} />}
                        {view === "time" && <ComparedTimeline before={before} after={after} rows={shown} selected={selected} />}
                        {view === "spec" && <ComparedSpecs before={before} after={after} />}
                    </Boundary>
                </div>
                {chosen && <Boundary key={selected}><ComparedStep before={before} after={after} row={chosen} /></Boundary>}
            </div>
        </>
    );
}

/* Follows both runs. The times of both must be known before anything is said of them. */
function Both({ a, b }: { a: [string, string]; b: [string, string] }) {
    const before: Run = { ns: a[0], name: a[1], ...useFlow(...a) };
    const after: Run = { ns: b[0], name: b[1], ...useFlow(...b) };
    const bad = [before, after].find(({ model }) => model.missing || model.gone || model.error);
    if (bad) return <p class="note bad"><Name name={`${bad.ns}/${bad.name}`} />: {bad.model.missing || bad.model.gone ? T.flowMissing : bad.model.error}</p>;
    if (!before.model.complete || !after.model.complete) return <p class="note faint">{T.loading}</p>;
    return <Compared before={before} after={after} />;
}

const runOf = (text: string): [string, string] | null => {
    const [ns, name, ...rest] = text.split("/");
    return ns && name && rest.length === 0 ? [ns, name] : null;
};

export function ComparePage() {
    const { query } = useSignal(route);
    const flows = useFlows();
    const [a, b] = [query.get("a") ?? "", query.get("b") ?? ""];
    const [from, to] = [runOf(a), runOf(b)];
    const [asked, setAsked] = useState(false);
    setTitle(from && to ? T.compareTitle(plain(from[1]), plain(to[1])) : T.compare);
    useEffect(() => {
        /* The run before the one that is named is the likely other one. */
        const row = flows.rows.get(b);
        if (asked || a || !row) return;
        setAsked(true);
        const earlier = offered(flows.rows.values(), row).find((other) => other.key !== b && other.ns === row.ns && other.series === row.series && other.created <= row.created);
        if (earlier) setQuery({ a: earlier.key }, true);
    }, [flows, a, b]);
    return (
        <main id="content" class="fill">
            <div class="tools">
                <h1>{T.compare}</h1>
                <Choice label={T.before1} member="a" chosen={a} rows={flows.rows} other={b} />
                <button type="button" class="small" disabled={!from && !to} onClick={() => setQuery({ a: b, b: a, step: "" })} aria-label={T.swap} title={T.swap}>⇄</button>
                <Choice label={T.after1} member="b" chosen={b} rows={flows.rows} other={a} />
            </div>
            {flows.error && <p class="note bad">{flows.error}</p>}
            {from && to ? <Both key={`${a} ${b}`} a={from} b={to} /> : <p class="note">{T.chooseRuns}</p>}
        </main>
    );
}
