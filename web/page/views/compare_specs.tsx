/* The differences of two specs as a list of paths with the values before and after. */
import { useMemo } from "preact/hooks";
import { useAnswer } from "../core/answer";
import { flowPath, getJson } from "../core/api";
import { T } from "../core/text";
import { differencesOf } from "../model/differences";
import type { Run } from "./compare";
import { Message, Name } from "./parts";

const TEXT_MAX = 2000; /* characters of a value that are shown */

function Value({ text }: { text: string | null }) {
    if (text === null) return <span class="faint">{T.notThere}</span>;
    return <><Message text={text.slice(0, TEXT_MAX)} />{text.length > TEXT_MAX && <span class="faint">{T.lineCut(text.length - TEXT_MAX)}</span>}</>;
}

export function DifferenceList({ from, to }: { from: unknown; to: unknown }) {
    const { list, more } = useMemo(() => differencesOf(from, to), [from, to]);
    if (list.length === 0) return <p class="note">{T.noDifferences}</p>;
    return (
        <>
            <table class="plain wide differences">
                <thead><tr><th scope="col">{T.path}</th><th scope="col">{T.before1}</th><th scope="col">{T.after1}</th></tr></thead>
                <tbody>
                    {list.map((one) => <tr><th scope="row"><Name name={one.path} /></th><td><Value text={one.from} /></td><td><Value text={one.to} /></td></tr>)}
                </tbody>
            </table>
            {more > 0 && <p class="note faint">{T.more(more)}</p>}
        </>
    );
}

interface FlowDocument {
    spec?: Record<string, unknown>;
}

/** The differences of the specs of two runs, parameters among them. What the steps' jobs have different stands with each step. */
export function ComparedSpecs({ before, after }: { before: Run; after: Run }) {
    const spec = async ({ ns, name }: Run, signal: AbortSignal) => (await getJson<FlowDocument>(flowPath(ns, name), signal)).spec;
    const { value: both, error } = useAnswer(`${before.ns}/${before.name} ${after.ns}/${after.name}`,
        (signal) => Promise.all([spec(before, signal), spec(after, signal)]), `${before.model.generation} ${after.model.generation}`);
    if (error) return <p class="note bad">{error.message}</p>;
    if (!both) return <p class="note faint">{T.loading}</p>;
    if (REPORT && (!both[0] || !both[1])) return <p class="note">{T.noSpecInReport}</p>;
    return <div class="differ" role="region" aria-label={T.compareViews.spec} tabIndex={0}><DifferenceList from={both[0]} to={both[1]} /></div>;
}
