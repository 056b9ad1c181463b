/*
 * Keeps the ends of flows that a FlowTrigger has acted on. The status has an end as long as the
 * flow exists, so that each end fires once.
 */
#include <string.h>

#include "base/mem.h"
#include "schedule/trigger_internal.h"

void trigger_seen_free(struct trigger_seen *seen)
{
    mem_free((char *)(uintptr_t)seen->name);
    mem_free((char *)(uintptr_t)seen->uid);
    mem_free((char *)(uintptr_t)seen->attempt);
}

/* Removes the ends of flows that no longer exist. */
static void forget_gone(struct trigger_record *record)
{
    size_t kept = 0;

    for (size_t i = 0; i < record->facts.n_seen; i++) {
        const struct object *flow = cluster_get(record->base.all->cluster, &kind_job_flow,
                                                record->base.namespace, record->seen[i].name);

        if (flow && strcmp(object_uid(flow), record->seen[i].uid) == 0)
            record->seen[kept++] = record->seen[i];
        else
            trigger_seen_free(&record->seen[i]);
    }
    record->facts.n_seen = kept;
}

void trigger_seen_add(struct trigger_record *record, const char *name, const char *uid,
                      const char *attempt)
{
    forget_gone(record);
    mem_grow(record->seen, record->facts.n_seen, record->seen_cap);
    record->seen[record->facts.n_seen++] = (struct trigger_seen){
        mem_strdup(name), mem_strdup(uid), mem_strdup(attempt ? attempt : "")};
}

const char *trigger_flow_retry(const struct object *flow)
{
    const struct jobflow_summary *summary = jobflow_summary_of(flow);

    return summary && summary->retry ? summary->retry : "";
}

bool trigger_seen_has(const struct trigger_record *record, const struct object *flow)
{
    for (size_t i = 0; i < record->facts.n_seen; i++)
        if (strcmp(record->seen[i].uid, object_uid(flow)) == 0 &&
            strcmp(record->seen[i].attempt, trigger_flow_retry(flow)) == 0)
            return true;
    return false;
}
