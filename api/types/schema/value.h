#pragma once
/*
 * Inside the schema files: one text or number against its row: its type, its size, and what it
 * says.
 */
#include "api/types/schema/field_path.h"
#include "api/types/schema/schema.h"

/* A check of one document. */
struct schema_check {
    const struct schema_options *options;
    struct error_list *errors;
};

/** `ok` says whether the value has the type it should have: reported when not. */
bool schema_expect(struct schema_check *c, const struct place *place, const json_t *value, bool ok,
                   const char *expected);

/** The enum and the format of a string: what also holds for each entry of a list or map. */
void schema_check_content(struct schema_check *c, const struct field *field, const json_t *value,
                          const struct place *place);

/** A value as `type`, which need not be the row's own (quantities in a map). Nothing is asked of
 * one that is a list, a map or an object. */
void schema_check_value(struct schema_check *c, const struct field *field, enum field_type type,
                        const json_t *value, const struct place *place);
