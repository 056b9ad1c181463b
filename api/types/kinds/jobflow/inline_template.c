/*
 * Writes the short form of a step out as a template.
 *
 * A container replaces $(NAME) in its command, and $$ by $. Each $ of a script is doubled, so that
 * the shell gets the script byte for byte, here and in a cluster.
 */
#include "api/types/kinds/jobflow/inline_template.h"

#include <string.h>

#include "api/types/kinds/jobflow/admission.h"
#include "api/types/schema/flow_reference.h"
#include "api/types/text/json_text.h"
#include "base/encoding/jsonw.h"
#include "base/mem.h"

/* Returns the body of the template of a script; owned. It is written as text, because a flow may have
 * very many scripts. */
static struct blob *script_body(const struct flow_step *step)
{
    scoped(buf) struct buf script = {0}, body = {0}, env = {0};
    struct jsonw w = jsonw_to(&body);

    flow_ref_quote(step->run, strlen(step->run), &script);
    buf_str(&body, "{\"spec\":{\"tasks\":[{\"name\":\"" INLINE_TASK_NAME
                   "\",\"replicas\":1,\"template\":{\"spec\":{\"restartPolicy\":\"Never\","
                   "\"containers\":[");
    jsonw_open(&w);
    jsonw_member_str(&w, "name", INLINE_TASK_NAME);
    jsonw_member_open_list(&w, "command");
    jsonw_str(&w, "/bin/sh");
    jsonw_str(&w, "-ec");
    jsonw_strn(&w, script.data, script.len);
    jsonw_close_list(&w);
    jsonw_member_str_opt(&w, "image", step->image);
    if (step->env) {
        json_text(step->env, &env);
        jsonw_member_raw(&w, "env", env.data, env.len);
    }
    jsonw_close(&w);
    buf_str(&body, "]}}}]}}");
    return blob_intern(body.data, body.len);
}

/* Returns a task (owned) with one replica and restartPolicy Never where it says nothing else. */
static json_t *task_with_defaults(const json_t *task)
{
    const json_t *template = json_object_get(task, "template");
    const json_t *pod = json_object_get(template, "spec");
    json_t *out = json_copy((json_t *)(uintptr_t)task);

    if (!json_object_get(task, "replicas"))
        json_object_set_new(out, "replicas", json_integer(1));
    if (json_is_object(pod) && !json_object_get(pod, "restartPolicy")) {
        json_t *own_template = json_copy((json_t *)(uintptr_t) template);
        json_t *own_pod = json_copy((json_t *)(uintptr_t)pod);

        json_object_set_new(own_pod, "restartPolicy", json_string("Never"));
        json_object_set_new(own_template, "spec", own_pod);
        json_object_set_new(out, "template", own_template);
    }
    return out;
}

static json_t *template_spec(const json_t *spec)
{
    json_t *out = json_is_object(spec) ? json_copy((json_t *)(uintptr_t)spec) : json_object();
    const json_t *tasks = json_object_get(spec, "tasks"), *task;
    size_t i;

    if (json_is_array(tasks)) {
        json_t *own = json_array();

        json_array_foreach(tasks, i, task) json_array_append_new(own, task_with_defaults(task));
        json_object_set_new(out, "tasks", own);
    }
    return out;
}

/* Reads a map of texts. The texts are borrowed from `map`; the list is owned. */
static struct kv *texts_of(const json_t *map, uint32_t *out_count)
{
    struct kv *list = mem_array(json_object_size(map) + 1, sizeof *list);
    const char *key;
    json_t *value;

    *out_count = 0;
    json_object_foreach((json_t *)(uintptr_t)map, key, value)
    {
        if (json_is_string(value))
            list[(*out_count)++] = (struct kv){key, json_string_value(value)};
    }
    return list;
}

static struct meta *meta_of(const struct object *flow, const struct flow_step *step)
{
    const json_t *metadata = json_object_get(step->job_template, "metadata");
    scoped_str name = mem_printf("%s-%s", object_name(flow), step->name);
    struct meta draft = {
        .namespace = object_namespace(flow),
        .name = name,
        .uid = "",
        .deletion_grace_s = -1,
    };
    struct kv *labels = texts_of(json_object_get(metadata, "labels"), &draft.n_labels);
    struct kv *annotations =
        texts_of(json_object_get(metadata, "annotations"), &draft.n_annotations);
    struct meta *meta;

    draft.labels = labels;
    draft.annotations = annotations;
    meta = meta_new(&draft);
    mem_free(labels);
    mem_free(annotations);
    return meta;
}

const char *flow_step_template_member(const struct flow_step *step)
{
    if (step->job_template)
        return "jobTemplate";
    if (step->run)
        return "run";
    return step->template_name ? "jobTemplateName" : "name";
}

static struct blob *template_body(const struct flow_step *step)
{
    scoped(json) json_t *members = json_object();

    json_object_set_new(members, "spec",
                        template_spec(json_object_get(step->job_template, "spec")));
    return object_body_from_json(members);
}

struct object *jobflow_inline_template(const struct object *flow, const struct flow_step *step)
{
    return object_new(&kind_job_template, meta_of(flow, step),
                      step->run ? script_body(step) : template_body(step), NULL);
}

struct object *jobflow_step_template(const struct object *flow, const struct flow_step *step,
                                     jobflow_pin_get *get, void *ctx)
{
    if (flow_step_is_inline(step))
        return jobflow_inline_template(flow, step);
    return object_ref(jobflow_template(flow, flow_step_template(step), get, ctx));
}
