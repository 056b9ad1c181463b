/*
 * Functions that tests of flows use to inspect statuses, events and existing jobs.
 */
#include "tests/unit.h"

#include <stdio.h>

#include "tests/support/flow_fixture.h"
#include "tests/support/look.h"

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
    const struct object *object = flow_fixture_get(fixture, &kind_job_flow, flow);

    check("the flow exists", object != NULL);
    return look_at_status(object, path);
}

int flow_fixture_events(struct flow_fixture *fixture, const char *reason)
{
    return look_for_events(fixture->store, reason).count;
}

const char *flow_fixture_event_text(struct flow_fixture *fixture, const char *reason)
{
    static struct look_events found;

    found = look_for_events(fixture->store, reason);
    return found.message;
}

const char *flow_fixture_attempt(struct flow_fixture *fixture, const char *job)
{
    const struct object *object = flow_fixture_get(fixture, &kind_job, job);
    const char *attempt = object ? meta_annotation(object->meta, ANNOTATION_FLOW_ATTEMPT) : "none";

    return attempt ? attempt : "1";
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
