/*
 * Admission of switches, loops, retries, final steps, parameters and references. Flows that use
 * none of them are not checked here.
 */
#include <string.h>

#include "api/types/checks.h"
#include "api/types/kinds/jobflow/internal.h"
#include "api/types/kinds/jobflow/step_names.h"
#include "base/mem.h"

enum { ANCESTOR_VISITS_MAX = 20000000 }; /* edges followed for all conditions of a flow */

static void check_listed(struct control_check *c, size_t step, const struct str_list *listed,
                         const char *path)
{
    for (size_t i = 0; i < listed->count; i++) {
        const char *name = listed->items[i];
        uint32_t at = name_index_get(c->names, name);

        if (at == NAME_NONE) {
            scoped_str near = jobflow_near_step(c->spec, name, c->errors);

            FINDING(c->errors, ("%s[%zu]", path, i),
                    "Invalid value: \"%.64s\": no step of this flow has that name%s", name, near);
            continue;
        }
        if (c->switch_of[at] && c->switch_of[at] != step + 1)
            FINDING(c->errors, ("%s[%zu]", path, i),
                    "Invalid value: \"%.64s\": is listed in the switch of step %.64s already: a "
                    "step may be listed in one switch only",
                    name, c->spec->steps.items[c->switch_of[at] - 1].name);
        else
            c->switch_of[at] = (uint32_t)step + 1;
        if (flow_step_is_final(&c->spec->steps.items[at]))
            FINDING(c->errors, ("%s[%zu]", path, i),
                    "Invalid value: \"%.64s\": runs at the end of the flow (when: always): it "
                    "cannot be chosen",
                    name);
    }
}

static void forbid(struct control_check *c, size_t i, bool there, const char *member,
                   const char *why)
{
    if (there)
        FINDING(c->errors, ("spec.flows[%zu].%s", i, member), "Forbidden: %s", why);
}

/* The field table has reported a missing name or condition. */
static void check_case(struct control_check *c, size_t i, size_t k)
{
    const struct flow_case *cases = c->spec->steps.items[i].choice->cases.items, *one = &cases[k];
    scoped(buf) struct buf path = {0};

    for (size_t before = 0; one->name && before < k; before++)
        if (cases[before].name && strcmp(cases[before].name, one->name) == 0)
            FINDING(c->errors, ("spec.flows[%zu].switch.cases[%zu].name", i, k),
                    "Duplicate value: \"%.64s\"", one->name);
    if (one->condition) {
        buf_printf(&path, "spec.flows[%zu].switch.cases[%zu].if", i, k);
        jobflow_check_condition(c, one->condition, i, CONDITION_OF_EARLIER, path.data);
        buf_clear(&path);
    }
    buf_printf(&path, "spec.flows[%zu].switch.cases[%zu].flows", i, k);
    check_listed(c, i, &one->steps, path.data);
}

/* Refuses what only a step with a job can have. `why` says which step this is. */
static void forbid_job_members(struct control_check *c, size_t i, const char *why)
{
    const struct flow_step *step = &c->spec->steps.items[i];

    forbid(c, i, step->template_name != NULL, "jobTemplateName", why);
    forbid(c, i, step->run != NULL, "run", why);
    forbid(c, i, step->job_template != NULL, "jobTemplate", why);
    forbid(c, i, step->patch_spec || step->patch_job_spec, "patch", why);
    forbid(c, i, step->loop != NULL, "for", why);
    forbid(c, i, step->retry != NULL, "retry", why);
}

static void check_approval(struct control_check *c, size_t i)
{
    static const char jobless[] = "a step with approve makes no job";
    const struct flow_step *step = &c->spec->steps.items[i];
    scoped(buf) struct buf path = {0};

    forbid_job_members(c, i, jobless);
    forbid(c, i, step->choice != NULL, "switch", jobless);
    forbid(c, i, step->reads.count > 0, "reads", jobless);
    forbid(c, i, step->writes.count > 0, "writes", jobless);
    if (!step->approval->message)
        return;
    buf_printf(&path, "spec.flows[%zu].approve.message", i);
    jobflow_check_text_references(c, i, path.data, step->approval->message);
}

/* A step with `until` makes one job, which others use. */
static void check_server(struct control_check *c, size_t i)
{
    static const char why[] = "a step that ends with its dependents makes one job";
    const struct flow_step *step = &c->spec->steps.items[i];

    forbid(c, i, step->loop != NULL, "for", why);
    forbid(c, i, step->choice != NULL, "switch", why);
    forbid(c, i, step->approval != NULL, "approve", why);
    forbid(c, i, flow_step_is_final(step), "when", "no step depends on one that runs at the end");
}

/* Finds steps with `until` on which no step depends. */
static void check_dependents(struct control_check *c)
{
    size_t count = c->spec->steps.count, servers = 0;
    bool *used;

    for (size_t i = 0; i < count; i++)
        servers += flow_step_serves(&c->spec->steps.items[i]);
    if (!servers)
        return;
    used = mem_array(count, sizeof *used);
    for (size_t i = 0; i < count; i++) {
        const struct flow_depends *depends = c->spec->steps.items[i].depends;

        for (size_t t = 0; depends && t < depends->targets.count; t++) {
            uint32_t at = name_index_get(c->names, depends->targets.items[t]);

            if (at != NAME_NONE)
                used[at] = true;
        }
    }
    for (size_t i = 0; i < count; i++)
        if (flow_step_serves(&c->spec->steps.items[i]) && !used[i])
            FINDING(c->errors, ("spec.flows[%zu].until", i),
                    "Invalid value: \"dependents\": no step depends on %.64s",
                    c->spec->steps.items[i].name);
    mem_free(used);
}

static void check_switch(struct control_check *c, size_t i)
{
    const struct flow_step *step = &c->spec->steps.items[i];
    const struct flow_switch *choice = step->choice;
    size_t listed = choice->default_steps.count;
    scoped(buf) struct buf path = {0};

    forbid_job_members(c, i, "a step with a switch makes no job");
    for (size_t k = 0; k < choice->cases.count; k++) {
        check_case(c, i, k);
        listed += choice->cases.items[k].steps.count;
    }
    buf_clear(&path);
    buf_printf(&path, "spec.flows[%zu].switch.default", i);
    check_listed(c, i, &choice->default_steps, path.data);
    if (!listed)
        FINDING(c->errors, ("spec.flows[%zu].switch", i),
                "Required value: name the steps to choose among in cases or default");
}

static void check_loop(struct control_check *c, size_t i)
{
    const struct flow_step *step = &c->spec->steps.items[i];
    const struct flow_loop *loop = step->loop;
    bool bounded = loop->until || loop->items_from;
    int ways = (loop->items.count > 0) + !!loop->items_from + !!loop->range + !!loop->until;
    scoped(buf) struct buf path = {0};

    if (ways != 1)
        FINDING(c->errors, ("spec.flows[%zu].for", i),
                "Invalid value: give exactly one of items (not empty), itemsFrom, range and until");
    if (loop->range && loop->range->step.set && loop->range->step.value == 0)
        FINDING(c->errors, ("spec.flows[%zu].for.range.step", i),
                "Invalid value: 0: must not be 0");
    else if (flow_loop_iterations(loop) > LOOP_ITERATIONS_MAX)
        FINDING(c->errors, ("spec.flows[%zu].for.range", i),
                "Too many: a loop has at most %d iterations", LOOP_ITERATIONS_MAX);
    if (bounded && !loop->max_iterations)
        FINDING(c->errors, ("spec.flows[%zu].for.maxIterations", i),
                "Required value: say after how many iterations the step has failed");
    if (!bounded && loop->max_iterations)
        FINDING(c->errors, ("spec.flows[%zu].for.maxIterations", i),
                "Forbidden: goes with until and itemsFrom only");
    if (loop->until && loop->parallelism > 1)
        FINDING(c->errors, ("spec.flows[%zu].for.parallelism", i),
                "Invalid value: %d: iterations with until run one after the other",
                loop->parallelism);
    if (loop->items_from) {
        buf_printf(&path, "spec.flows[%zu].for.itemsFrom.target", i);
        jobflow_check_ancestor(c, loop->items_from->target, i, CONDITION_OF_EARLIER, path.data);
    }
    if (loop->until) {
        buf_clear(&path);
        buf_printf(&path, "spec.flows[%zu].for.until", i);
        jobflow_check_condition(c, loop->until, i, CONDITION_OF_SELF, path.data);
    }
}

/* A step named `<loop>-<number>` would have the job name of an iteration of the step `<loop>`. */
static void check_iteration_name(struct control_check *c, size_t i)
{
    const char *name = c->spec->steps.items[i].name;
    const char *dash = strrchr(name, '-');
    scoped_str loop = dash && dash[1] ? mem_printf("%.*s", (int)(dash - name), name) : NULL;
    uint32_t at = loop ? name_index_get(c->names, loop) : NAME_NONE;
    unsigned long number;

    if (at == NAME_NONE || !c->spec->steps.items[at].loop ||
        dash[1 + strspn(dash + 1, "0123456789")] || (dash[1] == '0' && dash[2]) ||
        strlen(dash + 1) > 6)
        return;
    number = strtoul(dash + 1, NULL, 10);
    if (number < flow_loop_iterations(c->spec->steps.items[at].loop))
        FINDING(c->errors, ("spec.flows[%zu].name", i),
                "Invalid value: \"%.64s\": iteration %lu of step %.64s has the same job name", name,
                number, loop);
}

static void check_vertices(struct control_check *c)
{
    uint64_t total = c->spec->steps.count;

    for (size_t i = 0; i < c->spec->steps.count; i++)
        if (c->spec->steps.items[i].loop)
            total += flow_loop_iterations(c->spec->steps.items[i].loop);
    if (total > (uint64_t)limits_of(c->adm)->flow_steps)
        FINDING(c->errors, ("spec.flows"),
                "Too many: %llu steps and iterations: a flow has at most %lld",
                (unsigned long long)total, (long long)limits_of(c->adm)->flow_steps);
}

static void check_final(struct control_check *c, size_t i)
{
    const struct flow_step *step = &c->spec->steps.items[i];
    bool final = flow_step_is_final(step);

    for (size_t t = 0; step->depends && t < step->depends->targets.count; t++) {
        const char *name = step->depends->targets.items[t];
        uint32_t at = name_index_get(c->names, name);

        if (at == NAME_NONE || flow_step_is_final(&c->spec->steps.items[at]) == final)
            continue;
        if (final)
            FINDING(c->errors, ("spec.flows[%zu].dependsOn.targets[%zu]", i, t),
                    "Invalid value: \"%.64s\": a step that runs at the end (when: always) waits "
                    "for all the others anyway; it may name only steps of its own sort",
                    name);
        else
            FINDING(c->errors, ("spec.flows[%zu].dependsOn.targets[%zu]", i, t),
                    "Invalid value: \"%.64s\": runs at the end of the flow: give this step "
                    "when: always, too, or leave the target out",
                    name);
    }
    forbid(c, i, final && step->choice, "switch", "a step that runs at the end cannot choose");
}

static bool is_key(const char *name)
{
    return *name && (name[0] == '_' || (unsigned)((name[0] | 32) - 'a') < 26) &&
           !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")];
}

static void check_parameters(struct control_check *c)
{
    scoped(name_index) struct name_index seen = {0};

    name_index_init(&seen, c->spec->parameters.count);
    for (size_t i = 0; i < c->spec->parameters.count; i++) {
        const struct flow_parameter *p = &c->spec->parameters.items[i];

        if (!is_key(p->name))
            FINDING(c->errors, ("spec.parameters[%zu].name", i),
                    "Invalid value: \"%.64s\": letters, digits, '_', '.' and '-', beginning with "
                    "a letter or '_'",
                    p->name);
        if (name_index_put(&seen, p->name, (uint32_t)i) != NAME_NONE)
            FINDING(c->errors, ("spec.parameters[%zu].name", i), "Duplicate value: \"%.64s\"",
                    p->name);
        if (*p->name && !p->value && !p->fallback)
            FINDING(c->errors, ("spec.parameters[%zu].value", i),
                    "Required value: parameter %.64s has no default: set its value, or run with "
                    "-p %.64s=VALUE",
                    p->name, p->name);
    }
}

static void check_step(struct control_check *c, size_t i)
{
    const struct flow_step *step = &c->spec->steps.items[i];
    scoped(buf) struct buf path = {0};

    check_final(c, i);
    if (step->condition) {
        buf_printf(&path, "spec.flows[%zu].if", i);
        jobflow_check_condition(c, step->condition, i, CONDITION_OF_EARLIER, path.data);
    }
    if (step->loop)
        check_loop(c, i);
    if (step->retry && step->retry->exit_codes) {
        buf_clear(&path);
        buf_printf(&path, "spec.flows[%zu].retry.exitCodes", i);
        jobflow_check_exit_codes(step->retry->exit_codes, path.data, c->errors);
    }
    if (step->approval)
        check_approval(c, i);
    if (flow_step_serves(step))
        check_server(c, i);
    jobflow_check_references(c, i);
    jobflow_check_reuse(c, i);
}

static bool has_control(const struct jobflow_spec *spec)
{
    if (spec->gangs.count || spec->parameters.count)
        return true;
    for (size_t i = 0; i < spec->steps.count; i++) {
        const struct flow_step *step = &spec->steps.items[i];

        if (step->condition || step->choice || step->approval || step->loop || step->retry ||
            flow_step_is_final(step) || flow_step_serves(step) || step->patch_spec ||
            step->patch_job_spec || step->env || flow_step_is_inline(step) || step->image ||
            step->cache || step->reads.count || step->writes.count)
            return true;
    }
    return false;
}

void jobflow_check_begin(struct control_check *c, struct name_index *names)
{
    size_t count = c->spec->steps.count;

    jobflow_index_names(c->spec, names, NULL, NULL);
    c->switch_of = mem_array(count + 1, sizeof *c->switch_of);
    c->marks = mem_array(count + 1, sizeof *c->marks);
    c->stack = mem_array(count + 1, sizeof *c->stack);
    c->visits = ANCESTOR_VISITS_MAX;
}

void jobflow_check_end(struct control_check *c)
{
    mem_free(c->switch_of);
    mem_free(c->marks);
    mem_free(c->stack);
}

void jobflow_check_control(const struct admission *adm, const struct jobflow_spec *spec,
                           bool created, struct error_list *errors)
{
    scoped(name_index) struct name_index names = {0};
    struct control_check c = {
        .adm = adm, .spec = spec, .names = &names, .errors = errors, .created = created};
    size_t count = spec->steps.count;

    if (!has_control(spec) || (int64_t)count > limits_of(adm)->flow_steps)
        return;
    jobflow_check_begin(&c, &names);
    check_parameters(&c);
    for (size_t i = 0; i < count; i++)
        if (spec->steps.items[i].choice)
            check_switch(&c, i);
    for (size_t i = 0; i < count; i++) {
        check_step(&c, i);
        check_iteration_name(&c, i);
    }
    check_dependents(&c);
    jobflow_check_deferred_ancestors(&c);
    check_vertices(&c);
    jobflow_check_gangs(&c);
    jobflow_warn_of_files(&c);
    jobflow_check_end(&c);
}
