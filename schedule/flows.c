/*
 * Makes the flow of a firing, and derives history and status from the flows of a trigger. The spec
 * of a new flow is the present spec of the pattern with the parameters set and without suspend.
 */
#include "schedule/flows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/timefmt.h"

#define LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"

/* Values of references. */

static bool write_time(const struct zone *zone, int64_t at_s, struct buf *out)
{
    char text[TIME_TEXT_MAX];

    if (!at_s)
        return false;
    zone_time_format(zone, at_s, text);
    buf_str(out, text);
    return true;
}

static bool write_date(const struct firing *firing, struct buf *out)
{
    char text[TIME_TEXT_MAX];

    zone_time_format(firing->zone, firing->at_s, text);
    buf_add(out, text, strlen("YYYY-MM-DD"));
    return true;
}

static bool write_value(const json_t *value, struct buf *out)
{
    char *text;

    if (!value || json_is_null(value))
        return false;
    if (json_is_string(value)) {
        buf_str(out, json_string_value(value));
        return true;
    }
    text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    buf_str(out, text ? text : "");
    free(text);
    return true;
}

/* Appends the output that STEP.outputs.KEY names in the flow that has ended. */
static bool write_output(const struct object *source, const char *name, struct buf *out)
{
    scoped(json) json_t *status = object_status_json(source);
    const char *dot = strstr(name, ".outputs.");
    const json_t *node;
    size_t i;

    json_array_foreach(json_object_get(status, "nodes"), i, node)
    {
        const char *step = json_string_value(json_object_get(node, "name"));

        if (dot && step && strlen(step) == (size_t)(dot - name) &&
            strncmp(step, name, strlen(step)) == 0)
            return write_value(
                json_object_get(json_object_get(node, "outputs"), dot + strlen(".outputs.")), out);
    }
    return false;
}

static bool write_source(const struct object *source, const char *name, struct buf *out)
{
    static const char parameters[] = "parameters.", steps[] = "steps.";
    const char *value = NULL;

    if (!source)
        return false;
    if (strcmp(name, "name") == 0)
        value = object_name(source);
    else if (strcmp(name, "phase") == 0)
        value = flow_phase_text(jobflow_phase_of(source));
    else if (strncmp(name, parameters, strlen(parameters)) == 0)
        value = jobflow_parameter(jobflow_spec_of(source), name + strlen(parameters));
    else if (strncmp(name, steps, strlen(steps)) == 0)
        return write_output(source, name + strlen(steps), out);
    if (value)
        buf_str(out, value);
    return value != NULL;
}

struct values {
    const struct object *trigger;
    const struct firing *firing;
};

static bool get_value(void *ctx, const char *name, struct buf *out)
{
    const struct values *values = ctx;
    const struct firing *firing = values->firing;

    if (strncmp(name, "flow.", 5) == 0)
        return write_source(firing->source, name + 5, out);
    if (strcmp(name, "time") == 0)
        return write_time(firing->zone, firing->at_s, out);
    if (strcmp(name, "previousTime") == 0) {
        write_time(firing->zone, firing->previous_s, out);
        return true;
    }
    if (strcmp(name, "date") == 0)
        return write_date(firing, out);
    if (strcmp(name, "unixTime") == 0)
        buf_int(out, firing->at_s);
    else if (strcmp(name, "name") == 0)
        buf_str(out, object_name(values->trigger));
    else if (strcmp(name, "cause") == 0)
        buf_str(out, trigger_cause_text(firing->cause));
    else if (strcmp(name, "id") == 0)
        buf_str(out, firing->id);
    else
        return false;
    return true;
}

/* The spec of the flow. */

static bool set_parameter(json_t *parameters, const char *name, const char *value,
                          struct error *err)
{
    json_t *parameter;
    size_t i;

    if (strlen(value) > TRIGGER_VALUE_MAX)
        return error_set(err, ERR_INVALID, "", "parameter %.64s: %zu bytes, %d is the most", name,
                         strlen(value), TRIGGER_VALUE_MAX);
    json_array_foreach(parameters, i, parameter)
    {
        const char *known = json_string_value(json_object_get(parameter, "name"));

        if (known && strcmp(known, name) == 0) {
            json_object_set_new(parameter, "value", json_string(value));
            return true;
        }
    }
    return error_set(err, ERR_INVALID, "", "the flow has no parameter \"%.64s\"", name);
}

static bool set_parameters(const struct values *values, json_t *parameters, struct error *err)
{
    const struct trigger_spec *spec = trigger_spec_of(values->trigger);
    const char *name;
    json_t *value;

    for (size_t i = 0; i < spec->parameters.count; i++) {
        const struct trigger_parameter *parameter = &spec->parameters.items[i];
        scoped(buf) struct buf text = {0};

        /* When a value refers to something that does not exist, the default in the flow applies. */
        if (parameter->value &&
            trigger_value_expand(parameter->value, get_value, (void *)(uintptr_t)values, &text) &&
            !set_parameter(parameters, parameter->name, text.data ? text.data : "", err))
            return false;
    }
    json_object_foreach((json_t *)(uintptr_t)values->firing->parameters, name, value)
    {
        if (!set_parameter(parameters, name, json_string_value(value), err))
            return false;
    }
    return true;
}

/* Returns the body of the flow (owned), or NULL with the error of a parameter. */
static struct blob *body_of(const struct values *values, const json_t *spec, struct error *err)
{
    scoped(json) json_t *members = json_object();
    json_t *own = json_deep_copy(spec);

    json_object_set_new(members, "spec", own);
    json_object_del(own, "suspend");
    return set_parameters(values, json_object_get(own, "parameters"), err)
               ? object_body_from_json(members)
               : NULL;
}

/* Metadata. */

struct texts {
    struct kv *items;
    uint32_t count;
};

static void add_text(struct texts *texts, const char *key, const char *value)
{
    texts->items[texts->count++] = (struct kv){key, value};
}

static void copy_texts(struct texts *texts, const struct kv *items, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(items[i].key, LAST_APPLIED) != 0)
            add_text(texts, items[i].key, items[i].value);
}

static void copy_json(struct texts *texts, const json_t *map)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)map, key, value)
    {
        if (json_is_string(value))
            add_text(texts, key, json_string_value(value));
    }
}

static struct meta *meta_of(const struct object *trigger, const struct object *pattern,
                            const char *name, const struct firing *firing)
{
    enum { OWN = 9 };
    const json_t *metadata =
        pattern ? NULL : json_object_get(trigger_spec_of(trigger)->flow_template, "metadata");
    const json_t *label_map = json_object_get(metadata, "labels"),
                 *annotation_map = json_object_get(metadata, "annotations");
    size_t room = OWN + json_object_size(label_map) + json_object_size(annotation_map) +
                  (pattern ? pattern->meta->n_labels + pattern->meta->n_annotations : 0);
    struct texts labels = {mem_array(room, sizeof(struct kv))};
    struct texts annotations = {mem_array(room, sizeof(struct kv))};
    const struct owner_ref owner = {.api_version = kind_api_version(&kind_flow_trigger),
                                    .kind = kind_flow_trigger.name,
                                    .name = object_name(trigger),
                                    .uid = object_uid(trigger),
                                    .controller = true,
                                    .block_owner_deletion = true};
    char time[TIME_TEXT_MAX], depth[16];
    struct meta *meta;

    zone_time_format(firing->zone, firing->at_s, time);
    snprintf(depth, sizeof depth, "%" PRId32, firing->depth);
    if (pattern) {
        copy_texts(&labels, pattern->meta->labels, pattern->meta->n_labels);
        copy_texts(&annotations, pattern->meta->annotations, pattern->meta->n_annotations);
    }
    copy_json(&labels, label_map);
    copy_json(&annotations, annotation_map);
    add_text(&labels, LABEL_TRIGGER, object_name(trigger));
    add_text(&annotations, ANNOTATION_TRIGGER_TIME, time);
    add_text(&annotations, ANNOTATION_TRIGGER_CAUSE, trigger_cause_text(firing->cause));
    add_text(&annotations, ANNOTATION_TRIGGER_ID, firing->id);
    add_text(&annotations, ANNOTATION_TRIGGER_DEPTH, depth);
    if (firing->backfill)
        add_text(&annotations, ANNOTATION_TRIGGER_BACKFILL, firing->backfill);
    meta = meta_new(&(const struct meta){.namespace = object_namespace(trigger),
                                         .name = name,
                                         .uid = "",
                                         .deletion_grace_s = -1,
                                         .labels = labels.items,
                                         .n_labels = labels.count,
                                         .annotations = annotations.items,
                                         .n_annotations = annotations.count,
                                         .owners = &owner,
                                         .n_owners = 1});
    mem_free(labels.items);
    mem_free(annotations.items);
    return meta;
}

struct object *trigger_flow_new(const struct object *trigger, const struct object *pattern,
                                const char *name, const struct firing *firing, struct error *err)
{
    const struct values values = {trigger, firing};
    scoped(json) json_t *whole = pattern ? object_body_json(pattern) : NULL;
    const json_t *spec =
        json_object_get(pattern ? whole : trigger_spec_of(trigger)->flow_template, "spec");
    struct blob *body = body_of(&values, spec, err);

    return body ? object_new(&kind_job_flow, meta_of(trigger, pattern, name, firing), body, NULL)
                : NULL;
}

bool trigger_flow_active(const struct object *flow)
{
    return !flow_phase_finished(jobflow_phase_of(flow)) && !object_deleting(flow);
}

size_t trigger_flows_active(const struct owned_list *flows)
{
    size_t count = 0;

    for (size_t i = 0; i < flows->count; i++)
        count += trigger_flow_active(flows->items[i]);
    return count;
}

bool trigger_flow_of_backfill(const struct object *flow)
{
    return meta_annotation(flow->meta, ANNOTATION_TRIGGER_BACKFILL) != NULL;
}

void trigger_flow_remove(struct cluster *cluster, const struct object *flow)
{
    const struct cluster_removal how = {
        .uid = object_uid(flow), .grace_s = 0, .propagation = PROPAGATE_BACKGROUND};

    cluster_remove(cluster, NULL, &kind_job_flow, object_namespace(flow), object_name(flow), &how);
}

static int64_t time_of(const struct object *flow)
{
    const char *text = meta_annotation(flow->meta, ANNOTATION_TRIGGER_TIME);
    const char *cause = meta_annotation(flow->meta, ANNOTATION_TRIGGER_CAUSE);
    bool scheduled = cause && (strcmp(cause, trigger_cause_text(CAUSE_SCHEDULE)) == 0 ||
                               strcmp(cause, trigger_cause_text(CAUSE_CATCH_UP)) == 0);
    int64_t at_ms;

    return text && scheduled && time_parse(text, &at_ms, NULL) ? at_ms / 1000 : 0;
}

static bool is_history(const struct object *flow, enum flow_phase phase, int64_t until_s)
{
    return jobflow_phase_of(flow) == phase && !object_deleting(flow) && time_of(flow) <= until_s;
}

static void prune(struct cluster *cluster, const struct owned_list *flows, int64_t until_s,
                  enum flow_phase phase, int32_t limit)
{
    int64_t ended = 0;

    for (size_t i = 0; i < flows->count; i++)
        ended += is_history(flows->items[i], phase, until_s);
    for (size_t i = 0; i < flows->count && ended > limit; i++) {
        if (!is_history(flows->items[i], phase, until_s))
            continue;
        trigger_flow_remove(cluster, flows->items[i]);
        ended--;
    }
}

void trigger_flows_prune(struct cluster *cluster, const struct object *trigger,
                         const struct owned_list *flows, int64_t until_s)
{
    const struct trigger_spec *spec = trigger_spec_of(trigger);

    prune(cluster, flows, until_s, FLOW_SUCCEED, spec->successful_limit);
    prune(cluster, flows, until_s, FLOW_FAILED, spec->failed_limit);
}

/* The status. */

static void write_active(struct jsonw *w, const struct owned_list *flows)
{
    if (!trigger_flows_active(flows))
        return;
    jsonw_member_open_list(w, "active");
    for (size_t i = 0; i < flows->count; i++) {
        const char *time = meta_annotation(flows->items[i]->meta, ANNOTATION_TRIGGER_TIME);

        if (!trigger_flow_active(flows->items[i]))
            continue;
        jsonw_open(w);
        jsonw_member_str(w, "name", object_name(flows->items[i]));
        jsonw_member_str(w, "uid", object_uid(flows->items[i]));
        jsonw_member_str_opt(w, "time", time);
        jsonw_close(w);
    }
    jsonw_close_list(w);
}

static void write_seen(struct jsonw *w, const struct trigger_facts *facts)
{
    if (!facts->n_seen)
        return;
    jsonw_member_open_list(w, "seen");
    for (size_t i = 0; i < facts->n_seen; i++) {
        jsonw_open(w);
        jsonw_member_str(w, "name", facts->seen[i].name);
        jsonw_member_str(w, "uid", facts->seen[i].uid);
        jsonw_member_str_opt(w, "attempt", facts->seen[i].attempt);
        jsonw_close(w);
    }
    jsonw_close_list(w);
}

struct blob *trigger_flows_status(const struct object *trigger, const struct owned_list *flows,
                                  const struct trigger_facts *facts)
{
    scoped(buf) struct buf text = {0};
    struct jsonw w = jsonw_to(&text);

    jsonw_open(&w);
    jsonw_member_time_opt(&w, "lastScheduleTime", facts->last_s * 1000);
    jsonw_member_time_opt(&w, "nextScheduleTime", facts->next_s * 1000);
    jsonw_member_time_opt(&w, "lastFiredTime", facts->fired_ms);
    jsonw_member_time_opt(&w, "lastSuccessfulTime", facts->successful_ms);
    jsonw_member_time_opt(&w, "since", facts->since_s * 1000);
    jsonw_member_str_opt(&w, "observedSchedule", facts->observed_schedule);
    write_active(&w, flows);
    write_seen(&w, facts);
    backfills_write(&w, facts->backfills, facts->n_backfills);
    jsonw_member_int_opt(&w, "pending", (int64_t)facts->pending);
    jsonw_member_int_opt(&w, "fired", facts->fired);
    jsonw_member_int_opt(&w, "skipped", facts->skipped);
    jsonw_member_int_opt(&w, "missed", facts->missed);
    jsonw_member_int_opt(&w, "duplicates", facts->duplicates);
    if (facts->reason) {
        jsonw_member_open(&w, "state");
        jsonw_member_str(&w, "reason", facts->reason);
        jsonw_member_str_opt(&w, "message", facts->message);
        jsonw_close(&w);
    }
    jsonw_member_int_opt(&w, "observedGeneration", trigger->meta->generation);
    jsonw_close(&w);
    return blob_from_buf(&text);
}
