/*
 * The table of reasons for which a step is blocked.
 */
#include "flow/model/step_block.h"

#define BLOCK_ROW(name, text, timed, waits) {text, timed, waits},
const struct block_reason_row block_reasons[BLOCK_REASON_N] = {BLOCK_REASONS(BLOCK_ROW)};
#undef BLOCK_ROW
