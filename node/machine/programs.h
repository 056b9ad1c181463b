#pragma once
/*
 * Whether this machine has a program, and a part of it that is packaged apart from it.
 *
 * A need is the name or path of a program, or PROGRAM:PART. The PART of a compiler is a header
 * (mpicc:mpi.h), that of python is a module (python3:torch). A part is found by asking the program:
 * mpicc is installed without mpi.h when only the package openmpi-bin is.
 */
#include <stdbool.h>

#include "base/error.h"

/** Returns the directories in which programs of pods are looked up unless a pod sets a PATH. They
 * are those in PATH of this process. Borrowed. */
const char *programs_path(void);

/** Returns whether this machine has the program, or the part of a program, that `need` names.
 * `path` lists directories, as PATH does. Otherwise `err` says what is missing: UNAVAILABLE, or
 * INVALID when `need` is not written as above. Asking may take some 0.1 s. */
bool programs_have(const char *path, const char *need, struct error *err);
