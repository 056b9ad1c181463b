/*
 * Defaults that admission writes into the document of a Job. Ref: spec/job.md 4.2 M1-M10, O-07.
 */
#include <string.h>

#include "api/types/kinds/job/admission.h"

enum { DEFAULT_MAX_RETRY = 3 };

static int64_t number(const json_t *object, const char *member)
{
    return json_integer_value(json_object_get(object, member));
}

static bool is_blank(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));

    return !text || !*text;
}

/* Sets the default of dnsPolicy (rule M5). */
static void default_dns(json_t *task)
{
    json_t *spec = json_object_get(json_object_get(task, "template"), "spec");

    if (json_is_true(json_object_get(spec, "hostNetwork")) && is_blank(spec, "dnsPolicy"))
        json_object_set_new(spec, "dnsPolicy", json_string("ClusterFirstWithHostNet"));
}

/* O-07: when the partition size divides the replicas, it determines the number of partitions. */
static void default_partitions(json_t *task)
{
    json_t *policy = json_object_get(task, "partitionPolicy");
    int64_t size = number(policy, "partitionSize"), replicas = number(task, "replicas");

    if (policy && !json_object_get(policy, "totalPartitions") && size > 0 && replicas > 0 &&
        replicas % size == 0)
        json_object_set_new(policy, "totalPartitions", json_integer(replicas / size));
}

/* Sets minAvailable of the task where it is absent (rule M6). Returns it, because the default of
 * the job's minAvailable is the sum over all tasks (rule M8). */
static int64_t default_min_available(json_t *task)
{
    const json_t *policy = json_object_get(task, "partitionPolicy");
    int64_t groups = number(policy, "minPartitions"), minimum = number(task, "replicas");

    if (json_object_get(task, "minAvailable"))
        return number(task, "minAvailable");
    if (groups > 0)
        minimum = groups * number(policy, "partitionSize");
    json_object_set_new(task, "minAvailable", json_integer(minimum));
    return minimum;
}

static int64_t default_task(json_t *task, size_t position)
{
    if (is_blank(task, "name"))
        json_object_set_new(task, "name", json_sprintf("default%zu", position));
    default_dns(task);
    default_partitions(task);
    if (!number(task, "maxRetry"))
        json_object_set_new(task, "maxRetry", json_integer(DEFAULT_MAX_RETRY));
    return default_min_available(task);
}

void job_normalize(json_t *body)
{
    json_t *task;
    size_t i;

    json_array_foreach(json_object_get(json_object_get(body, "spec"), "tasks"), i, task)
        default_task(task, i);
}

void job_mutate(const struct admission *adm, json_t *body, const struct object *draft)
{
    json_t *spec = json_object_get(body, "spec"), *task;
    int64_t minimum = 0;
    size_t i;

    if (is_blank(spec, "queue"))
        json_object_set_new(spec, "queue", json_string("default"));
    if (is_blank(spec, "schedulerName"))
        json_object_set_new(spec, "schedulerName",
                            json_string(adm->scheduler_name ? adm->scheduler_name : "volcano"));
    if (!number(spec, "maxRetry"))
        json_object_set_new(spec, "maxRetry", json_integer(DEFAULT_MAX_RETRY));
    json_array_foreach(json_object_get(spec, "tasks"), i, task) minimum += default_task(task, i);
    if (!number(spec, "minAvailable"))
        json_object_set_new(spec, "minAvailable", json_integer(minimum));
    /* Rules M9 and M10: plugins imply others. */
    if (adm->plugins && json_object_size(json_object_get(spec, "plugins")) > 0)
        adm->plugins->imply(json_object_get(spec, "plugins"));
}
