#pragma once
/*
 * How many logs of pods that are gone are kept (L-38).
 */
#include <stdint.h>

#include "base/error.h"

/* In bytes; 0 keeps none. */
struct log_limits {
    int64_t flow_bytes;  /* of each flow, and of each job without a flow */
    int64_t total_bytes; /* on the node */
};

enum { LOGS_KEPT_OF_FLOW = 10000, LOGS_KEPT = 20000 }; /* pods */

#define KEEP_LOGS_DEFAULT       "512Mi"
#define KEEP_LOGS_TOTAL_DEFAULT "4Gi"

/** Parses a size like 512Mi; 0 is one. */
bool log_size_parse(const char *text, int64_t *out_bytes, struct error *err);
/** Parses both limits; NULL gives the default. */
bool log_limits_parse(const char *flow, const char *total, struct log_limits *out,
                      struct error *err);
