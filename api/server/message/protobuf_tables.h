#pragma once
/*
 * Tables of the protobuf messages that are decoded: number, JSON name and type of each field.
 */
#include <stdbool.h>
#include <stddef.h>

enum pb_type {
    PB_STR,
    PB_INT, /* varint, signed */
    PB_BOOL,
    PB_MESSAGE,
    PB_BYTES,      /* base64 in JSON */
    PB_STR_MAP,    /* entries {1 key, 2 text} */
    PB_BYTES_MAP,  /* entries {1 key, 2 bytes} */
    PB_TIME,       /* {1 seconds, 2 nanoseconds}, to whole seconds */
    PB_MICRO_TIME, /* the same, to microseconds */
    PB_INT_OR_STR, /* {1 type, 2 int, 3 string} */
    PB_JSON,       /* {1 JSON text} */
};

struct pb_message;
struct pb_field {
    unsigned number;
    const char *name; /* NULL ends the table */
    enum pb_type type;
    const struct pb_message *of;
    bool repeated;
    bool keeps_zero; /* a pointer in Go: zero is a value. Other fields are left out when zero */
};

struct pb_message {
    const struct pb_field *fields;
};

/** The message of a kind; NULL when the kind has no table. */
const struct pb_message *pb_message_of(const char *kind);
