#pragma once
/*
 * A hash of each step's entry in the spec. It is stored with the job, so that a later change of the
 * entry can be noticed (spec/jobflow.md 13.10). It is computed from the text of the flow's body,
 * which is canonical, so equal entries have equal hashes.
 */
#include "flow/model/flow_model.h"

enum { SPEC_HASH_TEXT_MAX = 17 };

/** Returns the hash of the entry that a vertex comes from. The first call computes those of all
 * steps. */
uint64_t flow_spec_hash(struct flow_model *m, uint32_t step);

void spec_hash_format(uint64_t hash, char out[SPEC_HASH_TEXT_MAX]); /* writes sixteen hex digits */
uint64_t spec_hash_parse(const char *text); /* returns 0 for a text that is no hash */
