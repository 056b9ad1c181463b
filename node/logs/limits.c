/*
 * Reads the limits on kept logs from settings.
 */
#include "node/logs/limits.h"

#include "api/types/text/quantity.h"

bool log_size_parse(const char *text, int64_t *out_bytes, struct error *err)
{
    quantity_nano size = 0;

    if (!quantity_parse(text, &size, NULL) || size < 0)
        return error_set(err, ERR_INVALID, "", "\"%s\" is no size like 512Mi", text);
    *out_bytes = quantity_whole(size);
    return true;
}

bool log_limits_parse(const char *flow, const char *total, struct log_limits *out,
                      struct error *err)
{
    return log_size_parse(flow ? flow : KEEP_LOGS_DEFAULT, &out->flow_bytes, err) &&
           log_size_parse(total ? total : KEEP_LOGS_TOTAL_DEFAULT, &out->total_bytes, err);
}
