#pragma once
/*
 * Findings about files: printed as they are found, up to a number, and counted.
 */
#include "cli/manifest/manifests.h"

struct findings {
    const struct manifests *set;
    size_t errors, warnings;
};

/** Print one finding about the manifest at `index`. */
void findings_error(struct findings *findings, size_t index, const struct error *err);
void findings_warn(struct findings *findings, size_t index, const struct error *err);
/** Prints and empties both lists. */
void findings_add(struct findings *findings, size_t index, struct error_list *errors,
                  struct error_list *warnings);
/** Says how many there were, if not all of them were printed. */
void findings_end(const struct findings *findings);
