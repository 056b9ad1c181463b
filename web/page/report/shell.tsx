/* The frame of a report: which flows are in it, when it was made, and what it leaves out. */
import { useEffect } from "preact/hooks";
import { clockTime } from "../core/format";
import { startKeys } from "../core/keys";
import { compareHref, flowHref, FLOWS_HREF, route } from "../core/route";
import { useSignal } from "../core/signal";
import { T } from "../core/text";
import { setTheme, theme, type Theme } from "../core/theme";
import { ComparePage } from "../views/compare";
import { FlowPage } from "../views/flow";
import { FlowsPage } from "../views/flows";
import { KeysDialog, showKeys } from "../views/keys_dialog";
import { Boundary, Message, Moment, Name } from "../views/parts";
import type { ReportData, ReportFlow } from "./data";

function TopBar({ data }: { data: ReportData }) {
    const at = useSignal(route);
    const chosen = useSignal(theme);
    const [first, second] = data.flows;
    const both = first && second ? [first, second] as const : null;
    return (
        <header class="top">
            <a class="brand" href={FLOWS_HREF}>{T.report}</a>
            <nav aria-label={T.flows}>
                {data.flows.slice(0, 20).map(({ ns, name }) => <a href={flowHref(ns, name)} aria-current={at.ns === ns && at.name === name ? "page" : undefined}><Name name={name} /></a>)}
                {both && <a href={compareHref(`${both[0].ns}/${both[0].name}`, `${both[1].ns}/${both[1].name}`)} aria-current={at.page === "compare" ? "page" : undefined}>{T.compare}</a>}
            </nav>
            <span class="space" />
            <label class="theme">
                <span class="hidden">{T.theme}</span>
                <select value={chosen} onChange={(event) => setTheme(event.currentTarget.value as Theme)}>
                    {Object.entries(T.themes).map(([value, text]) => <option value={value}>{text}</option>)}
                </select>
            </label>
            <button type="button" class="quiet" onClick={() => (showKeys.value = true)} aria-label={T.keys} title={T.keys}>?</button>
        </header>
    );
}

/* When the report was made, of what, and what is not in it. */
function Notice({ data, flow }: { data: ReportData; flow: ReportFlow | undefined }) {
    const revision = flow?.flow.metadata?.resourceVersion;
    return (
        <section class="bar made" aria-label={T.reportAbout}>
            <span>
                {T.reportOf(data.version)}, <Moment ms={data.madeMs}>{clockTime(data.madeMs, 0)}</Moment>{revision ? `, ${T.reportRevision(revision)}` : ""}. {T.reportStill}
            </span>
            {flow && flow.leftOut.length > 0 && (
                <details>
                    <summary>{T.reportLeftOut}</summary>
                    <ul>{flow.leftOut.map((text) => <li><Message text={text} /></li>)}</ul>
                </details>
            )}
        </section>
    );
}

function Content({ flow }: { flow: ReportFlow | undefined }) {
    const at = useSignal(route);
    if (flow) return <FlowPage key={`${flow.ns}/${flow.name}`} ns={flow.ns} name={flow.name} />;
    return at.page === "compare" ? <ComparePage /> : <FlowsPage />;
}

export function ReportShell({ data }: { data: ReportData }) {
    const at = useSignal(route);
    useEffect(startKeys, []);
    const flow = at.page === "flow" ? data.flows.find((other) => other.ns === at.ns && other.name === at.name) : undefined;
    return (
        <>
            <a class="skip" href="#content">{T.skip}</a>
            <TopBar data={data} />
            <Notice data={data} flow={flow} />
            <Boundary><Content flow={flow} /></Boundary>
            <KeysDialog />
        </>
    );
}
