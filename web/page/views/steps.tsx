/* The steps as a table: everything of the graph but the drawing. */
import { useMemo } from "preact/hooks";
import { now } from "../core/clock";
import { phaseRank } from "../core/phase";
import { route, setQuery } from "../core/route";
import { useSignal } from "../core/signal";
import { T } from "../core/text";
import type { FlowModel, Step } from "../model/flow";
import type { WhyCache } from "../model/why";
import { Message, Moment, Name, Phase, Took } from "./parts";
import { clockTime } from "../core/format";
import { VirtualTable, type Column } from "./virtual";

const ROW_HEIGHT = 30;

type Order = (a: Step, b: Step) => number;

const waited = (step: Step) => (step.createdMs && step.startedMs ? step.startedMs - step.createdMs : -1);
const ran = (step: Step) => (step.startedMs ? (step.endedMs || now()) - step.startedMs : -1);

const ORDERS: Record<string, Order> = {
    spec: (a, b) => a.at - b.at,
    state: (a, b) => phaseRank(a.state) - phaseRank(b.state) || a.at - b.at,
    name: (a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }),
    template: (a, b) => a.template.localeCompare(b.template) || a.at - b.at,
    attempts: (a, b) => b.attempts - a.attempts || a.at - b.at,
    started: (a, b) => (a.startedMs || Infinity) - (b.startedMs || Infinity) || a.at - b.at,
    waited: (a, b) => waited(b) - waited(a) || a.at - b.at,
    ran: (a, b) => ran(b) - ran(a) || a.at - b.at,
};

const COLUMNS: Column[] = [
    { id: "state", title: T.columns.state, class: "w-state" },
    { id: "name", title: T.columns.name, class: "w-step" },
    { id: "template", title: T.columns.template, class: "w-template" },
    { id: "attempts", title: T.columns.attempts, class: "w-num" },
    { id: "started", title: T.columns.started, class: "w-when" },
    { id: "waited", title: T.columns.waited, class: "w-time w-waited" },
    { id: "ran", title: T.columns.ran, class: "w-time" },
    { id: "why", title: T.columns.why, sortable: false, class: "w-rest" },
];

function StepRow({ step, at, selected, why }: { step: Step; at: number; selected: boolean; why: string }) {
    const running = step.startedMs > 0 && !step.endedMs;
    return (
        <tr aria-rowindex={at + 2} aria-selected={selected} onClick={() => setQuery({ step: step.name })}>
            <td class="w-state"><Phase phase={step.state} /></td>
            <td class="w-step"><button type="button" class="link" onClick={(event) => { event.stopPropagation(); setQuery({ step: step.name }); }}><Name name={step.name} /></button></td>
            <td class="w-template"><Name name={step.template} /></td>
            <td class="w-num">{step.attempts > 0 ? step.attempts : ""}</td>
            <td class="w-when">{step.startedMs > 0 && <Moment ms={step.startedMs}>{clockTime(step.startedMs, now())}</Moment>}</td>
            <td class="w-time w-waited">{step.createdMs > 0 && <Took from={step.createdMs} to={step.startedMs || step.endedMs} running={!step.startedMs} />}</td>
            <td class="w-time">{step.startedMs > 0 && <Took from={step.startedMs} to={step.endedMs} running={running} />}</td>
            <td class="w-rest"><Message text={why || step.message || step.reason} /></td>
        </tr>
    );
}

interface Props {
    model: FlowModel;
    version: number;
    /** The steps that the search matches. */
    shown: Step[];
    selected: number;
    why: WhyCache;
}

export function StepsView({ model, version, shown, selected, why }: Props) {
    const query = useSignal(route).query;
    useSignal(why.changed);
    const by = Object.hasOwn(ORDERS, query.get("sort") ?? "") ? query.get("sort")! : "spec";
    const down = query.get("down") === "1";
    const rows = useMemo(() => [...shown].sort((a, b) => (down ? -ORDERS[by]!(a, b) : ORDERS[by]!(a, b))), [shown, by, down, version]);
    const onSort = (id: string) => setQuery(id === by ? (down ? { sort: "", down: "" } : { down: "1" }) : { sort: id, down: "" });
    const name = selected >= 0 ? model.steps[selected]?.name : "";
    return (
        <VirtualTable label={T.stepsTable} class="steps" columns={COLUMNS} count={rows.length} rowHeight={ROW_HEIGHT} sort={{ by, down, onSort }}
            reveal={name ? rows.findIndex((step) => step.name === name) : -1}
            row={(i) => <StepRow key={rows[i]!.name} step={rows[i]!} at={i} selected={rows[i]!.name === name} why={why.of(rows[i]!.name)} />} />
    );
}
