#pragma once
/*
 * Reads the lines of /proc/PID/mountinfo (proc_pid_mountinfo(5)).
 *
 *   36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
 *         |    |     |                           |              |
 *         device root point                      type           options
 */
#include <stdbool.h>

/* A mount. All members are parts of the text. */
struct mountinfo {
    char *device;  /* MAJOR:MINOR */
    char *root;    /* the directory of the file system that is shown; of a namespace's file system
                    * a name such as "net:[4026531992]" */
    char *point;   /* where it is shown */
    char *type;    /* "" when the line does not say it */
    char *options; /* those of the file system; "" when the line does not say them */
};

/** Takes the next mount from the text at `*rest`, which is changed and moved on. False at the end,
 * or at a line of another form. */
bool mountinfo_next(char **rest, struct mountinfo *out);
