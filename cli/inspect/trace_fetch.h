#pragma once
/*
 * Gathers the attempts and pods of a stored flow for its trace (view/trace.h).
 */
#include "cli/client/client.h"
#include "view/trace.h"

/** Fills an empty trace whose view and time are set: reads the attempts from …/jobflows/NAME/steps,
 * then the pods that still exist. False with the error of a request. */
bool trace_fetch(struct trace *trace, struct client *client, struct error *err);
