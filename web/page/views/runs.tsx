/* The runs of a flow's series: their ends and durations, newest first, each with its comparison with this one. */
import { duration } from "../core/format";
import { now } from "../core/clock";
import { isFlowOver } from "../core/phase";
import { compareHref, flowHref } from "../core/route";
import { T } from "../core/text";
import type { FlowRow } from "../model/rows";
import { useFlows } from "./flows";
import { Ago, Name, Phase } from "./parts";

const SHOWN = 20;

/** The runs of the series of a flow, the newest first. */
export function runsOf(rows: ReadonlyMap<string, FlowRow>, key: string): FlowRow[] {
    const own = rows.get(key);
    if (!own) return [];
    return [...rows.values()].filter((row) => row.ns === own.ns && row.series === own.series).sort((a, b) => b.created - a.created || a.key.localeCompare(b.key));
}

export function Runs({ ns, name }: { ns: string; name: string }) {
    const key = `${ns}/${name}`;
    const runs = runsOf(useFlows().rows, key);
    if (runs.length < 2) return <span class="faint">{T.onlyRun}</span>;
    const took = (row: FlowRow) => (row.started ? duration((row.ended || now()) - row.started) : "–");
    return (
        <table class="plain runs">
            <tbody>
                {runs.slice(0, SHOWN).map((row) => (
                    <tr key={row.key} aria-current={row.key === key ? "true" : undefined}>
                        <th scope="row">{row.key === key ? <b><Name name={row.name} /></b> : <a href={flowHref(row.ns, row.name)}><Name name={row.name} /></a>}</th>
                        <td><Phase phase={row.phase} /></td>
                        <td>{row.done}/{row.steps}</td>
                        <td><Ago ms={row.started} /></td>
                        <td>{isFlowOver(row.phase) ? took(row) : ""}</td>
                        <td>{row.key !== key && <a href={row.created <= (runs.find((run) => run.key === key)?.created ?? 0) ? compareHref(row.key, key) : compareHref(key, row.key)}>{T.compare}</a>}</td>
                    </tr>
                ))}
                {runs.length > SHOWN && <tr><td colSpan={6} class="faint">{T.more(runs.length - SHOWN)}</td></tr>}
            </tbody>
        </table>
    );
}
