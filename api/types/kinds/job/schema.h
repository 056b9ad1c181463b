#pragma once
/*
 * Field tables of the Job that the tables of other kinds refer to.
 */
#include "api/types/kinds/job/job.h"

extern const struct schema network_topology_schema;
extern const struct schema job_status_schema;
extern const struct schema
    task_state_schema; /* {"phase": {"Running": 1}} into int32_t[POD_PHASE_N] */
