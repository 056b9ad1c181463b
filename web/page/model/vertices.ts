/*
 * How the steps and iterations of a flow are numbered: each loop is followed by its iterations. A
 * flow without loops has the numbers of its steps.
 */
import { isStepOver } from "../core/phase";

export class Vertices {
    private readonly steps: Uint32Array | null; /* the step of each vertex; null: there are no loops */
    private readonly first = new Map<number, { vertex: number; n: number }>(); /* of each loop its vertex and number of iterations */
    private readonly phases = new Map<number, string>(); /* of iterations */

    /** `loops`: pairs of a step and its number of iterations, in the order of the steps. */
    constructor(count: number, loops: readonly [number, number][]) {
        this.steps = loops.length ? new Uint32Array(count) : null;
        let vertex = 0;
        let step = 0;
        const fill = (until: number) => {
            while (step < until && vertex < count) this.steps![vertex++] = step++;
        };
        for (const [loop, n] of loops) {
            fill(loop);
            this.first.set(loop, { vertex, n });
            for (let k = 0; k <= n && vertex < count; k++) this.steps![vertex++] = loop;
            step = loop + 1;
        }
        if (this.steps) fill(Infinity);
    }

    /** The step of a vertex; of an iteration that of its loop. */
    stepOf(vertex: number): number {
        return this.steps ? (this.steps[vertex] ?? Infinity) : vertex;
    }

    isStep(vertex: number): boolean {
        return !this.steps || vertex === 0 || this.steps[vertex] !== this.steps[vertex - 1];
    }

    setPhase(vertex: number, phase: string): void {
        this.phases.set(vertex, phase);
    }

    /** How far a loop has come, "3/10". `open`: only iterations that exist count, because their number is not known before. */
    progress(loop: number, open: boolean): string {
        const { vertex, n } = this.first.get(loop)!;
        let [over, exist] = [0, 0];
        for (let k = 1; k <= n; k++) {
            const phase = this.phases.get(vertex + k) ?? "";
            if (phase) exist++;
            if (phase !== "Skipped" && isStepOver(phase)) over++;
        }
        return `${over}/${open && exist ? exist : n}`;
    }
}
