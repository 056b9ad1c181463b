#pragma once
/*
 * The ssh plugin's settings that others read.
 */
#include "job/plugins/plugin.h"

/** Returns the port of sshd by the plugin's arguments: its own, else mpi's, else 22 (O-P25). */
int64_t job_ssh_port(const struct job_spec *spec, struct str_list args);
