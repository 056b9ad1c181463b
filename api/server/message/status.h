#pragma once
/*
 * metav1.Status: how the API reports that a request failed or that an object is deleted. Ref:
 * spec/kube-api.md 12.
 */
#include "api/types/kind.h"
#include "base/buf.h"

/* The object or kind that a Status is about. Every member may be NULL. */
struct status_subject {
    const struct kind *kind;
    const char *options; /* "PodLogOptions": the request's options were invalid, not the object */
    const char *name, *uid;
    const char *continue_token; /* token with which an expired list can be continued */
};

/** Returns whether the error is about an unknown or a duplicate field. Only strict validation
 * reports such errors. */
bool status_is_strict(const struct error *err);
/** Returns whether the error is about a value whose type an object of this built-in kind cannot
 * hold. kube-apiserver finds such an error while it decodes the object, before it validates. */
bool status_is_undecodable(const struct error *err, const struct kind *kind);

/** Returns the code of the response to a request that failed with `errors`. */
enum error_code status_code(const struct error_list *errors, const struct status_subject *about);
/** Appends the Status of a request that failed with `errors`, which holds at least one error. */
void status_write_failure(const struct error_list *errors, const struct status_subject *about,
                          struct buf *out);
/** Appends the Status of a request that failed with the one error `err`. */
void status_write_error(const struct error *err, const struct status_subject *about,
                        struct buf *out);
/** Appends the Status that reports an object as deleted. */
void status_write_deleted(const struct status_subject *about, struct buf *out);
/** Appends a Status of Success without details. */
void status_write_success(int http_status, struct buf *out);

/** Returns the reason phrase of an HTTP status, such as "Not Found" for 404. */
const char *status_http_phrase(int http_status);
/** Returns the number of seconds for the header Retry-After, which makes clients try again; 0 means
 * that the response has no such header. */
int status_retry_after_s(enum error_code code);
