#pragma once
/*
 * The controllers of schedules on a registry in memory and a virtual clock, behind a cluster that
 * can fail (tests/fake/faulty.h). The test plays the user and the job controller.
 */
#include "api/cluster_embedded.h"
#include "api/types/kinds/schedule/flowtrigger.h"
#include "schedule/cronjob.h"
#include "schedule/flowtrigger.h"
#include "tests/fake/faulty.h"

struct schedule_fixture {
    struct clock *clock;
    struct loop *loop;
    struct store *store;
    struct registry *registry;
    struct cluster *backend, *cluster; /* `cluster` is the backend behind tests/fake/faulty */
    struct cronjob_options options;
    struct cronjob_controller *cronjobs;
    struct flowtrigger_controller *triggers;
    struct cluster_watcher jobs, flows;
    struct buf made;    /* "NAME " of each job and flow of a controller in the order of creation */
    struct buf deleted; /* "NAME " of each of them in the order of deletion */
    int made_count;
    bool succeed; /* jobs and flows complete as soon as they are made */
    /* Is called for each new job and flow. NULL: nothing. */
    void (*on_made)(struct schedule_fixture *fixture, const struct object *made);
    void *ctx;
};

/** Creates a fixture whose clock starts at an RFC 3339 time. */
struct schedule_fixture *schedule_fixture_new(const char *start);
void schedule_fixture_free(struct schedule_fixture *fixture);
SCOPED_DEFINE_PTR(schedule_fixture, struct schedule_fixture *, schedule_fixture_free)

void schedule_fixture_stop(struct schedule_fixture *fixture);
void schedule_fixture_start(struct schedule_fixture *fixture);
void schedule_fixture_restart(struct schedule_fixture *fixture);

/** Lets time pass until an RFC 3339 time. */
void schedule_fixture_until(struct schedule_fixture *fixture, const char *time);
void schedule_fixture_advance(struct schedule_fixture *fixture, int64_t ms);
/** Stops the controllers, sets time forward as a machine that is switched off does, and starts them. */
void schedule_fixture_sleep(struct schedule_fixture *fixture, int64_t ms);

/** Creates or replaces objects from YAML as a user would, and settles. `schedule_fixture_refused`
 * expects that it is refused and returns the findings as "field: message\n…" (owned). */
void schedule_fixture_apply(struct schedule_fixture *fixture, const char *yaml);
char *schedule_fixture_refused(struct schedule_fixture *fixture, const char *yaml);
/** Returns the warnings of a creation in the same form; owned. */
char *schedule_fixture_warnings(struct schedule_fixture *fixture, const char *yaml);
/** Creates a CronJob of a name and spec members in flow style: "schedule: '* * * * *'". */
void schedule_fixture_cronjob(struct schedule_fixture *fixture, const char *name, const char *spec);
void schedule_fixture_delete(struct schedule_fixture *fixture, const struct kind *kind,
                             const char *name);

const struct object *schedule_fixture_get(struct schedule_fixture *fixture, const struct kind *kind,
                                          const char *name);
size_t schedule_fixture_count(struct schedule_fixture *fixture, const struct kind *kind);
/** Stores the phase of a job as the job controller does, and settles. */
void schedule_fixture_phase(struct schedule_fixture *fixture, const char *job,
                            enum job_phase phase);
/** Creates a FlowTrigger of a name and spec members in flow style. */
void schedule_fixture_trigger(struct schedule_fixture *fixture, const char *name, const char *spec);
/** Creates a suspended flow with one step `s` and the parameters day and who. */
void schedule_fixture_pattern(struct schedule_fixture *fixture, const char *name);
/** Stores the phase of a flow as the flow controller does, and settles. */
void schedule_fixture_flow_phase(struct schedule_fixture *fixture, const char *flow,
                                 enum flow_phase phase);
/** Returns the value of a flow's parameter, "" when it has none. */
const char *schedule_fixture_parameter(struct schedule_fixture *fixture, const char *flow,
                                       const char *parameter);
/** Returns the value at a path of an object's status as text, "" when absent; valid until the next
 * call. */
const char *schedule_fixture_at(struct schedule_fixture *fixture, const struct kind *kind,
                                const char *name, const char *path);
/** Returns how many events of that reason were recorded: the sum of their counts. */
int schedule_fixture_events(struct schedule_fixture *fixture, const char *reason);
/** Returns the message of an event of that reason, or "". */
const char *schedule_fixture_event_text(struct schedule_fixture *fixture, const char *reason);
/** Sends a Command to an object. */
void schedule_fixture_command(struct schedule_fixture *fixture, const struct kind *kind,
                              const char *name, const char *action, const char *message);
