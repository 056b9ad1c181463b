#pragma once
/** What other processes of ours are started from: the small program that we carry
 * (shim/program/image.h), or else ourselves; runtime_shim_main takes over in both. */
const char *self_program(void);
