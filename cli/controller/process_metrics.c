/*
 * Figures of the process come from getrusage and /proc. One that cannot be read is left out.
 */
#include "cli/controller/process_metrics.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/version.h"

/* clang-format off */
static const struct metric_def leader_def = {"leader_election_master_status", "Whether this process leads", METRIC_GAUGE, {"name"}};
static const struct metric_def conflict_def = {"jobflow_conflict", "Whether the controllers stand still because others do the same work", METRIC_GAUGE};
static const struct metric_def objects_def = {"jobflow_cache_objects", "Objects in the cache", METRIC_GAUGE, {"kind"}};
static const struct metric_def sent_def = {"jobflow_write_requests_total", "Changing requests that were sent", METRIC_COUNTER};
static const struct metric_def retries_def = {"jobflow_write_retries_total", "Changing requests that were sent again", METRIC_COUNTER};
static const struct metric_def reads_def = {"jobflow_write_reads_total", "Objects that were read to learn what became of a write", METRIC_COUNTER};
static const struct metric_def in_flight_def = {"jobflow_writes_inflight", "Changing requests without an answer yet", METRIC_GAUGE};
static const struct metric_def queued_def = {"jobflow_writes_queued", "Writes that have not ended", METRIC_GAUGE};
static const struct metric_def window_def = {"jobflow_write_window", "Changing requests that may be under way at once", METRIC_GAUGE};
static const struct metric_def build_def = {"jobflow_build_info", "Version and mode of this process", METRIC_GAUGE, {"version", "mode"}};
static const struct metric_def cpu_def = {"process_cpu_seconds_total", "CPU time of this process", METRIC_COUNTER};
static const struct metric_def memory_def = {"process_resident_memory_bytes", "Memory of this process", METRIC_GAUGE};
static const struct metric_def files_def = {"process_open_fds", "Open file descriptors of this process", METRIC_GAUGE};
static const struct metric_def start_def = {"process_start_time_seconds", "Start of this process, in seconds since the epoch", METRIC_GAUGE};
/* clang-format on */

static void set(struct metrics *metrics, const struct metric_def *def, const char *const labels[],
                double value)
{
    metric_set(metric_of(metrics_family(metrics, def), labels), value);
}

static void count_one(void *arg, const struct object *object)
{
    (*(size_t *)arg)++;
}

static void refresh_cluster(const struct process_metrics *process, const struct cluster *cluster)
{
    const struct write_chains_stats stats = cluster_remote_stats(cluster);
    struct metrics *metrics = process->metrics;

    for (const struct cluster_remote_kind *row = process->kinds; row->kind; row++) {
        size_t count = 0;

        cluster_each((struct cluster *)(uintptr_t)cluster, row->kind, NULL, count_one, &count);
        set(metrics, &objects_def, (const char *const[]){row->kind->name}, (double)count);
    }
    set(metrics, &sent_def, NULL, (double)stats.sent);
    set(metrics, &retries_def, NULL, (double)stats.retries);
    set(metrics, &reads_def, NULL, (double)stats.reads);
    set(metrics, &in_flight_def, NULL, stats.in_flight);
    set(metrics, &queued_def, NULL, (double)stats.waiting);
    set(metrics, &window_def, NULL, stats.in_flight_limit);
}

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static void refresh_memory(struct metrics *metrics)
{
    FILE *file = fopen("/proc/self/statm", "re");
    long pages;

    if (file && fscanf(file, "%*s %ld", &pages) == 1)
        set(metrics, &memory_def, NULL, (double)pages * (double)sysconf(_SC_PAGESIZE));
    if (file)
        fclose(file);
}

static void refresh_files(struct metrics *metrics)
{
    DIR *dir = opendir("/proc/self/fd");
    size_t count = 0;

    if (!dir)
        return;
    for (const struct dirent *entry; (entry = readdir(dir));)
        count += entry->d_name[0] != '.';
    closedir(dir);
    set(metrics, &files_def, NULL, (double)count - 1); /* without the descriptor of this look */
}

static void refresh(struct metrics_source *source)
{
    const struct process_metrics *process = container_of(source, struct process_metrics, source);
    const struct process_facts facts = process->look(process->ctx);
    struct metrics *metrics = process->metrics;
    struct rusage usage;

    set(metrics, &leader_def, (const char *const[]){process->lease}, facts.leading);
    set(metrics, &conflict_def, NULL, facts.conflict);
    if (facts.cluster)
        refresh_cluster(process, facts.cluster);
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        set(metrics, &cpu_def, NULL, seconds(usage.ru_utime) + seconds(usage.ru_stime));
    refresh_memory(metrics);
    refresh_files(metrics);
}

void process_metrics_start(struct process_metrics *process, struct metrics *metrics)
{
    process->metrics = metrics;
    process->source.refresh = refresh;
    metrics_source_add(metrics, &process->source);
    set(metrics, &build_def, (const char *const[]){JOBFLOW_VERSION, process->mode}, 1);
    set(metrics, &start_def, NULL, (double)clock_wall_ms(clock_real()) / 1000);
}

void process_metrics_stop(struct process_metrics *process)
{
    if (process->metrics)
        metrics_source_remove(&process->source);
}
