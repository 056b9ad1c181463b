/*
 * The table of rules. Ref: Volcano pkg/controllers/job/state, one file a phase. Rows that depart
 * from it say so.
 */
#include "job/state/rules.h"

#define NOTHING                                                                                    \
    {                                                                                              \
        DO_NOTHING, JOB_NONE, false, false, false                                                  \
    }
#define TARGET(to, retry)                                                                          \
    {                                                                                              \
        DO_KILL_TARGET, to, false, retry, false                                                    \
    }

/* The row of Pending and Running. An action that is not listed is SYNC. */
/* clang-format off */
#define ACTIVE_ROW                                                        \
    [ACT_ABORT_JOB]         = {DO_KILL, JOB_ABORTING,    .version = true}, \
    [ACT_RESTART_JOB]       = {DO_KILL, JOB_RESTARTING,  .version = true, .retry = true}, \
    [ACT_RESTART_TASK]      = TARGET(JOB_RESTARTING, true),               \
    [ACT_RESTART_POD]       = TARGET(JOB_RESTARTING, true),               \
    [ACT_RESTART_PARTITION] = TARGET(JOB_RESTARTING, true),               \
    [ACT_TERMINATE_JOB]     = {DO_KILL, JOB_TERMINATING, .version = true}, \
    [ACT_COMPLETE_JOB]      = {DO_KILL, JOB_COMPLETING,  .version = true}

/* The row of phases that end. Internal actions repeat the kill of the phase; all others do
 * nothing. */
#define QUIET_ROW                              \
    [ACT_ABORT_JOB]         = NOTHING,         \
    [ACT_RESTART_JOB]       = NOTHING,         \
    [ACT_RESTART_TASK]      = NOTHING,         \
    [ACT_RESTART_POD]       = NOTHING,         \
    [ACT_RESTART_PARTITION] = NOTHING,         \
    [ACT_TERMINATE_JOB]     = NOTHING,         \
    [ACT_COMPLETE_JOB]      = NOTHING,         \
    [ACT_RESUME_JOB]        = NOTHING

static const struct job_rule rules[JOB_PHASE_N][JOB_ACTION_N] = {
    [JOB_NONE]    = {ACTIVE_ROW},
    [JOB_PENDING] = {ACTIVE_ROW},
    [JOB_RUNNING] = {ACTIVE_ROW},

    /* Upstream only kills pods here and restarts all the same: O-32 lets abort, terminate and
     * complete through, and makes EnqueueJob and ResumeJob plain syncs. */
    [JOB_RESTARTING] = {
        [ACT_ABORT_JOB]         = {DO_KILL, JOB_ABORTING,    .version = true},
        [ACT_RESTART_JOB]       = {DO_KILL, JOB_NONE,        .version = true},
        [ACT_RESTART_TASK]      = TARGET(JOB_NONE, false),
        [ACT_RESTART_POD]       = TARGET(JOB_NONE, false),
        [ACT_RESTART_PARTITION] = TARGET(JOB_NONE, false),
        [ACT_TERMINATE_JOB]     = {DO_KILL, JOB_TERMINATING, .version = true},
        [ACT_COMPLETE_JOB]      = {DO_KILL, JOB_COMPLETING,  .version = true},
    },

    /* O-33: TerminateJob stays possible. The resume's retry is not a failure (O-34). */
    [JOB_ABORTING] = {
        [ACT_ABORT_JOB]         = NOTHING,
        [ACT_RESTART_JOB]       = NOTHING,
        [ACT_RESTART_TASK]      = NOTHING,
        [ACT_RESTART_POD]       = NOTHING,
        [ACT_RESTART_PARTITION] = NOTHING,
        [ACT_TERMINATE_JOB]     = {DO_KILL, JOB_TERMINATING, .version = true},
        [ACT_COMPLETE_JOB]      = NOTHING,
        [ACT_RESUME_JOB]        = {DO_KILL, JOB_RESTARTING,  .version = true, .retry = true, .resume = true},
    },
    [JOB_ABORTED] = {
        [ACT_ABORT_JOB]         = NOTHING,
        [ACT_RESTART_JOB]       = NOTHING,
        [ACT_RESTART_TASK]      = NOTHING,
        [ACT_RESTART_POD]       = NOTHING,
        [ACT_RESTART_PARTITION] = NOTHING,
        [ACT_TERMINATE_JOB]     = {DO_KILL, JOB_TERMINATING, .version = true},
        [ACT_COMPLETE_JOB]      = NOTHING,
        [ACT_RESUME_JOB]        = {DO_KILL, JOB_RESTARTING,  .version = true, .retry = true, .resume = true},
    },

    [JOB_COMPLETING]  = {QUIET_ROW},
    [JOB_COMPLETED]   = {QUIET_ROW},
    [JOB_TERMINATING] = {QUIET_ROW},
    [JOB_TERMINATED]  = {QUIET_ROW},
    [JOB_FAILED]      = {QUIET_ROW},
};
/* clang-format on */

struct job_rule job_rule_of(enum job_phase phase, enum job_action action)
{
    return rules[phase][action]; /* an empty cell is SYNC */
}

bool job_action_internal(enum job_action action)
{
    return action == ACT_SYNC_JOB || action == ACT_ENQUEUE_JOB || action == ACT_UPDATE_JOB;
}
