/* Rules of a SelfSubjectRulesReview. */

export interface Rule {
    verbs: string[];
    apiGroups: string[];
    resources: string[];
    resourceNames?: string[];
}

const names = (list: string[] | undefined, name: string) => list?.includes("*") || list?.includes(name) || false;

/** Whether one of the rules lets the verb pass for objects of any name. */
export function allows(rules: readonly Rule[], verb: string, group: string, resource: string): boolean {
    return rules.some((rule) => names(rule.verbs, verb) && names(rule.apiGroups, group) && names(rule.resources, resource) && !rule.resourceNames?.length);
}
