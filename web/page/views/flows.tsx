/* The list of flows. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { now } from "../core/clock";
import { parseFilter } from "../core/filter";
import { count } from "../core/format";
import { bindKeys } from "../core/keys";
import { isFlowOver } from "../core/phase";
import { flowHref, go, here, hrefOf, route, setQuery } from "../core/route";
import { useSignal } from "../core/signal";
import { subscribe } from "../core/stream";
import { T } from "../core/text";
import { FLOW_FIELDS, flowTable, NO_ROWS, searchableFlow, sortFlows, type FlowRow, type FlowSort } from "../model/rows";
import { seriesOf, type Series } from "../model/series";
import type { TopicState } from "../model/topic_table";
import { Ago, Command, Message, Name, Phase, Sign, Took } from "./parts";
import { ProgressBar } from "./progress";
import { Sparkline } from "./sparkline";
import { setTitle } from "./title";
import { VirtualTable, type Column } from "./virtual";

const ROW_HEIGHT = 34;

/** The rows of all flows. */
export function useFlows(): TopicState<FlowRow> {
    const [state, setState] = useState(NO_ROWS);
    useEffect(() => {
        const table = flowTable();
        return subscribe("flows", (line) => setState(table.take(line)));
    }, []);
    return state;
}

/** The rows in order. While the pointer or the focus is in the list, rows keep their places and new ones are only counted. */
function useOrder(state: TopicState<FlowRow>, by: FlowSort, down: boolean, held: boolean): { rows: FlowRow[]; fresh: number; show(): void } {
    const kept = useRef<{ by: FlowSort; down: boolean; keys: string[] }>({ by, down, keys: [] });
    const [, redraw] = useState({});
    const old = kept.current;
    const again = !held || old.by !== by || old.down !== down || old.keys.length === 0;
    if (again) kept.current = { by, down, keys: sortFlows([...state.rows.values()], by, down, now()).map((row) => row.key) };
    const rows = kept.current.keys.map((key) => state.rows.get(key)).filter((row): row is FlowRow => row !== undefined);
    const show = () => {
        kept.current.keys = [];
        redraw({});
    };
    return { rows, fresh: state.rows.size - rows.length, show };
}

function PhaseCounts({ rows, chosen }: { rows: FlowRow[]; chosen: string }) {
    const counts = new Map<string, number>();
    for (const row of rows) counts.set(row.phase, (counts.get(row.phase) ?? 0) + 1);
    return (
        <div class="chips">
            {[...counts].sort().map(([phase, n]) => (
                <button type="button" class="chip" aria-pressed={chosen === phase} onClick={() => setQuery({ state: chosen === phase ? "" : phase })}>
                    <Sign phase={phase} size={14} /> {phase} <b>{count(n)}</b>
                </button>
            ))}
        </div>
    );
}

function FlowProgress({ row }: { row: FlowRow }) {
    const label = T.progress(row.done, row.steps, row.failed);
    const rest = Math.max(0, row.steps - row.done - row.failed - row.running);
    return (
        <span class="with-bar">
            <ProgressBar counts={{ done: row.done, failed: row.failed, running: row.running, [isFlowOver(row.phase) ? "skipped" : "waiting"]: rest }} label={label} />
            <span class="bar-text" aria-hidden="true">{label}</span>
        </span>
    );
}

const COLUMNS: Column[] = [
    { id: "state", title: T.columns.state, class: "w-state" },
    { id: "name", title: T.columns.name, class: "w-name" },
    { id: "namespace", title: T.columns.namespace, class: "w-ns" },
    { id: "progress", title: T.columns.progress, class: "w-progress" },
    { id: "runs", title: T.runs, sortable: false, class: "w-runs" },
    { id: "started", title: T.columns.started, class: "w-time" },
    { id: "took", title: T.columns.took, class: "w-time" },
    { id: "reason", title: T.columns.reason, class: "w-rest" },
];

function FlowsRow({ row, at, series }: { row: FlowRow; at: number; series: Series | undefined }) {
    const href = flowHref(row.ns, row.name);
    const over = isFlowOver(row.phase);
    return (
        <tr aria-rowindex={at + 2} onClick={(event) => { if (!(event.target as Element).closest("a")) go(href); }}>
            <td class="w-state"><Phase phase={row.phase} /></td>
            <td class="w-name"><a href={href}><Name name={row.name} /></a></td>
            <td class="w-ns"><Name name={row.ns} /></td>
            <td class="w-progress"><FlowProgress row={row} /></td>
            <td class="w-runs">{series && <Sparkline series={series} />}</td>
            <td class="w-time"><Ago ms={row.started} /></td>
            <td class="w-time"><Took from={row.started} to={row.ended} running={!over} /></td>
            <td class="w-rest"><Message text={row.reason} /></td>
        </tr>
    );
}

export function FlowsPage() {
    const at = useSignal(route);
    const state = useFlows();
    const search = useRef<HTMLInputElement>(null);
    const [held, setHeld] = useState(false);
    const query = at.query.get("q") ?? "";
    const phase = at.query.get("state") ?? "";
    const [by, down] = [(at.query.get("sort") || "state") as FlowSort, at.query.get("down") === "1"];
    const sort = COLUMNS.some((column) => column.id === by) ? by : "state";
    const { rows, fresh, show } = useOrder(state, sort, down, held);
    const filter = useMemo(() => parseFilter(query, FLOW_FIELDS), [query]);
    const series = useMemo(() => seriesOf(state.rows.values(), now()), [state]);
    const shown = rows.filter((row) => (!phase || row.phase === phase) && filter.matches(searchableFlow(row, now())));
    setTitle(T.flows);
    useEffect(() => bindKeys([{ keys: "/", does: T.keySearch, run: () => search.current?.focus() }]), []);
    const onSort = (id: string) => setQuery({ sort: id === "state" ? "" : id, down: id === sort && !down ? "1" : "" });
    return (
        <main id="content" class="fill">
            <div class="tools">
                <h1>{T.flows}</h1>
                <input ref={search} type="search" class="search" aria-label={T.filter} placeholder={T.filterFlows} value={query} aria-invalid={filter.error !== ""}
                    onInput={(event) => setQuery({ q: event.currentTarget.value }, true)} />
                <PhaseCounts rows={rows} chosen={phase} />
                {fresh > 0 && <button type="button" class="chip" onClick={show}>{T.newRows(fresh)}: {T.showNew}</button>}
            </div>
            {filter.error && <p class="note bad">{filter.error}</p>}
            {state.waiting && <p class="note bad"><Message text={T.waitingServer(state.waiting)} /></p>}
            {state.error && <p class="note bad"><Message text={state.error} /></p>}
            {!state.ready && !state.error && <p class="note faint">{T.loading}</p>}
            {state.ready && state.rows.size === 0 && <div class="note"><p>{T.noFlows} {T.noFlowsHow}</p><Command text={T.noFlowsCommand} /></div>}
            {state.ready && state.rows.size > 0 && shown.length === 0 && <p class="note">{T.noMatch} <a href={hrefOf(here())}>{T.dropFilter}</a></p>}
            {shown.length > 0 && (
                <div class="hold" onPointerEnter={() => setHeld(true)} onPointerLeave={() => setHeld(false)} onFocusIn={() => setHeld(true)} onFocusOut={() => setHeld(false)}>
                    <VirtualTable label={T.flows} class="flows" columns={COLUMNS} count={shown.length} rowHeight={ROW_HEIGHT} sort={{ by: sort, down, onSort }}
                        row={(i) => <FlowsRow key={shown[i]!.key} row={shown[i]!} at={i} series={series.get(shown[i]!.key)} />} />
                </div>
            )}
        </main>
    );
}
