/* What went wrong in a flow, the first failure first, with the end of its log. */
import { useEffect } from "preact/hooks";
import { useAnswer } from "../core/answer";
import { parseLine, type Style } from "../core/ansi";
import { request } from "../core/api";
import { setQuery } from "../core/route";
import { useSignal } from "../core/signal";
import { T } from "../core/text";
import type { AttemptsCache } from "../model/attempts";
import type { FlowModel, Step } from "../model/flow";
import { fetchPods } from "../model/pods";
import type { WhyCache } from "../model/why";
import { Message, Name, Sign } from "./parts";

const SHOWN = 3; /* failures that are listed; keys lead to the others */
const LINES = 5;

/* The last lines of the log of the step's first failed container. */
async function tailOf(ns: string, jobs: string[], signal: AbortSignal): Promise<string[]> {
    const source = (await fetchPods(ns, jobs, signal)).logs[0];
    if (!source || source.live) return [];
    const answer = await request(`${source.path}&tailLines=${LINES}`, { signal });
    let style: Style = {};
    return (await answer.text()).split("\n").filter(Boolean).slice(-LINES).map((line) => {
        const parsed = parseLine(line.slice(0, 400), style);
        style = parsed.style;
        return parsed.spans.map((span) => span.text).join("");
    });
}

function LogEnd({ ns, step, jobs }: { ns: string; step: Step; jobs: string[] }) {
    const of = jobs.length > 0 ? `${ns}/${step.name}` : "";
    const { value, error } = useAnswer(of, (signal) => tailOf(ns, jobs, signal), `${step.attempts} ${step.state} ${jobs.join()}`);
    const lines = error ? [] : value ?? [];
    if (lines.length === 0) return null;
    return <pre class="tail" aria-label={T.logOf}>{lines.join("\n")}</pre>;
}

interface Props {
    ns: string;
    model: FlowModel;
    version: number;
    why: WhyCache;
    attempts: AttemptsCache;
}

export function Failures({ ns, model, version, why, attempts }: Props) {
    useSignal(why.changed);
    useSignal(attempts.changed);
    const failures = model.failures();
    const first = failures[0];
    useEffect(() => {
        if (first) attempts.want(version);
    });
    if (!first) return null;
    const jobs = attempts.get(first.name)?.jobs ?? (first.job ? [first.job] : []);
    return (
        <section class="failures" aria-label={T.failures}>
            {failures.slice(0, SHOWN).map((step) => (
                <p>
                    <Sign phase={step.state} size={14} />
                    <button type="button" class="link" onClick={() => setQuery({ step: step.name, tab: "logs" })}><Name name={step.name} /></button>
                    <Message text={step.message || why.of(step.name) || step.reason || step.state} />
                </p>
            ))}
            {failures.length > SHOWN && <p class="faint">{T.moreFailures(failures.length - SHOWN)}</p>}
            <LogEnd ns={ns} step={first} jobs={jobs} />
        </section>
    );
}
