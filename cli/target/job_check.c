/*
 * The walk that holds a spec against the tables of what Volcano understands.
 */
#include "cli/target/job_check.h"

#include <stdio.h>
#include <string.h>

#include "api/types/kinds/pod/pod.h"
#include "api/types/text/doc.h"
#include "base/mem.h"
#include "cli/target/volcano_since.h"

struct job_check {
    const struct target *target;
    struct error_list *errors, *warnings;
};

/* Reports something that Volcano has since `version`. `what` is how it is called in a message. */
static void report(const struct job_check *check, int version, const char *field, const char *what,
                   const char *way_out)
{
    const struct target *target = check->target;

    if (version == VOLCANO_NEVER)
        error_list_add(check->errors, ERR_INVALID, field, "Volcano has no such %s: %s", what,
                       way_out);
    else if (version > target->newest)
        error_list_add(check->errors, ERR_INVALID, field,
                       "Volcano 1.%d has no such %s, Volcano 1.%d has: %s", target->newest, what,
                       version, way_out);
    else if (version > target->oldest)
        error_list_add(check->warnings, ERR_INVALID, field,
                       "Volcano has this %s since 1.%d: an older one refuses or ignores it", what,
                       version);
}

/* Walks through the members: `word` as in the table, `path` with the positions in lists. */
/* NOLINTNEXTLINE(misc-no-recursion): no deeper than the table */
static void check_members(const struct job_check *check, const json_t *value, const char *word,
                          const char *path)
{
    const json_t *element;
    const char *name;
    json_t *member;
    size_t i;

    json_array_foreach(value, i, element)
    {
        scoped_str at = mem_printf("%s[%zu]", path, i);

        check_members(check, element, word, at);
    }
    json_object_foreach((json_t *)(uintptr_t)value, name, member)
    {
        scoped_str below = mem_printf("%s%s%s", word, *word ? "." : "", name);
        scoped_str at = mem_printf("%s.%s", path, name);
        int version = volcano_since(VOLCANO_MEMBER, below);

        if (version > check->target->oldest)
            report(check, version, at, "field", "leave it out");
        else if (!volcano_is_opaque(below))
            check_members(check, member, below, at);
    }
}

static void check_word(const struct job_check *check, enum volcano_word kind, const json_t *value,
                       const char *path, const char *what)
{
    const char *word = json_string_value(value);

    if (word && *word)
        report(check, volcano_since(kind, word), path, what,
               strcmp(word, "JobUnknown") == 0 ? "write Unknown" : "choose another");
}

static void check_policies(const struct job_check *check, const json_t *policies, const char *path)
{
    const json_t *policy, *event;
    size_t i, k;

    json_array_foreach(policies, i, policy)
    {
        scoped_str action_at = mem_printf("%s[%zu].action", path, i);
        scoped_str event_at = mem_printf("%s[%zu].event", path, i);

        check_word(check, VOLCANO_ACTION, json_object_get(policy, "action"), action_at, "action");
        check_word(check, VOLCANO_EVENT, json_object_get(policy, "event"), event_at, "event");
        json_array_foreach(json_object_get(policy, "events"), k, event)
        {
            scoped_str at = mem_printf("%s[%zu].events[%zu]", path, i, k);

            check_word(check, VOLCANO_EVENT, event, at, "event");
        }
    }
}

/* Returns the flag of a word like --port=22; owned, NULL = the word is a value or nothing. */
static char *argument_of(const char *word)
{
    size_t dashes = strspn(word, "-");

    if (dashes < 1 || dashes > 2 || !word[dashes])
        return NULL;
    return mem_printf("%.*s", (int)strcspn(word + dashes, "="), word + dashes);
}

static void check_arguments(const struct job_check *check, const char *plugin, const json_t *words,
                            const char *path)
{
    const json_t *word;
    size_t i;

    json_array_foreach(words, i, word)
    {
        const char *text = json_string_value(word);
        scoped_str argument = text ? argument_of(text) : NULL;
        scoped_str key = argument ? mem_printf("%s.%s", plugin, argument) : NULL;
        scoped_str what = argument ? mem_printf("argument %s", argument) : NULL;

        if (argument && strcmp(plugin, "env") != 0) /* env takes any and ignores them */
            report(check, volcano_since(VOLCANO_ARGUMENT, key), path, what,
                   "leave it out, for an unknown one makes it ignore all arguments of the plugin");
    }
}

static bool has_task(const json_t *spec, const char *name)
{
    const json_t *task;
    size_t i;

    json_array_foreach(json_object_get(spec, "tasks"), i, task)
    {
        const char *its = doc_text(task, "name");

        if (its && strcmp(its, name) == 0)
            return true;
    }
    return false;
}

/* Volcano's webhook refuses a job of mpi whose workers do not exist; here that is a warning. */
static void check_mpi_worker(const struct job_check *check, const json_t *spec, const json_t *words)
{
    const char *worker = "worker";
    const json_t *word;
    size_t i;

    json_array_foreach(words, i, word)
    {
        const char *text = json_string_value(word);
        scoped_str argument = text ? argument_of(text) : NULL;
        const char *next = json_string_value(json_array_get(words, i + 1));

        if (argument && strcmp(argument, "worker") == 0)
            worker = strchr(text, '=') ? strchr(text, '=') + 1 : next ? next : worker;
    }
    if (!has_task(spec, worker))
        error_list_add(
            check->errors, ERR_INVALID, "spec.plugins[mpi]",
            "Volcano refuses a job without the task \"%s\" of the workers: name another with "
            "--worker=TASK",
            worker);
}

static void check_plugins(const struct job_check *check, const json_t *spec)
{
    json_t *given = json_object_get(spec, "plugins"), *words;
    const char *name;

    json_object_foreach(given, name, words)
    {
        scoped_str path = mem_printf("spec.plugins[%s]", name);
        int version = volcano_since(VOLCANO_PLUGIN, name);

        report(check, version, path, "plugin", "leave it out");
        if (version <= check->target->newest)
            check_arguments(check, name, words, path);
        if (strcmp(name, "mpi") == 0)
            check_mpi_worker(check, spec, words);
    }
}

static void check_containers(const json_t *pod_spec, const char *path, const char *list,
                             struct error_list *errors)
{
    const json_t *container;
    size_t i;

    json_array_foreach(json_object_get(pod_spec, list), i, container)
    {
        const char *image = doc_text(container, "image");
        scoped_str at = mem_printf("%s.%s[%zu].image", path, list, i);

        if (!image || !*image)
            error_list_add(errors, ERR_INVALID, at,
                           "Required value: a cluster runs images: name one");
    }
}

void target_check_images(const json_t *pod_spec, const char *path, struct error_list *errors)
{
    check_containers(pod_spec, path, "initContainers", errors);
    check_containers(pod_spec, path, "containers", errors);
}

static void check_annotations(const struct job_check *check, const json_t *template,
                              const char *path)
{
    static const char *const names[] = {ANNOTATION_SIM_DURATION, ANNOTATION_SIM_EXIT_CODE,
                                        ANNOTATION_SIM_MESSAGE};
    const json_t *annotations =
        json_object_get(json_object_get(template, "metadata"), "annotations");

    for (size_t i = 0; i < countof(names); i++) {
        scoped_str at = mem_printf("%s.metadata.annotations[%s]", path, names[i]);

        if (json_object_get(annotations, names[i]))
            error_list_add(check->warnings, ERR_INVALID, at,
                           "a cluster ignores it: only --runtime sim looks at it");
    }
}

static void check_volumes(const struct job_check *check, const json_t *pod_spec, const char *path)
{
    const json_t *volume;
    size_t i;

    json_array_foreach(json_object_get(pod_spec, "volumes"), i, volume)
    {
        scoped_str at = mem_printf("%s.volumes[%zu].hostPath", path, i);

        if (json_object_get(volume, "hostPath"))
            error_list_add(check->warnings, ERR_INVALID, at,
                           "in a cluster this is the path of whichever node runs the pod");
    }
}

static void check_pods(const struct job_check *check, const json_t *spec)
{
    const json_t *task;
    size_t i;

    json_array_foreach(json_object_get(spec, "tasks"), i, task)
    {
        const json_t *template = json_object_get(task, "template");
        const json_t *pod_spec = json_object_get(template, "spec");
        scoped_str policies = mem_printf("spec.tasks[%zu].policies", i);
        scoped_str path = mem_printf("spec.tasks[%zu].template", i);
        scoped_str pod_path = mem_printf("%s.spec", path);
        scoped_str resources = mem_printf("%s.resources", pod_path);

        target_check_images(pod_spec, pod_path, check->errors);
        check_annotations(check, template, path);
        check_volumes(check, pod_spec, pod_path);
        if (!target_has_volcano_jobs(check->target))
            continue;
        check_policies(check, json_object_get(task, "policies"), policies);
        if (json_object_get(pod_spec, "resources"))
            report(check, 12, resources, "field", "write the resources of the containers");
    }
}

/* Checks what kube-scheduler and a cluster without Volcano do not look at. */
static void check_without_volcano(const struct job_check *check, const json_t *spec)
{
    const char *scheduler = doc_text(spec, "schedulerName"), *queue = doc_text(spec, "queue");

    if (scheduler && *scheduler && strcmp(scheduler, "default-scheduler") != 0)
        error_list_add(check->warnings, ERR_INVALID, "spec.schedulerName",
                       "mode kube has no %s: the pods get default-scheduler (SchedulerReplaced)",
                       scheduler);
    if (queue && *queue && strcmp(queue, "default") != 0)
        error_list_add(check->warnings, ERR_INVALID, "spec.queue",
                       "mode kube has no queues: the job waits for none (QueueIgnored)");
    if (json_object_get(spec, "networkTopology"))
        error_list_add(check->warnings, ERR_INVALID, "spec.networkTopology",
                       "mode kube has no such rule: kube-scheduler ignores it");
}

void target_check_job(const struct target *target, const json_t *spec, struct error_list *errors,
                      struct error_list *warnings)
{
    const struct job_check check = {target, errors, warnings};

    if (target_has_volcano_jobs(target)) {
        check_members(&check, spec, "", "spec");
        check_policies(&check, json_object_get(spec, "policies"), "spec.policies");
        check_plugins(&check, spec);
    }
    check_pods(&check, spec);
    if (target->cluster && target->mode == CLUSTER_KUBE)
        check_without_volcano(&check, spec);
}
