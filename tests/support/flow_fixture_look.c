/*
 * Functions that tests of flows use to inspect statuses, events and existing jobs.
 */
#include "tests/unit.h"

#include <stdio.h>

#include "tests/support/flow_fixture.h"

const char *flow_fixture_created(const struct flow_fixture *fixture)
{
    return fixture->created.data ? fixture->created.data : "";
}

json_t *flow_fixture_flow_status(struct flow_fixture *fixture, const char *flow)
{
    const struct object *object = flow_fixture_get(fixture, &kind_job_flow, flow);

    check("the flow exists", object != NULL);
    return object_status_json(object);
}

const char *flow_fixture_at(struct flow_fixture *fixture, const char *flow, const char *path)
{
    static char text[65536];
    scoped(json) json_t *status = flow_fixture_flow_status(fixture, flow);
    scoped_str copy = mem_strdup(path);
    const json_t *value = status;
    char *rest = NULL, *dumped;

    for (char *part = strtok_r(copy, "/", &rest); part; part = strtok_r(NULL, "/", &rest))
        value = json_is_array(value) ? json_array_get(value, strtoul(part, NULL, 10))
                                     : json_object_get(value, part);
    if (json_is_string(value)) {
        snprintf(text, sizeof text, "%s", json_string_value(value));
        return text;
    }
    dumped = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    snprintf(text, sizeof text, "%s", dumped ? dumped : "");
    free(dumped);
    return text;
}

struct event_search {
    const char *reason;
    int count;
    char text[512];
};

static void visit_event(void *arg, const struct object *event)
{
    struct event_search *search = arg;
    scoped(json) json_t *body = object_body_json(event);
    const char *reason = json_string_value(json_object_get(body, "reason"));
    json_int_t count = json_integer_value(json_object_get(body, "count"));
    const char *message = json_string_value(json_object_get(body, "message"));

    if (!reason || strcmp(reason, search->reason) != 0)
        return;
    search->count += (int)(count > 0 ? count : 1);
    if (!*search->text)
        snprintf(search->text, sizeof search->text, "%s", message ? message : "");
}

int flow_fixture_events(struct flow_fixture *fixture, const char *reason)
{
    struct event_search search = {.reason = reason};

    store_each(fixture->store, &kind_event, NULL, visit_event, &search);
    return search.count;
}

const char *flow_fixture_event_text(struct flow_fixture *fixture, const char *reason)
{
    static struct event_search search;

    search = (struct event_search){.reason = reason};
    store_each(fixture->store, &kind_event, NULL, visit_event, &search);
    return search.text;
}

int flow_fixture_unfinished(struct flow_fixture *fixture, const char *const *jobs, size_t count)
{
    int n = 0;

    for (size_t i = 0; i < count; i++) {
        const struct object *job = flow_fixture_get(fixture, &kind_job, jobs[i]);

        n += job && !job_phase_finished(job_status_of(job)->phase);
    }
    return n;
}

/* A random choice among jobs by reservoir sampling: the n-th job replaces the chosen one with a
 * probability of 1/n. */
struct choice {
    struct dice *dice;
    char *out;
    int count;
};

static void offer_unfinished(void *arg, const struct object *job)
{
    struct choice *choice = arg;

    if (!job_phase_finished(job_status_of(job)->phase) &&
        dice_roll(choice->dice, ++choice->count) == 0)
        snprintf(choice->out, JOB_NAME_ROOM, "%s", object_name(job));
}

bool flow_fixture_pick_unfinished(struct flow_fixture *fixture, struct dice *dice,
                                  char out[JOB_NAME_ROOM])
{
    struct choice choice = {.dice = dice, .out = out};

    store_each(fixture->store, &kind_job, "default", offer_unfinished, &choice);
    return choice.count > 0;
}
