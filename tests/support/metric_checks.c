#include "tests/support/metric_checks.h"
#include "tests/unit.h"

#include <string.h>

#include "base/loop/metrics.h"

void check_metric(struct loop *loop, const char *line)
{
    scoped(buf) struct buf text = {0};
    scoped_str whole = mem_printf("\n%s\n", line);

    metrics_write(loop_metrics(loop), &text);
    if (!text.data || !strstr(text.data, whole))
        check_fail("no figure %s among\n%s", line, text.data ? text.data : "nothing");
}

void check_no_metric(struct loop *loop, const char *begin)
{
    scoped(buf) struct buf text = {0};
    scoped_str start = mem_printf("\n%s", begin);

    metrics_write(loop_metrics(loop), &text);
    if (strstr(text.data, start))
        check_fail("there is a figure %s", begin);
}
