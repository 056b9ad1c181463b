#pragma once
/*
 * GET /backup: a consistent copy of the store as an SQLite file, made while everything goes on. For
 * administrators. It holds Secrets.
 */
#include "api/server/rest/internal.h"

/** The answer to it; NULL for other requests, and where there is no place for the copy. */
struct api_stream *backup_answer(const struct api_call *call);
