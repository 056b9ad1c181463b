/*
 * Writes the header and the sections of a file of columns.
 */
#include "base/encoding/columns.h"

#include <string.h>

#include "base/encoding/jsonw.h"

enum { ALIGN = 8 };

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "columns are written as they are kept");

static size_t padded(size_t len)
{
    return (len + ALIGN - 1) / ALIGN * ALIGN;
}

static void pad(struct buf *out, size_t len)
{
    static const char zeros[ALIGN];

    buf_add(out, zeros, padded(len) - len);
}

static void write_header(const char *members, const struct columns_section *sections, size_t n,
                         struct buf *out)
{
    static const char *const types[] = {
        [COLUMNS_U8] = "u8",   [COLUMNS_U16] = "u16",   [COLUMNS_U32] = "u32",
        [COLUMNS_I64] = "i64", [COLUMNS_UTF8] = "utf8",
    };
    size_t offset = 0;
    struct jsonw w;

    buf_printf(out, "{%s,\"sections\":[", members);
    w = jsonw_to(out);
    for (size_t i = 0; i < n; i++) {
        jsonw_open(&w);
        jsonw_member_str(&w, "name", sections[i].name);
        jsonw_member_str(&w, "type", types[sections[i].type]);
        jsonw_member_int(&w, "offset", (int64_t)offset);
        jsonw_member_int(&w, "length", (int64_t)sections[i].len);
        jsonw_close(&w);
        offset += padded(sections[i].len);
    }
    buf_str(out, "]}");
}

void columns_write(const char *members, const struct columns_section *sections, size_t n,
                   struct buf *out)
{
    scoped(buf) struct buf header = {0};
    uint32_t len;

    write_header(members, sections, n, &header);
    len = (uint32_t)header.len;
    buf_str(out, "JFC1");
    buf_add(out, &len, sizeof len);
    buf_add(out, header.data, header.len);
    pad(out, 4 + sizeof len + header.len);
    for (size_t i = 0; i < n; i++) {
        if (sections[i].len)
            buf_add(out, sections[i].data, sections[i].len);
        pad(out, sections[i].len);
    }
}

void columns_texts_release(struct columns_texts *texts)
{
    buf_release(&texts->bytes);
    buf_release(&texts->offsets);
}

static void add_offset(struct columns_texts *texts)
{
    uint32_t at = (uint32_t)texts->bytes.len;

    buf_add(&texts->offsets, &at, sizeof at);
}

void columns_texts_add(struct columns_texts *texts, const char *text)
{
    if (!texts->offsets.len)
        add_offset(texts);
    buf_str(&texts->bytes, text ? text : "");
    add_offset(texts);
}

void columns_texts_sections(struct columns_texts *texts, const char *name, const char *at_name,
                            struct columns_section *out)
{
    if (!texts->offsets.len)
        add_offset(texts);
    out[0] = (struct columns_section){name, COLUMNS_UTF8, texts->bytes.data, texts->bytes.len};
    out[1] =
        (struct columns_section){at_name, COLUMNS_U32, texts->offsets.data, texts->offsets.len};
}
