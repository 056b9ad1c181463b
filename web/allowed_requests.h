#pragma once
/*
 * What may pass from the page to the API server behind it, as one table. A request without a row is
 * refused, whatever its user may do elsewhere. Ref: spec/web.md 6.
 */
#include "api/server/api.h"
#include "api/server/message/request_target.h"

enum gateway_pass {
    GATEWAY_REFUSED,
    GATEWAY_READ,
    GATEWAY_FOLLOW, /* a log that is sent as it grows */
    GATEWAY_ASK,    /* a POST that changes nothing: a question about one's own rights */
    GATEWAY_CHANGE,
    GATEWAY_BLIND, /* a change whose answer passes without data: a Secret, … */
};

struct gateway_request {
    const struct request_target *target; /* path at the server from segment `from` on */
    size_t from;
    enum api_method method;
    const char *content_type; /* media type of the body; NULL: none given */
};

/** Returns how a request may pass. For GATEWAY_REFUSED `err` is FORBIDDEN, or MEDIA_TYPE for a
 * change whose body is of a type that a form could send, or BAD_REQUEST for a query parameter that
 * is given twice. */
enum gateway_pass gateway_may_pass(const struct gateway_request *request, struct error *err);

/** Returns the target at the server of a request target that begins with "/ui/api/" as written, a
 * part of it; NULL for any other, and for one with a byte that an URL may not have: the server could
 * then read another path than the one that was checked. */
const char *gateway_target(const char *target);

/** Returns whether a media type may be that of a change: JSON, YAML or a patch. */
bool gateway_is_change_type(const char *content_type);
