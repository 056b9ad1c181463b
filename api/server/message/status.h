#pragma once
/*
 * metav1.Status: how the API says that a request failed, or that an object is gone. Ref:
 * spec/kube-api.md 12.
 */
#include "api/types/kind.h"
#include "base/buf.h"

/* What a Status is about. Everything may be NULL. */
/** A member nobody knows, or one given twice. */
bool status_is_strict(const struct error *err);
/** A value of a type that an object of this kind, a built-in one, could not hold. */
bool status_is_undecodable(const struct error *err, const struct kind *kind);

struct status_subject {
    const struct kind *kind;
    const char *options; /* "PodLogOptions": the request's options were invalid, not the object */
    const char *name, *uid;
    const char *continue_; /* of a list that expired: the token that goes on with it */
};

/** What the request failed with. */
enum error_code status_code(const struct error_list *errors, const struct status_subject *about);
/** Append the Status of a failed request. The list holds at least one error; its first one decides
 * the code. */
void status_write_failure(const struct error_list *errors, const struct status_subject *about,
                          struct buf *out);
void status_write_error(const struct error *err, const struct status_subject *about,
                        struct buf *out);
/** Append the Status that answers a delete after which nothing is left. */
void status_write_success(const struct status_subject *about, struct buf *out);

/** Append the Status that answers a subresource which only does something. */
void status_write_done(int http_status, struct buf *out);

/** "Not Found": the words after an HTTP status. */
const char *status_http_phrase(int http_status);
/** Seconds for a Retry-After header, 0 = none: what makes clients try again by themselves. */
int status_retry_after_s(enum error_code code);
