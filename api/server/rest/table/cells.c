/*
 * Cells that every kind has, cells of the small core kinds, and the tables from kind and path to
 * cells.
 */
#include "api/server/rest/table/cells.h"

#include <string.h>

#include "api/types/kinds/jobflow/pin.h"
#include "api/types/kinds/schedule/cronjob.h"
#include "api/types/kinds/scheduling/podgroup.h"
#include "api/types/text/doc.h"
#include "base/mem.h"
#include "base/timefmt.h"

void cell_row_release(struct cell_row *row)
{
    json_decref(row->body);
    json_decref(row->status);
    row->body = row->status = NULL;
}

const json_t *cell_body(struct cell_row *row)
{
    if (!row->body)
        row->body = object_body_json(row->object);
    return row->body;
}

const json_t *cell_status(struct cell_row *row)
{
    if (!row->status)
        row->status = object_status_json(row->object);
    return row->status;
}

void cell_name(struct jsonw *w, struct cell_row *row)
{
    jsonw_str(w, object_name(row->object));
}

void cell_write_age(struct jsonw *w, int64_t at_ms, int64_t now_ms)
{
    char text[TIME_TEXT_MAX];

    if (at_ms == 0) {
        jsonw_str(w, "<unknown>");
        return;
    }
    duration_human(now_ms - at_ms, text);
    jsonw_str(w, text);
}

void cell_age(struct jsonw *w, struct cell_row *row)
{
    cell_write_age(w, row->object->meta->created_at_ms, row->now_ms);
}

void cell_write_or(struct jsonw *w, const char *text, const char *otherwise)
{
    jsonw_str(w, text && *text ? text : otherwise);
}

/* Fast paths for columns that are declared by path. */

static void flow_phase(struct jsonw *w, struct cell_row *row)
{
    jsonw_str(w, flow_phase_text(jobflow_phase_of(row->object)));
}

static const struct jobflow_summary no_status = {0};

static const struct jobflow_summary *summary_of(const struct cell_row *row)
{
    const struct jobflow_summary *summary = jobflow_summary_of(row->object);

    return summary ? summary : &no_status;
}

static void flow_completed(struct jsonw *w, struct cell_row *row)
{
    jsonw_int(w, summary_of(row)->completed);
}

static void flow_steps(struct jsonw *w, struct cell_row *row)
{
    jsonw_int(w, summary_of(row)->steps);
}

static void flow_reason(struct jsonw *w, struct cell_row *row)
{
    cell_write_or(w, summary_of(row)->reason, "");
}

static void job_phase(struct jsonw *w, struct cell_row *row)
{
    jsonw_str(w, job_phase_text(job_status_of(row->object)->phase));
}

static void job_min_available(struct jsonw *w, struct cell_row *row)
{
    jsonw_int(w, job_status_of(row->object)->min_available);
}

static void job_running(struct jsonw *w, struct cell_row *row)
{
    jsonw_int(w, job_status_of(row->object)->running);
}

static void job_queue(struct jsonw *w, struct cell_row *row)
{
    cell_write_or(w, job_spec_of(row->object)->queue, "");
}

static void podgroup_phase(struct jsonw *w, struct cell_row *row)
{
    jsonw_str(w, podgroup_phase_text(podgroup_status_of(row->object)->phase));
}

static void podgroup_running(struct jsonw *w, struct cell_row *row)
{
    jsonw_int(w, podgroup_status_of(row->object)->running);
}

static void podgroup_min_member(struct jsonw *w, struct cell_row *row)
{
    jsonw_int(w, podgroup_spec_of(row->object)->min_member);
}

static void podgroup_queue(struct jsonw *w, struct cell_row *row)
{
    cell_write_or(w, podgroup_spec_of(row->object)->queue, "");
}

static void podgroup_reason(struct jsonw *w, struct cell_row *row)
{
    cell_write_or(w, podgroup_waits_for(row->object), "");
}

static const struct {
    const struct kind *kind; /* kind of the rows; NULL: every kind */
    const char *path;
    cell_fn write;
} by_path[] = {
    /* clang-format off */
    {NULL,            "metadata.creationTimestamp", cell_age},
    {&kind_job,       "status.state.phase",         job_phase},
    {&kind_job,       "status.minAvailable",        job_min_available},
    {&kind_job,       "status.running",             job_running},
    {&kind_job,       "spec.queue",                 job_queue},
    {&kind_pod_group, "status.phase",               podgroup_phase},
    {&kind_pod_group, "status.running",             podgroup_running},
    {&kind_pod_group, "spec.minMember",             podgroup_min_member},
    {&kind_pod_group, "spec.queue",                 podgroup_queue},
    {&kind_pod_group, "status.conditions",          podgroup_reason},
    /* clang-format on */
};

cell_fn cell_of_path(const struct kind *kind, const char *path)
{
    for (size_t i = 0; i < countof(by_path); i++)
        if ((!by_path[i].kind || by_path[i].kind == kind) && strcmp(by_path[i].path, path) == 0)
            return by_path[i].write;
    return NULL;
}

static void namespace_status(struct jsonw *w, struct cell_row *row)
{
    jsonw_str(w, object_deleting(row->object) ? "Terminating" : "Active");
}

static void data_count(struct jsonw *w, struct cell_row *row)
{
    jsonw_int(w, (int64_t)(json_object_size(json_object_get(cell_body(row), "data")) +
                           json_object_size(json_object_get(cell_body(row), "binaryData"))));
}

static void account_secrets(struct jsonw *w, struct cell_row *row)
{
    jsonw_int(w, (int64_t)json_array_size(json_object_get(cell_body(row), "secrets")));
}

void cell_none(struct jsonw *w, struct cell_row *row)
{
    jsonw_str(w, "<none>");
}

/* Writes the ports of a Service, as 80/TCP,53:30053/UDP. */
static void service_ports(struct jsonw *w, struct cell_row *row)
{
    const json_t *spec = json_object_get(cell_body(row), "spec");
    scoped(buf) struct buf text = {0};
    size_t i;
    json_t *port;

    json_array_foreach(json_object_get(spec, "ports"), i, port)
    {
        const char *protocol = doc_text(port, "protocol");

        buf_printf(&text, "%s%" JSON_INTEGER_FORMAT, i ? "," : "",
                   json_integer_value(json_object_get(port, "port")));
        if (json_integer_value(json_object_get(port, "nodePort")))
            buf_printf(&text, ":%" JSON_INTEGER_FORMAT,
                       json_integer_value(json_object_get(port, "nodePort")));
        buf_printf(&text, "/%s", protocol ? protocol : "TCP");
    }
    cell_write_or(w, text.data, "<none>");
}

static void service_selector(struct jsonw *w, struct cell_row *row)
{
    json_t *selector = json_object_get(json_object_get(cell_body(row), "spec"), "selector");
    scoped(buf) struct buf text = {0};
    const char *key;
    json_t *value;

    json_object_foreach(selector, key, value)
        buf_printf(&text, "%s%s=%s", text.len ? "," : "", key,
                   json_is_string(value) ? json_string_value(value) : "");
    cell_write_or(w, text.data, "<none>");
}

static void pvc_status(struct jsonw *w, struct cell_row *row)
{
    cell_write_or(
        w, object_deleting(row->object) ? "Terminating" : doc_text(cell_status(row), "phase"),
        "Pending");
}

static void pvc_access_modes(struct jsonw *w, struct cell_row *row)
{
    static const struct {
        const char *mode, *letters;
    } modes[] = {{"ReadWriteOnce", "RWO"},
                 {"ReadOnlyMany", "ROX"},
                 {"ReadWriteMany", "RWX"},
                 {"ReadWriteOncePod", "RWOP"}};
    const json_t *spec = json_object_get(cell_body(row), "spec");
    scoped(buf) struct buf text = {0};
    size_t i;
    json_t *mode;

    json_array_foreach(json_object_get(spec, "accessModes"), i, mode)
    {
        for (size_t j = 0; json_is_string(mode) && j < countof(modes); j++)
            if (strcmp(json_string_value(mode), modes[j].mode) == 0)
                buf_printf(&text, "%s%s", text.len ? "," : "", modes[j].letters);
    }
    jsonw_str(w, text.data ? text.data : "");
}

static void node_status(struct jsonw *w, struct cell_row *row)
{
    bool cordoned =
        json_is_true(json_object_get(json_object_get(cell_body(row), "spec"), "unschedulable"));
    const char *text = "Unknown";
    scoped_str whole = NULL;
    size_t i;
    json_t *condition;

    json_array_foreach(json_object_get(cell_status(row), "conditions"), i, condition)
    {
        const char *type = doc_text(condition, "type");
        const char *value = doc_text(condition, "status");

        if (type && value && strcmp(type, "Ready") == 0)
            text = strcmp(value, "True") == 0 ? "Ready" : "NotReady";
    }
    whole = mem_printf("%s%s", text, cordoned ? ",SchedulingDisabled" : "");
    jsonw_str(w, whole);
}

static void node_address(struct jsonw *w, struct cell_row *row, const char *wanted)
{
    size_t i;
    json_t *address;

    json_array_foreach(json_object_get(cell_status(row), "addresses"), i, address)
    {
        const char *type = doc_text(address, "type");

        if (type && strcmp(type, wanted) == 0) {
            cell_write_or(w, doc_text(address, "address"), "<none>");
            return;
        }
    }
    jsonw_str(w, "<none>");
}

static void node_internal_ip(struct jsonw *w, struct cell_row *row)
{
    node_address(w, row, "InternalIP");
}

static void node_external_ip(struct jsonw *w, struct cell_row *row)
{
    node_address(w, row, "ExternalIP");
}

static void template_origin(struct jsonw *w, struct cell_row *row)
{
    cell_write_or(w, jobflow_pin_origin(row->object), "<none>");
}

static void template_flow(struct jsonw *w, struct cell_row *row)
{
    const char *flow =
        jobflow_pin_origin(row->object) ? meta_controller(row->object->meta)->name : NULL;

    cell_write_or(w, flow, "<none>");
}

static void cronjob_active(struct jsonw *w, struct cell_row *row)
{
    jsonw_int(w, (int64_t)cronjob_status_of(row->object)->active.count);
}

static void cronjob_last(struct jsonw *w, struct cell_row *row)
{
    if (cronjob_status_of(row->object)->last_schedule_ms)
        cell_write_age(w, cronjob_status_of(row->object)->last_schedule_ms, row->now_ms);
    else
        jsonw_str(w, "<none>");
}

static void cronjob_suspend(struct jsonw *w, struct cell_row *row)
{
    jsonw_bool(w, cronjob_spec_of(row->object)->suspend);
}

static void priority_value(struct jsonw *w, struct cell_row *row)
{
    jsonw_int(w, json_integer_value(json_object_get(cell_body(row), "value")));
}

static void priority_default(struct jsonw *w, struct cell_row *row)
{
    jsonw_bool(w, json_is_true(json_object_get(cell_body(row), "globalDefault")));
}

/* Writes the time at which the CRD was created: kube-apiserver shows a time here, not an age. */
static void crd_created(struct jsonw *w, struct cell_row *row)
{
    char text[TIME_TEXT_MAX];

    time_format(row->object->meta->created_at_ms, text);
    jsonw_str(w, text);
}

/* clang-format off */
static const struct cell_column cells_namespace[] = {
    {"Name",   "string", 0, cell_name},
    {"Status", "string", 0, namespace_status},
    {"Age",    "string",   0, cell_age},
    {0},
};
static const struct cell_column cells_config_map[] = {
    {"Name", "string",  0, cell_name},
    {"Data", "string", 0, data_count},
    {"Age",  "string",    0, cell_age},
    {0},
};
static const struct cell_column cells_secret[] = {
    {"Name", "string",  0, cell_name},
    {"Type", "string",  0, NULL, "type", "Opaque"},
    {"Data", "string", 0, data_count},
    {"Age",  "string",    0, cell_age},
    {0},
};
static const struct cell_column cells_service_account[] = {
    {"Name",    "string",  0, cell_name},
    {"Secrets", "string", 0, account_secrets},
    {"Age",     "string",    0, cell_age},
    {0},
};
static const struct cell_column cells_service[] = {
    {"Name",        "string", 0, cell_name},
    {"Type",        "string", 0, NULL, "spec.type", "ClusterIP"},
    {"Cluster-IP",  "string", 0, NULL, "spec.clusterIP", "<none>"},
    {"External-IP", "string", 0, cell_none},
    {"Port(s)",     "string", 0, service_ports},
    {"Age",         "string",   0, cell_age},
    {"Selector",    "string", 1, service_selector},
    {0},
};
static const struct cell_column cells_pvc[] = {
    {"Name",         "string", 0, cell_name},
    {"Status",       "string", 0, pvc_status},
    {"Volume",       "string", 0, NULL, "spec.volumeName", ""},
    {"Capacity",     "string", 0, NULL, "status.capacity.storage", ""},
    {"Access Modes", "string", 0, pvc_access_modes},
    {"StorageClass", "string", 0, NULL, "spec.storageClassName", ""},
    {"Age",          "string",   0, cell_age},
    {"VolumeMode",   "string", 1, NULL, "spec.volumeMode", "Filesystem"},
    {0},
};
static const struct cell_column cells_node[] = {
    {"Name",              "string", 0, cell_name},
    {"Status",            "string", 0, node_status},
    {"Roles",             "string", 0, cell_none},
    {"Age",               "string",   0, cell_age},
    {"Version",           "string", 0, NULL, "status.nodeInfo.kubeletVersion", ""},
    {"Internal-IP",       "string", 1, node_internal_ip},
    {"External-IP",       "string", 1, node_external_ip},
    {"OS-Image",          "string", 1, NULL, "status.nodeInfo.osImage", "<unknown>"},
    {"Kernel-Version",    "string", 1, NULL, "status.nodeInfo.kernelVersion", "<unknown>"},
    {"Container-Runtime", "string", 1, NULL, "status.nodeInfo.containerRuntimeVersion", "<unknown>"},
    {0},
};
static const struct cell_column cells_priority_class[] = {
    {"Name",             "string",  0, cell_name},
    {"Value",            "integer", 0, priority_value},
    {"Global-Default",   "boolean", 0, priority_default},
    {"Age",              "string",  0, cell_age},
    {"PreemptionPolicy", "string",  0, NULL, "preemptionPolicy", ""},
    {0},
};
static const struct cell_column cells_job_flow[] = {
    {"Name",      "string",  0, cell_name},
    {"Status",    "string",  0, flow_phase},
    {"Age",       "date",    0, cell_age},
    {"Completed", "integer", 1, flow_completed},
    {"Steps",     "integer", 1, flow_steps},
    {"Reason",    "string",  1, flow_reason},
    {0},
};
static const struct cell_column cells_job_template[] = {
    {"Name",      "string", 0, cell_name},
    {"Age",       "date",   0, cell_age},
    {"Copy-Of",   "string", 1, template_origin},
    {"Pinned-By", "string", 1, template_flow},
    {0},
};
static const struct cell_column cells_cron_job[] = {
    {"Name",          "string",  0, cell_name},
    {"Schedule",      "string",  0, NULL, "spec.schedule", ""},
    {"Suspend",       "boolean", 0, cronjob_suspend},
    {"Active",        "integer", 0, cronjob_active},
    {"Last Schedule", "string",  0, cronjob_last},
    {"Age",           "date",    0, cell_age},
    {"Timezone",      "string",  1, NULL, "spec.timeZone", "<none>"},
    {0},
};
static const struct cell_column cells_lease[] = {
    {"Name",   "string", 0, cell_name},
    {"Holder", "string", 0, NULL, "spec.holderIdentity", ""},
    {"Age",    "string",   0, cell_age},
    {0},
};
static const struct cell_column cells_crd[] = {
    {"Name",       "string", 0, cell_name},
    {"Created At", "date",   0, crd_created},
    {0},
};
/* clang-format on */

const struct cell_column *cells_of(const struct kind *kind)
{
    static const struct cell_column *const by_kind[KIND_N] = {
        [KIND_POD] = cells_pod,
        [KIND_EVENT] = cells_event,
        [KIND_NAMESPACE] = cells_namespace,
        [KIND_CONFIG_MAP] = cells_config_map,
        [KIND_SECRET] = cells_secret,
        [KIND_SERVICE_ACCOUNT] = cells_service_account,
        [KIND_SERVICE] = cells_service,
        [KIND_ENDPOINTS] = cells_endpoints,
        [KIND_ENDPOINT_SLICE] = cells_endpoint_slice,
        [KIND_PVC] = cells_pvc,
        [KIND_NODE] = cells_node,
        [KIND_PRIORITY_CLASS] = cells_priority_class,
        [KIND_JOB_FLOW] = cells_job_flow,
        [KIND_JOB_TEMPLATE] = cells_job_template,
        [KIND_CRON_JOB] = cells_cron_job,
        [KIND_LEASE] = cells_lease,
        [KIND_CRD] = cells_crd,
    };

    return by_kind[kind->id];
}
