/* The drawer of a step: why it is as it is, its logs, attempts, pods, spec and events. */
import { useEffect, useRef, useState } from "preact/hooks";
import { useAnswer, type Answer } from "../core/answer";
import { now } from "../core/clock";
import { clockTime, count, duration, exitCode } from "../core/format";
import { keep, kept } from "../core/kept";
import { bindKeys } from "../core/keys";
import { phaseOf } from "../core/phase";
import { route, setQuery } from "../core/route";
import { useSignal } from "../core/signal";
import { T } from "../core/text";
import type { Attempt, AttemptsCache, StepRecord } from "../model/attempts";
import type { FlowModel, Step } from "../model/flow";
import { fetchPods, type StepPods } from "../model/pods";
import type { WhyCache } from "../model/why";
import { EventsTab } from "./drawer_events";
import { SpecTab } from "./drawer_spec";
import { StepActions } from "./flow_actions";
import { Boundary, Field, Message, Moment, Name, Phase, Sign, Took } from "./parts";
import { LogOfPods, PodCard } from "./pod_parts";

type Tab = keyof typeof T.tabs;

function When({ ms }: { ms: number }) {
    return ms > 0 ? <Moment ms={ms}>{clockTime(ms, now())}</Moment> : <span class="faint">–</span>;
}

function StepLinks({ model, steps }: { model: FlowModel; steps: number[] }) {
    const shown = steps.slice(0, 30);
    return (
        <ul class="links">
            {shown.map((at) => {
                const step = model.steps[at]!;
                return <li><button type="button" class="link" onClick={() => setQuery({ step: step.name })}><Sign phase={step.state} size={14} /> <Name name={step.name} /> <span class="faint">{step.state}</span></button></li>;
            })}
            {steps.length > shown.length && <li class="faint">{T.more(steps.length - shown.length)}</li>}
        </ul>
    );
}

function Overview({ model, step, why, record }: { model: FlowModel; step: Step; why: string; record: StepRecord | undefined }) {
    const running = step.startedMs > 0 && !step.endedMs;
    return (
        <dl class="fields">
            {(why || step.message || step.reason) && <Field name={T.columns.why}><Message text={why || step.message || step.reason} /></Field>}
            {why && step.message && step.message !== why && <Field name={T.message}><Message text={step.message} /></Field>}
            {step.startedMs > 0 && <Field name={T.columns.started}><When ms={step.startedMs} /></Field>}
            {step.endedMs > 0 && <Field name={T.ended}><When ms={step.endedMs} /></Field>}
            {step.createdMs > 0 && <Field name={T.columns.waited}><Took from={step.createdMs} to={step.startedMs || step.endedMs} running={!step.startedMs} /></Field>}
            {step.startedMs > 0 && <Field name={T.columns.ran}><Took from={step.startedMs} to={step.endedMs} running={running} />{step.estimateMs > 0 && <span class="faint"> {T.usually(duration(step.estimateMs))}</span>}</Field>}
            {step.progress && <Field name={T.columns.progress}>{step.progress}</Field>}
            {step.attempts > 0 && <Field name={T.columns.attempts}>{count(step.attempts)}{step.restarts > 0 && T.restarts(step.restarts)}</Field>}
            {step.template && <Field name={T.columns.template}><Name name={step.template} /></Field>}
            {step.marks && <Field name={T.marks}><Name name={step.marks} /></Field>}
            {record && record.taken && <Field name={T.chosen}><Name name={record.taken} /></Field>}
            {record?.cachedFrom && <Field name={T.reusedFrom}><Name name={record.cachedFrom.flow} /> / <Name name={record.cachedFrom.job} /> <When ms={record.cachedFrom.timeMs} /></Field>}
            {record?.reuse && <Field name={T.reuse}><Message text={record.reuse} /></Field>}
            {record && record.jobs.length > 0 && <Field name={T.job}>{record.jobs.map((job) => <span class="block"><Name name={job} /></span>)}</Field>}
            {step.after.length > 0 && <Field name={step.strategy === "any" ? T.afterAny : T.after}><StepLinks model={model} steps={step.after} /></Field>}
            {step.before.length > 0 && <Field name={T.before}><StepLinks model={model} steps={step.before} /></Field>}
            {record && record.outputs.length > 0 && <Field name={T.outputs}><table class="plain"><tbody>{record.outputs.map(([key, value]) => <tr><th scope="row"><Name name={key} /></th><td><Message text={value} /></td></tr>)}</tbody></table></Field>}
        </dl>
    );
}

function AttemptCard({ attempt }: { attempt: Attempt }) {
    return (
        <section class="card">
            <h3>{T.attempt(attempt.attempt)} <Phase phase={attempt.phase} /></h3>
            <dl class="fields">
                <Field name={T.columns.started}><When ms={attempt.startMs} /></Field>
                {attempt.runningMs > 0 && <Field name={T.columns.waited}>{duration(attempt.runningMs - attempt.startMs)}</Field>}
                <Field name={T.columns.took}><Took from={attempt.runningMs || attempt.startMs} to={attempt.endMs} running={!attempt.endMs} /></Field>
                {attempt.reason && <Field name={T.columns.reason}><Message text={attempt.reason} /></Field>}
                {attempt.message && <Field name={T.message}><Message text={attempt.message} /></Field>}
                {attempt.exitCodes.map(({ task, codes }) => <Field name={T.exitCodes(task)}>{codes.slice(0, 50).map(exitCode).join(", ")}</Field>)}
                {attempt.restarts > 0 && <Field name={T.restartsTitle}>{count(attempt.restarts)}</Field>}
            </dl>
        </section>
    );
}

/* The pods and logs of the step's jobs, asked for again when the step changes. */
function usePods(ns: string, step: Step, jobs: string[], on: boolean): Answer<StepPods> {
    return useAnswer(on && jobs.length > 0 ? `${ns}/${step.name}` : "", (signal) => fetchPods(ns, jobs, signal), `${step.version} ${jobs.join()}`);
}

function Logs({ pods, error, step, why }: { pods: StepPods | null; error: string; step: Step; why: string }) {
    const reason = phaseOf(step.state).cls === "skipped" ? T.noLogSkipped : step.marks.includes("switch") ? T.noLogSwitch : step.attempts === 0 ? T.noLogYet : pods ? T.noLogKept : T.loading;
    return <LogOfPods pods={pods} reason={error || reason} why={why} />;
}

/* The border that is dragged, or moved with the arrow keys, to make the drawer wider. */
function Splitter({ width, onWidth }: { width: number; onWidth(width: number): void }) {
    const drag = useRef(0);
    const clamp = (next: number) => onWidth(Math.round(Math.min(window.innerWidth * 0.85, Math.max(320, next))));
    return (
        <div class="splitter" role="separator" aria-orientation="vertical" aria-label={T.drawerWidth} aria-valuenow={width} aria-valuemin={320} aria-valuemax={2000} tabIndex={0}
            onPointerDown={(event) => { drag.current = width + event.clientX; event.currentTarget.setPointerCapture(event.pointerId); }}
            onPointerMove={(event) => event.buttons === 1 && clamp(drag.current - event.clientX)}
            onKeyDown={(event) => {
                const by = { ArrowLeft: 32, ArrowRight: -32 }[event.key];
                if (!by) return;
                event.preventDefault();
                clamp(width + by);
            }} />
    );
}

interface Props {
    ns: string;
    flow: string;
    model: FlowModel;
    version: number;
    step: Step;
    why: WhyCache;
    attempts: AttemptsCache;
}

export function Drawer({ ns, flow, model, version, step, why, attempts }: Props) {
    const query = useSignal(route).query;
    useSignal(why.changed);
    useSignal(attempts.changed);
    useEffect(() => attempts.want(version));
    const [width, setWidth] = useState(Number(kept("jf-drawer")) || 520);
    const close = () => setQuery({ step: "", tab: "", log: "" });
    useEffect(() => bindKeys([{ keys: "Escape", does: T.keyClose, run: close }]), []);
    const tab = (Object.hasOwn(T.tabs, query.get("tab") ?? "") ? query.get("tab") : "overview") as Tab;
    const record = attempts.get(step.name);
    const jobs = record?.jobs.length ? record.jobs : step.job ? [step.job] : [];
    const { value: pods, error: podsError } = usePods(ns, step, jobs, tab === "logs" || tab === "pods" || tab === "events");
    const error = podsError?.message ?? "";
    const sentence = why.of(step.name);
    return (
        <aside class="drawer" style={{ width: `${width}px` }} aria-label={T.stepDrawer}>
            <Splitter width={width} onWidth={(next) => { setWidth(next); keep("jf-drawer", String(next)); }} />
            <header>
                <Phase phase={step.state} />
                <h2><Name name={step.name} /></h2>
                <button type="button" class="quiet" onClick={close} aria-label={T.close} title={`${T.close} (Esc)`}>✕</button>
            </header>
            <nav class="tabs" aria-label={T.stepDrawer}>
                {Object.entries(T.tabs).map(([id, title]) => <button type="button" aria-current={id === tab} onClick={() => setQuery({ tab: id === "overview" ? "" : id })}>{title}{id === "attempts" && step.attempts > 1 ? ` ${step.attempts}` : ""}</button>)}
            </nav>
            <div class={`body ${tab}`}>
                <Boundary key={`${tab} ${step.name}`}>
                    {tab === "overview" && <><Overview model={model} step={step} why={sentence} record={record} />{!REPORT && <StepActions ns={ns} name={flow} model={model} step={step} />}</>}
                    {tab === "logs" && <Logs pods={pods} error={error} step={step} why={sentence} />}
                    {tab === "attempts" && (record?.attempts.length ? record.attempts.map((attempt) => <AttemptCard key={attempt.uid} attempt={attempt} />) : <p class="note">{record ? T.noAttempts : T.loading}</p>)}
                    {tab === "pods" && (pods?.pods.length ? pods.pods.map((pod) => <PodCard key={pod.uid} pod={pod} />) : <p class="note">{error || (pods || !jobs.length ? T.noPods : T.loading)}</p>)}
                    {tab === "spec" && <SpecTab ns={ns} flow={flow} step={step} job={jobs[jobs.length - 1] ?? ""} />}
                    {tab === "events" && <EventsTab ns={ns} flow={flow} step={step} jobs={jobs} pods={pods?.pods ?? []} />}
                </Boundary>
            </div>
        </aside>
    );
}
