#pragma once
/*
 * The limits on kept logs of pods that are gone (rule L-38).
 */
#include <stdint.h>

#include "base/error.h"

/* Limits on the size of kept logs, in bytes. 0 keeps no logs. */
struct log_limits {
    int64_t flow_bytes;  /* limit for each flow, and for each job without a flow */
    int64_t total_bytes; /* limit for all logs on the node */
};

/* Limits on the number of pods whose logs are kept. */
enum { LOGS_KEPT_OF_FLOW = 10000, LOGS_KEPT = 20000 };

#define KEEP_LOGS_DEFAULT       "512Mi"
#define KEEP_LOGS_TOTAL_DEFAULT "4Gi"

/** Parses a size like 512Mi. 0 is a valid size. */
bool log_size_parse(const char *text, int64_t *out_bytes, struct error *err);
/** Parses both limits. A text that is NULL gives the default. */
bool log_limits_parse(const char *flow, const char *total, struct log_limits *out,
                      struct error *err);
