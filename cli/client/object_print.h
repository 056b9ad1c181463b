#pragma once
/*
 * Prints objects to standard output in kubectl's format: members sorted by name, managedFields
 * removed, several objects as items of a List. Items are printed one by one.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "api/types/kind.h"
#include "base/error.h"

enum object_form { OBJECT_YAML, OBJECT_JSON, OBJECT_NAME, OBJECT_JSONPATH };

struct objectprint {
    FILE *out;
    enum object_form form;
    const char *jsonpath; /* the expression of -o jsonpath */
    bool as_list;         /* print as items of a List, not as separate documents */
    size_t printed;
    json_t *items; /* private: items of the List that a JSONPath is applied to */
};

/** Parses "yaml", "json", "name" or "jsonpath=…". Returns false with BAD_REQUEST for anything else.
 */
bool objectprint_parse(const char *form, struct objectprint *out, struct error *err);

/** Prints one object and modifies `doc`. Returns false with BAD_REQUEST for an invalid JSONPath. */
bool objectprint_one(struct objectprint *print, json_t *doc, struct error *err);
/** Prints the line of an object in the form NAME. For an unknown kind (NULL) the line is empty. */
void objectprint_name(const struct objectprint *print, const struct kind *kind, const char *name);
/** Closes the List; call once after the last object. Errors as objectprint_one. */
bool objectprint_end(struct objectprint *print, struct error *err);
void objectprint_release(struct objectprint *print);
