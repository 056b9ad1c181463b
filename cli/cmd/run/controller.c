/*
 * The command `jobflow controller`: its flags. cli/controller/controller.c implements it.
 */
#include "cli/controller/controller.h"

#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/controller/gang.h"
#include "cli/controller/mode.h"
#include "cli/controller/names.h"
#include "cli/controller/pages.h"

static const char *const modes[] = {"flows", "jobs", "kube", NULL};
static const char *const compats[] = {"design", "upstream", NULL};
static const char *const log_formats[] = {"text", "json", NULL};

enum { MAX_INFLIGHT = 64, MAX_INFLIGHT_LEAST = 4, MAX_INFLIGHT_MOST = 512 };

#define CONTROLLER(member) offsetof(struct controller_options, member)
/* clang-format off */
static const struct flag flags[] = {
    {FLAG_CHOICE,   "mode",          0, "MODE", "flows: Volcano's controllers run the jobs; jobs: this process runs them, with Volcano's scheduler; kube: the same without Volcano; default: flows", CONTROLLER(mode), modes},
    CLIENT_SERVER_FLAGS(CONTROLLER(endpoint)),
    {FLAG_STR,      "scheduler-name", 0, "NAME", "scheduler of pods whose job names none; default: volcano, with --mode=kube default-scheduler", CONTROLLER(scheduler_name)},
    {FLAG_STR,      "namespaces",    0, "LIST", "act in these namespaces alone, separated by commas; default: in all", CONTROLLER(namespaces), .check = names_check_namespaces},
    {FLAG_STR,      "controllers",   0, "LIST", "which controllers run: jobflow, jobtemplate, job, gc; * for all, -NAME for all but one; default: *", CONTROLLER(controllers)},
    {FLAG_CHOICE,   "gang",          0, "HOW",  "what makes the pods of a job start together, with --mode=kube: coscheduling, kueue or workload; default: none", CONTROLLER(gang), gang_names},
    {FLAG_BOOL,     "leader-elect",  0, NULL,   "stand for election; false: this process leads without asking", CONTROLLER(leader_elect)},
    {FLAG_DURATION, "leader-elect-lease-duration", 0, "D", "how long others wait for a leader that is silent; default: 15s", CONTROLLER(lease_ms)},
    {FLAG_DURATION, "leader-elect-renew-deadline", 0, "D", "how long a leader acts without having renewed its lease; default: 10s", CONTROLLER(deadline_ms)},
    {FLAG_DURATION, "leader-elect-retry-period", 0, "D", "time between two attempts to take or renew the lease; default: 2s", CONTROLLER(retry_ms)},
    {FLAG_STR,      "leader-elect-resource-name", 0, "NAME", "name of the lease; default: jobflow-controller", CONTROLLER(lease_name)},
    {FLAG_STR,      "leader-elect-resource-namespace", 0, "NAME", "namespace of the lease; default: that of the pod, else jobflow-system", CONTROLLER(lease_namespace)},
    {FLAG_STR,      "volcano-namespace", 0, "NAME", "where Volcano's controllers run; default: volcano-system", CONTROLLER(volcano_namespace)},
    {FLAG_STR,      "volcano-controllers", 0, "LIST", "what Volcano's --controllers has, when that cannot be read from its deployment", CONTROLLER(volcano_controllers)},
    {FLAG_INT,      "max-inflight",  0, "N",    "writes under way at once at most; default: 64", CONTROLLER(max_inflight), .min = MAX_INFLIGHT_LEAST, .max = MAX_INFLIGHT_MOST},
    {FLAG_INT,      "max-requeue-num", 0, "N",  "after how many refusals of its pods a job is terminated; -1: never; default: 15", CONTROLLER(max_requeue), .min = -1, .max = 1000},
    {FLAG_LIST,     "probe-refuse",  0, "RANGE", "addresses that probes of steps never reach, as 10.0.0.0/8; may be given several times", CONTROLLER(probe_refuse), .check = controller_check_range},
    {FLAG_DURATION, "status-window", 0, "D",    "how long changes of a flow are collected before its status is written; default: 100ms", CONTROLLER(status_window_ms)},
    {FLAG_CHOICE,   "jobflow-compat", 0, "MODE", "upstream: flows mean what Volcano makes of them, without what it ignores; for comparing, not for use", CONTROLLER(compat), compats},
    {FLAG_STR,      "health-listen", 0, "ADDR", "where /livez and /readyz are served, ADDRESS:PORT or :PORT; none: nowhere; default: :8081 in a pod, else none", CONTROLLER(health_listen), .check = pages_check_address},
    {FLAG_STR,      "metrics-listen", 0, "ADDR", "where /metrics is served; default: :8080 in a pod, else none", CONTROLLER(metrics_listen), .check = pages_check_address},
    {FLAG_DURATION, "start-timeout", 0, "D",    "how long to wait for the API server at the start; default: 1m", CONTROLLER(start_timeout_ms)},
    {FLAG_DURATION, "drain-timeout", 0, "D",    "how long the last writes may take when the process is stopped; default: 10s", CONTROLLER(drain_timeout_ms)},
    {FLAG_BOOL,     "verbose",      'v', NULL,  "log every change of state", CONTROLLER(verbose)},
    {FLAG_CHOICE,   "log-format",    0, "FORM", "form of the log on standard error", CONTROLLER(log_format), log_formats},
    {0},
};
/* clang-format on */

static const struct controller_options defaults = {
    .endpoint = CLIENT_ENDPOINT_USUAL,
    .mode = "flows",
    .controllers = "*",
    .gang = "none",
    .compat = "design",
    .max_inflight = MAX_INFLIGHT,
    .max_requeue = 15,
    .status_window_ms = 100,
    .leader_elect = true,
    .lease_ms = 15000,
    .deadline_ms = 10000,
    .retry_ms = 2000,
    .lease_name = "jobflow-controller",
    .volcano_namespace = "volcano-system",
    .start_timeout_ms = 60000,
    .drain_timeout_ms = 10000,
    .log_format = "json",
};

static bool check(const struct controller_options *options)
{
    struct error err = {0};

    if (!names_check_controllers(mode_find(options->mode), options->controllers, &err)) {
        cli_errorf("--controllers: %s", err.message);
        return false;
    }
    if (options->scheduler_name && !mode_find(options->mode)->runs_jobs) {
        cli_errorf("--scheduler-name: in mode %s Volcano makes the pods (use --mode=jobs or kube)",
                   options->mode);
        return false;
    }
    if (strcmp(options->gang, "none") != 0 && strcmp(options->mode, "kube") != 0) {
        cli_errorf("--gang: in mode %s Volcano's scheduler places gangs (use --mode=kube)",
                   options->mode);
        return false;
    }
    if (options->lease_ms < 1000) {
        cli_errorf("--leader-elect-lease-duration is less than a second");
        return false;
    }
    if (options->lease_ms <= options->deadline_ms) {
        cli_errorf("--leader-elect-lease-duration must be longer than "
                   "--leader-elect-renew-deadline: a leader stops before others may lead");
        return false;
    }
    if (options->deadline_ms * 10 <= options->retry_ms * 12) {
        cli_errorf("--leader-elect-renew-deadline must be longer than 1.2 times "
                   "--leader-elect-retry-period");
        return false;
    }
    return true;
}

static int run(const void *options, int n_operands, char **operands)
{
    return check(options) ? controller_run(options) : EXIT_REFUSED;
}

const struct command cmd_controller = {
    .name = "controller",
    .summary = "Run flows on a Kubernetes cluster",
    .details =
        "Watches the JobFlows of a cluster, creates the Jobs of their steps as their dependencies "
        "are satisfied, and keeps their statuses.\n"
        "Volcano's controllers and scheduler run the Jobs; its jobflow and jobtemplate controllers "
        "must be switched off.\n"
        "With --mode=jobs this process also runs the Jobs: it makes their pods and PodGroups, and "
        "Volcano's scheduler places them.\n"
        "With --mode=kube nothing of Volcano is needed: the cluster's own scheduler places the "
        "pods, one by one.\n"
        "The cluster needs the definitions that 'jobflow manifests' prints.\n\n"
        "Several processes may run: one leads, the others take over when it ends. Stopped by "
        "SIGTERM or Ctrl-C it writes the last statuses\n"
        "and gives its lease back. Jobs go on without it, and the next leader continues where it "
        "ended.\n\n"
        "Without a flag that names a server, it uses $KUBECONFIG, or the service account of the "
        "pod "
        "it runs in.",
    .examples = "  jobflow controller --kubeconfig ~/.kube/config\n"
                "  jobflow controller --context prod --leader-elect-resource-namespace default",
    .flags = flags,
    .options_size = sizeof(struct controller_options),
    .defaults = &defaults,
    .max_operands = 0,
    .run = run,
};
