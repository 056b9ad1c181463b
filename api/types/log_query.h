#pragma once
/*
 * The part of a pod's log that a client asks for. The API parses it and the runtime serves it.
 */
#include <stdbool.h>
#include <stdint.h>

struct log_query {
    const char *container;
    bool previous, timestamps;
    int64_t tail_lines;  /* number of lines from the end; -1 = all */
    int64_t since_ms;    /* only lines written since this wall-clock time; 0 = all */
    int64_t limit_bytes; /* largest size of the answer; -1 = all */
};
