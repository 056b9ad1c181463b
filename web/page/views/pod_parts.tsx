/* A pod, and the logs of pods: what the drawer of a step and the pages of jobs and pods share. */
import { exitCode } from "../core/format";
import { route, setQuery } from "../core/route";
import { useSignal } from "../core/signal";
import { T } from "../core/text";
import type { Pod, StepPods } from "../model/pods";
import { LogView } from "./log";
import { Field, Message, Name, Phase } from "./parts";

/** A pod with its containers. `href`: a page of its own. */
export function PodCard({ pod, href }: { pod: Pod; href?: string }) {
    return (
        <section class="card">
            <h3>{href ? <a href={href}><Name name={pod.name} /></a> : <Name name={pod.name} />} <Phase phase={pod.phase} /></h3>
            <dl class="fields">
                {pod.node && <Field name={T.node}><Name name={pod.node} /></Field>}
                {pod.address && <Field name={T.address}>{pod.address}</Field>}
                {(pod.reason || pod.message) && <Field name={T.columns.reason}><Message text={[pod.reason, pod.message].filter(Boolean).join(": ")} /></Field>}
                {pod.containers.map((container) => (
                    <Field name={container.name}>
                        {container.running ? T.running : container.exitCode !== null ? T.exit(exitCode(container.exitCode)) : T.notStarted}
                        {container.reason && container.reason !== "Completed" && <> · <Message text={container.reason} /></>}
                        {container.message && <> · <Message text={container.message} /></>}
                        {container.restarts > 0 && T.restarts(container.restarts)}
                    </Field>
                ))}
            </dl>
        </section>
    );
}

/** The log that the URL names, else the most telling one. `reason`: why there is none. */
export function LogOfPods({ pods, reason, why }: { pods: StepPods | null; reason: string; why: string }) {
    const chosen = useSignal(route).query.get("log") ?? "";
    const source = pods?.logs.find((log) => log.key === chosen) ?? pods?.logs[0];
    if (!source) return <div class="note"><p>{reason}</p>{why && <p><Message text={why} /></p>}</div>;
    return (
        <>
            {pods!.logs.length > 1 && (
                <label class="log-source">
                    <span class="hidden">{T.logOf}</span>
                    <select value={source.key} onChange={(event) => setQuery({ log: event.currentTarget.value }, true)}>
                        {pods!.logs.map((log) => <option value={log.key}>{log.label}</option>)}
                    </select>
                </label>
            )}
            <LogView key={source.key} source={source} />
        </>
    );
}
