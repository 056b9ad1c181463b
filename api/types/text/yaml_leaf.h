#pragma once
/*
 * Inside the YAML files: libyaml's scalar events as JSON values, and as keys.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "api/types/text/json_text.h"
#include "base/error.h"

struct yaml_event_s; /* libyaml's yaml_event_t */

/** Always false, with BAD_REQUEST at the place of the event: "line L, column C: …". */
bool yaml_fail(const struct yaml_event_s *event, struct error *err, const char *format, ...)
    PRINTF_LIKE(3, 4);

/** The value of a scalar (owned); NULL with an error where JSON has none. */
json_t *yaml_leaf(const struct yaml_event_s *event, struct error *err);

/* A key as text: what JSON makes of a boolean or number. */
struct yaml_key {
    const char *text; /* in the event, or in `number` */
    size_t len;
    bool merge; /* << */
    char number[JSON_NUMBER_MAX];
};

/** False with an error when the event is no key. */
bool yaml_key_read(const struct yaml_event_s *event, struct yaml_key *key, struct error *err);
