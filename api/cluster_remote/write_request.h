#pragma once
/*
 * Turns writes into requests. Ref: spec/cluster.md 2.5.
 */
#include "api/cluster_remote/write.h"

#define REQUEST_MANAGER "jobflow-controller" /* the field manager of every write */

enum { REQUEST_LIMIT_MS = 30000 };

struct write_request_form {
    bool strict;          /* the server shall warn of fields that it drops */
    bool status_by_patch; /* a status is sent as a JSON patch, not as a PUT without the spec */
};

/** Fills method, target and body of write->http. */
void write_request_build(struct write *write, const struct write_request_form *form);
/** Fills in a read of the object. */
void write_request_build_read(struct write *write);
/** Fills in the removal of an object of this name with this uid. */
void write_request_build_removal(struct write *write, const char *uid);
