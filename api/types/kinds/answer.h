#pragma once
/*
 * The words of Commands that answer a step of a flow which waits for its approval. Ref:
 * spec/everyday.md 7.2.
 */

/* Actions of Commands to a JobFlow. Their message is {"step": NAME, "text": REMARK}. */
#define COMMAND_APPROVE_STEP "ApproveStep"
#define COMMAND_REJECT_STEP  "RejectStep"
enum { ANSWER_BYTES_MAX = 1024 }; /* bytes of the remark */

/* The name of the user that has sent a Command. The API server writes it. */
#define ANNOTATION_REQUESTED_BY "volcano.sh/requested-by"
