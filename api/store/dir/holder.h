#pragma once
/*
 * The process that holds a data directory, as the directory's lock file and /proc tell it.
 *
 * A process that is stopped (Ctrl-Z, SIGSTOP) keeps its lock and answers no request. What it has
 * stored can still be read, because nothing changes while it is stopped.
 */
#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "base/error.h"

/** Returns the pid in the lock file of a data directory; 0: it has none. The process may have
 * ended. */
pid_t holder_pid(const char *directory);
/** Returns whether the process that holds the data directory still exists. */
bool holder_is_there(const char *directory);
/** Returns whether any process has the lock of the data directory, whether or not it has written its
 * pid yet. The pid in the file may be that of a process that ended, given to another one since. */
bool holder_is_locked(const char *directory);
/** Returns whether a process has ended or is about to: it does not exist, is a zombie, has begun to
 * exit, or has SIGKILL pending. The kernel closes its files only after that. */
bool holder_is_ending(pid_t pid);
/** Returns the pid of the process that has the lock and is stopped; 0: no process has it, or it
 * runs. */
pid_t holder_stopped(const char *directory);

/** Sets CONFLICT with the process that has the lock of `directory`, and says whether it is stopped.
 * Returns false. */
bool holder_in_use(const char *directory, struct error *err);

/* State of the files of a stopped process at the time when reading them began. */
struct holder_stamp {
    pid_t pid;
    struct {
        off_t size;
        struct timespec changed;
    } files[2];
};

/** Notes the files of a data directory whose holder is stopped. False when it runs, or when no
 * process holds the directory. */
bool holder_stamp_take(const char *directory, struct holder_stamp *out);
/** Returns whether the same process is still stopped, and nothing has changed since. */
bool holder_stamp_holds(const char *directory, const struct holder_stamp *stamp);
