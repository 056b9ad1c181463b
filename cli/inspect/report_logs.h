#pragma once
/*
 * Reads the ends of logs for a report.
 */
#include "cli/client/client.h"
#include "cli/inspect/report_page.h"

/** Adds the ends of logs to the report: those of the trace's failed pods, or with `all` of all its
 * pods. Each end has at most `tail_bytes` bytes. Logs that cannot be read are counted as left out.
 */
void report_logs_fetch(struct report *report, struct client *client, bool all, size_t tail_bytes);
