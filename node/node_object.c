/*
 * Writes the Node object, once per start. An idle node sends no heartbeat: the API server is the
 * same process, so a readable object proves that the process lives.
 */
#include "node/node_object.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "api/types/text/quantity.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/version.h"

#ifdef __aarch64__
#define ARCHITECTURE "arm64"
#else
#define ARCHITECTURE "amd64"
#endif

static void read_line(const char *path, char *out, size_t size)
{
    scoped(buf) struct buf text = {0};

    out[0] = '\0';
    if (!file_read(path, 4096, &text, NULL) || !text.len)
        return;
    text.data[strcspn(text.data, "\n")] = '\0';
    snprintf(out, size, "%s", text.data);
}

static void read_os_image(char *out, size_t size)
{
    static const char key[] = "PRETTY_NAME=\"";
    scoped(buf) struct buf text = {0};
    const char *at;

    out[0] = '\0';
    if (!file_read("/etc/os-release", 65536, &text, NULL) || !text.len)
        return;
    at = strstr(text.data, key);
    if (at)
        snprintf(out, size, "%.*s", (int)strcspn(at + sizeof key - 1, "\"\n"), at + sizeof key - 1);
}

/* Converts a host name to a DNS subdomain: lower case, with dashes for other bytes. */
static void set_name(char out[MACHINE_TEXT_MAX], const char *name)
{
    size_t n = 0;

    for (; *name && n < 63; name++) {
        char c = (char)tolower((unsigned char)*name);

        if (isalnum((unsigned char)c) || (n && (c == '-' || c == '.')))
            out[n++] = c;
        else if (n)
            out[n++] = '-';
    }
    while (n && !isalnum((unsigned char)out[n - 1]))
        n--;
    out[n] = '\0';
    if (!n)
        memcpy(out, "node", sizeof "node");
}

static void read_host(struct machine *m)
{
    struct utsname host;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES);

    if (uname(&host) == 0) {
        set_name(m->name, host.nodename);
        snprintf(m->kernel, sizeof m->kernel, "%s", host.release);
    }
    read_line("/proc/sys/kernel/random/boot_id", m->boot_id, sizeof m->boot_id);
    read_line("/etc/machine-id", m->machine_id, sizeof m->machine_id);
    read_os_image(m->os_image, sizeof m->os_image);
    m->capacity.cpu_milli = (cpus > 0 ? cpus : 1) * 1000;
    m->capacity.memory_bytes =
        pages > 0 ? (int64_t)pages * sysconf(_SC_PAGESIZE) : AMOUNT_UNLIMITED;
}

void machine_read(struct machine *m, const struct machine_options *options)
{
    *m = (struct machine){.name = "node", .sim = options->sim};
    if (options->sim) {
        memcpy(m->boot_id, "sim", sizeof "sim");
        memcpy(m->name, "sim", sizeof "sim");
        m->capacity.cpu_milli = m->capacity.memory_bytes = AMOUNT_UNLIMITED;
    } else {
        read_host(m);
    }
    if (options->name && *options->name)
        set_name(m->name, options->name);
    m->capacity.pods = options->max_pods > 0 ? options->max_pods : 1;
    m->extras = options->extras;
    m->extras.open = options->sim;
    m->devices = options->devices;
    memcpy(m->capacity.extra, options->extra, sizeof m->capacity.extra);
    m->allocatable = m->capacity;
    if (options->cpu_milli)
        m->allocatable.cpu_milli = options->cpu_milli;
    if (options->memory_bytes)
        m->allocatable.memory_bytes = options->memory_bytes;
    m->labels[0] = (struct kv){"kubernetes.io/hostname", m->name};
    m->labels[1] = (struct kv){"kubernetes.io/os", "linux"};
    m->labels[2] = (struct kv){"kubernetes.io/arch", ARCHITECTURE};
}

#define RUNTIME_VERSION "jobflow://1"
#define SIM_VERSION     "sim://1"

struct other_search {
    const char *version; /* version field of the other kind of node, real or simulated */
    bool found;
};

static void look_for_other(void *arg, const struct object *node)
{
    struct other_search *search = arg;
    scoped(json) json_t *status = node->status ? object_status_json(node) : NULL;
    const json_t *info = json_object_get(status, "nodeInfo");
    const char *version = json_string_value(json_object_get(info, "containerRuntimeVersion"));

    search->found |= version && strcmp(version, search->version) == 0;
}

bool machine_check_directory(struct cluster *cluster, const struct machine *m, struct error *err)
{
    struct other_search search = {.version = m->sim ? RUNTIME_VERSION : SIM_VERSION};

    cluster_each(cluster, &kind_node, NULL, look_for_other, &search);
    if (!search.found)
        return true;
    return m->sim ? error_set(err, ERR_CONFLICT, "",
                              "the data directory holds pods of this machine: a simulation needs a "
                              "directory of its own, named with --data-dir")
                  : error_set(err, ERR_CONFLICT, "",
                              "the data directory holds a simulation: use --runtime sim, or name "
                              "another one with --data-dir");
}

bool machine_restarted(struct cluster *cluster, const struct machine *m)
{
    const struct object *node = cluster_get(cluster, &kind_node, "", m->name);
    scoped(json) json_t *status = NULL;
    const char *before;

    if (!node || !node->status)
        return false;
    status = object_status_json(node);
    before = json_string_value(json_object_get(json_object_get(status, "nodeInfo"), "bootID"));
    return before && *before && strcmp(before, m->boot_id) != 0;
}

static void write_amount(struct jsonw *w, const char *member, struct amount amount,
                         const struct resource_names *extras)
{
    char text[QUANTITY_TEXT_MAX];

    jsonw_member_open(w, member);
    if (amount.cpu_milli < AMOUNT_UNLIMITED) {
        quantity_print((quantity_nano)amount.cpu_milli * 1000000, QUANTITY_DECIMAL, text);
        jsonw_member_str(w, "cpu", text);
    }
    if (amount.memory_bytes < AMOUNT_UNLIMITED) {
        quantity_print((quantity_nano)amount.memory_bytes * 1000000000, QUANTITY_BINARY, text);
        jsonw_member_str(w, "memory", text);
    }
    snprintf(text, sizeof text, "%lld", (long long)amount.pods);
    jsonw_member_str(w, "pods", text);
    for (size_t i = 0; i < extras->count; i++) {
        snprintf(text, sizeof text, "%lld", (long long)amount.extra[i]);
        jsonw_member_str(w, extras->names[i], text);
    }
    jsonw_close(w);
}

static void write_address(struct jsonw *w, const char *type, const char *address)
{
    jsonw_open(w);
    jsonw_member_str(w, "type", type);
    jsonw_member_str(w, "address", address);
    jsonw_close(w);
}

static void write_info(struct jsonw *w, const struct machine *m)
{
    jsonw_member_open(w, "nodeInfo");
    jsonw_member_str(w, "architecture", ARCHITECTURE);
    jsonw_member_str(w, "bootID", m->boot_id);
    jsonw_member_str(w, "containerRuntimeVersion", m->sim ? SIM_VERSION : RUNTIME_VERSION);
    jsonw_member_str(w, "kernelVersion", m->kernel);
    jsonw_member_str(w, "kubeProxyVersion", "");
    jsonw_member_str(w, "kubeletVersion", "v" JOBFLOW_VERSION);
    jsonw_member_str(w, "machineID", m->machine_id);
    jsonw_member_str(w, "operatingSystem", "linux");
    jsonw_member_str(w, "osImage", m->os_image);
    jsonw_member_str(w, "systemUUID", "");
    jsonw_close(w);
}

struct node_condition {
    const char *type;
    bool is_true;
    const char *reason, *message;
};

static void write_condition(struct jsonw *w, const struct node_condition *condition, int64_t now_ms)
{
    jsonw_open(w);
    jsonw_member_str(w, "type", condition->type);
    jsonw_member_str(w, "status", condition->is_true ? "True" : "False");
    jsonw_member_str(w, "reason", condition->reason);
    jsonw_member_str(w, "message", condition->message);
    jsonw_member_time(w, "lastHeartbeatTime", now_ms);
    jsonw_member_time(w, "lastTransitionTime", now_ms);
    jsonw_close(w);
}

/* Writes what pods get on this machine. Each capability was tested at start. */
static void write_capabilities(struct jsonw *w, const struct runtime_capabilities *a,
                               int64_t now_ms)
{
    bool all = a->limits_memory && a->limits_cpu && a->limits_processes;
    scoped_str limits = mem_printf("memory: %s; cpu: %s; processes: %s",
                                   a->limits_memory ? "enforced" : "supervised",
                                   a->limits_cpu ? "enforced" : "not enforced",
                                   a->limits_processes ? "enforced" : "the user's own limit");

    write_condition(
        w,
        &(struct node_condition){"PodIsolation", strcmp(a->level, "plain") != 0, "Probed", a->why},
        now_ms);
    write_condition(w,
                    &(struct node_condition){"PodAddresses", a->own_addresses, "Probed",
                                             a->private_network ? "pods have a network of their own"
                                                                : a->rewrites},
                    now_ms);
    write_condition(
        w, &(struct node_condition){"PodNames", !a->hosts_as_addresses, "Probed", a->names},
        now_ms);
    write_condition(w,
                    &(struct node_condition){"ResourceLimits", all,
                                             all ? "ControlGroups" : "NotAllEnforced", limits},
                    now_ms);
}

/* Names the devices of the machine, in the order in which pods get them. */
static void write_devices(struct jsonw *w, const struct device_list *devices, int64_t now_ms)
{
    scoped(buf) struct buf text = {0};

    if (!devices || !devices->resources.count)
        return;
    for (size_t i = 0; i < devices->resources.count; i++) {
        const struct device_resource *resource = &devices->resources.items[i];

        buf_printf(&text, "%s%s:", i ? "; " : "", resource->name);
        for (size_t j = 0; j < resource->ids.count; j++)
            buf_printf(&text, "%s %s", j ? "," : "", resource->ids.items[j]);
    }
    write_condition(w, &(struct node_condition){"Devices", true, "GivenOutById", text.data},
                    now_ms);
}

static struct blob *status_blob(const struct machine *m, const char *runtime,
                                const struct runtime_capabilities *capabilities, int64_t now_ms)
{
    scoped(buf) struct buf text = {0};
    struct jsonw w = jsonw_to(&text);

    jsonw_open(&w);
    write_amount(&w, "capacity", m->capacity, &m->extras);
    write_amount(&w, "allocatable", m->allocatable, &m->extras);
    jsonw_member_open_list(&w, "conditions");
    write_condition(&w, &(struct node_condition){"Ready", true, "KubeletReady", runtime}, now_ms);
    if (capabilities)
        write_capabilities(&w, capabilities, now_ms);
    write_devices(&w, m->devices, now_ms);
    jsonw_close_list(&w);
    jsonw_member_open_list(&w, "addresses");
    write_address(&w, "InternalIP", "127.0.0.1");
    write_address(&w, "Hostname", m->name);
    jsonw_close_list(&w);
    write_info(&w, m);
    jsonw_close(&w);
    return blob_from_buf(&text);
}

/* Creates the Node object unless it exists, then writes its status. */

struct machine_writer {
    struct cluster *cluster;
    const struct machine *machine;
    char *runtime;
    const struct runtime_capabilities *capabilities;
    struct cluster_call call;
    bool busy, freed;
};

static void free_writer(struct machine_writer *writer)
{
    mem_free(writer->runtime);
    mem_free(writer);
}

static void written(struct cluster_call *call, const struct object *result, const struct error *err)
{
    struct machine_writer *writer = container_of(call, struct machine_writer, call);

    if (err)
        log_error("node status could not be written", kv_str("error", err->message));
    writer->busy = false;
    if (writer->freed)
        free_writer(writer);
}

static void write_status(struct machine_writer *writer, const struct object *node)
{
    writer->call.done = written;
    cluster_update_status(writer->cluster, &writer->call, node,
                          status_blob(writer->machine, writer->runtime, writer->capabilities,
                                      loop_wall_ms(writer->cluster->loop)));
}

static void created(struct cluster_call *call, const struct object *node, const struct error *err)
{
    struct machine_writer *writer = container_of(call, struct machine_writer, call);

    if (node && !writer->freed)
        write_status(writer, node);
    else
        written(call, NULL, err);
}

struct machine_writer *machine_write(struct cluster *cluster, const struct machine *m,
                                     const char *runtime,
                                     const struct runtime_capabilities *capabilities)
{
    static const char body[] = "{\"spec\":{}}";
    struct machine_writer *writer = mem_alloc(sizeof *writer);
    const struct object *node = cluster_get(cluster, &kind_node, "", m->name);

    writer->cluster = cluster;
    writer->machine = m;
    writer->runtime = mem_strdup(runtime);
    writer->capabilities = capabilities;
    writer->busy = true;
    if (node) {
        write_status(writer, node);
        return writer;
    }
    writer->call.done = created;
    cluster_create(cluster, &writer->call,
                   object_new(&kind_node,
                              meta_new(&(struct meta){.namespace = "",
                                                      .name = m->name,
                                                      .uid = "",
                                                      .labels = m->labels,
                                                      .n_labels = MACHINE_LABELS,
                                                      .deletion_grace_s = -1}),
                              blob_intern(body, sizeof body - 1), NULL));
    return writer;
}

void machine_writer_free(struct machine_writer *writer)
{
    if (!writer)
        return;
    writer->freed = true;
    if (!writer->busy)
        free_writer(writer);
}
