#pragma once
/*
 * Private to the YAML files: libyaml's scalar events as JSON values and as mapping keys.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "api/types/text/json_text.h"
#include "base/error.h"

struct yaml_event_s; /* the yaml_event_t of libyaml */

/** Sets BAD_REQUEST with the position of the event, "line L, column C: …", and returns false. */
bool yaml_fail(const struct yaml_event_s *event, struct error *err, const char *format, ...)
    PRINTF_LIKE(3, 4);

/** Returns the value of a scalar (owned), or NULL with an error if JSON cannot hold it. */
json_t *yaml_leaf(const struct yaml_event_s *event, struct error *err);

/* A mapping key as text. Booleans and numbers take their JSON form. */
struct yaml_key {
    const char *text; /* text in the event, or in `number` */
    size_t len;
    bool merge; /* the scalar is the merge key << */
    char number[JSON_NUMBER_MAX];
};

/** Reads a mapping key. Returns false with an error when the event is not a scalar. */
bool yaml_key_read(const struct yaml_event_s *event, struct yaml_key *key, struct error *err);
