/* The steps along the time: held by the flow, waiting for room, running, with the attempts before. */
import { useEffect, useMemo } from "preact/hooks";
import { now, tick } from "../core/clock";
import { clockTime, duration, preciseDuration } from "../core/format";
import { phaseOf, phaseRank } from "../core/phase";
import { setQuery } from "../core/route";
import { useSignal } from "../core/signal";
import { T } from "../core/text";
import type { AttemptsCache } from "../model/attempts";
import { barsOf, ticksOf, type Bar } from "../model/bars";
import type { FlowModel, Step } from "../model/flow";
import { Name, Sign, useTick } from "./parts";
import { VirtualTable, type Column } from "./virtual";

const ROW_HEIGHT = 26;

const NAMES: Record<Bar["kind"], string> = { held: T.held, pending: T.pending, run: T.running, expected: T.expected };

const COLUMNS: Column[] = [
    { id: "name", title: T.columns.name, class: "w-step" },
    { id: "time", title: T.timeline, class: "w-lane" },
];

function tooltip(bar: Bar): string {
    const attempt = bar.attempt > 1 ? `, ${T.attempt(bar.attempt)}` : "";
    return `${NAMES[bar.kind]} ${preciseDuration(bar.to - bar.from)}: ${clockTime(bar.from, now())} – ${clockTime(bar.to, now())}${attempt}`;
}

/** The bars of a row. */
export function Bars({ bars, from, span }: { bars: Bar[]; from: number; span: number }) {
    return (
        <span class="lane">
            {bars.map((bar) => (
                <span class={`bar-${bar.kind} ${bar.kind === "run" ? `b-${bar.cls}` : ""}`} title={tooltip(bar)}
                    style={{ left: `${(100 * (bar.from - from)) / span}%`, width: `${(100 * (bar.to - bar.from)) / span}%` }} />
            ))}
        </span>
    );
}

interface Props {
    model: FlowModel;
    version: number;
    shown: Step[];
    selected: number;
    attempts: AttemptsCache;
}

export function TimelineView({ model, version, shown, selected, attempts }: Props) {
    const running = model.head.startedMs > 0 && (!model.isOver() || model.steps.some((step) => phaseOf(step.state).cls === "running"));
    useTick(running);
    useSignal(tick);
    useSignal(attempts.changed);
    useEffect(() => attempts.want(version));
    const at = now();
    const rows = useMemo(() => [...shown].sort((a, b) => firstTime(model, a) - firstTime(model, b) || phaseRank(a.state) - phaseRank(b.state) || a.at - b.at), [shown, version]);
    const from = model.head.startedMs || model.steps.reduce((first, step) => Math.min(first, step.createdMs || step.startedMs || Infinity), at);
    const bars = new Map(rows.map((step) => [step.name, barsOf(model, step, attempts.get(step.name)?.attempts ?? [], at)]));
    let to = Math.max(model.head.endedMs, from + 1000, running ? at : 0);
    for (const list of bars.values()) for (const bar of list) to = Math.max(to, bar.to);
    const span = (to - from) * 1.01;
    const name = selected >= 0 ? model.steps[selected]?.name : "";
    const unknown = rows.filter((step) => step.attempts > 0 && !step.startedMs && !step.createdMs).length;
    return (
        <div class="timeline">
            {unknown > 0 && <p class="note">{T.timesUnknown(unknown)}</p>}
            {from > 0 && (
                <div class="axis" aria-hidden="true">
                    <span class="axis-from">{clockTime(from, at)}</span>
                    <span class="lane">{ticksOf(span, 8).map((tickAt) => <span class="tick" style={{ left: `${(100 * tickAt) / span}%` }}>{tickAt < 1000 && tickAt > 0 ? `${tickAt}ms` : duration(tickAt)}</span>)}</span>
                </div>
            )}
            <VirtualTable label={T.timeline} class="time" columns={COLUMNS} count={rows.length} rowHeight={ROW_HEIGHT} reveal={name ? rows.findIndex((step) => step.name === name) : -1}
                row={(i) => {
                    const step = rows[i]!;
                    const own = bars.get(step.name)!;
                    return (
                        <tr key={step.name} aria-rowindex={i + 2} aria-selected={step.name === name} onClick={() => setQuery({ step: step.name })}>
                            <td class="w-step">
                                <Sign phase={step.state} size={14} />
                                <button type="button" class="link" onClick={(event) => { event.stopPropagation(); setQuery({ step: step.name }); }}><Name name={step.name} /></button>
                                <span class="hidden">{[step.state, ...own.map(tooltip)].join("; ")}</span>
                            </td>
                            <td class="w-lane"><Bars bars={own} from={from} span={span} /></td>
                        </tr>
                    );
                }} />
            <p class="legend">
                <span class="key bar-held" />{T.held} <span class="key bar-pending" />{T.pending} <span class="key b-running" />{T.running} <span class="key bar-expected" />{T.expected}
            </p>
        </div>
    );
}

function firstTime(model: FlowModel, step: Step): number {
    return step.createdMs || step.startedMs || model.readyMs(step) || Infinity;
}
