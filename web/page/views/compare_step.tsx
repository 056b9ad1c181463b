/* One step in both runs: what it took, how it ended, and what its job has different. */
import type { ComponentChildren } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { useAnswer, type Answer } from "../core/answer";
import { apiPath, getJson } from "../core/api";
import { exitCode, preciseDuration } from "../core/format";
import { bindKeys } from "../core/keys";
import { flowHref, setQuery } from "../core/route";
import { useSignal } from "../core/signal";
import { T } from "../core/text";
import { AttemptsCache, type StepRecord } from "../model/attempts";
import type { StepChange } from "../model/compare";
import type { Run } from "./compare";
import { DifferenceList } from "./compare_specs";
import { Message, Name, Phase } from "./parts";

function useRecord({ ns, name, version }: Run, step: string): StepRecord | undefined {
    const cache = useMemo(() => new AttemptsCache(ns, name), [ns, name]);
    useSignal(cache.changed);
    useEffect(() => cache.want(version));
    return cache.get(step);
}

const codesOf = (record: StepRecord | undefined) => (record?.attempts ?? []).map((attempt) => attempt.exitCodes.flatMap(({ codes }) => codes).slice(0, 20).map(exitCode).join(", ") || "–").reverse().join("; ");

/* The step's newest job in a run, with its spec. */
function useJob(run: Run, record: StepRecord | undefined, step: string): Answer<{ spec?: unknown }> {
    const job = record?.jobs[record.jobs.length - 1] ?? run.model.step(step)?.job ?? "";
    return useAnswer(job && `${run.ns}/${job}`, (signal) => getJson<{ spec?: unknown }>(apiPath("batch.volcano.sh", "v1alpha1", run.ns, "jobs", job), signal));
}

export function ComparedStep({ before, after, row }: { before: Run; after: Run; row: StepChange }) {
    const records = [useRecord(before, row.name), useRecord(after, row.name)];
    const jobs = [useJob(before, records[0], row.name), useJob(after, records[1], row.name)];
    const specs = jobs.map((job) => job.value?.spec);
    const close = () => setQuery({ step: "" });
    useEffect(() => bindKeys([{ keys: "Escape", does: T.keyClose, run: close }]), []);
    const runs = [before, after];
    const steps = [row.before, row.after];
    const line = (title: string, cell: (at: number) => ComponentChildren) => <tr><th scope="row">{title}</th><td>{cell(0)}</td><td>{cell(1)}</td></tr>;
    const length = (ms: number | undefined) => (ms === undefined || ms < 0 ? "–" : preciseDuration(ms));
    const error = jobs.find((job) => job.error)?.error;
    return (
        <aside class="drawer compared" aria-label={T.stepDrawer}>
            <header>
                <Phase phase={row.change} />
                <h2><Name name={row.name} /></h2>
                <button type="button" class="quiet" onClick={close} aria-label={T.close} title={`${T.close} (Esc)`}>✕</button>
            </header>
            <div class="body">
                <table class="plain" aria-label={T.difference}>
                    <thead><tr><td />{runs.map(({ ns, name }, at) => <th scope="col">{steps[at] ? <a href={flowHref(ns, name, { step: row.name })}><Name name={name} /></a> : <Name name={name} />}</th>)}</tr></thead>
                    <tbody>
                        {line(T.columns.state, (at) => (steps[at] ? <Phase phase={steps[at]!.state} /> : T.notThere))}
                        {line(T.columns.waited, (at) => length(steps[at]?.waitedMs))}
                        {line(T.columns.ran, (at) => <>{length(steps[at]?.ranMs)}{steps[at]?.whole && <span class="faint"> {T.withWaiting}</span>}</>)}
                        {line(T.columns.attempts, (at) => steps[at]?.attempts ?? "–")}
                        {line(T.exitCodesAll, (at) => codesOf(records[at]) || "–")}
                        {line(T.columns.reason, (at) => <Message text={runs[at]!.model.step(row.name)?.message || runs[at]!.model.step(row.name)?.reason || "–"} />)}
                    </tbody>
                </table>
                <h3>{T.jobDifferences}</h3>
                {error ? <p class="note"><Message text={error.message} /></p> : specs[0] && specs[1] ? <DifferenceList from={specs[0]} to={specs[1]} /> : <p class="note faint">{T.noJobOfStep}</p>}
            </div>
        </aside>
    );
}
