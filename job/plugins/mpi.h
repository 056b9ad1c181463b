#pragma once
/*
 * The mpi plugin's settings that the ssh plugin reads, for the two work together.
 */
#include "job/plugins/plugin.h"

/** Returns the port that mpi asks for, or 0 when the job does not have the plugin (O-P25). */
int64_t job_mpi_port(const struct job_spec *spec);
