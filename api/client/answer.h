#pragma once
/*
 * What an API server's answer says of a failure: its Status, as errors.
 */
#include "base/buf.h"
#include "base/error.h"

/** Whether an answer with this HTTP status is a success; else `err` is what the Status in `text`
 * says: its code by reason, its message. */
bool answer_ok(int status, const struct buf *text, struct error *err);

/** What the Status says, finding by finding. */
void answer_findings(int status, const struct buf *text, struct error_list *errors);
