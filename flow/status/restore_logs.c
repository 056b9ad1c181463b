/*
 * Edits the entry of the newest attempt, which is kept as text (flow/model/step_history.h).
 */
#include "flow/status/restore_logs.h"

#include <stdlib.h>
#include <string.h>

#include "api/types/kinds/pod/pod_log.h"
#include "base/mem.h"
#include "base/timefmt.h"

static void set_time(json_t *entry, const char *member, int64_t at_ms)
{
    char text[TIME_TEXT_MAX];

    if (!at_ms || json_object_get(entry, member))
        return;
    time_format(at_ms, text);
    json_object_set_new(entry, member, json_string(text));
}

static void keep_entry(struct step_history *history, const json_t *entry)
{
    char *text = json_dumps(entry, JSON_COMPACT);

    mem_free(history->kept_attempt);
    history->kept_attempt = mem_strdup(text);
    free(text);
}

/* The status does not know this attempt. */
static void begin_attempt(struct flow_model *m, uint32_t i, const struct pod_log *log)
{
    struct step *step = &m->steps[i];
    scoped(json) json_t *entry =
        json_pack("{s:i, s:s}", "attempt", (int)log->attempt, "uid", log->job_uid);

    if (step->history->kept_attempt)
        step_history_add_attempt(step->history, take(step->history->kept_attempt));
    set_time(entry, "startTime", log->start_ms);
    keep_entry(step->history, entry);
    step->attempt = (uint16_t)log->attempt;
    if (step->attempt > 1)
        step_set_add(&m->retried, i);
}

static void add_log(struct step_history *history, const struct pod_log *log)
{
    const char *text = history->kept_attempt;
    scoped(json) json_t *entry = text ? json_read(text, strlen(text)) : NULL;
    const char *job = json_string_value(json_object_get(entry, "uid"));
    json_t *logs = json_object_get(entry, "logs");

    if (!job || strcmp(job, log->job_uid) != 0)
        return; /* the log is of an earlier attempt */
    if (!logs) {
        logs = json_object();
        json_object_set_new(entry, "logs", logs);
    }
    if (json_object_size(logs) < RESULT_PODS_SHOWN)
        json_object_set_new(logs, log->pod, json_string(log->uid));
    set_time(entry, "endTime", log->end_ms);
    keep_entry(history, entry);
}

/* Logs come in the order in which they were kept. */
static void visit_log(void *arg, const struct object *object)
{
    struct flow_model *m = arg;
    const struct pod_log *log = pod_log_of(object);
    uint32_t i = log->job ? flow_model_step_of_job_name(m, log->job) : STEP_NONE;
    struct step *step = i == STEP_NONE ? NULL : &m->steps[i];

    if (!step || step->state != STEP_WAITING || !log->job_uid || !log->pod || !log->uid ||
        log->attempt < 1 || log->attempt > UINT16_MAX)
        return;
    if (!step->history)
        step->history = step_history_new();
    if (log->attempt > step->attempt)
        begin_attempt(m, i, log);
    add_log(step->history, log);
}

void flow_restore_logs(struct cluster *cluster, const char *flow_uid, struct flow_model *m)
{
    cluster_each_owned(cluster, &kind_pod_log, flow_uid, visit_log, m);
}
