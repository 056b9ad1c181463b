#pragma once
/*
 * metav1.Status: how the API answers when the answer is no object. Ref: spec/kube-api.md
 * section 12.
 */
#include "api/types/json_text.h"
#include "base/error.h"

struct kind;

/**
 * The Status of a failure (owned). The first finding gives code and reason; every finding is in the
 * message and, for INVALID, in details.causes. `kind` and `name` of what it is about may be NULL.
 */
json_t *status_from_errors(const struct error_list *errors, const struct kind *kind,
                           const char *name);
json_t *status_from_error(const struct error *err, const struct kind *kind, const char *name);

/** The Status of a deletion that is done (owned). */
json_t *status_deleted(const struct kind *kind, const char *name, const char *uid);

/**
 * Fill `err` from a Status somebody sent, with `http_status` where it says nothing itself. Always
 * false. Total: any document gives an error.
 */
bool status_to_error(const json_t *status, int http_status, struct error *err);
