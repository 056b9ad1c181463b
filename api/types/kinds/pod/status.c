/*
 * Reads and writes the status of a pod.
 *
 * The API shows lists of conditions and container states; struct pod_status holds the few facts
 * that these lists express. A status is written on every pod event. The writer therefore produces
 * text directly and attaches the struct to it. Ref: Kubernetes pkg/kubelet/status/generate.go.

 */
#include "api/types/arenacopy.h"
#include "api/types/decoded.h"
#include "api/types/kinds/pod/core_schema.h"
#include "api/types/schema/enum_text.h"
#include "base/mem.h"
#include "base/timefmt.h"

#define STATUS(member) offsetof(struct pod_status, member)

static const char *const state_texts[] = {CONTAINER_STATES(ENUM_TEXT)};

/* The members of a pod's status that are single values. Its lists, such as conditions and container
 * statuses, are read by finish_status. A status that a client writes is checked against
 * pod_status_schema. */
/* clang-format off */
static const struct field read_fields[] = {
    {"reason",    FIELD_STR,  STATUS(reason)},
    {"message",   FIELD_STR,  STATUS(message)},
    {"podIP",     FIELD_STR,  STATUS(pod_ip)},
    {"hostIP",    FIELD_STR,  STATUS(host_ip)},
    {"startTime", FIELD_TIME, STATUS(start_ms)},
    {"qosClass",  FIELD_STR,  STATUS(qos_class)},
    {0},
};
/* clang-format on */
static const struct schema read_schema = {"PodStatus", read_fields, sizeof(struct pod_status)};

static const char *text_in(const json_t *doc, const char *member, struct arena *arena)
{
    return arena_copy_str(arena, json_string_value(json_object_get(doc, member)));
}

static int32_t number_in(const json_t *doc, const char *member)
{
    return (int32_t)json_integer_value(json_object_get(doc, member));
}

static int64_t time_in(const json_t *doc, const char *member)
{
    const char *text = json_string_value(json_object_get(doc, member));
    int64_t at_ms = 0;

    if (text)
        time_parse(text, &at_ms, NULL);
    return at_ms;
}

static void read_state(struct container_status *out, const json_t *state, struct arena *arena)
{
    const json_t *detail = NULL;

    for (int i = 0; i < CONTAINER_STATE_N && !detail; i++) {
        detail = json_object_get(state, state_texts[i]);
        if (detail)
            out->state = (enum container_state)i;
    }
    out->reason = text_in(detail, "reason", arena);
    out->message = text_in(detail, "message", arena);
    out->exit_code = number_in(detail, "exitCode");
    out->signal = number_in(detail, "signal");
    out->started_ms = time_in(detail, "startedAt");
    out->finished_ms = time_in(detail, "finishedAt");
}

static void read_usage(struct container_status *out, const json_t *usage)
{
    out->cpu_ms = json_integer_value(json_object_get(usage, "cpuMillis"));
    out->memory_peak_bytes = json_integer_value(json_object_get(usage, "memoryPeakBytes"));
}

/* Returns the ids of a container's devices as one text, like "nvidia.com/gpu=0,1"; NULL: none. */
static const char *read_devices(const json_t *allocated, struct arena *arena)
{
    scoped(buf) struct buf text = {0};
    size_t i, j;
    const json_t *entry, *device;

    json_array_foreach(allocated, i, entry)
    {
        const json_t *resources = json_object_get(entry, "resources");
        const char *name = json_string_value(json_object_get(entry, "name"));

        if (!name)
            continue;
        buf_printf(&text, "%s%s=", text.len ? ";" : "", name);
        json_array_foreach(resources, j, device)
        {
            const char *id = json_string_value(json_object_get(device, "resourceID"));

            buf_printf(&text, "%s%s", j ? "," : "", id ? id : "");
        }
    }
    return text.len ? arena_strdup(arena, text.data) : NULL;
}

static void read_container(struct container_status *out, const json_t *doc, struct arena *arena)
{
    const json_t *last = json_object_get(json_object_get(doc, "lastState"), "terminated");

    out->name = text_in(doc, "name", arena);
    out->image = text_in(doc, "image", arena);
    out->restart_count = number_in(doc, "restartCount");
    out->ready = json_is_true(json_object_get(doc, "ready"));
    read_state(out, json_object_get(doc, "state"), arena);
    out->starting_up =
        out->state == CONTAINER_RUNNING && json_is_false(json_object_get(doc, "started"));
    read_usage(out, json_object_get(doc, "usage"));
    out->devices = read_devices(json_object_get(doc, "allocatedResourcesStatus"), arena);
    out->has_last = last != NULL;
    out->last_exit_code = number_in(last, "exitCode");
    out->last_signal = number_in(last, "signal");
    out->last_reason = text_in(last, "reason", arena);
}

static struct container_status *read_containers(const json_t *list, struct arena *arena,
                                                size_t *out_count)
{
    size_t count = json_array_size(list);
    struct container_status *items = arena_array(arena, count, sizeof *items);

    for (size_t i = 0; i < count; i++)
        read_container(&items[i], json_array_get(list, i), arena);
    *out_count = count;
    return items;
}

static bool is_reason(const json_t *condition, const char *reason)
{
    const char *text = json_string_value(json_object_get(condition, "reason"));

    return text && strcmp(text, reason) == 0;
}

static void read_condition(struct pod_status *status, const json_t *condition, struct arena *arena)
{
    const char *type = json_string_value(json_object_get(condition, "type"));
    const char *value = json_string_value(json_object_get(condition, "status"));
    bool is_true = value && strcmp(value, "True") == 0;

    if (!type)
        return;
    if (strcmp(type, "PodScheduled") == 0) {
        status->scheduled = is_true;
        if (is_true)
            status->scheduled_ms = time_in(condition, "lastTransitionTime");
        else
            status->unschedulable = text_in(condition, "message", arena);
        status->gated = !is_true && is_reason(condition, POD_REASON_GATED);
    } else if (strcmp(type, "Initialized") == 0) {
        status->initialized = is_true;
    } else if (strcmp(type, "Ready") == 0) {
        status->ready = is_true;
        status->ready_ms = is_true ? time_in(condition, "lastTransitionTime") : 0;
    } else if (strcmp(type, "ResourceLimits") == 0) {
        status->limits_note = text_in(condition, "message", arena);
    }
}

static void finish_status(void *decoded, const json_t *doc, struct arena *arena)
{
    struct pod_status *status = decoded;
    const json_t *conditions = json_object_get(doc, "conditions");

    status->phase = POD_PENDING;
    pod_phase_parse(json_string_value(json_object_get(doc, "phase")), &status->phase);
    for (size_t i = 0; i < json_array_size(conditions); i++)
        read_condition(status, json_array_get(conditions, i), arena);
    status->init_containers.items = read_containers(json_object_get(doc, "initContainerStatuses"),
                                                    arena, &status->init_containers.count);
    status->containers.items = read_containers(json_object_get(doc, "containerStatuses"), arena,
                                               &status->containers.count);
}

static bool has_ended(const void *decoded)
{
    return pod_phase_ended(((const struct pod_status *)decoded)->phase);
}

static const struct decoded_type status_type = {
    .schema = &read_schema, .ended = has_ended, .finish = finish_status};

const struct pod_status *pod_status_of(const struct object *pod)
{
    static const struct pod_status no_status = {.phase = POD_PENDING};

    return pod->status ? decoded_of(pod->status, &status_type) : &no_status;
}

enum pod_phase pod_status_phase(const struct object *pod)
{
    char text[16];
    enum pod_phase phase;

    if (pod->status && blob_leading_string(pod->status, "{\"phase\":\"", text, sizeof text) &&
        pod_phase_parse(text, &phase))
        return phase;
    return pod_status_of(pod)->phase;
}

const struct pod_status *pod_status_of_blob(const struct blob *status)
{
    return decoded_of(status, &status_type);
}

struct condition {
    const char *type;
    bool is_true;
    int64_t at_ms;
    const char *reason, *message;
};

static void write_condition(struct jsonw *w, const struct condition *condition)
{
    jsonw_open(w);
    jsonw_member_str(w, "type", condition->type);
    jsonw_member_str(w, "status", condition->is_true ? "True" : "False");
    jsonw_member_time_opt(w, "lastTransitionTime", condition->at_ms);
    jsonw_member_str_opt(w, "reason", condition->reason);
    jsonw_member_str_opt(w, "message", condition->message);
    jsonw_close(w);
}

static const char *not_ready_reason(const struct pod_status *status)
{
    if (status->phase == POD_SUCCEEDED)
        return "PodCompleted";
    return status->phase == POD_FAILED ? "PodFailed" : "ContainersNotReady";
}

/* A pod that the scheduler has neither placed nor refused has no conditions. The node adds its own
 * when it accepts the pod. */
static void write_conditions(struct jsonw *w, const struct pod_status *status)
{
    const char *reason = status->ready ? NULL : not_ready_reason(status);
    int64_t changed_ms = status->ready ? status->ready_ms : status->start_ms;

    if (!status->scheduled && !status->unschedulable)
        return;
    jsonw_member_open_list(w, "conditions");
    write_condition(w, &(struct condition){"PodScheduled", status->scheduled, status->scheduled_ms,
                                           status->scheduled ? NULL
                                           : status->gated   ? POD_REASON_GATED
                                                             : "Unschedulable",
                                           status->scheduled ? NULL : status->unschedulable});
    if (status->scheduled && (status->start_ms || status->initialized)) {
        write_condition(
            w, &(struct condition){"Initialized", status->initialized, status->start_ms,
                                   status->initialized ? NULL : "ContainersNotInitialized"});
        write_condition(w, &(struct condition){"Ready", status->ready, changed_ms, reason});
        write_condition(w,
                        &(struct condition){"ContainersReady", status->ready, changed_ms, reason});
        if (status->limits_note)
            write_condition(w, &(struct condition){"ResourceLimits", false, status->start_ms,
                                                   "NotEnforced", status->limits_note});
    }
    jsonw_close_list(w);
}

static void write_state(struct jsonw *w, const struct container_status *container)
{
    jsonw_member_open(w, "state");
    jsonw_member_open(w, state_texts[container->state]);
    if (container->state == CONTAINER_TERMINATED)
        jsonw_member_int(w, "exitCode", container->exit_code);
    jsonw_member_int_opt(w, "signal", container->signal);
    jsonw_member_str_opt(w, "reason", container->reason);
    jsonw_member_str_opt(w, "message", container->message);
    if (container->state != CONTAINER_WAITING) {
        jsonw_member_time_opt(w, "startedAt", container->started_ms);
        jsonw_member_time_opt(w, "finishedAt", container->finished_ms);
    }
    jsonw_close(w);
    jsonw_close(w);
}

static void write_last_state(struct jsonw *w, const struct container_status *container)
{
    jsonw_member_open(w, "lastState");
    if (container->has_last) {
        jsonw_member_open(w, "terminated");
        jsonw_member_int(w, "exitCode", container->last_exit_code);
        jsonw_member_int_opt(w, "signal", container->last_signal);
        jsonw_member_str_opt(w, "reason", container->last_reason);
        jsonw_close(w);
    }
    jsonw_close(w);
}

static void write_usage(struct jsonw *w, const struct container_status *container)
{
    if (!container->cpu_ms && !container->memory_peak_bytes)
        return;
    jsonw_member_open(w, "usage");
    jsonw_member_int(w, "cpuMillis", container->cpu_ms);
    jsonw_member_int(w, "memoryPeakBytes", container->memory_peak_bytes);
    jsonw_close(w);
}

static void write_device(struct jsonw *w, const char *text, size_t len)
{
    scoped_str id = mem_printf("%.*s", (int)len, text);

    jsonw_open(w);
    jsonw_member_str(w, "resourceID", id);
    jsonw_member_str(w, "health", "Healthy");
    jsonw_close(w);
}

/* Writes "nvidia.com/gpu=0,1;example.com/fpga=left" as Kubernetes' list of resources. */
static void write_devices(struct jsonw *w, const char *devices)
{
    if (!devices)
        return;
    jsonw_member_open_list(w, "allocatedResourcesStatus");
    while (*devices) {
        size_t len = strcspn(devices, "=");
        scoped_str name = mem_printf("%.*s", (int)len, devices);

        jsonw_open(w);
        jsonw_member_str(w, "name", name);
        jsonw_member_open_list(w, "resources");
        devices += len;
        while (*devices && *devices != ';') {
            size_t id = strcspn(++devices, ",;");

            write_device(w, devices, id);
            devices += id;
        }
        jsonw_close_list(w);
        jsonw_close(w);
        devices += *devices == ';';
    }
    jsonw_close_list(w);
}

static void write_containers(struct jsonw *w, const char *member,
                             const struct container_status *items, size_t count)
{
    if (!count)
        return;
    jsonw_member_open_list(w, member);
    for (size_t i = 0; i < count; i++) {
        jsonw_open(w);
        jsonw_member_str(w, "name", items[i].name);
        write_state(w, &items[i]);
        write_last_state(w, &items[i]);
        jsonw_member_bool(w, "ready", items[i].ready);
        jsonw_member_int(w, "restartCount", items[i].restart_count);
        jsonw_member_str(w, "image", items[i].image ? items[i].image : "");
        jsonw_member_str(w, "imageID", "");
        jsonw_member_bool(w, "started",
                          items[i].state == CONTAINER_RUNNING && !items[i].starting_up);
        write_devices(w, items[i].devices);
        write_usage(w, &items[i]);
        jsonw_close(w);
    }
    jsonw_close_list(w);
}

/* Writes an address twice, as Kubernetes does: as a single member and as the only entry of a
 * list. */
static void write_address(struct jsonw *w, const char *single, const char *list,
                          const char *address)
{
    if (!address || !*address)
        return;
    jsonw_member_str(w, single, address);
    jsonw_member_open_list(w, list);
    jsonw_open(w);
    jsonw_member_str(w, "ip", address);
    jsonw_close(w);
    jsonw_close_list(w);
}

static void write_status(struct jsonw *w, const void *value)
{
    const struct pod_status *status = value;

    jsonw_open(w);
    jsonw_member_str(w, "phase", pod_phase_text(status->phase));
    write_conditions(w, status);
    jsonw_member_str_opt(w, "message", status->message);
    jsonw_member_str_opt(w, "reason", status->reason);
    write_address(w, "hostIP", "hostIPs", status->host_ip);
    write_address(w, "podIP", "podIPs", status->pod_ip);
    jsonw_member_time_opt(w, "startTime", status->start_ms);
    write_containers(w, "initContainerStatuses", status->init_containers.items,
                     status->init_containers.count);
    write_containers(w, "containerStatuses", status->containers.items, status->containers.count);
    jsonw_member_str_opt(w, "qosClass", status->qos_class);
    jsonw_close(w);
}

static struct container_status *copy_containers(struct arena *arena,
                                                const struct container_status *from, size_t count)
{
    struct container_status *to = arena_copy(arena, from, count * sizeof *from);

    for (size_t i = 0; i < count; i++) {
        to[i].name = arena_copy_str(arena, from[i].name);
        to[i].image = arena_copy_str(arena, from[i].image);
        to[i].reason = arena_copy_str(arena, from[i].reason);
        to[i].message = arena_copy_str(arena, from[i].message);
        to[i].last_reason = arena_copy_str(arena, from[i].last_reason);
        to[i].devices = arena_copy_str(arena, from[i].devices);
    }
    return to;
}

static void *copy_status(struct arena *arena, const void *value)
{
    const struct pod_status *from = value;
    struct pod_status *to = arena_alloc(arena, sizeof *to);

    *to = *from;
    to->reason = arena_copy_str(arena, from->reason);
    to->message = arena_copy_str(arena, from->message);
    to->pod_ip = arena_copy_str(arena, from->pod_ip);
    to->host_ip = arena_copy_str(arena, from->host_ip);
    to->unschedulable = arena_copy_str(arena, from->unschedulable);
    to->limits_note = arena_copy_str(arena, from->limits_note);
    to->qos_class = arena_copy_str(arena, from->qos_class);
    to->init_containers.items =
        copy_containers(arena, from->init_containers.items, from->init_containers.count);
    to->containers.items = copy_containers(arena, from->containers.items, from->containers.count);
    return to;
}

struct blob *pod_status_blob(const struct pod_status *status)
{
    return decoded_write(&status_type, status, write_status, copy_status);
}
