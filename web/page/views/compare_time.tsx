/* Both runs along the time, each from its own start. */
import { useMemo } from "preact/hooks";
import { now } from "../core/clock";
import { duration, preciseDuration } from "../core/format";
import { setQuery } from "../core/route";
import { T } from "../core/text";
import { barsOf, ticksOf, type Bar } from "../model/bars";
import type { StepChange } from "../model/compare";
import type { Run } from "./compare";
import { Name, Sign } from "./parts";
import { Bars } from "./timeline";
import { VirtualTable, type Column } from "./virtual";

const ROW_HEIGHT = 44;

const COLUMNS: Column[] = [
    { id: "name", title: T.columns.name, class: "w-step" },
    { id: "time", title: T.timeline, class: "w-lane" },
];

const beginOf = ({ model }: Run, at: number) => model.head.startedMs || model.steps.reduce((first, step) => Math.min(first, step.createdMs || step.startedMs || Infinity), at);

function barsIn(run: Run, name: string, at: number): Bar[] {
    const step = run.model.step(name);
    return step ? barsOf(run.model, step, [], at) : [];
}

const lastOf = (bars: readonly Bar[], from: number) => bars.reduce((last, bar) => Math.max(last, bar.to - from), 0);
const spoken = (title: string, bars: readonly Bar[]) => (bars.length ? `${title}: ${bars.filter((bar) => bar.kind === "run").map((bar) => preciseDuration(bar.to - bar.from)).join(", ") || "–"}` : `${title}: –`);

export function ComparedTimeline({ before, after, rows, selected }: { before: Run; after: Run; rows: StepChange[]; selected: string }) {
    const at = now();
    const [fromA, fromB] = [beginOf(before, at), beginOf(after, at)];
    const all = useMemo(() => {
        const made = rows.map((row) => ({ row, a: barsIn(before, row.name, at), b: barsIn(after, row.name, at) }));
        const first = ({ a, b }: { a: Bar[]; b: Bar[] }) => (b[0] ? b[0].from - fromB : a[0] ? a[0].from - fromA : Infinity);
        return made.sort((x, y) => first(x) - first(y));
    }, [rows, fromA, fromB]);
    const span = 1.01 * all.reduce((most, { a, b }) => Math.max(most, lastOf(a, fromA), lastOf(b, fromB)), 1000);
    return (
        <div class="timeline">
            <div class="axis" aria-hidden="true">
                <span class="axis-from">{T.sinceStart}</span>
                <span class="lane">{ticksOf(span, 8).map((tick) => <span class="tick" style={{ left: `${(100 * tick) / span}%` }}>{tick < 1000 && tick > 0 ? `${tick}ms` : duration(tick)}</span>)}</span>
            </div>
            <VirtualTable label={T.timeline} class="time pair" columns={COLUMNS} count={all.length} rowHeight={ROW_HEIGHT} reveal={selected ? all.findIndex(({ row }) => row.name === selected) : -1}
                row={(i) => {
                    const { row, a, b } = all[i]!;
                    const pick = () => setQuery({ step: row.name });
                    return (
                        <tr key={row.name} aria-rowindex={i + 2} aria-selected={row.name === selected} onClick={pick}>
                            <td class="w-step">
                                <Sign phase={row.change} size={14} />
                                <button type="button" class="link" onClick={(event) => { event.stopPropagation(); pick(); }}><Name name={row.name} /></button>
                                <span class="hidden">{[row.change, spoken(T.before1, a), spoken(T.after1, b)].join("; ")}</span>
                            </td>
                            <td class="w-lane"><Bars bars={a} from={fromA} span={span} /><Bars bars={b} from={fromB} span={span} /></td>
                        </tr>
                    );
                }} />
            <p class="legend">{T.pairLegend}</p>
        </div>
    );
}
