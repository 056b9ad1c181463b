#pragma once
/*
 * Field tables. One row per field serves decoding, bounds, defaults, error paths, the reference
 * documentation and the OpenAPI schema.
 *
 * A schema is a list of rows ended by {0}. Rows whose `offset` is FIELD_PASS are checked and stay
 * in the document but are not decoded, because the program does not use them.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/types/text/json_text.h"
#include "base/buf.h"
#include "base/collections/arena.h"
#include "base/error.h"

/* Types of decoded members. They distinguish absent from zero. The arena of the decode owns all
 * memory. */
struct opt_i32 {
    bool set;
    int32_t value;
};
struct opt_i64 {
    bool set;
    int64_t value;
};
struct str_list {
    const char **items;
    size_t count;
};
struct str_pair {
    const char *key;
    const char *value;
};
struct str_map {
    struct str_pair *items;
    size_t count;
};
struct any_list {
    void *items;
    size_t count;
}; /* every FIELD_LIST member has this layout: struct { T *items; size_t count; } */

enum field_type {
    FIELD_END = 0,
    FIELD_STR,      /* const char *; NULL when absent */
    FIELD_ENUM,     /* an enum: the position of the text in `one_of`, from `first_value`; 0 when
                     * absent or not listed. A 0 that is listed is thus the default */
    FIELD_I32,      /* int32_t; 0 when absent */
    FIELD_OPT_I32,  /* the member is a struct opt_i32 */
    FIELD_I64,      /* the member is an int64_t */
    FIELD_OPT_I64,  /* the member is a struct opt_i64 */
    FIELD_BOOL,     /* the member is a bool */
    FIELD_OPT_BOOL, /* int8_t: -1 absent, 0, 1 */
    FIELD_QUANTITY, /* const char *, checked against the quantity grammar; numbers are taken too */
    FIELD_DURATION, /* int64_t nanoseconds; -1 when absent; Go syntax */
    FIELD_TIME,     /* int64_t milliseconds; 0 when absent; RFC 3339 */
    FIELD_INT_OR_STR,   /* const char *; a number is converted to text */
    FIELD_BASE64,       /* const char *, still encoded */
    FIELD_STR_LIST,     /* the member is a struct str_list */
    FIELD_STR_MAP,      /* the member is a struct str_map */
    FIELD_QUANTITY_MAP, /* struct str_map; resource lists */
    FIELD_STR_LIST_MAP, /* struct { struct str_list_pair *items; size_t count; } (plugins) */
    FIELD_OBJECT,       /* pointer to a struct of `.of`, NULL when absent */
    FIELD_INLINE,       /* struct of `.of` embedded at offset; absent = zeroed */
    FIELD_LIST,         /* struct { T *items; size_t count; } of objects */
    FIELD_MAP, /* struct { struct { const char *key; T value } … }: pairs laid out as key pointer,
                * then T */
    FIELD_ANY, /* json_t *, borrowed from the decoded document, which lives as long as the facet */
    FIELD_TYPE_N,
};

/* What a type is made of: one value, or a list or a map of values of another type. */
enum field_form { FORM_ONE, FORM_LIST, FORM_MAP };
struct field_shape {
    enum field_form form;
    enum field_type entry; /* type of an entry of a list or map */
};
extern const struct field_shape field_shapes[FIELD_TYPE_N];

struct str_list_pair {
    const char *key;
    struct str_list value;
};

#define FIELD_PASS SIZE_MAX

/* The protobuf form of a member whose type alone does not tell it. */
enum pb_form {
    PB_OF_TYPE,    /* the usual form of the field's type */
    PB_MICRO_TIME, /* a time with fractions of a second */
    PB_BYTES_MAP,  /* a map of bytes; JSON has them as base64 */
    PB_INTEGERS,   /* a list of numbers */
    PB_MESSAGES,   /* a list of messages of `pb_of` */
    PB_JSON,       /* a message {1 JSON text} */
};

struct field {
    const char *name; /* member name; "a.b" is member b of a, which has no row of its own */
    enum field_type type;
    size_t offset; /* offset of the member, or FIELD_PASS */
    const struct schema *of;
    bool required;
    bool bounded; /* min and max are set */
    int64_t min, max;
    uint32_t min_length, max_length; /* strings: bytes; lists: entries. 0 = no bound */
    const char *const *one_of;       /* the texts allowed, ended by NULL; NULL: any */
    uint8_t first_value;             /* FIELD_ENUM: number of the first text, 0 or 1 */
    bool (*check)(const char *value, struct error *err); /* string format: dns label, … */
    const char *default_json;                            /* schema default, JSON text */
    bool zero_is_absent;   /* 0 is replaced by the default, as clients written in Go expect */
    const char *merge_key; /* key of the entries in strategic merge; "" for a set of scalars */
    /* Checked as `type`, decoded as json_t * (NULL when absent) that is borrowed from the document.
     */
    bool as_json;
    bool expands;       /* the container replaces $(NAME) in the value, and $$ by $ */
    bool immutable_doc; /* documented as a field that may not change after create */
    bool incidental;    /* does not change what a job computes, so its result can be reused all the
                      * same (spec/everyday.md 4.2) */
    const char *doc;    /* one sentence for the reference documentation */
    uint16_t pb;        /* number in the protobuf message; 0: the member is ours alone */
    uint16_t pb_in;     /* number of the message around it whose members JSON shows one level up */
    enum pb_form pb_as;
    const struct schema *pb_of;
    bool
        keeps_zero; /* an empty value is sent on purpose. So it is of FIELD_OPT_… and required ones;
                     * elsewhere it is what Go writes for absent */
};

/* A member name of another workflow engine, and what to write instead. */
struct foreign_word {
    const char *word, *instead;
};

struct schema {
    const char *name; /* name in documentation and OpenAPI, such as "JobSpec" */
    const struct field *fields;
    size_t size;           /* sizeof the decoded struct; 0 when it is never decoded */
    bool preserve_unknown; /* the value is a free-form object */
    bool partial; /* a patch: here and everywhere below no defaults, no required members, no
                   * min_length of lists, and the members $patch and $retainKeys are kept */
    const char *doc;
    const struct foreign_word *foreign; /* ends with a row of zeros; NULL: none */
};

enum schema_unknown { UNKNOWN_ERROR, UNKNOWN_PRUNE };

extern const struct schema metadata_schema; /* ObjectMeta; decoded to struct meta of object.h */

struct schema_options {
    enum schema_unknown unknown;
    bool defaults;  /* write schema defaults into the document */
    bool drop_null; /* remove null members of non-nullable fields (kube-apiserver does) */
    struct error_list *pruned; /* UNKNOWN_PRUNE: what was removed is named here; may be NULL */
    /* Set when a value does not fit its member of the struct, by type or size. May be NULL. */
    bool *unreadable;
};

/**
 * Checks `doc` (changed in place: pruning, defaults, nulls) against `schema`. Every finding is
 * added with its path below `path`, as INVALID: types, required members, bounds, lengths, enums,
 * formats. Unknown members are BAD_REQUEST, with the most similar known name in the message.
 *
 * A required or defaulted member "a.b" is required or defaulted only if "a" is present. min_length
 * and max_length of a list or map count its entries; enum and format apply to each entry.
 */
void schema_check(const struct schema *schema, json_t *doc, const char *path,
                  const struct schema_options *options, struct error_list *errors);

/** Decodes a checked document into `out` (schema->size bytes, zeroed first). Absent members get
 * their zero or absent form; a required string that is absent all the same decodes as "". */
bool schema_decode(const struct schema *schema, const json_t *doc, struct arena *arena, void *out,
                   struct error *err);

/** Returns the row at a dotted path ("spec.tasks.name"; list indexes are ignored), or NULL. */
const struct field *schema_find(const struct schema *schema, const char *path);
/** Returns the OpenAPI v3 schema object of the table (owned). */
json_t *schema_openapi(const struct schema *schema);
/** Appends the reference documentation of the table as Markdown. */
void schema_markdown(const struct schema *schema, const char *title, struct buf *out);
