#pragma once
/*
 * Steps with `approve`: they make no job and wait until a user approves or rejects them.
 *
 *   WAITING ─ targets met ─► ASKING ─┬─ approved ───► Completed, with outputs
 *                                    ├─ rejected ───► Failed (Rejected)
 *                                    ├─ timed out ──► Failed or Skipped (ApprovalTimedOut)
 *                                    └─ flow ends ──► WAITING
 *
 * The question, the time at which it was asked and the answer are kept in the step's history, which
 * the status shows. Ref: spec/everyday.md 7.2.
 */
#include "flow/model/flow_model.h"

/* Reasons of such a step. */
#define REASON_ASKING    "WaitingForApproval"
#define REASON_REJECTED  "Rejected"
#define REASON_TIMED_OUT "ApprovalTimedOut"

/* Who has answered, and what. */
struct approval_answer {
    const char *by;   /* name of the user */
    const char *text; /* a remark; "" = none */
    int64_t at_ms;
};

/** Returns whether the question of a step in state ASKING has been asked. */
bool flow_model_has_asked(const struct flow_model *m, uint32_t step);
/** The question of a step in state ASKING is asked now. `message` is copied and may be NULL. */
void flow_model_ask(struct flow_model *m, uint32_t step, const char *message, int64_t now_ms);
/** Completes a step in state ASKING, with the outputs approvedBy, approvedAt and text. */
void flow_model_approve(struct flow_model *m, uint32_t step, const struct approval_answer *answer);
/** Fails a step in state ASKING. */
void flow_model_reject(struct flow_model *m, uint32_t step, const struct approval_answer *answer);
/** Nobody has answered in time: the step fails or is skipped, as its spec says. */
void flow_model_approval_timed_out(struct flow_model *m, uint32_t step);
/** Takes the question of a step in state ASKING back: the step waits, as if it had not begun. */
void flow_model_withdraw(struct flow_model *m, uint32_t step);
/** Forgets question and answer, because the step begins again. */
void flow_model_forget_answer(struct flow_model *m, uint32_t step);
