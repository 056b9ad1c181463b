#pragma once
/*
 * Writes a report of stored flows (cli/inspect/report_page.h), for `report` and `graph -o html`.
 */
#include "cli/inspect/flow_source.h"
#include "cli/inspect/report_data.h"

struct report_request {
    const char *output; /* file that is written; "-": the standard output */
    const char *logs;   /* "failed", "none" or "all" */
    size_t tail_bytes;  /* how much of the end of each log */
    enum report_specs specs;
};

/** Writes the report of the flows. Problems are printed. Returns EXIT_OK, EXIT_REFUSED for flows in
 * files and a report that would be too large, EXIT_FAILED for anything else. */
int report_write(const struct report_request *request, struct flow_sources *sources);
