/*
 * Opens what a run works with: an engine in this process, or a client of a daemon.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/store/dir/holder.h"
#include "cli/command/command.h"
#include "cli/run/internal.h"
static struct engine *open_engine(const struct session_options *options, struct error *err)
{
    char directory[PATH_MAX];
    bool host = strcmp(options->runtime, "host") == 0;
    const struct engine_options engine = {
        .data_dir = options->data_dir,
        .sync = strcmp(options->durability, "relaxed") == 0 ? STORE_SYNC_NORMAL : STORE_SYNC_FULL,
        .sim = session_simulated(options),
        .compat_upstream = strcmp(options->compat, "upstream") == 0,
        .flow_steps = options->max_flow_steps,
        .max_pods = (int)options->max_pods,
        .node_resources = options->node_resources,
        .devices = options->devices,
        .isolation = host ? "plain" : options->isolation,
        .network = options->network,
        .hosts_as_addresses = options->hosts_as_addresses,
        .scratch_limit = options->scratch_limit,
        .host_paths = {.any = true}, /* DC-08: these are the user's own manifests */
        .keep_logs = options->keep_logs,
        .keep_logs_total = options->keep_logs_total,
        .restart_backoff_ms = options->restart_backoff_ms,
        .controllers = true,
        .answers = options->answers,
        .steps_dir = getcwd(directory, sizeof directory),
        .environment = &options->collected->all,
        .reuse_environment = options->collected->named,
    };

    return engine_start(&engine, err);
}

/* Says which process has the data directory, and what can be done. Returns false. */
static bool refuse_in_use(const struct session_options *options, const struct client *client,
                          const struct error *in_use)
{
    cli_error(in_use);
    if (client)
        fprintf(stderr, "See what it does with '%s get jf,vcjob,pods --data-dir %s'.\n",
                cli_program, options->data_dir);
    return false;
}

/* Decides whether the run can be a client of the process that answers for the data directory. Only
 * a daemon accepts flows of another run: two runs in one process would end together. Returns false
 * after printing what can be done. */
static bool can_be_client(const struct session_options *options, struct client *client,
                          const struct error *in_use)
{
    if (!client_is_daemon(client))
        return refuse_in_use(options, client, in_use);
    if (!session_simulated(options))
        return true;
    cli_errorf("a daemon is at work in %s: a simulation needs a directory of its own",
               options->data_dir);
    return false;
}

enum session_opened session_open(struct session *session, struct error *err)
{
    const struct session_options *options = session->options;

    for (;;) {
        struct client *client;

        *err = (struct error){0};
        session->engine = open_engine(options, err);
        if (session->engine)
            return OPENED_HERE;
        if (err->code != ERR_CONFLICT)
            return OPENED_FAILED;
        client = holder_stopped(options->data_dir)
                     ? NULL
                     : client_open(options->data_dir, CLIENT_LOOK, NULL);
        if (client && client_is_live(client) && can_be_client(options, client, err)) {
            session->client = client;
            return OPENED_CLIENT;
        }
        if (!client)
            refuse_in_use(options, NULL, err);
        if (!client || client_is_live(client)) {
            client_close(client);
            return OPENED_REFUSED;
        }
        client_close(client); /* the process has ended meanwhile */
    }
}

int session_say_failed(const struct error *err)
{
    if (err->code == ERR_UNAVAILABLE) { /* this machine lacks an isolation or network */
        cli_errorf("%s", err->message);
        return EXIT_REFUSED;
    }
    if (err->code == ERR_FORBIDDEN) { /* the data directory is not safe to use */
        cli_error(err);
        return EXIT_REFUSED;
    }
    cli_errorf("cannot work in the data directory: %s; choose another with --data-dir",
               err->message);
    return EXIT_INTERNAL;
}
