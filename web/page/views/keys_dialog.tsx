/* The list of keys, behind "?". */
import { useEffect, useRef } from "preact/hooks";
import { bindings, bindKeys } from "../core/keys";
import { FLOWS_HREF, go } from "../core/route";
import { signal, useSignal } from "../core/signal";
import { T } from "../core/text";

export const showKeys = signal(false);

export function KeysDialog() {
    const open = useSignal(showKeys);
    const list = useSignal(bindings);
    const dialog = useRef<HTMLDialogElement>(null);
    useEffect(() => bindKeys([
        { keys: "?", does: T.keyHelp, run: () => (showKeys.value = true) },
        { keys: "g f", does: T.keyFlows, run: () => go(FLOWS_HREF) },
        ...(REPORT ? [] : [
            { keys: "g j", does: T.objects.jobs, run: () => go("/ui/jobs") },
            { keys: "g q", does: T.queues, run: () => go("/ui/queues") },
            { keys: "g t", does: T.objects.templates, run: () => go("/ui/templates") },
        ]),
    ]), []);
    useEffect(() => {
        if (open) dialog.current?.showModal();
    }, [open]);
    if (!open) return null;
    const shown = list.filter((binding, at) => list.findIndex((other) => other.keys === binding.keys && other.does === binding.does) === at);
    return (
        <dialog ref={dialog} class="keys" aria-labelledby="keys-title" onClose={() => (showKeys.value = false)}>
            <h2 id="keys-title">{T.keys}</h2>
            <dl>
                {shown.map((binding) => [<dt>{binding.keys.split(" ").map((key) => <kbd>{key}</kbd>)}</dt>, <dd>{binding.does}</dd>])}
            </dl>
            <button type="button" onClick={() => dialog.current?.close()}>{T.close}</button>
        </dialog>
    );
}
