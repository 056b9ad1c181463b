/*
 * Fires triggers when flows end: flows that the trigger names, and flows that another trigger has
 * made.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "schedule/trigger_internal.h"

struct end_search {
    struct trigger_record *record;
    struct trigger_look *look;
    const struct trigger_source *source;
    const struct object *found; /* the oldest end that is not seen */
    bool baseline;              /* flows that ended before the trigger existed are only noted */
};

static bool phase_listed(const struct trigger_source *source, enum flow_phase phase)
{
    if (!source->phases.count)
        return phase == FLOW_SUCCEED;
    for (size_t i = 0; i < source->phases.count; i++)
        if (strcmp(source->phases.items[i], flow_phase_text(phase)) == 0)
            return true;
    return false;
}

static void look_at_end(void *arg, const struct object *flow)
{
    struct end_search *search = arg;

    if (!flow_phase_finished(jobflow_phase_of(flow)) ||
        !phase_listed(search->source, jobflow_phase_of(flow)) ||
        trigger_seen_has(search->record, flow))
        return;
    if (search->baseline)
        trigger_seen_add(search->record, object_name(flow), object_uid(flow),
                         trigger_flow_retry(flow));
    else if (!search->found || meta_created_ms(flow->meta) < meta_created_ms(search->found->meta))
        search->found = flow;
}

static void search_ends(struct end_search *search)
{
    struct cluster *cluster = search->record->base.all->cluster;
    const char *ns = search->record->base.namespace;
    const struct object *found;

    if (search->source->name) {
        found = cluster_get(cluster, &kind_job_flow, ns, search->source->name);
        if (found)
            look_at_end(search, found);
        return;
    }
    found = cluster_get(cluster, &kind_flow_trigger, ns, search->source->trigger);
    if (found)
        cluster_each_owned(cluster, &kind_job_flow, object_uid(found), look_at_end, search);
}

static int32_t depth_of(const struct object *flow)
{
    const char *text = meta_annotation(flow->meta, ANNOTATION_TRIGGER_DEPTH);

    return text ? (int32_t)strtol(text, NULL, 10) : 0;
}

static bool fire_end(struct trigger_record *record, struct trigger_look *look,
                     const struct object *flow)
{
    scoped_str id = mem_printf("%s/%s", object_uid(flow), trigger_flow_retry(flow));
    const struct trigger_outcome outcome = {
        .name = object_name(flow), .uid = object_uid(flow), .retry = trigger_flow_retry(flow)};
    const struct firing firing = {.cause = CAUSE_FLOWS,
                                  .id = id,
                                  .at_s = look->now_s,
                                  .previous_s = record->facts.fired_ms / 1000,
                                  .depth = depth_of(flow) + 1,
                                  .zone = look->zone,
                                  .source = flow};

    if (firing.depth > TRIGGER_DEPTH_MAX) {
        trigger_set_state(record, "TriggerLoop", "32 triggers in a row have fired each other");
        cluster_event(record->base.all->cluster, look->trigger, EVENT_WARNING, "TriggerLoop",
                      TRIGGER_COMPONENT, "jobflow %s is the 32nd in a row: no other is made",
                      object_name(flow));
        record->facts.skipped++;
        trigger_done_with(record, &outcome);
        return true;
    }
    if (look->spec->policy == CONCURRENCY_FORBID && trigger_flows_active(&look->flows)) {
        cluster_event(record->base.all->cluster, look->trigger, EVENT_NORMAL, "SkippedConcurrent",
                      TRIGGER_COMPONENT, "a flow is active: the end of jobflow %s makes none",
                      object_name(flow));
        record->facts.skipped++;
        trigger_done_with(record, &outcome);
        return true;
    }
    if (!trigger_has_room(record, look, false))
        return false;
    trigger_fire(record, look, &firing, trigger_name_for_id(record->base.name, CAUSE_FLOWS, id),
                 &outcome, NULL);
    return true;
}

bool trigger_fire_ends(struct trigger_record *record, struct trigger_look *look, bool baseline)
{
    for (size_t i = 0; i < look->spec->flows.count; i++) {
        struct end_search search = {record, look, &look->spec->flows.items[i], NULL, baseline};

        search_ends(&search);
        if (search.found)
            return fire_end(record, look, search.found);
    }
    return false;
}
