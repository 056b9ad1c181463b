/*
 * Keeps the values of vertices and writes those that a reader does not have.
 */
#include "web/topic/step_table.h"

#include "base/mem.h"

enum { COLUMNS = 5, VERTICES_MAX = 4096 }; /* `VERTICES_MAX`: of one line */

void step_table_init(struct step_table *table, uint32_t count)
{
    size_t n = (size_t)count + 1;

    step_table_release(table);
    table->count = count;
    table->phase = mem_array(n, sizeof *table->phase);
    table->attempt = mem_array(n, sizeof *table->attempt);
    table->made = mem_array(n, sizeof *table->made);
    table->run = mem_array(n, sizeof *table->run);
    table->end = mem_array(n, sizeof *table->end);
    bitset_init(&table->known, count);
}

void step_table_release(struct step_table *table)
{
    mem_free(table->phase);
    mem_free(table->attempt);
    mem_free(table->made);
    mem_free(table->run);
    mem_free(table->end);
    bitset_release(&table->known);
    *table = (struct step_table){0};
}

bool step_table_set(struct step_table *table, uint32_t i, const struct step_values *values)
{
    bool same = bitset_has(&table->known, i) && table->phase[i] == values->phase &&
                table->attempt[i] == values->attempt && table->made[i] == values->made &&
                table->run[i] == values->run && table->end[i] == values->end;

    if (same)
        return false;
    bitset_add(&table->known, i);
    table->phase[i] = values->phase;
    table->attempt[i] = values->attempt;
    table->made[i] = values->made;
    table->run[i] = values->run;
    table->end[i] = values->end;
    return true;
}

void step_table_rewind(const struct step_table *table, struct bitset *unread)
{
    bitset_init(unread, table->count);
    for (uint32_t i = bitset_next(&table->known, 0); i != BITSET_NONE;
         i = bitset_next(&table->known, i + 1))
        bitset_add(unread, i);
}

static uint32_t value_of(const struct step_table *table, int column, uint32_t i)
{
    switch (column) {
    case 0:
        return table->phase[i];
    case 1:
        return table->attempt[i];
    case 2:
        return table->made[i];
    case 3:
        return table->run[i];
    default:
        return table->end[i];
    }
}

static void write_column(const struct step_table *table, int column, const uint32_t *vertices,
                         uint32_t n, struct buf *out)
{
    static const char *const names[COLUMNS] = {"phase", "attempt", "made", "run", "end"};

    buf_printf(out, ",\"%s\":[", names[column]);
    for (uint32_t k = 0; k < n; k++) {
        if (k)
            buf_char(out, ',');
        buf_int(out, value_of(table, column, vertices[k]));
    }
    buf_char(out, ']');
}

static void write_vertices(const uint32_t *vertices, uint32_t n, struct buf *out)
{
    if (vertices[n - 1] - vertices[0] + 1 == n) {
        buf_printf(out, ",\"from\":%u", vertices[0]);
        return;
    }
    buf_str(out, ",\"i\":[");
    for (uint32_t k = 0; k < n; k++) {
        if (k)
            buf_char(out, ',');
        buf_int(out, vertices[k]);
    }
    buf_char(out, ']');
}

bool step_table_write(const struct step_table *table, struct bitset *unread, size_t most,
                      struct buf *out)
{
    enum { BYTES_EACH = 32 }; /* about as long as the values of one vertex become */
    uint32_t vertices[VERTICES_MAX], n = 0;
    size_t room = most / BYTES_EACH + 1;

    for (uint32_t i = bitset_next(unread, 0); i != BITSET_NONE && n < VERTICES_MAX && n < room;
         i = bitset_next(unread, i + 1)) {
        bitset_remove(unread, i);
        vertices[n++] = i;
    }
    if (!n)
        return false;
    write_vertices(vertices, n, out);
    for (int column = 0; column < COLUMNS; column++)
        write_column(table, column, vertices, n, out);
    return bitset_next(unread, 0) != BITSET_NONE;
}
