/*
 * Fires triggers by hand. The Commands to a FlowTrigger are carried out in the order of their
 * arrival.
 */
#include <string.h>

#include "api/types/kinds/command.h"
#include "base/mem.h"
#include "schedule/trigger_internal.h"

enum { PENDING_MAX = 1000 };

void trigger_command_remove(struct trigger_record *record, const struct object *command)
{
    const struct cluster_removal how = {
        .uid = object_uid(command), .grace_s = -1, .propagation = PROPAGATE_BACKGROUND};

    cluster_remove(record->base.all->cluster, NULL, &kind_command, object_namespace(command),
                   object_name(command), &how);
}

static void pop(struct trigger_record *record)
{
    struct trigger_waiting *one = record->first;

    record->first = one->next;
    if (!record->first)
        record->last = &record->first;
    record->facts.pending--;
    object_unref(one->command);
    mem_free(one);
}

/* Reads the message of a Command, such as {"id": …, "parameters": {…}}. Returns false when it has
 * another form. */
static bool read_order(const char *message, json_t **out, struct error *err)
{
    const char *name;
    json_t *value;

    *out = message && *message == '{' ? json_loads(message, JSON_REJECT_DUPLICATES, NULL)
                                      : json_object();
    if (!*out)
        return error_set(err, ERR_INVALID, "message", "no JSON object");
    json_object_foreach(json_object_get(*out, "parameters"), name, value)
    {
        if (!json_is_string(value))
            return error_set(err, ERR_INVALID, "message", "parameter %.64s is no text", name);
    }
    return true;
}

void trigger_command_reject(struct trigger_record *record, const struct object *trigger,
                            const struct object *command, const char *why)
{
    cluster_event(record->base.all->cluster, trigger, EVENT_WARNING, "CommandRejected",
                  TRIGGER_COMPONENT, "command %s is refused: %s", object_name(command), why);
    record->facts.skipped++;
    trigger_command_remove(record, command);
}

bool trigger_fire_by_hand(struct trigger_record *record, struct trigger_look *look)
{
    scoped(object) struct object *command = object_ref(record->first->command);
    scoped(json) json_t *order = NULL;
    struct error err = {0};
    const char *id;
    bool good = read_order(command_of(command)->message, &order, &err);

    if (good && look->spec->policy == CONCURRENCY_FORBID && trigger_flows_active(&look->flows)) {
        pop(record);
        trigger_command_reject(record, look->trigger, command,
                               "a flow is active and the policy is Forbid");
        return true;
    }
    if (good && !trigger_has_room(record, look, false))
        return false;
    pop(record);
    if (!good) {
        trigger_command_reject(record, look->trigger, command, err.message);
        return true;
    }
    id = json_string_value(json_object_get(order, "id"));
    if (!id || !*id || strlen(id) > TRIGGER_ID_MAX)
        id = object_uid(command);
    trigger_fire(record, look,
                 &(const struct firing){.cause = CAUSE_HAND,
                                        .id = id,
                                        .at_s = look->now_s,
                                        .previous_s = record->facts.last_s,
                                        .zone = look->zone,
                                        .parameters = json_object_get(order, "parameters")},
                 trigger_name_for_id(record->base.name, CAUSE_HAND, id),
                 &(const struct trigger_outcome){0}, object_ref(command));
    return true;
}

void trigger_command_changed(struct cluster_watcher *watcher, enum cluster_change change,
                             const struct object *old, const struct object *command)
{
    struct flowtrigger_controller *controller =
        container_of(watcher, struct flowtrigger_controller, commands);
    const struct command *asked = command_of(command);
    const struct object *trigger;
    struct trigger_record *record;
    struct trigger_waiting *one;

    if (change != CHANGE_ADDED || object_deleting(command) || !asked->target.kind ||
        strcmp(asked->target.kind, kind_flow_trigger.name) != 0 || !asked->target.name)
        return;
    trigger = cluster_get(controller->records.cluster, &kind_flow_trigger,
                          object_namespace(command), asked->target.name);
    if (!trigger || (asked->target.uid && *asked->target.uid &&
                     strcmp(asked->target.uid, object_uid(trigger)) != 0)) {
        const struct cluster_removal how = {
            .uid = object_uid(command), .grace_s = -1, .propagation = PROPAGATE_BACKGROUND};

        cluster_event(controller->records.cluster, command, EVENT_WARNING, "CommandRejected",
                      TRIGGER_COMPONENT, "there is no such flowtrigger: %s", asked->target.name);
        cluster_remove(controller->records.cluster, NULL, &kind_command, object_namespace(command),
                       object_name(command), &how);
        return;
    }
    record = trigger_record_of(controller, trigger);
    if (asked->action && strcmp(asked->action, COMMAND_FIRE_FLOW) != 0) {
        trigger_order_add(record, object_ref(command));
        return;
    }
    if (record->facts.pending >= PENDING_MAX) {
        trigger_command_reject(record, trigger, command, "1000 firings are waiting");
        return;
    }
    one = mem_alloc(sizeof *one);
    one->command = object_ref(command);
    *record->last = one;
    record->last = &one->next;
    record->facts.pending++;
    schedule_record_sync_soon(&record->base);
}
