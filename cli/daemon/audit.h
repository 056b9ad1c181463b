#pragma once
/*
 * The audit log of a daemon: one JSON line for each mutating request, with user, verb, object, time
 * and status. The file is `audit.log` in the data directory, mode 0600. A full file is renamed to
 * `audit.log.1`, replacing the previous one.
 */
#include "api/server/rest/request_record.h"
#include "base/error.h"

struct audit;

struct audit *audit_open(const char *data_dir, struct error *err);
void audit_close(struct audit *audit); /* NULL is ignored */
/** Reopens the log by its name, after a log rotation has renamed the file. */
void audit_reopen(struct audit *audit);
void audit_note(struct audit *audit, const struct request_record *record);
