import assert from "node:assert/strict";
import { test } from "node:test";
import { allows, type Rule } from "./rules";

const rule = (verbs: string[], resources: string[], more: Partial<Rule> = {}): Rule => ({ verbs, apiGroups: ["flow.volcano.sh"], resources, ...more });

test("a rule must name verb, group and resource, or all of them", () => {
    const rules = [rule(["get", "list"], ["jobflows"]), rule(["patch"], ["*"])];
    assert.ok(allows(rules, "get", "flow.volcano.sh", "jobflows"));
    assert.ok(allows(rules, "patch", "flow.volcano.sh", "jobtemplates"));
    assert.ok(!allows(rules, "delete", "flow.volcano.sh", "jobflows"));
    assert.ok(!allows(rules, "get", "batch.volcano.sh", "jobs"));
    assert.ok(allows([{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }], "delete", "", "pods"));
});

test("a rule for named objects lets no other pass", () => {
    assert.ok(!allows([rule(["patch"], ["jobflows"], { resourceNames: ["one"] })], "patch", "flow.volcano.sh", "jobflows"));
});
