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

/** Returns true for an error about an unknown or duplicate field, which only strict validation
 * reports. */
bool status_is_strict(const struct error *err);
/** Returns true for a value of a type that an object of this built-in kind cannot hold.
 * kube-apiserver finds such an error while decoding, before validation. */
bool status_is_undecodable(const struct error *err, const struct kind *kind);

/** The code of the response to a request that failed with `errors`. */
enum error_code status_code(const struct error_list *errors, const struct status_subject *about);
/** Appends the Status of a failed request. The list holds at least one error. */
void status_write_failure(const struct error_list *errors, const struct status_subject *about,
                          struct buf *out);
void status_write_error(const struct error *err, const struct status_subject *about,
                        struct buf *out);
/** Appends the Status that reports an object as deleted. */
void status_write_deleted(const struct status_subject *about, struct buf *out);
/** Appends a Status of Success without details. */
void status_write_success(int http_status, struct buf *out);

/** "Not Found": the reason phrase of an HTTP status. */
const char *status_http_phrase(int http_status);
/** Seconds for a Retry-After header, which makes clients try again; 0 = no header. */
int status_retry_after_s(enum error_code code);
