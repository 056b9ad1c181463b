/* What can be done with a flow: its buttons, and the dialog that says what will happen before anything is sent. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ApiError, change, flowPath, getJson } from "../core/api";
import { count } from "../core/format";
import { rights, wantRights, whyNot } from "../core/rights";
import { flowHref, go } from "../core/route";
import { signal, useSignal } from "../core/signal";
import { T } from "../core/text";
import { commandOf, copyOf, fatesOf, FLOW_ACTIONS, isOffered, isSeen, requestOf, retried, sentenceOf, seriesOf, suffix, type FlowAction, type FlowFacts } from "../model/actions";
import type { FlowModel, Step } from "../model/flow";
import { Command, Message, Name } from "./parts";

interface Asked {
    action: FlowAction;
    steps: string[];
    /** Made once for a dialog, so that a request that is sent twice acts once. */
    value: string;
}

interface FlowDocument {
    metadata?: { uid?: string; resourceVersion?: string; name?: string; labels?: Record<string, string> };
    spec?: { suspend?: boolean; parameters?: { name: string; value?: unknown; default?: unknown; description?: string }[] };
    status?: { state?: { phase?: string } };
}

const FORESEEN_MAX = 50; /* steps that are named in a question about a rerun */
const GROUP = "flow.volcano.sh";

const asked = signal<Asked | null>(null);

function ask(action: FlowAction, steps: string[] = []): void {
    asked.value = { action, steps, value: crypto.randomUUID?.() ?? String(performance.timeOrigin + performance.now()) };
}

const verbOf = (action: FlowAction) => (action === "delete" ? "delete" : action === "again" ? "create" : "patch");

/* The flow as the stream shows it now. */
function factsOf(ns: string, name: string, model: FlowModel): FlowFacts {
    return {
        ns, name, uid: model.uid, resourceVersion: model.head.resourceVersion, phase: model.head.phase, suspended: model.head.suspended,
        states: new Map(model.steps.map((step) => [step.name, step.state])),
    };
}

/** The buttons of a flow. Those that make no sense now are absent; those that are not allowed say why. */
export function FlowActions({ ns, name, model }: { ns: string; name: string; model: FlowModel }) {
    useSignal(rights);
    useEffect(() => wantRights(ns), [ns]);
    const facts = factsOf(ns, name, model);
    const offered = FLOW_ACTIONS.filter((action) => isOffered(action, facts));
    const refusals = offered.map((action) => whyNot(ns, verbOf(action), GROUP, "jobflows"));
    const reasons = [...new Set(refusals.filter(Boolean))];
    return (
        <span class="actions" role="group" aria-label={T.actions}>
            {offered.map((action, at) => (
                <button type="button" class="small" disabled={refusals[at] !== ""} title={refusals[at]} aria-describedby={refusals[at] ? "why-not" : undefined} onClick={() => ask(action)}>{T.actionNames[action]}</button>
            ))}
            {reasons.length > 0 && <span id="why-not" class="hidden">{reasons.join(" ")}</span>}
        </span>
    );
}

/** What can be done with one step of an ended flow. */
export function StepActions({ ns, name, model, step }: { ns: string; name: string; model: FlowModel; step: Step }) {
    useSignal(rights);
    useEffect(() => wantRights(ns), [ns]);
    const facts = factsOf(ns, name, model);
    const refusal = whyNot(ns, "patch", GROUP, "jobflows");
    const offered = (["from", "only"] as const).filter((action) => isOffered(action, facts));
    if (offered.length === 0) return null;
    return (
        <p class="actions">
            {offered.map((action) => <button type="button" class="small" disabled={refusal !== ""} title={refusal} onClick={() => ask(action, [step.name])}>{T.actionNames[action]}</button>)}
            {refusal && <span class="faint">{refusal}</span>}
        </p>
    );
}

/* What the dialog knows before it can be answered. */
interface Prepared {
    facts: FlowFacts;
    document: FlowDocument;
    fates: [string, string][];
    /** Why the forecast failed; the request may be fine all the same. */
    unforeseen: string;
    refusal: string;
}

/* Loads the flow as it is now, asks which steps would run, and sends the request as a dry run. */
async function prepare(ns: string, name: string, model: FlowModel, what: Asked, signal_: AbortSignal): Promise<Prepared> {
    const document = await getJson<FlowDocument>(flowPath(ns, name), signal_);
    const facts: FlowFacts = {
        ...factsOf(ns, name, model), uid: document.metadata?.uid ?? "", resourceVersion: document.metadata?.resourceVersion ?? "",
        phase: document.status?.state?.phase || model.head.phase, suspended: document.spec?.suspend === true,
    };
    const prepared: Prepared = { facts, document, fates: [], unforeseen: "", refusal: "" };
    try {
        const steps = what.action === "retry" ? retried(facts) : what.steps;
        if (["retry", "from", "only"].includes(what.action) && steps.length > 0 && steps.length <= FORESEEN_MAX) {
            const query = new URLSearchParams([["flow", `${ns}/${name}`], [what.action === "only" ? "only" : "from", steps.join(",")]]);
            prepared.fates = fatesOf((await getJson<{ text: string }>(`/ui/v1/foresee?${query}`, signal_)).text);
        }
    } catch (error) {
        if (signal_.aborted) throw error;
        prepared.unforeseen = (error as Error).message;
    }
    try {
        if (what.action !== "again") await send(prepared, what, true);
    } catch (error) {
        if (signal_.aborted) throw error;
        prepared.refusal = (error as Error).message;
    }
    return prepared;
}

async function send(prepared: Prepared, what: Asked, dryRun: boolean): Promise<void> {
    const { facts } = prepared;
    const request = requestOf(what.action, facts, what.value, what.steps);
    const body = dryRun && request.method === "DELETE" ? { ...request.body, dryRun: ["All"] } : request.body;
    const query = request.method === "DELETE" ? "" : `?${new URLSearchParams([["fieldManager", "jobflow-ui"], ...(dryRun ? [["dryRun", "All"]] : [])])}`;
    await change(request.method, flowPath(facts.ns, facts.name) + query, body, request.type);
}

function Parameters({ document, values, onChange }: { document: FlowDocument; values: ReadonlyMap<string, string>; onChange(name: string, value: string): void }) {
    const text = (value: unknown) => (value === undefined || value === null ? "" : typeof value === "string" ? value : JSON.stringify(value));
    return (
        <>
            {(document.spec?.parameters ?? []).map((parameter) => (
                <label class="row">
                    <span><Name name={parameter.name} /></span>
                    <input aria-label={T.parameterOf(parameter.name)} value={values.get(parameter.name) ?? text(parameter.value ?? parameter.default)} onInput={(event) => onChange(parameter.name, event.currentTarget.value)} />
                    {parameter.description && <span class="faint"><Message text={parameter.description} /></span>}
                </label>
            ))}
        </>
    );
}

interface Props {
    ns: string;
    name: string;
    model: FlowModel;
    version: number;
}

/** The dialog of the action that was asked for last. */
export function ActionDialog(props: Props) {
    const what = useSignal(asked);
    useEffect(() => () => { asked.value = null; }, [props.ns, props.name]);
    return what ? <OpenDialog key={what.value} {...props} what={what} /> : null;
}

function OpenDialog({ ns, name, model, what }: Props & { what: Asked }) {
    const dialog = useRef<HTMLDialogElement>(null);
    const [prepared, setPrepared] = useState<Prepared | null>(null);
    const [state, setState] = useState<"looking" | "ready" | "sending" | "sent">("looking");
    const [failure, setFailure] = useState("");
    const [note, setNote] = useState("");
    const [typed, setTyped] = useState("");
    const [values, setValues] = useState<ReadonlyMap<string, string>>(new Map());
    const [newName, setNewName] = useState("");
    const control = useMemo(() => new AbortController(), []);

    const look = () => {
        setState("looking");
        prepare(ns, name, model, what, control.signal).then(
            (found) => {
                setPrepared(found);
                setNewName((old) => old || `${seriesOf(found.document)}-${suffix(crypto.getRandomValues(new Uint8Array(5)))}`);
                setState("ready");
            },
            (error: Error) => {
                if (control.signal.aborted) return;
                setFailure(error.message);
                setState("ready");
            },
        );
    };
    useEffect(() => {
        dialog.current?.showModal();
        look();
        return () => control.abort();
    }, []);
    const seen = state === "sent" && prepared && isSeen(what.action, prepared.facts, { ...factsOf(ns, name, model), gone: model.gone });
    useEffect(() => {
        if (seen) dialog.current?.close();
    }, [seen]);

    const act = async () => {
        if (!prepared || state !== "ready") return;
        setState("sending");
        setFailure("");
        try {
            if (what.action === "again") {
                await change("POST", `${flowPath(ns)}?fieldManager=jobflow-ui`, copyOf(prepared.document as Parameters<typeof copyOf>[0], newName, values));
                dialog.current?.close();
                return go(flowHref(ns, newName));
            }
            await send(prepared, what, false);
            setState("sent");
        } catch (error) {
            if (error instanceof ApiError && error.code === 409 && what.action !== "again") {
                setNote(T.changedMeanwhile);
                return look();
            }
            setFailure((error as Error).message);
            setState("ready");
        }
    };
    const unfinished = prepared !== null && prepared.facts.phase !== "Succeed" && prepared.facts.phase !== "Failed";
    const mustType = what.action === "delete" && unfinished;
    const title = what.steps.length ? what.steps.join(", ") : name;
    const ready = prepared !== null && !prepared.refusal && state === "ready" && (!mustType || typed === name);
    return (
        <dialog ref={dialog} class="action" aria-labelledby="action-title" aria-describedby="action-text" onClose={() => (asked.value = null)}>
            <h2 id="action-title"><Message text={T.actionOf(T.actionNames[what.action], title)} /></h2>
            {note && <p class="note bad" role="status">{note}</p>}
            {!prepared && !failure && <p class="faint" id="action-text">{T.loading}</p>}
            {prepared && (prepared.refusal
                ? <div class="note bad" id="action-text" role="alert"><p>{T.refusedNow}</p><p><Message text={prepared.refusal} /></p></div>
                : <p id="action-text">{prepared.unforeseen && what.action !== "retry" ? T.unforeseen : sentenceOf(what.action, prepared.facts, prepared.fates)}</p>)}
            {prepared?.unforeseen && !prepared.refusal && <p class="faint">{what.action === "retry" && T.unforeseen} <Message text={prepared.unforeseen} /></p>}
            {prepared && prepared.fates.length > 0 && (
                <details>
                    <summary>{T.fates} ({count(prepared.fates.length)})</summary>
                    <table class="plain"><tbody>{prepared.fates.slice(0, 500).map(([step, fate]) => <tr><th scope="row"><Name name={step} /></th><td>{fate}</td></tr>)}</tbody></table>
                </details>
            )}
            {prepared && what.action === "again" && (
                <div class="form">
                    <label class="row"><span>{T.newName}</span><input value={newName} onInput={(event) => setNewName(event.currentTarget.value)} /></label>
                    <Parameters document={prepared.document} values={values} onChange={(key, value) => setValues(new Map(values).set(key, value))} />
                </div>
            )}
            {mustType && !prepared.refusal && (
                <label class="row"><span>{T.typeName(name)}</span><input value={typed} autocomplete="off" onInput={(event) => setTyped(event.currentTarget.value)} /></label>
            )}
            {failure && <p class="note bad" role="alert"><Message text={failure} /></p>}
            {prepared && what.action !== "again" && <><p class="faint">{T.sameAsCommand}</p><Command text={commandOf(what.action, prepared.facts, what.steps)} /></>}
            <p class="buttons">
                <span class="faint" role="status">{state === "sending" ? T.sending : state === "sent" ? T.waitingToSee : ""}</span>
                <button type="button" autofocus onClick={() => dialog.current?.close()}>{state === "sent" ? T.close : T.cancel}</button>
                <button type="button" class={what.action === "delete" || what.action === "abort" ? "danger" : "main"} disabled={!ready} onClick={() => void act()}>{T.actionNames[what.action].replace("…", "")}</button>
            </p>
        </dialog>
    );
}
