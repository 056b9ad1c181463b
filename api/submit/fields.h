#pragma once
/*
 * The fields of requests: their names, the spelling that the proposal's text has for some of them,
 * and their types. A document is copied with the first spelling, so that all other code reads one.
 */
#include "api/submit/problems.h"

enum submit_type {
    SUBMIT_TEXT,
    SUBMIT_NUMBER, /* any number; the code that reads it checks the range */
    SUBMIT_BOOL,
    SUBMIT_MAP,     /* of texts */
    SUBMIT_TEXTS,   /* a list */
    SUBMIT_NUMBERS, /* a list */
    SUBMIT_OBJECT,  /* with the fields `of` */
    SUBMIT_OBJECTS, /* a list of those */
    SUBMIT_ANY,     /* copied as it is: a PodSpec, a ConfigMap */
};

struct submit_field {
    const char *name;
    const char *alias; /* NULL: it has one spelling */
    enum submit_type type;
    const struct submit_field *of;
};

enum submit_unknown { SUBMIT_STRICT, SUBMIT_WARN, SUBMIT_IGNORE };

extern const struct submit_field submit_request_fields[], submit_item_fields[],
    submit_cancel_fields[], submit_set_cancel_fields[], submit_reprioritize_fields[],
    submit_status_fields[];

/**
 * Returns a copy of `object` with the fields of the table (owned). Adds UnknownField, DuplicateKey
 * and WrongType to `problems`; unknown fields go to `warnings` with SUBMIT_WARN. `path` is that of
 * the object, "" for the request. A list of the type SUBMIT_OBJECTS without `of` is copied as it
 * is.
 */
json_t *submit_fields_read(const json_t *object, const struct submit_field *fields,
                           const char *path, enum submit_unknown unknown,
                           struct submit_problems *problems, struct submit_problems *warnings);
/** Returns the text of a member, borrowed; "" when it is absent or no text. */
const char *submit_text_at(const json_t *object, const char *key);
