#pragma once
/*
 * Which part of a pod's log is asked for: what the API takes and the runtime reads.
 */
#include <stdbool.h>
#include <stdint.h>

struct log_query {
    const char *container;
    bool previous, timestamps;
    int64_t tail_lines;  /* -1 = all */
    int64_t since_ms;    /* wall time; 0 = all */
    int64_t limit_bytes; /* -1 = all */
};
