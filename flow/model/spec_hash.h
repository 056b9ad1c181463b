#pragma once
/*
 * A hash of each step's entry in the spec, to tell later what its job was made from: the entry may
 * have changed since (spec/jobflow.md 13.10). Taken from the text of the flow's body, which is
 * canonical: equal entries have equal hashes.
 */
#include "flow/model/flow_model.h"

enum { SPEC_HASH_TEXT_MAX = 17 };

/** Of the entry behind a vertex. All of a record are worked out when the first is asked for. */
uint64_t flow_spec_hash(struct flow_model *m, uint32_t step);

void spec_hash_format(uint64_t hash, char out[SPEC_HASH_TEXT_MAX]); /* sixteen hex digits */
uint64_t spec_hash_parse(const char *text);                         /* 0: it is none */
