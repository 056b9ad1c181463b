/*
 * Reads the port from the arguments of the plugins, as they themselves do (spec/job-plugins.md 4,
 * 5).
 */
#include "job/plugins/sshd_port.h"

#include <string.h>

#include "job/plugins/mpi.h"
#include "job/plugins/ssh.h"

int64_t job_sshd_port(const struct job_spec *spec, const char **out_plugin)
{
    struct str_list args;
    int64_t port = job_mpi_port(spec);

    *out_plugin = port ? "mpi" : "ssh";
    if (!port && job_plugin_args(spec, "ssh", &args))
        port = job_ssh_port(spec, args);
    return port;
}

int64_t job_sshd_low_port(const struct job_spec *spec, const char **out_plugin)
{
    int64_t port = job_sshd_port(spec, out_plugin);

    return port < SSHD_LOW_PORTS_END ? port : 0;
}

/* NOLINTNEXTLINE(misc-no-recursion): the reader of documents bounds their depth */
bool job_mentions_sshd(const json_t *doc)
{
    const char *member;
    json_t *child;
    size_t i;

    if (json_is_string(doc))
        return strstr(json_string_value(doc), "sshd") != NULL;
    json_array_foreach(doc, i, child)
    {
        if (job_mentions_sshd(child))
            return true;
    }
    json_object_foreach((json_t *)(uintptr_t)doc, member, child)
    {
        if (job_mentions_sshd(child))
            return true;
    }
    return false;
}
