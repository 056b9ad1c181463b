/*
 * Entry points of a JobFlow's admission, and the rules that need templates and generated names.
 *
 * A flow may be applied before its templates. A missing template is therefore a warning, and a
 * template that makes a step impossible is an error.
 */
#include "api/types/kinds/jobflow/admission.h"

#include <string.h>

#include "api/types/checks.h"
#include "api/types/kinds/jobflow/inline_template.h"
#include "api/types/kinds/jobflow/internal.h"
#include "api/types/kinds/jobflow/patch_names.h"
#include "api/types/kinds/jobflow/pin.h"
#include "api/types/kinds/jobflow/step_names.h"
#include "api/types/kinds/pod/pod.h"
#include "api/types/labels.h"
#include "api/types/schema/flow_reference.h"

static bool repeats(const struct str_list *targets, size_t at)
{
    for (size_t t = 0; t < at; t++)
        if (strcmp(targets->items[t], targets->items[at]) == 0)
            return true;
    return false;
}

/* A repeated target has no effect, so it is a warning. */
static void warn_repeated(const struct admission *adm, const struct str_list *targets, size_t step)
{
    enum { FEW = 8 }; /* comparing so few names is faster than indexing them */
    scoped(name_index) struct name_index seen = {0};

    if (!adm->warnings || targets->count < 2)
        return;
    if (targets->count > FEW)
        name_index_init(&seen, targets->count);
    for (size_t t = 0; t < targets->count; t++)
        if (seen.slots ? name_index_put(&seen, targets->items[t], (uint32_t)t) != NAME_NONE
                       : repeats(targets, t))
            WARNING(adm, ("spec.flows[%zu].dependsOn.targets[%zu]", step, t),
                    "%s is named more than once", targets->items[t]);
}

/* The flow keeps a copy of each pinned template, so their number is bounded. */
static void check_pinned(const struct object *flow, const struct jobflow_spec *spec,
                         struct error_list *errors)
{
    scoped(name_index) struct name_index seen = {0};
    size_t templates = 0;

    if (!jobflow_pins(flow))
        return;
    name_index_init(&seen, spec->steps.count);
    for (size_t i = 0; i < spec->steps.count; i++)
        if (flow_step_has_named_template(&spec->steps.items[i]) &&
            name_index_put(&seen, flow_step_template(&spec->steps.items[i]), (uint32_t)i) ==
                NAME_NONE)
            templates++;
    if (templates > PINNED_TEMPLATES_MAX)
        FINDING(errors, ("spec.templatePolicy"),
                "Invalid value: \"pinned\": the flow names %zu templates, at most %d can be "
                "pinned: let steps share templates (jobTemplateName and patch), or use latest",
                templates, PINNED_TEMPLATES_MAX);
}

void jobflow_validate(const struct admission *adm, const struct object *old,
                      const struct object *flow, struct error_list *errors)
{
    const struct jobflow_spec *spec = jobflow_spec_of(flow);

    jobflow_check_graph(adm, spec, errors);
    if (adm->upstream_compat)
        return;
    if (!spec->steps.count)
        WARNING(adm, ("spec.flows"), "is empty: the flow succeeds at once");
    jobflow_check_control(adm, spec, !old, errors);
    check_pinned(flow, spec, errors);
    for (size_t i = 0; i < spec->steps.count; i++) {
        const struct flow_depends *depends = spec->steps.items[i].depends;

        jobflow_check_inline(adm, flow, i, errors);
        if (depends && depends->probe)
            jobflow_check_probe(adm, depends, i, errors);
        if (depends)
            warn_repeated(adm, &depends->targets, i);
    }
}

/* The check of the names that the flow's jobs and pods will have. */
struct name_check {
    const struct admission *adm;
    const struct object *flow;
    const struct jobflow_spec *spec;
    struct error_list *errors;
    struct buf job;          /* name "<flow>-<step>" of the step at hand */
    size_t prefix_len;       /* length of the beginning "<flow>-" */
    struct name_index names; /* names of the steps; filled when the first probe needs it */
};

static bool check_job_name(struct name_check *c, size_t i)
{
    const struct flow_loop *loop = c->spec->steps.items[i].loop;
    const char *step = c->spec->steps.items[i].name;
    struct error err = {0};

    c->job.len = c->prefix_len;
    buf_str(&c->job, step);
    if (loop && flow_loop_iterations(loop))
        buf_printf(&c->job, "-%u", flow_loop_iterations(loop) - 1); /* the longest */
    if (c->job.len > LABEL_BYTES_MAX)
        FINDING(c->errors, ("spec.flows[%zu].name", i),
                "Invalid value: \"%.64s\": the job would be named %s, which has %zu characters: at "
                "most %d are allowed, "
                "shorten the flow's or the step's name",
                step, c->job.data, c->job.len, LABEL_BYTES_MAX);
    else if (!name_is_dns_subdomain(c->job.data, &err))
        FINDING(c->errors, ("spec.flows[%zu].name", i),
                "Invalid value: \"%.64s\": the job would be named %s: %s", step, c->job.data,
                err.message);
    else
        return true;
    return false;
}

/* Checks that the names of pods, <job>-<task>-<index>, are not too long (L-14). */
static void check_pod_names(struct name_check *c, size_t i, const struct job_spec *job)
{
    for (size_t t = 0; t < job->tasks.count; t++) {
        const struct job_task *task = &job->tasks.items[t];
        const size_t most_digits = 10; /* digits of an int32 index */
        scoped(buf) struct buf pod = {0};

        if (task->name && c->job.len + 1 + strlen(task->name) + 1 + most_digits <= LABEL_BYTES_MAX)
            continue;
        buf_printf(&pod, "%s-%s-%d", c->job.data, task->name ? task->name : "default0",
                   task->replicas > 0 ? task->replicas - 1 : 0);
        if (pod.len > LABEL_BYTES_MAX)
            FINDING(c->errors, ("spec.flows[%zu].name", i),
                    "Invalid value: \"%.64s\": a pod of task %s would be named %s, which has %zu "
                    "characters: at most %d "
                    "are allowed",
                    c->spec->steps.items[i].name, task->name, pod.data, pod.len, LABEL_BYTES_MAX);
    }
}

/* Returns an owned reference, or NULL. */
static struct object *template_of(const struct name_check *c, const struct flow_step *step)
{
    return c->adm->get || flow_step_is_inline(step)
               ? jobflow_step_template(c->flow, step, c->adm->get, c->adm->ctx)
               : NULL;
}

static bool has_task(const struct job_spec *job, const char *name)
{
    for (size_t t = 0; t < job->tasks.count; t++)
        if (job->tasks.items[t].name && strcmp(job->tasks.items[t].name, name) == 0)
            return true;
    return false;
}

/* A task without a name in a patch is matched by position (6.4). That needs as many tasks in
 * the patch as in the template, or a template of one task. */
static void check_patch_tasks(struct name_check *c, size_t i, const char *member,
                              const json_t *patch, const struct job_spec *job)
{
    const json_t *tasks = json_object_get(patch, "tasks"), *task;
    size_t count = json_array_size(tasks), t;

    if (job->tasks.count == 1 || job->tasks.count == count)
        return;
    json_array_foreach(tasks, t, task)
    {
        if (!json_object_get(task, "name"))
            FINDING(c->errors, ("spec.flows[%zu].patch.%s.tasks[%zu].name", i, member, t),
                    "Required value: the template has %zu tasks: say which one is patched",
                    job->tasks.count);
    }
}

static void check_patch_names(struct name_check *c, size_t i, const struct job_spec *job)
{
    const struct flow_step *step = &c->spec->steps.items[i];
    scoped(buf) struct buf path = {0};

    if (!step->patch_job_spec && !step->patch_spec)
        return;
    buf_printf(&path, "spec.flows[%zu].patch.jobSpec", i);
    jobflow_check_patch_names(job, step->patch_job_spec, NULL, path.data, c->errors);
    buf_clear(&path);
    buf_printf(&path, "spec.flows[%zu].patch.spec", i);
    jobflow_check_patch_names(job, step->patch_spec, step->patch_job_spec, path.data, c->errors);
}

static void check_template(struct name_check *c, size_t i, const struct object *template)
{
    const struct flow_step *step = &c->spec->steps.items[i];
    const struct job_spec *job = job_spec_of(template);

    check_pod_names(c, i, job);
    check_patch_tasks(c, i, "jobSpec", step->patch_job_spec, job);
    check_patch_tasks(c, i, "spec", step->patch_spec, job);
    check_patch_names(c, i, job);
    if (job->ttl_s.set)
        WARNING(c->adm, ("spec.flows[%zu].%s", i, flow_step_template_member(step)),
                "template %s sets ttlSecondsAfterFinished: the step's job is deleted while the "
                "flow may still run",
                object_name(template));
}

/* A script has one pod, which needs no template to be named. A template whose references stand in
 * the place of numbers is checked when their values are known. */
static void check_inline_names(struct name_check *c, size_t i)
{
    const struct flow_step *step = &c->spec->steps.items[i];
    struct job_task task = {.name = INLINE_TASK_NAME, .replicas = 1};
    const struct job_spec script = {.tasks = {&task, 1}};

    if (step->run && !step->patch_job_spec && !step->patch_spec) {
        check_pod_names(c, i, &script);
    } else if (!flow_refs_in(step->job_template)) {
        scoped(object) struct object *template = jobflow_inline_template(c->flow, step);

        check_template(c, i, template);
    }
}

/* Returns whether the template of any target has the task. A missing template may have it. */
static bool some_target_has(struct name_check *c, const struct flow_depends *depends,
                            const struct name_index *names, const char *task)
{
    for (size_t t = 0; t < depends->targets.count; t++) {
        uint32_t at = name_index_get(names, depends->targets.items[t]);
        scoped(object) struct object *template =
            at == NAME_NONE ? NULL : template_of(c, &c->spec->steps.items[at]);

        if (!template || has_task(job_spec_of(template), task))
            return true;
    }
    return !depends->targets.count;
}

static void warn_probe_tasks(struct name_check *c, size_t i)
{
    const struct flow_depends *depends = c->spec->steps.items[i].depends;
    size_t entries = flow_probe_count(depends->probe);

    if (!c->names.slots)
        jobflow_index_names(c->spec, &c->names, NULL, NULL);
    for (size_t p = 0; p < entries; p++) {
        const struct flow_probe_entry entry = flow_probe_at(depends->probe, p);

        if (entry.task && !some_target_has(c, depends, &c->names, entry.task))
            WARNING(
                c->adm,
                ("spec.flows[%zu].dependsOn.probe.%s[%zu].taskName", i, entry.field, entry.index),
                "no target has a task \"%s\": the probe can never pass", entry.task);
    }
}

static void check_names(struct name_check *c)
{
    name_or_placeholder(c->flow->meta, &c->job);
    buf_char(&c->job, '-');
    c->prefix_len = c->job.len;
    for (size_t i = 0; i < c->spec->steps.count; i++) {
        const struct flow_step *step = &c->spec->steps.items[i];
        bool named = check_job_name(c, i);
        scoped(object) struct object *template =
            flow_step_has_named_template(step) ? template_of(c, step) : NULL;

        if (named && flow_step_is_inline(step))
            check_inline_names(c, i);
        else if (template && named)
            check_template(c, i, template);
        else if (!template && c->adm->get && flow_step_has_named_template(step) && c->adm->warnings)
            FINDING_CODE(
                c->adm->warnings, ERR_NOT_FOUND,
                ("spec.flows[%zu].%s", i, step->template_name ? "jobTemplateName" : "name"),
                "jobtemplate %s does not exist yet: the step waits for it",
                flow_step_template(step));
        if (step->depends && step->depends->probe && c->adm->warnings)
            warn_probe_tasks(c, i);
    }
}

/* Returns whether an update changes an annotation that asks for a rerun. */
static bool asks_anew(const struct object *old, const struct object *flow)
{
    static const char *const keys[] = {ANNOTATION_FLOW_RETRY, ANNOTATION_FLOW_RETRY_FROM,
                                       ANNOTATION_FLOW_RETRY_ONLY, ANNOTATION_FLOW_RETRY_EDITED};

    for (size_t i = 0; i < countof(keys); i++)
        if (jobflow_annotation_changed(old->meta, flow->meta, keys[i]))
            return true;
    return false;
}

void jobflow_validate_in_context(const struct admission *adm, const struct object *old,
                                 const struct object *flow, struct error_list *errors)
{
    struct name_check check = {adm, flow, jobflow_spec_of(flow), errors};

    if (adm->upstream_compat)
        return;
    if (!old || asks_anew(old, flow))
        jobflow_check_rerun(adm, old, flow, errors);
    if (old && old->body == flow->body)
        return;
    if (old)
        jobflow_check_update(adm, old, flow, errors);
    if ((int64_t)check.spec->steps.count <= limits_of(adm)->flow_steps)
        check_names(&check);
    buf_release(&check.job);
    name_index_release(&check.names);
}
