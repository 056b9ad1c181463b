/*
 * Tests of columns: the header says where each section is, sections are aligned, texts have
 * offsets, and equal input gives equal bytes.
 */
#include "tests/unit.h"

#include <string.h>

#include "api/types/text/json_text.h"
#include "base/encoding/columns.h"

enum { HEAD = 8, ALIGN = 8 };

static json_t *header_of(const struct buf *file, size_t *out_first)
{
    uint32_t len;
    json_t *header;

    assert_memory_equal(file->data, "JFC1", 4);
    memcpy(&len, file->data + 4, sizeof len);
    header = json_loadb(file->data + HEAD, len, 0, NULL);
    assert_non_null(header);
    *out_first = (HEAD + len + ALIGN - 1) / ALIGN * ALIGN;
    return header;
}

/* Returns the bytes of a section by its number. */
static const char *section(const struct buf *file, const json_t *header, size_t first, size_t i,
                           const char *name, const char *type, size_t len)
{
    const json_t *one = json_array_get(json_object_get(header, "sections"), i);
    size_t offset = (size_t)json_integer_value(json_object_get(one, "offset"));

    check_str("name", json_string_value(json_object_get(one, "name")), name);
    check_str("type", json_string_value(json_object_get(one, "type")), type);
    assert_int_equal(json_integer_value(json_object_get(one, "length")), len);
    assert_int_equal(offset % ALIGN, 0);
    assert_true(first + offset + len <= file->len);
    return file->data + first + offset;
}

static void write_file(struct buf *out)
{
    static const uint8_t bytes[] = {1, 2, 3};
    static const uint32_t words[] = {70000, 5};
    scoped(columns_texts) struct columns_texts texts = {0};
    struct columns_section named[2];

    columns_texts_add(&texts, "ab");
    columns_texts_add(&texts, NULL);
    columns_texts_add(&texts, "c");
    columns_texts_sections(&texts, "name", "nameAt", named);
    columns_write("\"kind\":\"Test\"",
                  (struct columns_section[]){{"bytes", COLUMNS_U8, bytes, sizeof bytes},
                                             {"words", COLUMNS_U32, words, sizeof words},
                                             {"empty", COLUMNS_U16, NULL, 0},
                                             named[0],
                                             named[1]},
                  5, out);
}

/* covers: web.md WEB-060 */
static void sections_stand_where_the_header_says(void **state)
{
    scoped(buf) struct buf file = {0}, again = {0};
    scoped(json) json_t *header = NULL;
    uint32_t words[2], offsets[4];
    size_t first;

    write_file(&file);
    header = header_of(&file, &first);
    check_str("kind", json_string_value(json_object_get(header, "kind")), "Test");
    assert_memory_equal(section(&file, header, first, 0, "bytes", "u8", 3), "\1\2\3", 3);
    memcpy(words, section(&file, header, first, 1, "words", "u32", 8), sizeof words);
    assert_int_equal(words[0], 70000);
    section(&file, header, first, 2, "empty", "u16", 0);
    assert_memory_equal(section(&file, header, first, 3, "name", "utf8", 3), "abc", 3);
    memcpy(offsets, section(&file, header, first, 4, "nameAt", "u32", 16), sizeof offsets);
    assert_memory_equal(offsets, ((uint32_t[]){0, 2, 2, 3}), sizeof offsets);
    write_file(&again);
    assert_int_equal(again.len, file.len);
    assert_memory_equal(again.data, file.data, file.len);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sections_stand_where_the_header_says)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
