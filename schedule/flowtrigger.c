/*
 * Each FlowTrigger has one record. Due times follow from the clock and from lastScheduleTime and
 * since in the status. The ends of flows that fire are those of existing flows that the status does
 * not list as seen. Firings by hand follow from the Commands that exist. A start of the controller
 * therefore needs no steps of its own.
 */
#include "schedule/flowtrigger.h"

#include <string.h>

#include "base/mem.h"
#include "schedule/trigger_internal.h"

static void trigger_changed(struct cluster_watcher *watcher, enum cluster_change change,
                            const struct object *old, const struct object *trigger)
{
    struct flowtrigger_controller *controller =
        container_of(watcher, struct flowtrigger_controller, triggers);
    struct trigger_record *record;

    if (change == CHANGE_DELETED) {
        struct schedule_record *gone =
            schedule_record_find(&controller->records, object_uid(trigger));

        if (gone) {
            record = container_of(gone, struct trigger_record, base);
            trigger_names_clear(&controller->index, &record->names);
            schedule_record_drop(gone);
        }
        return;
    }
    record = trigger_record_of(controller, trigger);
    if (old && old->body != trigger->body)
        record->failed = false; /* the change may have removed the cause of the failure */
    if (!old || old->body != trigger->body)
        trigger_names_set(&controller->index, &record->names, trigger);
    schedule_record_sync_soon(&record->base);
}

/* Returns whether a change of a flow concerns its trigger and the triggers that name it: the flow
 * begins to exist, changes its body, ends, begins again or is being deleted. */
static bool matters(const struct object *old, const struct object *flow)
{
    return !old || old->body != flow->body || object_deleting(old) != object_deleting(flow) ||
           flow_phase_finished(jobflow_phase_of(old)) !=
               flow_phase_finished(jobflow_phase_of(flow));
}

static void on_mention(struct trigger_names *names, enum trigger_role role)
{
    struct trigger_record *record = container_of(names, struct trigger_record, names);

    if (role == TRIGGER_PATTERN)
        record->failed = false; /* the change may have removed the cause of the failure */
    schedule_record_sync_soon(&record->base);
}

static void flow_changed(struct cluster_watcher *watcher, enum cluster_change change,
                         const struct object *old, const struct object *flow)
{
    struct flowtrigger_controller *controller =
        container_of(watcher, struct flowtrigger_controller, flows);
    const struct owner_ref *owner = meta_controller(flow->meta);
    struct schedule_record *maker;

    if (change == CHANGE_MODIFIED && !matters(old, flow))
        return;
    trigger_index_each(&controller->index, flow, on_mention);
    maker = owner ? schedule_record_find(&controller->records, owner->uid) : NULL;
    if (maker && strcmp(maker->namespace, object_namespace(flow)) == 0)
        schedule_record_sync_soon(maker);
}

struct flowtrigger_controller *
flowtrigger_controller_start(struct cluster *cluster, const struct flowtrigger_options *options)
{
    struct flowtrigger_controller *controller = mem_alloc(sizeof *controller);

    controller->options = *options;
    schedule_records_open(&controller->records, &trigger_ops, cluster);
    controller->triggers = (struct cluster_watcher){trigger_changed, &kind_flow_trigger};
    controller->flows = (struct cluster_watcher){flow_changed, &kind_job_flow};
    controller->commands = (struct cluster_watcher){trigger_command_changed, &kind_command};
    cluster_watch(cluster, &controller->triggers);
    cluster_watch(cluster, &controller->flows);
    cluster_watch(cluster, &controller->commands);
    return controller;
}

void flowtrigger_controller_stop(struct flowtrigger_controller *controller)
{
    if (!controller)
        return;
    cluster_unwatch(controller->records.cluster, &controller->triggers);
    cluster_unwatch(controller->records.cluster, &controller->flows);
    cluster_unwatch(controller->records.cluster, &controller->commands);
    schedule_records_close(&controller->records);
}
