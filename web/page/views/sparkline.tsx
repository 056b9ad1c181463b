/* The last runs of a series as bars: the height says how long a run took, the colour how it ended. A failed one has a gap with a tick. */
import { duration } from "../core/format";
import { phaseOf } from "../core/phase";
import { T } from "../core/text";
import type { Series } from "../model/series";

const HEIGHT = 18;
const LEAST = 3;

export function Sparkline({ series }: { series: Series }) {
    const most = Math.max(1, ...series.runs.map((run) => run.tookMs));
    const label = T.sparkline(series.runs.length, duration(series.lastMs), duration(series.medianMs), series.failed);
    return (
        <span class="sparkline" role="img" aria-label={label} title={label}>
            {series.runs.map((run) => (
                <span key={run.key} class={run.failed ? "tick-failed" : `b-${phaseOf(run.phase).cls}`} style={{ height: `${run.failed ? HEIGHT : LEAST + ((HEIGHT - LEAST) * run.tookMs) / most}px` }} />
            ))}
        </span>
    );
}
