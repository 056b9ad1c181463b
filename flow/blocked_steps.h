#pragma once
/*
 * Steps that are ready but whose job could not be created, each with its reason, and what wakes
 * them.
 *
 * A blocked step waits for the object whose change may help (a template of a name, a foreign job's
 * end) and, where the cause cannot be watched, also for a timer of its own: 5 ms doubling to 30 s,
 * for ever. Waking makes it ready again; its reason stays until its job exists, so that a retry
 * with the same outcome changes nothing and reports nothing. Ref: spec/jobflow.md 5.4.
 */
#include "base/compiler.h"
#include "base/loop.h"

/* name, text in status and events, whether a timer tries again */
/* clang-format off */
#define BLOCK_REASONS(X)                                   \
    X(TEMPLATE_NOT_FOUND, "TemplateNotFound", false)       \
    X(JOB_NAME_CONFLICT,  "JobNameConflict",  false)       \
    X(ADMISSION_DENIED,   "AdmissionDenied",  true)        \
    X(CREATE_FAILED,      "CreateFailed",     true)
/* clang-format on */
#define BLOCK_ENUM(name, text, timed) BLOCK_##name,
enum block_reason { BLOCK_REASONS(BLOCK_ENUM) BLOCK_REASON_N };
#undef BLOCK_ENUM

const char *block_reason_text(enum block_reason reason);

/* What a step waits for: the kind of object, by a letter, and its namespace and name. */
enum wait_kind { WAIT_FOR_TEMPLATE = 't', WAIT_FOR_JOB = 'j' };

struct flow;
struct flow_controller;
struct wait_key;

struct step_block {
    struct flow *flow;
    uint32_t step;
    enum block_reason reason;
    char *message;
    unsigned failures; /* consecutive, for the timer */
    struct timer retry;
    struct wait_key *key;
    struct step_block *prev, *next; /* waiting for the same key */
};

/** Block a step, or block it again: reason and message are set, waiters registered, a Warning event
 * written when the cause is new. */
void flow_block_step(struct flow *flow, uint32_t step, enum block_reason reason, const char *format,
                     ...) PRINTF_LIKE(4, 5);
/** The step's job exists, or the flow goes: forget the cause. NULL block is fine. */
void flow_unblock_step(struct flow *flow, uint32_t step);
/** Something of that name changed: whoever waits for it is ready again. O(waiters). */
void flow_wake_waiters(struct flow_controller *controller, enum wait_kind kind, const char *ns,
                       const char *name);
