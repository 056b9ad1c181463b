/* The bar of a flow's progress: a part for each class of states, and the same as text. */
import { CLASSES, type PhaseClass } from "../core/phase";

export function ProgressBar({ counts, label }: { counts: Partial<Record<PhaseClass, number>>; label: string }) {
    const all = Object.values(counts).reduce((sum, n) => sum + n, 0) || 1;
    const order: PhaseClass[] = ["done", "skipped", "failed", "running", "queued"];
    return (
        <span class="progress" role="img" aria-label={label}>
            {order.filter((cls) => CLASSES.includes(cls) && counts[cls]).map((cls) => <span class={`part b-${cls}`} style={{ width: `${(100 * counts[cls]!) / all}%` }} />)}
        </span>
    );
}
