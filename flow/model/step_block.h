#pragma once
/*
 * Why the job of a step whose dependencies are satisfied could not be created. flow/blocked_steps.h
 * decides what such a step waits for.
 */
#include <stdbool.h>

/* X(name, text in status and events, whether a timer retries, whether the step only waits: it is not
 * shown as blocked, and no event is made) */
/* clang-format off */
#define BLOCK_REASONS(X)                                    \
    X(TEMPLATE_NOT_FOUND, "TemplateNotFound", false, false) \
    X(JOB_NAME_CONFLICT,  "JobNameConflict",  false, false) \
    X(ADMISSION_DENIED,   "AdmissionDenied",  true,  false) \
    X(CREATE_FAILED,      "CreateFailed",     true,  false) \
    X(SAME_WORK,          "SameWorkRunning",  false, true)
/* clang-format on */
#define BLOCK_ENUM(name, text, timed, waits) BLOCK_##name,
enum block_reason { BLOCK_REASONS(BLOCK_ENUM) BLOCK_REASON_N };
#undef BLOCK_ENUM

struct block_reason_row {
    const char *text;
    bool timed, waits;
};
extern const struct block_reason_row block_reasons[BLOCK_REASON_N];

struct step_block {
    enum block_reason reason;
    char *message; /* owned by flow/blocked_steps.c */
};
