/* When a sign-in ends: some hours after its last request, and in any case after some days. All times are the server's. */

export interface SignInEnds {
    /** How long it lasts without a request. */
    idleMs: number;
    idleEnds: number;
    ends: number;
}

const WARN_MS = 5 * 60_000;

/** Each request prolongs it. */
export function endsAfterRequest(ends: SignInEnds, now: number): SignInEnds {
    return { ...ends, idleEnds: now + ends.idleMs };
}

/** How long the sign-in lasts, when that is to be said; null: long enough. `fixed`: no request prolongs it. */
export function endsSoon(ends: SignInEnds, now: number): { left: number; fixed: boolean } | null {
    const left = Math.max(0, Math.min(ends.idleEnds, ends.ends) - now);
    return left <= WARN_MS ? { left, fixed: ends.ends <= ends.idleEnds } : null;
}
