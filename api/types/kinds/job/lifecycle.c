/*
 * Reads and checks the annotations that say how long a job lives. A job without annotations below
 * SUBMIT_PREFIX costs one comparison an annotation.
 */
#include "api/types/kinds/job/lifecycle.h"

#include <stdlib.h>
#include <string.h>

#include "api/types/checks.h"

enum {
    LIFETIME_MAX_S = 1000000000, /* 31 years: it fits into every timer */
    COMPANIONS_MAX = 4096,       /* bytes of the list of companions */
};

/* Reads a decimal number of at most `max`, with nothing around it. */
static bool parse_number(const char *text, uint64_t max, uint64_t *out)
{
    uint64_t value = 0;

    if (!text || !*text)
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return false;
        value = value * 10 + (uint64_t)(*text - '0');
        if (value > max)
            return false;
    }
    *out = value;
    return true;
}

/* Takes the next name of a list that commas separate. Spaces around it do not count. */
static bool next_name(const char **at, const char **name, size_t *len)
{
    if (!*at)
        return false;
    *name = *at + strspn(*at, " ");
    *len = strcspn(*name, ",");
    *at = (*name)[*len] ? *name + *len + 1 : NULL;
    while (*len > 0 && (*name)[*len - 1] == ' ')
        (*len)--;
    return true;
}

static bool list_has(const char *list, const char *task)
{
    const char *name;
    size_t len, wanted = strlen(task);

    while (next_name(&list, &name, &len))
        if (len == wanted && memcmp(name, task, len) == 0)
            return true;
    return false;
}

bool job_is_companion(const struct meta *meta, const char *task)
{
    return list_has(meta_annotation(meta, ANNOTATION_KEEP_ALIVE), task ? task : "");
}

static bool is_text(const struct meta *meta, const char *key, const char *text)
{
    const char *value = meta_annotation(meta, key);

    return value && strcmp(value, text) == 0;
}

static size_t count_companions(const struct meta *meta, const struct job_spec *spec)
{
    size_t count = 0;

    for (size_t t = 0; t < spec->tasks.count; t++)
        count += job_is_companion(meta, spec->tasks.items[t].name);
    return count;
}

static bool has_any(const struct meta *meta)
{
    for (uint32_t i = 0; i < meta->n_annotations; i++)
        if (strncmp(meta->annotations[i].key, SUBMIT_PREFIX, strlen(SUBMIT_PREFIX)) == 0)
            return true;
    return false;
}

struct job_lifecycle job_lifecycle_of(const struct meta *meta, const struct job_spec *spec)
{
    struct job_lifecycle out = {0};
    uint64_t seconds;
    size_t companions;

    if (!has_any(meta))
        return out;
    companions = count_companions(meta, spec);
    out.has_companions = companions > 0 && companions < spec->tasks.count;
    if (parse_number(meta_annotation(meta, ANNOTATION_LIFETIME), LIFETIME_MAX_S, &seconds))
        out.lifetime_s = (int64_t)seconds;
    out.at_most_once = is_text(meta, ANNOTATION_AT_MOST_ONCE, "true");
    out.fails_below_minimum = is_text(meta, ANNOTATION_BELOW_MIN, "fail");
    out.fails_on_preempt = job_asks_for_eviction_reason(meta);
    return out;
}

bool job_asks_for_eviction_reason(const struct meta *meta)
{
    return meta->n_annotations > 0 && (is_text(meta, ANNOTATION_ON_PREEMPT, "fail") ||
                                       is_text(meta, ANNOTATION_AT_MOST_ONCE, "true"));
}

uint32_t job_queue_priority(const struct meta *meta)
{
    uint64_t value = 0;

    if (meta->n_annotations == 0 ||
        !parse_number(meta_annotation(meta, ANNOTATION_PRIORITY), UINT32_MAX, &value))
        return 0;
    return (uint32_t)value;
}

/* The values that an annotation takes. */
struct rule {
    const char *key;
    const char *texts[2]; /* the texts it may have; none: a number */
    uint64_t max;         /* greatest number */
};

static const struct rule rules[] = {
    {ANNOTATION_LIFETIME, {NULL}, LIFETIME_MAX_S},
    {ANNOTATION_PRIORITY, {NULL}, UINT32_MAX},
    {ANNOTATION_AT_MOST_ONCE, {"true", "false"}, 0},
    {ANNOTATION_ON_PREEMPT, {"requeue", "fail"}, 0},
    {ANNOTATION_BELOW_MIN, {"ignore", "fail"}, 0},
};

static void check_value(const struct rule *rule, const char *value, struct error_list *errors)
{
    uint64_t number;

    if (rule->texts[0]) {
        if (strcmp(value, rule->texts[0]) != 0 && strcmp(value, rule->texts[1]) != 0)
            FINDING(errors, ("metadata.annotations[%s]", rule->key),
                    "Unsupported value: \"%s\": supported values: \"%s\", \"%s\"", value,
                    rule->texts[0], rule->texts[1]);
    } else if (!parse_number(value, rule->max, &number)) {
        FINDING(errors, ("metadata.annotations[%s]", rule->key),
                "Invalid value: \"%s\": must be a whole number from 0 to %llu", value,
                (unsigned long long)rule->max);
    }
}

static bool has_task(const struct job_spec *spec, const char *name, size_t len)
{
    for (size_t t = 0; t < spec->tasks.count; t++)
        if (spec->tasks.items[t].name && strlen(spec->tasks.items[t].name) == len &&
            memcmp(spec->tasks.items[t].name, name, len) == 0)
            return true;
    return false;
}

/* Companions start before all other tasks, so that they cannot wait for one of those. */
static void check_order(const struct meta *meta, const struct job_task *task,
                        struct error_list *errors)
{
    for (size_t i = 0; i < task->depends_on.count; i++)
        if (!job_is_companion(meta, task->depends_on.items[i]))
            FINDING(errors, ("metadata.annotations[%s]", ANNOTATION_KEEP_ALIVE),
                    "task %s cannot be kept alive: it depends on task %s, which is not kept alive",
                    task->name, task->depends_on.items[i]);
}

static void check_companions(const struct meta *meta, const struct job_spec *spec,
                             struct error_list *errors)
{
    const char *list = meta_annotation(meta, ANNOTATION_KEEP_ALIVE), *at = list, *name;
    size_t len;

    if (!list)
        return;
    if (strlen(list) > COMPANIONS_MAX) {
        FINDING(errors, ("metadata.annotations[%s]", ANNOTATION_KEEP_ALIVE),
                "Too long: must have at most %d bytes", COMPANIONS_MAX);
        return;
    }
    while (next_name(&at, &name, &len)) {
        if (!has_task(spec, name, len))
            FINDING(errors, ("metadata.annotations[%s]", ANNOTATION_KEEP_ALIVE),
                    "Invalid value: \"%s\": the job has no task \"%.*s\"", list, (int)len, name);
    }
    for (size_t t = 0; t < spec->tasks.count; t++)
        if (job_is_companion(meta, spec->tasks.items[t].name))
            check_order(meta, &spec->tasks.items[t], errors);
    if (count_companions(meta, spec) == spec->tasks.count)
        FINDING(errors, ("metadata.annotations[%s]", ANNOTATION_KEEP_ALIVE),
                "Invalid value: \"%s\": at least one task must not be kept alive, because the job "
                "ends when its other tasks have ended",
                list);
    if (is_text(meta, ANNOTATION_AT_MOST_ONCE, "true"))
        FINDING(errors, ("metadata.annotations[%s]", ANNOTATION_KEEP_ALIVE),
                "cannot be combined with %s: a task that is kept alive is started again",
                ANNOTATION_AT_MOST_ONCE);
}

/* Reports the policies that would start pods again. */
static void check_policies_once(const struct job_policy_list *policies, struct error_list *errors)
{
    for (size_t i = 0; i < policies->count; i++)
        if (policies->items[i].action && strncmp(policies->items[i].action, "Restart", 7) == 0)
            FINDING(errors, ("metadata.annotations[%s]", ANNOTATION_AT_MOST_ONCE),
                    "cannot be combined with a policy of action %s, which starts pods again",
                    policies->items[i].action);
}

static void check_once(const struct meta *meta, const struct job_spec *spec,
                       struct error_list *errors)
{
    if (!is_text(meta, ANNOTATION_AT_MOST_ONCE, "true"))
        return;
    if (is_text(meta, ANNOTATION_ON_PREEMPT, "requeue"))
        FINDING(
            errors, ("metadata.annotations[%s]", ANNOTATION_ON_PREEMPT),
            "Invalid value: \"requeue\": a preempted job that runs at most once cannot run again");
    check_policies_once(&spec->policies, errors);
    for (size_t t = 0; t < spec->tasks.count; t++) {
        const struct job_task *task = &spec->tasks.items[t];
        const char *restart = json_string_value(
            json_object_get(json_object_get(task->template, "spec"), "restartPolicy"));

        check_policies_once(&task->policies, errors);
        if (!restart || strcmp(restart, "Never") != 0)
            FINDING(errors, ("spec.tasks[%zu].template.spec.restartPolicy", t),
                    "must be Never, because the job runs at most once (%s)",
                    ANNOTATION_AT_MOST_ONCE);
    }
}

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

void job_lifecycle_check(const struct meta *meta, const struct job_spec *spec,
                         const struct object *old, struct error_list *errors)
{
    if (has_any(meta)) {
        for (size_t i = 0; i < countof(rules); i++) {
            const char *value = meta_annotation(meta, rules[i].key);

            if (value)
                check_value(&rules[i], value, errors);
        }
        check_companions(meta, spec, errors);
        check_once(meta, spec, errors);
    }
    if (old && !same_text(meta_annotation(old->meta, ANNOTATION_KEEP_ALIVE),
                          meta_annotation(meta, ANNOTATION_KEEP_ALIVE)))
        FINDING(errors, ("metadata.annotations[%s]", ANNOTATION_KEEP_ALIVE),
                "Forbidden: the tasks that are kept alive may not change: make a new job");
}
