/* What a step is made of: its entry in the flow, and its job, or its template while there is no job. */
import { useAnswer } from "../core/answer";
import { apiPath, flowPath, getJson } from "../core/api";
import { T } from "../core/text";
import { toYaml } from "../core/yaml";
import type { Step } from "../model/flow";
import { CopyButton } from "./parts";

interface Document {
    metadata?: Record<string, unknown>;
    spec?: { flows?: { name?: string }[] } & Record<string, unknown>;
    [member: string]: unknown;
}

interface Part {
    title: string;
    text: string;
}

/* A document without what only programs read. */
function readableDocument(document: Document): Document {
    const { managedFields: _, ...metadata } = document.metadata ?? {};
    const { status: __, ...rest } = document;
    return { ...rest, metadata };
}

async function load(ns: string, flow: string, step: Step, job: string, signal: AbortSignal): Promise<Part[]> {
    const parts: Part[] = [];
    const parent = await getJson<Document>(flowPath(ns, flow), signal);
    const entry = parent.spec?.flows?.find((other) => other.name === step.name);
    if (entry) parts.push({ title: T.specInFlow, text: toYaml(entry) });
    try {
        if (job) parts.push({ title: T.specJob, text: toYaml(readableDocument(await getJson<Document>(apiPath("batch.volcano.sh", "v1alpha1", ns, "jobs", job), signal))) });
        else if (step.template) parts.push({ title: T.specTemplate, text: toYaml(readableDocument(await getJson<Document>(apiPath("flow.volcano.sh", "v1alpha1", ns, "jobtemplates", step.template), signal))) });
    } catch (error) {
        if (signal.aborted) throw error;
        parts.push({ title: job ? T.specJob : T.specTemplate, text: `# ${(error as Error).message}\n` });
    }
    return parts;
}

export function SpecTab({ ns, flow, step, job }: { ns: string; flow: string; step: Step; job: string }) {
    const { value: parts, error } = useAnswer(`${ns}/${flow} ${step.name}`, (signal) => load(ns, flow, step, job, signal), job);
    if (error) return <p class="note bad">{error.message}</p>;
    if (!parts) return <p class="note faint">{T.loading}</p>;
    return (
        <>
            {parts.map((part) => (
                <section class="card">
                    <h3>{part.title} <CopyButton text={part.text} /></h3>
                    <pre class="yaml" tabIndex={0}>{part.text}</pre>
                </section>
            ))}
        </>
    );
}
