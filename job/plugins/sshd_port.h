#pragma once
/*
 * The port on which sshd of a job's pods listens. An ordinary user may not listen below 1024, so a
 * job with the usual port 22 works for it only where pods have a network of their own.
 */
#include "job/plugins/plugin.h"

enum { SSHD_LOW_PORTS_END = 1024 };

/** Returns the port that plugin mpi or ssh tells the clients of sshd; `*out_plugin` names the
 * plugin. 0: the job has neither plugin. */
int64_t job_sshd_port(const struct job_spec *spec, const char **out_plugin);
/** The same, and 0 also for a port from 1024 on. */
int64_t job_sshd_low_port(const struct job_spec *spec, const char **out_plugin);

/** Returns whether a text of the document (a spec, or a part of one) speaks of sshd, as the command
 * that starts it does. A ConfigMap may hold the script. */
bool job_mentions_sshd(const json_t *doc);
