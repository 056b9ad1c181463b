/* Amounts of resources as Kubernetes writes them: "500m", "1Gi", "2e3". */

const FACTORS: Record<string, number> = {
    "": 1, n: 1e-9, u: 1e-6, m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18,
    Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50, Ei: 2 ** 60,
};

/** The number of an amount; 0 when the text is none. */
export function parseQuantity(value: unknown): number {
    if (typeof value === "number") return value;
    const found = /^([+-]?\d*\.?\d+(?:e[+-]?\d+)?)([A-Za-z]*)$/i.exec(typeof value === "string" ? value : "");
    const factor = found && Object.hasOwn(FACTORS, found[2]!) ? FACTORS[found[2]!] : undefined;
    return found && factor !== undefined ? Number(found[1]) * factor : 0;
}

/** An amount of a resource for reading: memory and storage with binary units, others with up to three digits behind the point. */
export function quantityText(resource: string, amount: number): string {
    if (!/memory|storage/.test(resource)) return String(Math.round(amount * 1000) / 1000);
    const units = ["", "Ki", "Mi", "Gi", "Ti"];
    let unit = 0;
    while (amount >= 1024 && unit < units.length - 1) {
        amount /= 1024;
        unit++;
    }
    return `${Math.round(amount * 10) / 10}${units[unit]}`;
}
