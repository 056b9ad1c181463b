#pragma once
/*
 * The system calls that programs of a sandbox may not make: those that the default profiles of
 * container engines refuse.
 *
 * Most of them need a capability that the programs lack. They are refused all the same, before the
 * kernel runs their code: a user namespace, which any program may make, would give the capability
 * back, and these calls have had many of the kernel's faults. Keys belong to a user and not to a
 * pod. Calls that are newer than this table do not exist for the programs (ENOSYS).
 */
#include <stdbool.h>

/** Installs the filter for this process and its descendants; nothing takes it away again. A process
 * without CAP_SYS_ADMIN gets no_new_privs with it. Returns false with errno. Async-signal-safe. */
bool syscall_filter_install(void);
