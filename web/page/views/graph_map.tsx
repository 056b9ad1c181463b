/* The overview of a graph that is larger than its view: boxes in the colours of their states, and the view as a frame. */
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { phaseOf, type PhaseClass } from "../core/phase";
import { T } from "../core/text";
import type { FlowModel } from "../model/flow";
import { readPalette, UNIT_X, UNIT_Y, type Camera, type Palette } from "./graph_draw";

const WIDTH = 180;
const HEIGHT = 110;

interface Props {
    model: FlowModel;
    camera: Camera;
    size: { width: number; height: number };
    version: number;
    onMove(camera: Camera): void;
}

export function GraphMap({ model, camera, size, version, onMove }: Props) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const scale = Math.min((WIDTH - 8) / (model.layout.width * UNIT_X), (HEIGHT - 8) / (model.layout.height * UNIT_Y || 1));
    const classes = useMemo(() => blockClasses(model), [model, version]);
    useLayoutEffect(() => {
        const ratio = window.devicePixelRatio || 1;
        const element = canvas.current!;
        [element.width, element.height] = [WIDTH * ratio, HEIGHT * ratio];
        const ctx = element.getContext("2d")!;
        const colours = readPalette(document.documentElement);
        ctx.setTransform(ratio, 0, 0, ratio, 4 * ratio, 4 * ratio);
        if (model.blocks) drawBlockMap(ctx, model, classes, colours, scale);
        else for (const box of model.layout.boxes) {
            ctx.fillStyle = colours[phaseOf(model.steps[box.step]!.state).cls];
            ctx.fillRect(box.x * UNIT_X * scale, box.y * UNIT_Y * scale, Math.max(1.5, box.w * UNIT_X * scale), Math.max(1.5, box.h * UNIT_Y * scale));
        }
        ctx.strokeStyle = colours.focus;
        ctx.lineWidth = 1.5;
        const by = scale / camera.zoom;
        ctx.strokeRect(-camera.x * by, -camera.y * by, size.width * by, size.height * by);
    }, [version, camera, size.width, size.height]);
    const onPointer = (event: PointerEvent) => {
        if (event.buttons !== 1) return;
        const frame = canvas.current!.getBoundingClientRect();
        const [x, y] = [(event.clientX - frame.left - 4) / scale, (event.clientY - frame.top - 4) / scale];
        onMove({ zoom: camera.zoom, x: size.width / 2 - x * camera.zoom, y: size.height / 2 - y * camera.zoom });
    };
    return <canvas class="map" ref={canvas} aria-hidden="true" title={T.map} onPointerDown={onPointer} onPointerMove={onPointer} />;
}

/* The colour class of each block: that of the worst state in it. */
function blockClasses(model: FlowModel): PhaseClass[] {
    const classes = new Map<string, PhaseClass>();
    const classOf = (state: string) => classes.get(state) ?? (classes.set(state, phaseOf(state).cls), classes.get(state)!);
    return (model.blocks?.blocks ?? []).map((block) => {
        const seen = new Set<PhaseClass>();
        for (const at of block.steps) seen.add(classOf(model.steps[at]!.state));
        return WORST_FIRST.find((cls) => seen.has(cls)) ?? "waiting";
    });
}

const WORST_FIRST: PhaseClass[] = ["failed", "running", "queued", "waiting", "done", "skipped"];

function drawBlockMap(ctx: CanvasRenderingContext2D, model: FlowModel, classes: PhaseClass[], colours: Palette, scale: number): void {
    model.blocks!.blocks.forEach((block, at) => {
        ctx.fillStyle = colours[classes[at]!];
        ctx.fillRect(block.x * UNIT_X * scale, block.y * UNIT_Y * scale, Math.max(1.5, block.w * UNIT_X * scale), Math.max(1.5, block.h * UNIT_Y * scale));
    });
}
