#pragma once
/*
 * Tells for a step of a file whether it would be reused, and what decides.
 */
#include "cli/client/client.h"

/** Prints whether the step would be reused, and each input with what became of it. Returns false with
 * `err`; when the file is refused, its findings have been printed, and the message says so. */
bool cache_why_file(struct client *client, const char *ns, char *file, const char *step,
                    struct error *err);
