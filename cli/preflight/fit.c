/*
 * Adds up the requests of a job's pods as the scheduler does, and compares the sum with the
 * machine's resources.
 */
#include "cli/preflight/fit.h"

#include "api/types/text/quantity.h"
#include "job/resources.h"
#include "node/node_object.h"
#include "node/scheduler/shortfall.h"

static struct amount amount_of_pod(const struct job_task *task)
{
    scoped(usage) struct usage usage = {0};
    struct amount amount = {.pods = 1};

    usage_of_template(task->template, &usage);
    amount.cpu_milli = amount_clamp((int64_t)(usage_get(&usage, "cpu") / 1000000));
    amount.memory_bytes = amount_clamp((int64_t)(usage_get(&usage, "memory") / 1000000000));
    return amount;
}

static struct amount times(struct amount amount, int64_t n)
{
    struct amount sum = {0};

    for (int64_t i = 0; i < n; i++)
        sum = amount_add(sum, amount);
    return sum;
}

struct amount fit_need(const struct job_spec *job)
{
    struct amount gang = {0}, largest = {0};
    int64_t pods = 0;
    bool one_by_one = false;

    for (size_t i = 0; i < job->tasks.count; i++) {
        const struct job_task *task = &job->tasks.items[i];
        int64_t n = task->min_available.set ? task->min_available.value : task->replicas;
        struct amount pod = amount_of_pod(task);

        pods += n;
        gang = amount_add(gang, times(pod, n));
        largest = amount_max(largest, pod);
        one_by_one = one_by_one || task->depends_on.count > 0;
    }
    if (one_by_one || (job->min_available > 0 && job->min_available < pods))
        return largest; /* the gang's pods are not known */
    return gang;
}

/* Reads the host's resources once: a command asks for every step of a flow and must get the same
 * answer each time. */
struct amount fit_machine(int max_pods)
{
    static struct machine machine;
    static bool known;
    struct amount room;

    if (!known)
        machine_read(&machine, &(const struct machine_options){.max_pods = 1});
    known = true;
    room = machine.allocatable;
    room.pods = max_pods > 0 ? max_pods : AMOUNT_UNLIMITED;
    return room;
}

char *fit_problem(const struct job_spec *job, int max_pods)
{
    static const struct resource_names no_extras = {.open = true};

    return shortfall_of_node(fit_need(job), fit_machine(max_pods), &no_extras);
}

void fit_write(struct amount amount, struct buf *out)
{
    enum { MIB = 1 << 20, ROUNDED_FROM = 1 << 30 };
    int64_t bytes = amount.memory_bytes;
    char text[QUANTITY_TEXT_MAX];

    buf_printf(out, "%lld pod%s", (long long)amount.pods, amount.pods == 1 ? "" : "s");
    if (amount.cpu_milli) {
        quantity_print((quantity_nano)amount.cpu_milli * 1000000, QUANTITY_DECIMAL, text);
        buf_printf(out, ", %s cpu", text);
    }
    if (bytes) {
        bytes -= bytes >= ROUNDED_FROM ? bytes % MIB : 0;
        quantity_print((quantity_nano)bytes * 1000000000, QUANTITY_BINARY, text);
        buf_printf(out, ", %s", text);
    }
}
