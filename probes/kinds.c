/*
 * The table of probe kinds, and below it the table of pod phases for taskStatus.
 */
#include "probes/kinds.h"

#include <string.h>
#include <strings.h>

enum { HTTP_PORT_DEFAULT = 80 };

#define BIT(phase) (1u << (phase))
#define ANY_PHASE  (BIT(POD_PHASE_N) - 1)

#define PHASE_READY "Ready"

/* The phases that taskStatus can name. A pod in one of the phases `counts` passes. With `one` a
 * single pod is enough. A job that has completed was in the phase earlier where `passed_on` is
 * set. */
static const struct wanted_phase {
    const char *text;
    unsigned counts;
    bool one;
    bool passed_on;
    bool failure;
    bool ready; /* the pod must be ready as well */
} wanted_phases[] = {
    /* clang-format off */
    /* the first row is the default */
    {"Running",   BIT(POD_RUNNING) | BIT(POD_SUCCEEDED), .passed_on = true},
    {"Pending",   ANY_PHASE,                             .passed_on = true},
    {"Succeeded", BIT(POD_SUCCEEDED),                    .passed_on = true},
    {"Completed", BIT(POD_SUCCEEDED),                    .passed_on = true},
    {"Failed",    BIT(POD_FAILED),                       .one = true, .failure = true},
    {"Unknown",   BIT(POD_UNKNOWN),                      .one = true},
    {PHASE_READY, BIT(POD_RUNNING),                      .ready = true}, /* not for users */
    /* clang-format on */
};

static const struct wanted_phase *phase_named(const char *wanted)
{
    if (!wanted || !*wanted)
        return &wanted_phases[0];
    for (size_t i = 0; i < countof(wanted_phases); i++)
        if (strcasecmp(wanted_phases[i].text, wanted) == 0)
            return &wanted_phases[i];
    return NULL;
}

static void read_http(const void *spec, struct probe_entry *out)
{
    const struct probe_http *http = spec;

    out->port = http->port ? http->port : HTTP_PORT_DEFAULT;
    out->period_s = http->period_s;
    out->met_by_completion = true;
}

static bool start_http(struct probe_io *io, struct probe_attempt *attempt, const void *spec,
                       const struct probe_address *address)
{
    if (!io->http)
        io->http = probe_http_client_new(io->loop);
    return probe_http_start(io->http, attempt, spec, address);
}

static void read_tcp(const void *spec, struct probe_entry *out)
{
    const struct probe_tcp *tcp = spec;

    out->port = tcp->port;
    out->period_s = tcp->period_s;
    out->met_by_completion = true;
}

static bool start_tcp(struct probe_io *io, struct probe_attempt *attempt, const void *spec,
                      const struct probe_address *address)
{
    return probe_tcp_start(io->loop, attempt, spec, address);
}

static void read_task_status(const void *spec, struct probe_entry *out)
{
    const struct probe_task_status *status = spec;
    const struct wanted_phase *wanted = phase_named(status->phase);

    if (!wanted) /* admission refuses an unknown phase; here no pod passes */
        return;
    out->phases = wanted->counts;
    out->one_pod_suffices = wanted->one;
    out->met_by_completion = wanted->passed_on;
    out->awaits_failure = wanted->failure;
    out->ready = wanted->ready;
}

/* clang-format off */
const struct probe_kind_row probe_kinds[PROBE_KIND_N] = {
    [PROBE_HTTP]        = {"http",       read_http, start_http, probe_http_cancel},
    [PROBE_TCP]         = {"tcp",        read_tcp,  start_tcp,  probe_tcp_cancel},
    [PROBE_TASK_STATUS] = {"taskStatus", read_task_status},
};
/* clang-format on */

struct probe_entry probe_entry_at(const struct flow_probe *probe, size_t position)
{
    const struct flow_probe_entry in_spec = flow_probe_at(probe, position);
    struct probe_entry entry = {.kind = in_spec.kind,
                                .index = (uint32_t)in_spec.index,
                                .spec = in_spec.spec,
                                .task = in_spec.task};

    probe_kinds[entry.kind].read(entry.spec, &entry);
    return entry;
}

bool probe_entry_passes(const struct probe_entry *entry, const struct pod_status *status)
{
    return (entry->phases & BIT(status->phase)) && (status->ready || !entry->ready);
}

static struct probe_task_status every_pod_ready = {.phase = PHASE_READY};
const struct flow_probe probe_readiness = {.task_status = {&every_pod_ready, 1}};
