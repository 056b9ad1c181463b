#pragma once
/*
 * What is kept of a request once its answer has begun: for the access log, the audit log and the
 * metrics.
 */
#include "api/server/api.h"
#include "api/server/auth/identity.h"

struct request_record {
    const struct identity *identity; /* NULL: not known, or of no account */
    enum api_method method;
    const char *method_name;
    const char *target;     /* as it came; "" when none could be read */
    const char *peer;       /* address, or user of the unix socket */
    const char *user_agent; /* "" if none */
    const char *id;         /* Audit-Id of the answer */
    const char *object;     /* "namespace/name" of what was changed; "" if nothing was */
    int64_t revision;       /* it has now; 0 */
    int status;
    bool long_running;            /* a watch or a followed log */
    int64_t began_ms;             /* wall time */
    int64_t duration_ns;          /* to the end of the answer */
    uint64_t bytes_in, bytes_out; /* bodies */
};
