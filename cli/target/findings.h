#pragma once
/*
 * Prints errors and warnings about manifests while they are being checked, and counts them. Of each
 * severity only the first hundred are printed.
 */
#include "cli/manifest/manifests.h"

struct findings {
    const struct manifests *set;
    size_t errors, warnings;
};

/** Prints `err` as an error about the manifest at `index` of the set. */
void findings_error(struct findings *findings, size_t index, const struct error *err);
/** Prints `err` as a warning about the manifest at `index` of the set. */
void findings_warn(struct findings *findings, size_t index, const struct error *err);
/** Prints all entries of both lists as errors and warnings about the manifest at `index` of the
 * set, and empties the lists. */
void findings_add(struct findings *findings, size_t index, struct error_list *errors,
                  struct error_list *warnings);
/** Prints the number of errors and warnings if some of them were not printed. */
void findings_end(const struct findings *findings);
