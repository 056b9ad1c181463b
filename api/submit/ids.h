#pragma once
/*
 * Ids of jobs: 26 lower-case characters that sort by time (ULID). They increase strictly, also when
 * the clock is set back.
 */
#include <stdint.h>

struct clock;

enum { SUBMIT_ID_LEN = 26 };

struct submit_ids {
    uint64_t time_ms; /* of the last id */
    uint64_t high;    /* upper 16 bits of its random part */
    uint64_t low;     /* lower 64 bits */
};

void submit_id_next(struct submit_ids *ids, int64_t now_ms, struct clock *clock,
                    char out[SUBMIT_ID_LEN + 1]);
