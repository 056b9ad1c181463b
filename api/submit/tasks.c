/*
 * The tasks of an item: one for a podSpec, one for each subset of a podGroupSpec.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "api/submit/item.h"
#include "api/types/labels.h"
#include "base/mem.h"

enum { SUBSETS_MAX = 64, ROLE_MAX = 24, MEMBERS_MAX = 1000000, POD_SPEC_MAX = 65535 };

/* The variables that every container gets. Those that name the job come from the pod's own labels
 * and annotations, so that jobs of one shape share one body. */
static const struct {
    const char *name, *path; /* path NULL: the value is the queue or the role */
    bool queue;
} variables[] = {
    {"JOB_ID", "metadata.labels['" LABEL_JOB_ID "']"},
    {"JOB_SET_ID", "metadata.annotations['" ANNOTATION_JOB_SET "']"},
    {"JOB_INDEX", "metadata.labels['volcano.sh/task-index']"},
    {"JOB_QUEUE", NULL, true},
    {"JOB_ROLE", NULL},
    {"ARMADA_JOB_ID", "metadata.labels['" LABEL_JOB_ID "']"},
    {"ARMADA_JOB_SET_ID", "metadata.annotations['" ANNOTATION_JOB_SET "']"},
    {"ARMADA_QUEUE", NULL, true},
};

static bool has_variable(const json_t *env, const char *name)
{
    json_t *entry;
    size_t i;

    json_array_foreach(env, i, entry)
    {
        if (strcmp(submit_text_at(entry, "name"), name) == 0)
            return true;
    }
    return false;
}

/* Adds one variable that is text, unless the user sets it. */
static void add_variable(const json_t *env, json_t *name, json_t *value, json_t *out)
{
    if (!has_variable(env, json_string_value(name)))
        json_array_append_new(out, json_pack("{s:O, s:O}", "name", name, "value", value));
    json_decref(name);
    json_decref(value);
}

/* Adds the variables JOB_SERVICE_<n>_NAME and JOB_SERVICE_<n>_PORT for each Service of the item; the
 * port is its first. A Service that the request does not name gets a name with the job's id in it,
 * so the value refers to the variable JOB_ID, which the kubelet replaces. */
static void add_service_variables(const struct submit_item *item, const json_t *env, json_t *out)
{
    const json_t *list = json_object_get(item->doc, "objects");
    int number = 0;

    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *service = json_object_get(json_array_get(list, i), "service");
        const char *name = submit_text_at(service, "name");
        const json_t *port = json_array_get(json_object_get(service, "ports"), 0);

        if (!service)
            continue;
        add_variable(env, json_sprintf("JOB_SERVICE_%d_NAME", number),
                     *name ? json_string(name)
                           : json_sprintf(SUBMIT_JOB_NAME_PREFIX "$(JOB_ID)-%zu", i),
                     out);
        add_variable(env, json_sprintf("JOB_SERVICE_%d_PORT", number),
                     json_sprintf("%lld", (long long)json_integer_value(port)), out);
        number++;
    }
}

/* Returns the variables of a container: ours that the user does not set, then the user's, which may
 * refer to ours. Owned. */
static json_t *with_variables(const struct submit_item *item, const json_t *env, const char *role)
{
    json_t *out = json_array();

    for (size_t i = 0; i < countof(variables); i++) {
        json_t *entry;

        if (has_variable(env, variables[i].name))
            continue;
        entry = json_pack("{s:s}", "name", variables[i].name);
        if (variables[i].path)
            json_object_set_new(entry, "valueFrom",
                                json_pack("{s:{s:s}}", "fieldRef", "fieldPath", variables[i].path));
        else
            json_object_set_new(entry, "value",
                                json_string(variables[i].queue ? item->ctx->queue : role));
        json_array_append_new(out, entry);
    }
    add_service_variables(item, env, out);
    if (json_is_array(env))
        json_array_extend(out, (json_t *)(uintptr_t)env);
    return out;
}

static void add_variables(const struct submit_item *item, json_t *pod_spec, const char *role)
{
    static const char *const lists[] = {"initContainers", "containers"};

    for (size_t l = 0; l < countof(lists); l++) {
        json_t *container;
        size_t i;

        json_array_foreach(json_object_get(pod_spec, lists[l]), i, container)
        {
            if (json_is_object(container))
                json_object_set_new(container, "env",
                                    with_variables(item, json_object_get(container, "env"), role));
        }
    }
}

static void check_restart(const struct submit_item *item, json_t *pod_spec, const char *field,
                          bool keep_alive)
{
    const char *policy = submit_text_at(pod_spec, "restartPolicy");
    bool once = json_is_true(json_object_get(item->doc, "atMostOnce"));
    scoped_str at = mem_printf("%s.restartPolicy", field);

    if (!*policy)
        json_object_set_new(pod_spec, "restartPolicy",
                            json_string(keep_alive ? "Always" : "Never"));
    else if (strcmp(policy, "Always") == 0 && !keep_alive)
        submit_item_problem(item, "RestartPolicy", at,
                            "must be Never or OnFailure: only a subset that is kept alive may have "
                            "Always");
    else if (strcmp(policy, "OnFailure") == 0 && once)
        submit_item_problem(item, "RestartPolicy", at, "must be Never, because of atMostOnce");
}

/* Returns the task of a pod spec (owned), with its problems reported at `field`. It is empty when
 * there is no pod spec of an accepted size. */
static json_t *task_of(const struct submit_item *item, const json_t *pod_spec, const char *field,
                       const char *role, bool keep_alive)
{
    json_t *spec;

    if (!json_is_object(pod_spec)) {
        submit_item_problem(item, pod_spec ? "WrongType" : "Required", field, "must be a pod spec");
        return json_object();
    }
    if (json_dumpb(pod_spec, NULL, 0, JSON_COMPACT) > POD_SPEC_MAX) {
        submit_item_problem(item, "PodSpecTooLarge", field, "must have at most %d bytes",
                            POD_SPEC_MAX);
        return json_object();
    }
    spec = json_deep_copy(pod_spec);
    check_restart(item, spec, field, keep_alive);
    add_variables(item, spec, role);
    return json_pack("{s:s, s:{s:o}}", "name", role, "template", "spec", spec);
}

static void set_size(json_t *task, int64_t replicas, int64_t minimum)
{
    json_object_set_new(task, "replicas", json_integer(replicas));
    json_object_set_new(task, "minAvailable", json_integer(minimum));
}

/* A subset while it is checked. */
struct subset {
    const json_t *doc;
    char path[64]; /* mainObject.podGroupSpec.subsets[i] */
    const char *role;
    int64_t min, max;
    bool keep_alive;
};

static void subset_problem(const struct submit_item *item, const struct subset *subset,
                           const char *reason, const char *key, const char *message)
{
    scoped_str field = mem_printf("%s.%s", subset->path, key);

    submit_item_problem(item, reason, field, "%s", message);
}

static void read_members(const struct submit_item *item, struct subset *subset)
{
    const json_t *doc = subset->doc;
    bool has_min = json_object_get(doc, "minMember"), has_max = json_object_get(doc, "maxMember");

    subset->min = subset->max = 1;
    if (!submit_number(doc, "minMember", 0, MEMBERS_MAX, &subset->min)) {
        subset_problem(item, subset, "MinMemberRange", "minMember",
                       "must be a whole number from 0 to 1000000");
        return;
    }
    if (!submit_number(doc, "maxMember", 1, MEMBERS_MAX, &subset->max)) {
        subset_problem(item, subset, "MaxMemberRange", "maxMember",
                       "must be a whole number from 1 to 1000000");
        return;
    }
    if (!has_max)
        subset->max = subset->min;
    if (!has_min)
        subset->min = subset->max;
    if (has_max && subset->max < subset->min)
        subset_problem(item, subset, "MaxMemberRange", "maxMember",
                       "must not be smaller than minMember");
}

static struct subset read_subset(const struct submit_item *item, const json_t *doc, size_t i,
                                 size_t count)
{
    struct subset out = {.doc = doc,
                         .role = submit_text_at(doc, "role"),
                         .keep_alive = json_is_true(json_object_get(doc, "keepAlive"))};
    struct error err = {0};

    snprintf(out.path, sizeof out.path, "mainObject.podGroupSpec.subsets[%zu]", i);
    if (!*out.role && count == 1)
        out.role = "main";
    if (!*out.role)
        subset_problem(item, &out, "RoleRequired", "role",
                       "is required where there are several subsets");
    else if (strlen(out.role) > ROLE_MAX || !name_is_dns_label(out.role, &err))
        subset_problem(item, &out, "BadName", "role",
                       "must be a DNS label of at most 24 characters");
    read_members(item, &out);
    return out;
}

/* Returns the pod spec of a subset's template. A template is either a pod spec itself, or an object
 * with the members metadata and spec. */
static const json_t *pod_spec_of(const json_t *template)
{
    const json_t *spec = json_object_get(template, "spec");

    return spec ? spec : template;
}

static const struct subset *find_role(const struct subset *subsets, size_t count, const char *role)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(subsets[i].role, role) == 0)
            return &subsets[i];
    return NULL;
}

/* What a search by depth knows of a subset. */
enum mark { UNSEEN, SEARCHING, SEARCHED };

/* Reports the circles that are reached from a subset. O(names of dependsOn * count) for all. */
static void find_circles(const struct submit_item *item, const struct subset *subsets, size_t count,
                         size_t at, enum mark *marks)
{
    json_t *name;
    size_t i;

    marks[at] = SEARCHING;
    json_array_foreach(json_object_get(subsets[at].doc, "dependsOn"), i, name)
    {
        const struct subset *next = find_role(subsets, count, json_string_value(name));

        if (next && marks[next - subsets] == SEARCHING) {
            subset_problem(item, &subsets[at], "RoleCycle", "dependsOn",
                           "the subset depends on itself");
            break;
        }
        if (next && marks[next - subsets] == UNSEEN)
            find_circles(item, subsets, count, (size_t)(next - subsets), marks);
    }
    marks[at] = SEARCHED;
}

/* Bounds the names that each subset depends on. */
static bool check_depends(const struct submit_item *item, const struct subset *subsets,
                          size_t count)
{
    bool ok = true;

    for (size_t i = 0; i < count; i++)
        if (json_array_size(json_object_get(subsets[i].doc, "dependsOn")) > SUBSETS_MAX) {
            subset_problem(item, &subsets[i], "TooMany", "dependsOn", "must have at most 64 names");
            ok = false;
        }
    return ok;
}

/* Roles are unique, and dependsOn names others without a circle. */
static void check_roles(const struct submit_item *item, const struct subset *subsets, size_t count)
{
    enum mark marks[SUBSETS_MAX] = {UNSEEN};

    if (!check_depends(item, subsets, count))
        return;
    for (size_t i = 0; i < count; i++) {
        json_t *name;
        size_t k;

        if (*subsets[i].role && find_role(subsets, i, subsets[i].role))
            subset_problem(item, &subsets[i], "DuplicateRole", "role", "another subset has it");
        json_array_foreach(json_object_get(subsets[i].doc, "dependsOn"), k, name)
        {
            const struct subset *target = find_role(subsets, count, json_string_value(name));

            if (!target)
                subset_problem(item, &subsets[i], "UnknownRole", "dependsOn",
                               "names a role that no subset has");
            else if (subsets[i].keep_alive && !target->keep_alive)
                subset_problem(item, &subsets[i], "RoleCycle", "dependsOn",
                               "a subset that is kept alive starts before all others");
        }
        if (marks[i] == UNSEEN)
            find_circles(item, subsets, count, i, marks);
    }
}

static void check_coordinator(struct submit_item *item, const json_t *group,
                              const struct subset *subsets, size_t count)
{
    const char *given = json_string_value(json_object_get(group, "coordinator"));
    const struct subset *found = find_role(subsets, count, given ? given : "coordinator");

    if (given && (!found || found->keep_alive))
        submit_item_problem(item, "UnknownRole", "mainObject.podGroupSpec.coordinator",
                            found ? "the subset is kept alive" : "no subset has the role \"%s\"",
                            given);
    item->coordinator = found && !found->keep_alive ? found->role : NULL;
}

static json_t *subset_task(const struct submit_item *item, const struct subset *subset)
{
    const json_t *template = json_object_get(subset->doc, "template");
    const json_t *depends = json_object_get(subset->doc, "dependsOn");
    scoped_str field =
        mem_printf("%s.template%s", subset->path, json_object_get(template, "spec") ? ".spec" : "");
    json_t *task = task_of(item, template ? pod_spec_of(template) : NULL, field, subset->role,
                           subset->keep_alive);

    if (json_object_get(template, "spec") && json_object_get(template, "metadata"))
        json_object_set(json_object_get(task, "template"), "metadata",
                        json_object_get(template, "metadata"));
    set_size(task, subset->max, subset->min);
    if (json_array_size(depends) > 0)
        json_object_set_new(task, "dependsOn", json_pack("{s:O}", "name", depends));
    if (item->coordinator && strcmp(item->coordinator, subset->role) == 0)
        json_object_set_new(task, "policies",
                            json_pack("[{s:s, s:s}, {s:s, s:s}]", "event", "TaskCompleted",
                                      "action", "CompleteJob", "event", "PodFailed", "action",
                                      "TerminateJob"));
    return task;
}

static void add_group(struct submit_item *item, const json_t *group)
{
    const json_t *list = json_object_get(group, "subsets");
    size_t count = json_array_size(list);
    struct subset subsets[SUBSETS_MAX];
    bool mandatory = false;
    int64_t timeout = 0;

    if (count < 1 || count > SUBSETS_MAX) {
        submit_item_problem(item, count ? "MinMemberRange" : "Required",
                            "mainObject.podGroupSpec.subsets", "must have 1 to %d entries",
                            SUBSETS_MAX);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        subsets[i] = read_subset(item, json_array_get(list, i), i, count);
        mandatory = mandatory || (!subsets[i].keep_alive && subsets[i].min > 0);
        if (subsets[i].keep_alive)
            json_array_append_new(item->companions, json_string(subsets[i].role));
    }
    if (!mandatory)
        submit_item_problem(item, "NoMandatoryMember", "mainObject.podGroupSpec.subsets",
                            "at least one subset that is not kept alive must have a minMember of 1 "
                            "or more");
    check_roles(item, subsets, count);
    check_coordinator(item, group, subsets, count);
    if (json_object_get(group, "minResources"))
        submit_item_problem(item, "Unsupported", "mainObject.podGroupSpec.minResources",
                            "is worked out from the requests of the pods: leave it out");
    if (!submit_number(group, "scheduleTimeoutSeconds", 0, INT32_MAX, &timeout))
        submit_item_problem(item, "LifetimeRange", "mainObject.podGroupSpec.scheduleTimeoutSeconds",
                            "must be a whole number of seconds");
    else if (timeout > 0)
        submit_problem(item->ctx->warnings, "Unsupported",
                       "mainObject.podGroupSpec.scheduleTimeoutSeconds",
                       "is not acted upon: a gang is admitted whole in one moment");
    for (size_t i = 0; i < count; i++)
        json_array_append_new(item->tasks, subset_task(item, &subsets[i]));
}

void submit_item_tasks(struct submit_item *item)
{
    const json_t *main = json_object_get(item->doc, "mainObject");
    const json_t *pod = json_object_get(main, "podSpec");
    const json_t *group = json_object_get(main, "podGroupSpec");
    json_t *task;

    if ((pod != NULL) == (group != NULL)) {
        submit_item_problem(item, "OneOf", "mainObject",
                            "exactly one of podSpec and podGroupSpec is required");
        return;
    }
    if (group) {
        add_group(item, group);
        return;
    }
    task = task_of(item, pod, "mainObject.podSpec", "main", false);
    set_size(task, 1, 1);
    json_array_append_new(item->tasks, task);
}
