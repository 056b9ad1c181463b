/* What the tests use of Node.js. */
declare module "node:test" {
    export function test(name: string, run: () => void | Promise<void>): void;
}
declare module "node:assert/strict" {
    const assert: {
        equal(got: unknown, wanted: unknown, message?: string): void;
        deepEqual(got: unknown, wanted: unknown, message?: string): void;
        ok(condition: unknown, message?: string): void;
        match(text: string, wanted: RegExp, message?: string): void;
        rejects(work: Promise<unknown>): Promise<void>;
    };
    export default assert;
}
declare module "node:fs" {
    export function readFileSync(path: string, encoding: "utf8"): string;
}
declare module "node:child_process" {
    export function execFileSync(program: string, args: readonly string[], options: { encoding: "utf8" }): string;
}
declare const process: { env: Record<string, string | undefined> };
