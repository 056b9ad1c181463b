#pragma once
/*
 * The pods that a repair or a restore ends: they run, and the new store does not have them.
 */
#include "base/buf.h"
#include "base/error.h"

/**
 * Writes one line for each such pod to `out`, with its name if the old store has it. `data_dir` is
 * the directory of the store; `old` and `new` are the files of store_repair's `agree`. Returns their
 * number, or -1 with `err` when it cannot be known.
 */
int64_t repair_ends_pods(const char *data_dir, const char *old, const char *new, struct buf *out,
                         struct error *err);
