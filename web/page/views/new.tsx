/* New objects from YAML: nothing is sent to the server before it was checked, and what was checked says what will happen. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { apiPath, change, getJson, me, postJson } from "../core/api";
import { wantRights, whyNot, rights } from "../core/rights";
import { flowHref, route } from "../core/route";
import { useSignal } from "../core/signal";
import { T } from "../core/text";
import { toYaml } from "../core/yaml";
import { FlowModel } from "../model/flow";
import { APPLY_TYPE, applicationsOf, hasSecret, type Application, type Plan } from "../model/manifests";
import { GraphView } from "./graph";
import { Boundary, Command, Message, Name } from "./parts";
import { setTitle } from "./title";

const KEPT = "jf-new"; /* the text, in the storage of the tab */
const SIGNS: Record<string, string> = { create: "+", change: "~", update: "~", keep: "=" };

/* A plan, and the text and namespace that it was made of: only these are applied. */
interface Checked {
    text: string;
    ns: string;
    plan: Plan;
}

interface Done {
    application: Application;
    error: string;
}

function keep(text: string): void {
    if (text && !hasSecret(text)) sessionStorage.setItem(KEPT, text);
    else sessionStorage.removeItem(KEPT);
}

/* The text with its line numbers. Escape leaves it, so that Tab can indent. */
function Editor({ text, onText }: { text: string; onText(text: string): void }) {
    const numbers = useRef<HTMLPreElement>(null);
    const lines = text.split("\n").length;
    const onKeyDown = (event: KeyboardEvent & { currentTarget: HTMLTextAreaElement }) => {
        if (event.key === "Escape") return event.currentTarget.blur();
        if (event.key !== "Tab" || event.shiftKey || event.ctrlKey || event.altKey || event.metaKey) return undefined;
        event.preventDefault();
        event.currentTarget.setRangeText("  ", event.currentTarget.selectionStart, event.currentTarget.selectionEnd, "end");
        return onText(event.currentTarget.value);
    };
    return (
        <div class="editor">
            <pre ref={numbers} aria-hidden="true">{Array.from({ length: lines }, (_, at) => at + 1).join("\n")}</pre>
            <textarea id="manifests" aria-label={T.manifests} aria-describedby="editor-keys" spellcheck={false} wrap="off" value={text} placeholder={T.manifestsHint}
                onInput={(event) => onText(event.currentTarget.value)} onKeyDown={onKeyDown}
                onScroll={(event) => numbers.current && (numbers.current.scrollTop = event.currentTarget.scrollTop)} />
        </div>
    );
}

function Preview({ name, steps }: { name: string; steps: { name: string; after?: string[] }[] }) {
    const model = useMemo(() => {
        const made = new FlowModel();
        made.takeSteps(steps);
        return made;
    }, [steps]);
    return <div class="preview" role="group" aria-label={T.previewOf(name)}><GraphView model={model} version={1} selected={-1} dim={() => false} /></div>;
}

function PlanView({ plan }: { plan: Plan }) {
    const objects = plan.plan?.objects ?? [];
    const flows = plan.plan?.flows ?? [];
    return (
        <section aria-label={T.plan}>
            {plan.findings.length > 0 && <ul class="findings">{plan.findings.map((line) => <li class={/^(?:warning|note)/.test(line) ? "" : "bad"}><Message text={line} /></li>)}</ul>}
            {objects.length > 0 && (
                <ul class="links">
                    {objects.map((object) => <li><b class="plan-sign" aria-hidden="true">{SIGNS[object.action] ?? object.action}</b> {object.kind} <Name name={object.name} /> <span class="faint">{T.planActions[object.action] ?? object.action}</span></li>)}
                </ul>
            )}
            {flows.map((flow) => (
                <section class="card">
                    <h3><Name name={flow.name} /> <span class="faint">{T.steps(flow.steps?.length ?? 0)}</span></h3>
                    {flow.steps && flow.steps.length > 0 && flow.steps.length <= 400 && <Preview name={flow.name} steps={flow.steps} />}
                    <table class="plain"><tbody>{(flow.steps ?? []).slice(0, 100).map((step) => <tr><th scope="row"><Name name={step.name} /></th><td><Message text={step.needs ?? ""} /></td></tr>)}</tbody></table>
                </section>
            ))}
        </section>
    );
}

interface Given {
    text: string;
    note: string;
}

/* The text to begin with: an object that is edited, or what was typed before a reload. */
async function givenText(edit: string): Promise<Given> {
    const [resource, ns, name] = edit.split("/");
    if (!ns || !name || (resource !== "jobtemplates" && resource !== "jobflows")) return { text: sessionStorage.getItem(KEPT) ?? "", note: "" };
    const document = await getJson<Record<string, unknown> & { metadata: Record<string, unknown> }>(apiPath("flow.volcano.sh", "v1alpha1", ns, resource, name));
    const { managedFields: _, uid: _u, creationTimestamp: _c, generation: _g, ...metadata } = document.metadata;
    const { status: _s, ...rest } = document;
    return { text: toYaml({ ...rest, metadata }), note: T.editing(`${resource} ${name}`) };
}

export function NewPage() {
    const edit = useSignal(route).query.get("edit") ?? "";
    const known = useSignal(me);
    useSignal(rights);
    const ns = known?.namespace ?? "default";
    const [text, setText] = useState("");
    const [note, setNote] = useState("");
    const [checked, setChecked] = useState<Checked | null>(null);
    const latest = useRef(""); /* the text that the editor shows */
    const [busy, setBusy] = useState("");
    const [failure, setFailure] = useState("");
    const [done, setDone] = useState<Done[]>([]);
    setTitle(T.newTitle);
    useEffect(() => wantRights(ns), [ns]);
    useEffect(() => {
        givenText(edit).then((given) => {
            latest.current = given.text;
            setText(given.text);
            setChecked(null);
            setNote(given.note);
        }, (error: Error) => setFailure(error.message));
    }, [edit]);
    const unsaved = text !== "" && done.length === 0;
    useEffect(() => {
        if (!unsaved) return undefined;
        const onLeave = (event: BeforeUnloadEvent) => { if (hasSecret(text)) event.preventDefault(); };
        window.addEventListener("beforeunload", onLeave);
        return () => window.removeEventListener("beforeunload", onLeave);
    }, [unsaved, text]);

    const onText = (next: string) => {
        latest.current = next;
        setText(next);
        keep(next);
        setChecked(null);
        setDone([]);
        setFailure("");
    };
    const take = async (files: FileList | null) => {
        const texts = await Promise.all([...(files ?? [])].map((file) => file.text()));
        if (texts.length) onText([text, ...texts].filter((part) => part.trim()).map((part) => part.replace(/\n*$/, "\n")).join("---\n"));
    };
    const check = async () => {
        setBusy(T.checking);
        setFailure("");
        setDone([]);
        try {
            const plan = await postJson<Plan>("/ui/v1/plan", { manifests: text, namespace: ns });
            if (latest.current === text) setChecked({ text, ns, plan });
        } catch (error) {
            if (latest.current === text) setFailure((error as Error).message);
        }
        setBusy("");
    };
    const plan = checked?.plan;
    const { list, problem } = useMemo(() => (checked?.plan.ok ? applicationsOf(checked.text, checked.plan.documents, checked.ns) : { list: [], problem: "" }), [checked]);
    const refusals = [...new Set(list.map((one) => one.kind).filter((kind) => kind === "JobFlow" || kind === "JobTemplate").map((kind) => whyNot(ns, "patch", "flow.volcano.sh", kind === "JobFlow" ? "jobflows" : "jobtemplates")).filter(Boolean))];
    const refused = known?.readOnly ? known.readOnlyReason ?? T.readOnly : refusals.join(" ");
    const apply = async () => {
        setBusy(T.sending);
        const results: Done[] = [];
        for (const application of list) {
            let error = "";
            try {
                await change("PATCH", application.path, application.text, APPLY_TYPE);
            } catch (caught) {
                error = (caught as Error).message;
            }
            results.push({ application, error });
            setDone([...results]);
            if (error) break;
        }
        if (results.every((one) => !one.error) && latest.current === checked?.text) keep("");
        setBusy("");
    };
    return (
        <main id="content" class="scroll" onDragOver={(event) => event.preventDefault()} onDrop={(event) => { event.preventDefault(); void take(event.dataTransfer?.files ?? null); }}>
            <h1>{T.newTitle}</h1>
            <p class="faint">{note || T.newHow}</p>
            <div class="two">
                <div>
                    <Editor text={text} onText={onText} />
                    <p class="faint" id="editor-keys">{T.editorKeys}</p>
                    <p class="buttons left">
                        <button type="button" class="main" disabled={!text.trim() || busy !== ""} onClick={() => void check()}>{T.check}</button>
                        <label class="file">{T.chooseFiles}<input type="file" multiple accept=".yaml,.yml,.json" onChange={(event) => void take(event.currentTarget.files)} /></label>
                        <span role="status" class="faint">{busy}</span>
                    </p>
                </div>
                <div class="result" aria-live="polite">
                    {failure && <p class="note bad" role="alert"><Message text={failure} /></p>}
                    {plan && !plan.ok && <p class="note bad" role="alert">{T.planRefused}</p>}
                    {plan && <Boundary><PlanView plan={plan} /></Boundary>}
                    {problem && <p class="note bad" role="alert"><Message text={problem} /></p>}
                    {done.length > 0 && (
                        <ul class="findings">
                            {done.map(({ application, error }) => (
                                <li class={error ? "bad" : ""}>{error ? "✗" : "✓"} <Name name={application.label} />{error && <> · <Message text={error} /></>}
                                    {!error && application.kind === "JobFlow" && <> · <a href={flowHref(application.ns, application.name)}>{T.openIt}</a></>}</li>
                            ))}
                            {list.slice(done.length).map((application) => !busy && <li class="faint">{T.notSent} <Name name={application.label} /></li>)}
                        </ul>
                    )}
                    {plan?.ok && !problem && list.length > 0 && done.length === 0 && (
                        <>
                            <p class="buttons left"><button type="button" class="main" disabled={refused !== "" || busy !== ""} title={refused} onClick={() => void apply()}>{T.apply(list.length)}</button>{refused && <span class="faint">{refused}</span>}</p>
                            <p class="faint">{T.sameAsCommand}</p><Command text="jobflow apply -f FILE" />
                        </>
                    )}
                </div>
            </div>
        </main>
    );
}
