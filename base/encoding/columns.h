#pragma once
/*
 * Columns: arrays with one value for each of many items, for readers that would spend their time on
 * parsing JSON.
 *
 *   "JFC1"  u32 length of the header  header (JSON)  padding to 8  section  padding to 8  section …
 *
 * Numbers are little-endian. The member "sections" of the header says of each section its name, its
 * type (u8, u16, u32, i64, utf8), its offset from the first section and its length, both in bytes.
 * A section "x" of texts has beside it a section "xAt" of u32 with one offset more than there are
 * texts. A reader skips sections that it does not know. Ref: spec/web.md 7.2.
 */
#include "base/buf.h"

enum columns_type { COLUMNS_U8, COLUMNS_U16, COLUMNS_U32, COLUMNS_I64, COLUMNS_UTF8 };

struct columns_section {
    const char *name;
    enum columns_type type;
    const void *data; /* borrowed; may be NULL when there are no bytes */
    size_t len;       /* in bytes */
};

/**
 * Appends a file of columns. `members`: the other members of the header as JSON text, such as
 * "\"kind\":\"FlowGraph\",\"count\":3"; not empty. Equal arguments give equal bytes.
 */
void columns_write(const char *members, const struct columns_section *sections, size_t n,
                   struct buf *out);

/* Texts of a section that are gathered one by one. */
struct columns_texts {
    struct buf bytes, offsets; /* `offsets`: u32 */
};
void columns_texts_release(struct columns_texts *texts);
SCOPED_DEFINE(columns_texts, struct columns_texts, columns_texts_release)
/** Appends a text; NULL counts as "". */
void columns_texts_add(struct columns_texts *texts, const char *text);
/** Writes the two sections of the texts, "NAME" and "NAMEAt", to `out` [2]. They borrow from
 * `texts`, and `at_name` must be "NAMEAt". */
void columns_texts_sections(struct columns_texts *texts, const char *name, const char *at_name,
                            struct columns_section *out);
