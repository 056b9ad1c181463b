#pragma once
/*
 * Reads the errors in a response of an API server.
 */
#include "base/buf.h"
#include "base/error.h"

/** Returns whether a response with this HTTP status is a success. Otherwise `err` gets the code and
 * the message of the Status in `text`. */
bool answer_ok(int status, const struct buf *text, struct error *err);

/** Adds the causes of the Status in `text` to `errors`. */
void answer_findings(int status, const struct buf *text, struct error_list *errors);
