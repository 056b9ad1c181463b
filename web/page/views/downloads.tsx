/* What can be handed on of a flow: its report, and the times of its attempts for other programs. */
import { useState } from "preact/hooks";
import { request } from "../core/api";
import { T } from "../core/text";
import { Message } from "./parts";

/* Saves bytes as a file. The object URL is revoked after a minute, when the browser has read it. */
function save(bytes: Blob, name: string): void {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(bytes);
    link.download = name;
    link.click();
    window.setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

const FILES = [
    { id: "report", path: "/ui/v1/report", ending: "html" },
    { id: "trace", path: "/ui/v1/trace", ending: "trace.json.gz" },
] as const;

export function Downloads({ ns, name }: { ns: string; name: string }) {
    const [busy, setBusy] = useState("");
    const [error, setError] = useState("");
    const load = async (file: (typeof FILES)[number]) => {
        setBusy(file.id);
        setError("");
        try {
            save(await (await request(`${file.path}?${new URLSearchParams([["flow", `${ns}/${name}`]])}`)).blob(), `${name}.${file.ending}`);
        } catch (failure) {
            setError((failure as Error).message);
        }
        setBusy("");
    };
    return (
        <>
            {FILES.map((file) => <span class="block"><button type="button" class="small" disabled={busy !== ""} onClick={() => void load(file)}>{busy === file.id ? T.loading : T.files[file.id]}</button> <span class="faint">{T.filesHow[file.id]}</span></span>)}
            {error && <p class="note bad" role="alert"><Message text={error} /></p>}
        </>
    );
}
