#pragma once
#define SHIM_NAME "jobflow-shim" /* argv[0] of a supervisor, and the name of its process */

/** The path from which supervisors and trials are started: the small program that jobflow carries
 * (image.h), or else jobflow itself. shim_main takes over in both. */
const char *self_exe_path(void);
