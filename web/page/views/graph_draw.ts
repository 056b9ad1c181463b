/* Draws the graph on a canvas: edges, and a box for each step at the level of detail that its size allows. */
import { duration } from "../core/format";
import { plain } from "../core/marked";
import { CLASSES, FILLED, isStepOver, phaseOf, SIGN_PATHS, type PhaseClass, type SignName } from "../core/phase";
import type { FlowModel, Step } from "../model/flow";
import type { Box, Edge } from "../model/layout";

/** Pixels of a unit of the layout at zoom 1. */
export const UNIT_X = 8.4;
export const UNIT_Y = 15;

/** What the canvas shows: pixels = layout * unit * zoom + offset. */
export interface Camera {
    x: number;
    y: number;
    zoom: number;
}

export interface Marked {
    selected: number;
    hovered: number;
    active: number;
    /** Which steps are dimmed: those that a search does not match. */
    dim: (step: Step) => boolean;
}

export type Palette = Record<PhaseClass | `${PhaseClass}-ink` | "page" | "raised" | "line" | "edge" | "text" | "faint" | "focus" | "select", string>;

/** The colours of the theme, from the style sheet. */
export function readPalette(element: Element): Palette {
    const style = getComputedStyle(element);
    const names = ["page", "raised", "line", "edge", "text", "faint", "focus", "select", ...CLASSES, ...CLASSES.map((cls) => `${cls}-ink`)];
    return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()])) as Palette;
}

const paths = new Map<SignName, Path2D>();

function signPath(sign: SignName): Path2D {
    let path = paths.get(sign);
    if (!path) paths.set(sign, (path = new Path2D(SIGN_PATHS[sign])));
    return path;
}

export const FONT = 'system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

export class GraphPainter {
    private readonly cut = new Map<string, string>(); /* shortened texts by font, width and text */

    constructor(private readonly ctx: CanvasRenderingContext2D, public colours: Palette) {}

    draw(model: FlowModel, camera: Camera, size: { width: number; height: number; ratio: number }, marked: Marked, now: number): void {
        this.begin(camera, size);
        const view = {
            left: -camera.x / camera.zoom / UNIT_X,
            right: (size.width - camera.x) / camera.zoom / UNIT_X,
            top: -camera.y / camera.zoom / UNIT_Y,
            bottom: (size.height - camera.y) / camera.zoom / UNIT_Y,
        };
        const chosen = marked.hovered >= 0 ? marked.hovered : marked.selected;
        for (const edge of model.layout.edges) if (edge.from !== chosen && edge.to !== chosen) this.edge(model, edge, false, marked);
        for (const edge of model.layout.edges) if (edge.from === chosen || edge.to === chosen) this.edge(model, edge, true, marked);
        for (const box of model.layout.boxes)
            if (box.x < view.right && box.x + box.w > view.left && box.y < view.bottom && box.y + box.h > view.top) this.box(model, box, camera.zoom, marked, now);
    }

    /** Clears the canvas, and sets it to units of the layout at zoom 1. */
    begin(camera: Camera, size: { width: number; height: number; ratio: number }): void {
        const { ctx } = this;
        ctx.setTransform(size.ratio, 0, 0, size.ratio, 0, 0);
        ctx.fillStyle = this.colours.page;
        ctx.fillRect(0, 0, size.width, size.height);
        ctx.translate(camera.x, camera.y);
        ctx.scale(camera.zoom, camera.zoom);
    }

    private edge(model: FlowModel, edge: Edge, chosen: boolean, marked: Marked): void {
        const { ctx, colours } = this;
        const [from, to] = [model.steps[edge.from]!, model.steps[edge.to]!];
        const untaken = from.state === "Skipped" || to.state === "Skipped";
        const critical = model.isCritical(edge);
        ctx.globalAlpha = marked.dim(from) || marked.dim(to) ? 0.25 : 1;
        ctx.strokeStyle = chosen ? colours.focus : untaken ? colours.line : critical ? colours.text : colours.edge;
        ctx.lineWidth = chosen ? 2 : critical && !untaken ? 1.6 : 1.1;
        ctx.setLineDash(edge.kind === "any" ? [5, 4] : edge.kind === "probe" ? [1.5, 3] : []);
        ctx.beginPath();
        const points = edge.points;
        ctx.moveTo(points[0]![0] * UNIT_X, points[0]![1] * UNIT_Y);
        for (let i = 1; i < points.length; i++) this.curve(points[i - 1]!, points[i]!);
        ctx.stroke();
        ctx.setLineDash([]);
        this.arrow(points[points.length - 2]!, points[points.length - 1]!);
        ctx.globalAlpha = 1;
    }

    private curve(from: [number, number], to: [number, number]): void {
        const [x1, y1, x2, y2] = [from[0] * UNIT_X, from[1] * UNIT_Y, to[0] * UNIT_X, to[1] * UNIT_Y];
        const bend = Math.max(8, (x2 - x1) / 2);
        if (Math.abs(y2 - y1) < 0.5) this.ctx.lineTo(x2, y2);
        else this.ctx.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2, y2);
    }

    private arrow(from: [number, number], to: [number, number]): void {
        const { ctx } = this;
        const [x, y] = [to[0] * UNIT_X, to[1] * UNIT_Y];
        if (to[0] <= from[0]) return;
        ctx.fillStyle = ctx.strokeStyle;
        ctx.beginPath();
        ctx.moveTo(x, y);
        ctx.lineTo(x - 7, y - 3.5);
        ctx.lineTo(x - 7, y + 3.5);
        ctx.fill();
    }

    /** Draws the box of a step at the level of detail that its size allows. */
    box(model: FlowModel, box: Box, zoom: number, marked: Marked, now: number): void {
        const { ctx, colours } = this;
        const step = model.steps[box.step]!;
        const { sign, cls } = phaseOf(step.state);
        const [x, y, w, h] = [box.x * UNIT_X, box.y * UNIT_Y, box.w * UNIT_X, box.h * UNIT_Y];
        ctx.globalAlpha = marked.dim(step) ? 0.25 : 1;
        ctx.beginPath();
        this.rounded(x, y, w, h, 6);
        ctx.fillStyle = box.step === marked.selected ? colours.select : h * zoom < 18 ? colours[cls] : colours.raised;
        ctx.fill();
        ctx.lineWidth = step.critical ? 1.6 : 1;
        ctx.strokeStyle = cls === "failed" || cls === "running" || cls === "queued" ? colours[cls] : step.critical ? colours.text : colours.line;
        ctx.stroke();
        if (box.step === marked.selected || box.step === marked.active) {
            ctx.beginPath();
            this.rounded(x - 3, y - 3, w + 6, h + 6, 8);
            ctx.lineWidth = 2;
            ctx.strokeStyle = colours.focus;
            ctx.stroke();
        }
        if (h * zoom >= 18) {
            this.sign(sign, cls, x + 10, y + h / 2 - 9);
            this.texts(step, x + 36, y, w - 44, h, zoom, now);
        }
        ctx.globalAlpha = 1;
    }

    private rounded(x: number, y: number, w: number, h: number, r: number): void {
        const { ctx } = this;
        ctx.moveTo(x + r, y);
        ctx.arcTo(x + w, y, x + w, y + h, r);
        ctx.arcTo(x + w, y + h, x, y + h, r);
        ctx.arcTo(x, y + h, x, y, r);
        ctx.arcTo(x, y, x + w, y, r);
        ctx.closePath();
    }

    private texts(step: Step, x: number, y: number, w: number, h: number, zoom: number, now: number): void {
        const { ctx, colours } = this;
        const second = stateText(step, now);
        const detail = zoom >= 0.6 && second !== "";
        ctx.fillStyle = step.state === "Skipped" ? colours.faint : colours.text;
        ctx.textBaseline = "middle";
        ctx.font = `600 12.5px ${FONT}`;
        ctx.fillText(this.fit(plain(step.name), w), x, y + (detail ? h / 2 - 8 : h / 2));
        if (!detail) return;
        ctx.font = `400 11px ${FONT}`;
        ctx.fillStyle = colours.faint;
        ctx.fillText(this.fit(second, w), x, y + h / 2 + 9);
    }

    /* The text, shortened in its middle until it is as wide as the box. */
    private fit(text: string, w: number): string {
        const { ctx } = this;
        const key = `${ctx.font}|${w}|${text}`;
        const known = this.cut.get(key);
        if (known !== undefined) return known;
        let out = text.length > 300 ? `${text.slice(0, 150)}…${text.slice(-150)}` : text;
        for (let keep = out.length; keep > 1 && ctx.measureText(out).width > w; keep--) {
            const head = Math.ceil(keep * 0.6);
            out = `${text.slice(0, head)}…${text.slice(text.length - (keep - head))}`;
        }
        if (this.cut.size > 5000) this.cut.clear();
        this.cut.set(key, out);
        return out;
    }

    private sign(sign: SignName, cls: PhaseClass, x: number, y: number): void {
        const { ctx, colours } = this;
        ctx.save();
        ctx.translate(x, y);
        ctx.scale(18 / 16, 18 / 16);
        ctx.beginPath();
        ctx.arc(8, 8, 7.25, 0, 2 * Math.PI);
        if (cls !== "waiting") {
            ctx.fillStyle = colours[cls];
            ctx.fill();
        }
        if (cls === "waiting" || cls === "skipped") {
            ctx.lineWidth = 1.25;
            ctx.strokeStyle = colours.edge;
            ctx.stroke();
        }
        const ink = cls === "waiting" ? colours.text : colours[`${cls}-ink`];
        if (FILLED.has(sign)) {
            ctx.fillStyle = ink;
            ctx.fill(signPath(sign));
        } else {
            ctx.strokeStyle = ink;
            ctx.lineWidth = 1.75;
            ctx.lineCap = ctx.lineJoin = "round";
            ctx.stroke(signPath(sign));
        }
        ctx.restore();
    }
}

/** The second line of a box: "Running 1m3s · 2 of 3 · attempt 2". */
export function stateText(step: Step, now: number): string {
    const took = step.startedMs && (step.endedMs || !isStepOver(step.state)) ? duration((step.endedMs || now) - step.startedMs) : "";
    const parts = [`${step.state}${took && phaseOf(step.state).cls !== "waiting" ? ` ${took}` : ""}`];
    if (step.progress && step.state === "Running") parts.push(step.progress);
    if (step.attempts > 1) parts.push(`attempt ${step.attempts}`);
    if (step.marks) parts.push(step.marks);
    return parts.join(" · ");
}
