/*
 * Rules of a step's probes that a field table cannot express: ports, paths, headers and phases.
 *
 * Ref: spec/jobflow.md 2.4, 6.2; spec/reliability.md SEC-15, L-32, L-34.
 */
#include <string.h>
#include <strings.h>

#include "api/types/checks.h"
#include "api/types/kinds/jobflow/admission.h"
#include "base/compiler.h"

/* Returns whether the text is a token of RFC 9110. */
static bool is_token(const char *text)
{
    size_t len = strspn(
        text, "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");

    return *text && !text[len];
}

/* Returns whether the header would change the framing of the request or carry credentials. */
static bool is_forbidden(const char *name)
{
    static const char *const forbidden[] = {"Content-Length", "Transfer-Encoding", "Connection",
                                            "Upgrade", "Authorization"};

    for (size_t i = 0; i < countof(forbidden); i++)
        if (strcasecmp(name, forbidden[i]) == 0)
            return true;
    return strncasecmp(name, "Proxy-", strlen("Proxy-")) == 0;
}

static bool has_control(const char *text)
{
    for (const unsigned char *at = (const unsigned char *)text; *at; at++)
        if ((*at < ' ' && *at != '\t') || *at == 0x7f)
            return true;
    return false;
}

static void check_header(const struct limits *limits, const struct probe_http *http,
                         const char *path, struct error_list *errors)
{
    const char *name = http->header_name, *value = http->header_value ? http->header_value : "";

    if (!name || !*name)
        return;
    if (!is_token(name))
        FINDING(errors, ("%s.httpHeader.name", path),
                "Invalid value: must be a header name: letters, digits and "
                "!#$%%&'*+-.^_`|~");
    else if (is_forbidden(name))
        FINDING(errors, ("%s.httpHeader.name", path), "Forbidden: \"%s\" may not be set by a probe",
                name);
    if (has_control(value))
        FINDING(errors, ("%s.httpHeader.value", path),
                "Invalid value: must have no control characters");
    if ((int64_t)strlen(name) > limits->probe_header_name)
        FINDING(errors, ("%s.httpHeader.name", path), "Too long: may not be more than %lld bytes",
                (long long)limits->probe_header_name);
    if ((int64_t)strlen(value) > limits->probe_header_value)
        FINDING(errors, ("%s.httpHeader.value", path), "Too long: may not be more than %lld bytes",
                (long long)limits->probe_header_value);
}

static void check_http(const struct limits *limits, const void *spec, const char *path,
                       struct error_list *errors)
{
    const struct probe_http *http = spec;
    const char *target = http->path ? http->path : "";

    if (has_control(target) || strpbrk(target, " \t"))
        FINDING(errors, ("%s.path", path),
                "Invalid value: must have no spaces and no control characters");
    if ((int64_t)strlen(target) > limits->probe_path)
        FINDING(errors, ("%s.path", path), "Too long: may not be more than %lld bytes",
                (long long)limits->probe_path);
    check_header(limits, http, path, errors);
}

static void check_tcp(const struct limits *limits, const void *spec, const char *path,
                      struct error_list *errors)
{
    const struct probe_tcp *tcp = spec;

    if (tcp->port == 0)
        FINDING(errors, ("%s.port", path),
                "Invalid value: 0: must be between 1 and 65535, inclusive");
}

static void check_task_status(const struct limits *limits, const void *spec, const char *path,
                              struct error_list *errors)
{
    const struct probe_task_status *status = spec;
    static const char *const phases[] = {"Pending", "Running",   "Succeeded", "Failed",
                                         "Unknown", "Completed", ""};

    for (size_t i = 0; i < countof(phases); i++)
        if (strcasecmp(status->phase ? status->phase : "", phases[i]) == 0)
            return;
    FINDING(errors, ("%s.phase", path),
            "Unsupported value: \"%s\": supported values: \"Pending\", \"Running\", \"Succeeded\", "
            "\"Failed\", "
            "\"Unknown\"",
            status->phase);
}

static void (*const checks[PROBE_KIND_N])(const struct limits *limits, const void *spec,
                                          const char *path, struct error_list *errors) = {
    [PROBE_HTTP] = check_http,
    [PROBE_TCP] = check_tcp,
    [PROBE_TASK_STATUS] = check_task_status,
};

void jobflow_check_probe(const struct admission *adm, const struct flow_depends *depends,
                         size_t step, struct error_list *errors)
{
    const struct limits *limits = limits_of(adm);
    size_t entries = flow_probe_count(depends->probe);
    scoped(buf) struct buf path = {0};

    if (entries && !depends->targets.count)
        WARNING(adm, ("spec.flows[%zu].dependsOn.probe", step),
                "has no effect without targets: the step starts at once");
    if ((int64_t)entries > limits->step_probes)
        FINDING(errors, ("spec.flows[%zu].dependsOn.probe", step),
                "Too many: %zu: a step has at most %lld probes", entries,
                (long long)limits->step_probes);
    for (size_t p = 0; p < entries; p++) {
        const struct flow_probe_entry entry = flow_probe_at(depends->probe, p);

        buf_clear(&path);
        buf_printf(&path, "spec.flows[%zu].dependsOn.probe.%s[%zu]", step, entry.field,
                   entry.index);
        checks[entry.kind](limits, entry.spec, path.data, errors);
    }
}
