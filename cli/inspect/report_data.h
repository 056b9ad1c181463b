#pragma once
/*
 * What the views of a report show of a flow, as one JSON document: its graph, the states of its
 * steps, their attempts and reasons, jobs, pods, events, and the ends of logs.
 *
 * web/page/report reads it. Of jobs and pods it has what the views show and no more; Secrets,
 * ConfigMaps and their data are never read. Ref: spec/web.md 12.
 */
#include "cli/inspect/report_page.h"

enum report_specs { REPORT_WITHOUT_SPECS, REPORT_WITH_SPECS };

/** Returns the data of a report whose logs and reasons have been read; owned. NULL with `err` when a
 * request fails. */
json_t *report_data(struct report *report, struct client *client, enum report_specs specs,
                    struct error *err);
