#pragma once
/*
 * Private to the schema files: checks one scalar value against its row: type, size, enum, format.
 */
#include "api/types/schema/field_path.h"
#include "api/types/schema/schema.h"

/* The state of the check of one document. */
struct schema_check {
    const struct schema_options *options;
    struct error_list *errors;
};

/** Reports a wrong type if `ok`, whether the value has the type expected, is false. Returns `ok`.
 */
bool schema_expect(struct schema_check *c, const struct field_path *place, const json_t *value,
                   bool ok, const char *expected);

/** Checks the enum and the format of a string. Both apply to each entry of a list or map. */
void schema_check_content(struct schema_check *c, const struct field *field, const json_t *value,
                          const struct field_path *place);

/** Checks a value as `type`, which may differ from the row's own (quantities in a map). Lists, maps
 * and objects are not checked. */
void schema_check_value(struct schema_check *c, const struct field *field, enum field_type type,
                        const json_t *value, const struct field_path *place);
