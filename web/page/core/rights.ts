/*
 * What the user may do, by namespace: the rules that the server told of the user. Where it tells
 * none, everything is offered and a refusal is explained.
 */
import { allows, type Rule } from "../model/rules";
import { getJson, me, type Me } from "./api";
import { signal } from "./signal";
import { T } from "./text";

const known = signal<ReadonlyMap<string, Rule[] | null>>(new Map());
const asked = new Set<string>();

/** Changes when rights have come. */
export const rights = known;

/** Asks for the rights in a namespace, once. */
export function wantRights(ns: string): void {
    if (asked.has(ns)) return;
    asked.add(ns);
    getJson<Me & { rules: Rule[] | null }>(`/ui/v1/me?${new URLSearchParams([["namespace", ns]])}`).then(
        (answer) => (known.value = new Map(known.peek()).set(ns, answer.rules)),
        () => asked.delete(ns),
    );
}

/** Forgets all rights, because there is another server, or because something was refused. */
export function forgetRights(): void {
    asked.clear();
    known.value = new Map();
}

/** Why the user may not do this, as a sentence; "": it may be done, as far as is known. */
export function whyNot(ns: string, verb: string, group: string, resource: string): string {
    const mine = me.value;
    if (mine?.readOnly) return mine.readOnlyReason ?? T.readOnly;
    const rules = known.value.get(ns);
    return !rules || allows(rules, verb, group, resource) ? "" : T.mayNot(mine?.user ?? "", verb, resource, ns);
}
