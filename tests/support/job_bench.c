/*
 * Builds pods of a job without a cluster and prints parts of them for tests of plugins.
 */
#include "tests/support/job_bench.h"
#include "tests/unit.h"

#include "api/types/kinds/job/job.h"
#include "tests/support/manifest.h"

struct job_bench job_bench_new(const char *yaml)
{
    struct job_bench bench = {job_spec_cache_new(NULL), manifest_raw(yaml)};

    job_model_init(&bench.model, bench.job, job_compiled_spec_get(bench.cache, bench.job), NULL);
    return bench;
}

void job_bench_free(struct job_bench *bench)
{
    job_model_release(&bench->model);
    job_spec_cache_free(bench->cache);
    object_unref(bench->job);
    mem_free(bench->text);
}

json_t *job_bench_pod(struct job_bench *bench, const char *task, int32_t index)
{
    int32_t at = job_compiled_task_at(bench->model.compiled, task);
    scoped(object) struct object *pod = NULL;
    json_t *doc;

    check(task, at >= 0);
    pod = job_pod_build(&bench->model, (struct slot_id){(uint32_t)at, index});
    doc = object_to_json(pod);
    return doc;
}

const json_t *job_bench_container(const json_t *pod, const char *name)
{
    static const char *const lists[] = {"containers", "initContainers"};
    json_t *spec = json_object_get(pod, "spec"), *container;
    size_t i;

    for (size_t l = 0; l < countof(lists); l++)
        json_array_foreach(json_object_get(spec, lists[l]), i, container)
        {
            if (strcmp(json_string_value(json_object_get(container, "name")), name) == 0)
                return container;
        }
    return NULL;
}

static const char *text_member(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

static const char *keep(struct job_bench *bench, struct buf *text)
{
    mem_free(bench->text);
    bench->text = buf_take(text);
    return bench->text;
}

static const json_t *list_of(const json_t *pod, const char *container, const char *key)
{
    const json_t *found = job_bench_container(pod, container);

    if (!found)
        check_fail("no container %s", container);
    return json_object_get(found, key);
}

const char *job_bench_env(struct job_bench *bench, const json_t *pod, const char *container)
{
    struct buf text = {0};
    size_t i;
    json_t *entry;

    json_array_foreach(list_of(pod, container, "env"), i, entry)
    {
        const json_t *ref = json_object_get(json_object_get(entry, "valueFrom"), "configMapKeyRef");

        buf_printf(&text, "%s%s=", i ? " " : "", text_member(entry, "name"));
        if (ref)
            buf_printf(&text, "<%s/%s>", text_member(ref, "name"), text_member(ref, "key"));
        else
            buf_str(&text, text_member(entry, "value"));
    }
    return keep(bench, &text);
}

const char *job_bench_ports(struct job_bench *bench, const json_t *pod, const char *container)
{
    struct buf text = {0};
    size_t i;
    json_t *entry;

    json_array_foreach(list_of(pod, container, "ports"), i, entry)
        buf_printf(&text, "%s%lld:%s", i ? " " : "",
                   (long long)json_integer_value(json_object_get(entry, "containerPort")),
                   text_member(entry, "name"));
    return keep(bench, &text);
}

const char *job_bench_mounts(struct job_bench *bench, const json_t *pod, const char *container)
{
    struct buf text = {0};
    size_t i;
    json_t *entry;

    json_array_foreach(list_of(pod, container, "volumeMounts"), i, entry)
    {
        const char *sub = text_member(entry, "subPath");

        buf_printf(&text, "%s%s%s%s:%s", i ? " " : "", text_member(entry, "name"), *sub ? "/" : "",
                   sub, text_member(entry, "mountPath"));
    }
    return keep(bench, &text);
}

const char *job_bench_value(const json_t *pod, const char *container, const char *variable)
{
    const char *value = NULL;
    size_t i;
    json_t *entry;

    json_array_foreach(list_of(pod, container, "env"), i, entry)
    {
        if (strcmp(text_member(entry, "name"), variable) == 0)
            value = json_string_value(json_object_get(entry, "value"));
    }
    return value;
}
