/*
 * Checks the content of created jobs: the version of the template, the patch with its references
 * replaced, and the flow's settings for all jobs.
 */
#include "tests/unit.h"

#include "tests/support/flow_walk_impl.h"

static const char *variable_of(const json_t *body, const char *name)
{
    const json_t *task = json_array_get(json_object_get(json_object_get(body, "spec"), "tasks"), 0);
    const json_t *pod = json_object_get(json_object_get(task, "template"), "spec");
    const json_t *env =
        json_object_get(json_array_get(json_object_get(pod, "containers"), 0), "env");
    const json_t *variable;
    size_t i;

    json_array_foreach(env, i, variable)
    {
        if (strcmp(json_string_value(json_object_get(variable, "name")), name) == 0)
            return json_string_value(json_object_get(variable, "value"));
    }
    return NULL;
}

struct walk_template *walk_template_of(struct flow_walk *w, uint32_t step)
{
    return &w->templates[w->flow.steps[step].other];
}

/* Checks the template version. A flow that pins its templates uses one version of each, which
 * existed at some moment since its acceptance; any other flow uses the newest. */
static void check_version(struct flow_walk *w, const struct seen_job *job, const json_t *body)
{
    struct walk_template *template = walk_template_of(w, job->step);
    const char *text = variable_of(body, "V");
    int version = text ? (int)strtol(text, NULL, 10) : 0;

    if (!w->flow.pinned && version != template->version)
        walk_violated(w, "6.3: %s is of version %d, the template of %d", job->name, version,
                      template->version);
    if (w->flow.pinned && template->pinned && version != template->pinned)
        walk_violated(w, "templatePolicy: %s is of version %d, pinned is %d", job->name, version,
                      template->pinned);
    if (w->flow.pinned && (version < template->oldest || version > template->version))
        walk_violated(w, "templatePolicy: %s is of version %d, out of %d to %d", job->name, version,
                      template->oldest, template->version);
    template->pinned = version;
}

/* Checks that the references of the template have their values (DC-26). */
static void check_template_variable(struct flow_walk *w, const struct seen_job *job,
                                    const struct object *object, const json_t *body)
{
    const bool referring = w->flow.referring && w->flow.steps[job->step].other;
    const int source = w->flow.template_output;
    const char *text = variable_of(body, "R");
    scoped(buf) struct buf wanted = {0};

    if (referring)
        gen_template_text(&w->flow, job->step, job->iteration, jobflow_attempt_of(object),
                          source == GEN_NOWHERE ? -1 : w->rules.steps[source].jobs[0].k, &wanted);
    if (referring != (text != NULL) || (text && strcmp(text, wanted.data) != 0))
        walk_violated(w, "DC-26: %s has R=\"%s\" instead of \"%s\"", job->name, text ? text : "",
                      wanted.data ? wanted.data : "");
}

/* Checks that a job consists of its template, its patch and the settings for all jobs (6.3, 13.5,
 * 13.7). */
void walk_check_body(struct flow_walk *w, const struct seen_job *job, const struct object *object)
{
    const struct gen_step *step = &w->flow.steps[job->step];
    scoped(json) json_t *body = object_body_json(object);
    const char *class =
        json_string_value(json_object_get(json_object_get(body, "spec"), "priorityClassName"));
    const char *variable = variable_of(body, "W");
    scoped(buf) struct buf wanted = {0};

    if (step->patched)
        gen_patch_text(&w->flow, job->step, job->iteration,
                       step->output_of == GEN_NOWHERE ? -1
                                                      : w->rules.steps[step->output_of].jobs[0].k,
                       &wanted);
    if (step->patched != (variable != NULL) || (variable && strcmp(variable, wanted.data) != 0))
        walk_violated(w, "6.4: %s has W=\"%s\" instead of \"%s\"", job->name,
                      variable ? variable : "", wanted.data ? wanted.data : "");
    check_version(w, job, body);
    check_template_variable(w, job, object, body);
    if (w->flow.classed != (class && strcmp(class, "high") == 0))
        walk_violated(w, "13.7: %s has the priority class %s", job->name, class ? class : "none");
}
