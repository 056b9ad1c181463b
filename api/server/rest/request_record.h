#pragma once
/*
 * What is recorded of a request once its response is complete: for the access log, the audit log
 * and the metrics. Strings are borrowed for the call.
 */
#include "api/server/api.h"
#include "api/server/auth/identity.h"

struct request_record {
    const struct identity *identity; /* who has sent it; NULL: not authenticated */
    enum api_method method;
    const char *method_name;
    const char *target;     /* request target as received; "" when none could be read */
    const char *peer;       /* address, or user of the unix socket */
    const char *user_agent; /* header User-Agent; "" if none */
    const char *id;         /* Audit-Id of the response */
    const char *object;     /* object that was changed, as "namespace/name"; "" if none was */
    int64_t revision;       /* revision of that object after the change; 0: no change */
    int status;
    bool long_running;            /* a watch or a followed log */
    int64_t began_ms;             /* wall time at which the request began */
    int64_t duration_ns;          /* time until the end of the response */
    uint64_t bytes_in, bytes_out; /* bytes of both bodies */
};
