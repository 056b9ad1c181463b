#pragma once
/*
 * Objects as documents on standard output, the way kubectl writes them: members in order of their
 * names, managedFields left out, several objects as items of a List. Items go out one by one.
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
    const char *jsonpath; /* the expression */
    bool as_list;         /* items of a List rather than documents of their own */
    size_t printed;
    json_t *items; /* private: of a List a path is to be applied to */
};

/** "yaml", "json", "name" or "jsonpath=…"; BAD_REQUEST for anything else. */
bool objectprint_parse(const char *form, struct objectprint *out, struct error *err);

/** Print one object; `doc` is changed. BAD_REQUEST for a path that is none. */
bool objectprint_one(struct objectprint *print, json_t *doc, struct error *err);
/** The line of an object in the form NAME; of a kind that is not known (NULL) an empty one. */
void objectprint_name(const struct objectprint *print, const struct kind *kind, const char *name);
/** Once, at the end: closes the List. Errors as objectprint_one. */
bool objectprint_end(struct objectprint *print, struct error *err);
void objectprint_release(struct objectprint *print);
