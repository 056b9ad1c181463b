/*
 * Members keep the order in which they were written, so that a second conversion gives the same
 * text.
 */
#include "cli/target/documents.h"

#include <string.h>

#include "api/types/text/doc.h"
#include "base/collections/hash.h"
#include "base/mem.h"
#include "cli/target/flow_check.h"
#include "cli/target/job_normalize.h"

char *documents_step_name(const char *step, int iteration)
{
    return iteration < 0 ? mem_strdup(step) : mem_printf("%s-%d", step, iteration);
}

/* Metadata without what a server or another client has set. Owned. */
static json_t *written_metadata(const json_t *doc)
{
    static const char *const made[] = {"uid",
                                       "resourceVersion",
                                       "generation",
                                       "creationTimestamp",
                                       "deletionTimestamp",
                                       "deletionGracePeriodSeconds",
                                       "selfLink",
                                       "managedFields",
                                       "ownerReferences"};
    json_t *metadata = json_deep_copy(json_object_get(doc, "metadata"));
    json_t *annotations = json_object_get(metadata, "annotations");

    for (size_t i = 0; i < countof(made); i++)
        json_object_del(metadata, made[i]);
    json_object_del(annotations, "kubectl.kubernetes.io/last-applied-configuration");
    if (annotations && !json_object_size(annotations))
        json_object_del(metadata, "annotations");
    return metadata ? metadata : json_object();
}

json_t *documents_other(const json_t *doc)
{
    json_t *copy = json_copy((json_t *)(uintptr_t)doc);

    json_object_set_new(copy, "metadata", written_metadata(doc));
    json_object_del(copy, "status");
    return copy;
}

json_t *documents_job(const json_t *doc)
{
    json_t *copy = documents_other(doc);
    json_t *spec = json_deep_copy(json_object_get(copy, "spec"));

    target_normalize_job(spec);
    json_object_set_new(copy, "spec", spec);
    return copy;
}

json_t *documents_template(const json_t *source, const json_t *flow, const char *name, json_t *spec)
{
    json_t *metadata = written_metadata(source);
    const char *ns = doc_text(flow, "metadata.namespace");

    json_object_del(metadata, "generateName");
    json_object_set_new(metadata, "name", json_string(name));
    if (ns)
        json_object_set_new(metadata, "namespace", json_string(ns));
    else
        json_object_del(metadata, "namespace");
    return json_pack("{s:s, s:s, s:o, s:o}", "apiVersion", kind_api_version(&kind_job_template),
                     "kind", kind_job_template.name, "metadata", metadata, "spec", spec);
}

/* A loop that is written as its steps. */
struct unrolled {
    UT_hash_handle hh;
    const char *name;
    int iterations;
};

static struct unrolled *unrolled_of(const struct jobflow_spec *spec)
{
    struct unrolled *all = NULL, *one;

    for (size_t i = 0; i < spec->steps.count; i++) {
        const struct flow_step *step = &spec->steps.items[i];

        if (!step->loop || !target_loop_unrolls(step->loop))
            continue;
        one = mem_alloc(sizeof *one);
        one->name = step->name;
        one->iterations = (int)flow_loop_iterations(step->loop);
        HASH_ADD_KEYPTR(hh, all, one->name, strlen(one->name), one);
    }
    return all;
}

static void unrolled_free(struct unrolled *all)
{
    struct unrolled *one, *next;

    HASH_ITER(hh, all, one, next)
    {
        HASH_DEL(all, one);
        mem_free(one);
    }
}

/* Returns the number of steps that a loop becomes; -1 = the step is no loop. */
static int iterations_of(struct unrolled *all, const char *name)
{
    struct unrolled *one;

    HASH_FIND_STR(all, name, one);
    return one ? one->iterations : -1;
}

/* Returns the targets of a step; a loop as its steps. Owned. */
static json_t *targets_of(struct unrolled *unrolled, const struct flow_step *step)
{
    json_t *targets = json_array();

    for (size_t t = 0; step->depends && t < step->depends->targets.count; t++) {
        const char *name = step->depends->targets.items[t];
        int n = iterations_of(unrolled, name);

        if (n < 0)
            json_array_append_new(targets, json_string(name));
        for (int i = 0; i < n; i++) {
            scoped_str one = documents_step_name(name, i);

            json_array_append_new(targets, json_string(one));
        }
    }
    return targets;
}

static void add_step(json_t *steps, const char *name, json_t *targets)
{
    json_t *step = json_pack("{s:s}", "name", name);

    if (json_array_size(targets))
        json_object_set_new(step, "dependsOn", json_pack("{s:O}", "targets", targets));
    json_array_append_new(steps, step);
}

static json_t *steps_of(const struct jobflow_spec *spec)
{
    struct unrolled *unrolled = unrolled_of(spec);
    json_t *steps = json_array();

    for (size_t s = 0; s < spec->steps.count; s++) {
        const struct flow_step *step = &spec->steps.items[s];
        scoped(json) json_t *targets = targets_of(unrolled, step);
        int n = iterations_of(unrolled, step->name);

        if (n < 0)
            add_step(steps, step->name, targets);
        for (int i = 0; i < n; i++) {
            scoped_str name = documents_step_name(step->name, i);

            add_step(steps, name, targets);
        }
    }
    unrolled_free(unrolled);
    return steps;
}

json_t *documents_flow(const json_t *flow, const struct jobflow_spec *spec)
{
    json_t *doc = documents_other(flow), *made = json_object(), *member;
    const char *name;

    json_object_foreach(json_object_get(doc, "spec"), name, member)
    {
        if (strcmp(name, "flows") == 0)
            json_object_set_new(made, name, steps_of(spec));
        else if (strcmp(name, "jobRetainPolicy") == 0)
            json_object_set(made, name, member);
    }
    json_object_set_new(doc, "spec", made);
    return doc;
}
