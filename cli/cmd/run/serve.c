/*
 * The command `jobflow serve`: its flags and settings file. cli/daemon/daemon.c implements it.
 */
#include "cli/cmd/commands.h"
#include "cli/daemon/daemon.h"
#include "cli/daemon/serve_values.h"
#include "web/daemon_page.h"

static const char *const runtimes[] = {"sandbox", "sim", NULL};
static const char *const isolations[] = {"auto", "full", "user", "mounts", "plain", NULL};
static const char *const networks[] = {"shared", "private", NULL};
static const char *const compats[] = {"design", "upstream", NULL};
static const char *const durabilities[] = {"strict", "relaxed", NULL};
static const char *const switches[] = {"on", "off", NULL};
static const char *const updates[] = {"reject", "allow", NULL};
static const char *const log_formats[] = {"text", "json", NULL};

#define SERVE(member) offsetof(struct daemon_options, member)
/* clang-format off */
static const struct flag flags[] = {
    {FLAG_STR,      "data-dir",   0,   "DIR",  "where everything is kept; default: $XDG_STATE_HOME/jobflow, with --runtime sim …/jobflow-sim", SERVE(data_dir)},
    {FLAG_LIST,     "listen",     0,   "ADDRESS:PORT", "where to listen with TLS, or none; may be given several times; default: 127.0.0.1:6480, another port when that one is taken", SERVE(listen), .check = check_listen},
    {FLAG_LIST,     "tls-name",   0,   "NAME", "another name or address by which clients reach the server", SERVE(tls_names), .check = check_tls_name, .live = true},
    {FLAG_INT,      "max-flow-steps", 0, "N",  "steps of the largest flow that is accepted; default: 100000", SERVE(max_flow_steps), .min = 1, .max = 1000000, .live = true},
    {FLAG_INT,      "max-pods",   'j', "N",    "pods running at once; default: one per CPU, at least 8", SERVE(max_pods), .min = 1, .max = 100000},
    {FLAG_STR,      "node-resources", 0, "LIST", "what pods may use of this machine, like cpu=4,memory=8Gi,nvidia.com/gpu=2; default: all its CPUs and memory", SERVE(node_resources), .check = check_node_resources},
    DEVICES_FLAG(SERVE(devices)),
    {FLAG_CHOICE,   "runtime",    0,   "KIND", "sandbox runs pods; sim executes nothing: pods take the time, and end with the exit code, that their annotations say", SERVE(runtime), runtimes},
    {FLAG_INT,      "sim-speed",  0,   "N",    "simulated pods take 1/N of their time; default: 1", SERVE(sim_speed), .min = 1, .max = 1000000, .live = true},
    {FLAG_CHOICE,   "isolation",  0,   "LEVEL", "give every pod this level of isolation", SERVE(isolation), isolations},
    {FLAG_CHOICE,   "network",    0,   "MODE", "network of isolated pods", SERVE(network), networks},
    {FLAG_BOOL,     "trust-editors", 0, NULL, "pods of users who are no administrators run like all others: at the levels plain and mounts they can become administrators", SERVE(trust_editors)},
    {FLAG_BOOL,     "hosts-as-addresses", 0, NULL, "tell pods addresses where they would be told names; the default where programs could not look names up", SERVE(hosts_as_addresses)},
    {FLAG_LIST,     "allow-host-path", 0, "PREFIX[:rw]", "pods may mount what is beneath this directory of the machine, read-only without :rw; may be given several times; default: nothing", SERVE(allow_host_path), .check = check_host_path},
    {FLAG_STR,      "empty-dir-limit", 0, "SIZE", "what an emptyDir that names no sizeLimit may hold before its pod is evicted, like 20Gi; none: what the disk holds; default: 1Gi", SERVE(empty_dir_limit), .check = check_size_limit},
    SCRATCH_LIMIT_FLAG(SERVE(scratch_limit), "1Gi"),
    {FLAG_BOOL,     "allow-ssh-key-arguments", 0, NULL, "jobs may have private keys in the arguments of plugin ssh, where every reader of the job sees them", SERVE(allow_key_arguments)},
    {FLAG_BOOL,     "strict-plugin-arguments", 0, NULL, "refuse arguments that a plugin of a job would ignore", SERVE(strict_plugin_arguments)},
    {FLAG_BOOL,     "gc-aborted", 0,   NULL,   "ttlSecondsAfterFinished deletes aborted jobs, too", SERVE(gc_aborted)},
    KEEP_LOGS_FLAGS(SERVE(keep_logs), SERVE(keep_logs_total)),
    {FLAG_DURATION, "restart-backoff", 0, "D", "first wait before a container is restarted; doubles each time", SERVE(restart_backoff_ms)},
    {FLAG_CHOICE,   "durability", 0,   "MODE", "relaxed loses the last moments on power loss, never on a crash", SERVE(durability), durabilities},
    {FLAG_CHOICE,   "jobflow-deletion-protection", 0, "MODE", "whether unfinished flows and the templates they need are kept from being deleted", SERVE(deletion_protection), switches, .live = true},
    {FLAG_CHOICE,   "jobflow-updates", 0, "MODE", "whether the spec of a flow may be changed", SERVE(updates), updates, .live = true},
    {FLAG_CHOICE,   "jobflow-compat", 0, "MODE", "upstream: flows mean what Volcano makes of them, without what it ignores; for comparing, not for use", SERVE(compat), compats},
    {FLAG_STR,      "controllers", 0,  "LIST", "which controllers run: * for all (the default), NAME or +NAME, -NAME; like *,-jobflow", SERVE(controllers), .check = check_controllers},
    {FLAG_INT,      "max-connections", 0, "N", "connections at once; default: 1024, an eighth of it from one address", SERVE(max_connections), .min = 16, .max = 100000, .live = true},
    {FLAG_INT,      "max-watches", 0,  "N",    "watches at once; default: 1000, a fifth of it by one user", SERVE(max_watches), .min = 5, .max = 10000, .live = true},
    {FLAG_INT,      "max-submission-items", 0, "N", "jobs of one submission; default: 10000", SERVE(max_submission_items), .min = 1, .max = 100000, .live = true},
    {FLAG_DURATION, "submission-retention", 0, "D", "how long the deduplication id of a submitted job is remembered after the job's end; default: 7 days", SERVE(submission_retention_ms), .live = true},
    {FLAG_CHOICE,   "ui",         0,   "MODE", "whether the page is served at /ui/ of each address", SERVE(ui), switches, .live = true},
    {FLAG_STR,      "backup-dir", 0,   "DIR",  "make backups in this directory; default: none", SERVE(backup_dir)},
    {FLAG_DURATION, "backup-every", 0, "D",    "time between two backups; default: 24h", SERVE(backup_every_ms)},
    {FLAG_INT,      "backup-keep", 0,  "N",    "how many of them stay; default: 7", SERVE(backup_keep), .min = 1, .max = 100000},
    {FLAG_BOOL,     "serve-damaged", 0, NULL,  "serve what is whole of a damaged store, for reading only; nothing runs", SERVE(serve_damaged)},
    {FLAG_STR,      "config",     0,   "FILE", "YAML with more of these settings; the command line wins", SERVE(config)},
    {FLAG_BOOL,     "verbose",    'v', NULL,   "log every request and change of state", SERVE(verbose), .live = true},
    {FLAG_CHOICE,   "log-format", 0,   "FORM", "form of the log on standard error", SERVE(log_format), log_formats, .live = true},
    {0},
};
/* clang-format on */

static const struct daemon_options defaults = {
    .runtime = "sandbox",
    .empty_dir_limit = "1Gi",
    .scratch_limit = "1Gi",
    .durability = "strict",
    .deletion_protection = "on",
    .updates = "reject",
    .compat = "design",
    .controllers = "*",
    .log_format = "text",
    .ui = "on",
    .restart_backoff_ms = 1000,
    .submission_retention_ms = INT64_C(7) * 24 * 3600 * 1000,
    .backup_every_ms = INT64_C(24) * 3600 * 1000,
    .backup_keep = 7,
};

static int run(const void *options, int n_operands, char **operands)
{
    return daemon_run(options, flags, &daemon_page_ops);
}

const struct command cmd_serve = {
    .name = "serve",
    .summary = "Serve the Kubernetes API on this machine and run what is applied to it",
    .details = "Keeps every object in its data directory and runs flows, jobs and pods as 'run' "
               "does, until it is stopped. kubectl and other\n"
               "clients of Kubernetes reach it with the kubeconfig it writes. Stopped by SIGTERM "
               "or Ctrl-C it finishes the requests it has;\n"
               "pods go on, and the next 'serve' of the directory takes them over.\n\n"
               "The API is on the unix socket of the data directory, for its owner, and with TLS "
               "on a loopback address, for clients that have a\n"
               "token ('jobflow token create') or a certificate of the daemon's own authority.",
    .examples = "  jobflow serve\n"
                "  export KUBECONFIG=~/.local/state/jobflow/kubeconfig; kubectl get jobflows\n"
                "  jobflow serve --data-dir /srv/jobflow -j 64 --listen 127.0.0.1:6443\n"
                "  jobflow serve --runtime sim --sim-speed 60 -j 1000",
    .flags = flags,
    .options_size = sizeof(struct daemon_options),
    .defaults = &defaults,
    .max_operands = 0,
    .run = run,
};
