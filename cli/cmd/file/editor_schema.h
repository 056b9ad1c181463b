#pragma once
/*
 * The JSON Schema for editors, which `jobflow schema` prints and `jobflow init --schema` writes.
 */
#include <jansson.h>

#include "base/error.h"

/* The usual name of the file. */
#define EDITOR_SCHEMA_FILE "jobflow.schema.json"

/** Returns the schema of the kinds that people write, and of test files. Owned. */
json_t *editor_schema(void);
/** Writes it to a file, or to standard output when `path` is NULL. */
bool editor_schema_write(const char *path, struct error *err);
