#pragma once
/*
 * The audit log of a daemon: one line of JSON for each request that asked for a change, with who,
 * what, when and what became of it. `audit.log` in the data directory, 0600; when it is full it
 * becomes `audit.log.1`, and what was there before goes.
 */
#include "api/server/rest/request_record.h"
#include "base/error.h"

struct audit;

struct audit *audit_open(const char *data_dir, struct error *err);
void audit_close(struct audit *audit); /* NULL is fine */
/** Go on in the file that has the name now: it may have been moved away. */
void audit_reopen(struct audit *audit);
void audit_note(struct audit *audit, const struct request_record *record);
