#pragma once
/*
 * The executable from which jobflow starts its helper processes: shims, the holder of the private
 * network, capability checks. Their argv[0] says which of them a process is (shim/entry.h).
 */

#define SHIM_NAME "jobflow-shim" /* argv[0] of a shim, and the name of the shim's process */

/** Returns the path of the executable from which helper processes are started: the small program
 * that jobflow carries (shim_image.c), or jobflow itself when it carries none. The path is valid as
 * long as this process lives. */
const char *self_exe_path(void);
