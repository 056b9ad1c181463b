/*
 * Tests api/store/db/delta: deltas between similar texts.
 */
#include "tests/unit.h"

#include <stdio.h>

#include "api/store/db/delta.h"
#include "tests/support/dice.h"

enum { STEPS = 1000, ROUNDS = 60, CUTS = 400 };

static struct delta_text text_of(const struct buf *buf)
{
    return (struct delta_text){buf->data, buf->len};
}

static void check_round_trip(const char *name, const struct buf *base, const struct buf *next,
                             struct buf *delta)
{
    scoped(buf) struct buf made = {0};

    buf_clear(delta);
    delta_make(text_of(base), text_of(next), delta);
    check(name, delta_apply(text_of(base), text_of(delta), &made));
    check_int(name, made.len, next->len);
    check(name, !next->len || memcmp(made.data, next->data, next->len) == 0);
}

struct pair_case {
    const char *name, *base, *next;
    size_t at_most; /* largest size of the delta, in bytes */
};

#define FILLER "a text that is long enough for blocks: 0123456789abcdefghijklmnopqrstuvwxyz "

/* Pairs of texts, and how large the delta between them may be. An empty frame takes some 20
 * bytes. */
static const struct pair_case pairs[] = {
    {"nothing of nothing", "", "", 20},
    {"something of nothing", "", "new", 20},
    {"nothing of something", "old", "", 20},
    {"the same", FILLER, FILLER, 32},
    {"more behind it", FILLER, FILLER "end", 40},
    {"more before it", FILLER, "begin" FILLER, 40},
    {"cut in front", FILLER, &FILLER[9], 40},
    {"nothing in common", FILLER, "XYZ", 20},
    {"twice", FILLER, FILLER FILLER, 100},
    {"a byte of each value", FILLER, "\x01\x7f\x80\xff" FILLER, 40},
};

static void a_text_comes_back(void **state)
{
    for (size_t i = 0; i < countof(pairs); i++) {
        scoped(buf) struct buf base = {0}, next = {0}, delta = {0};

        buf_str(&base, pairs[i].base);
        buf_str(&next, pairs[i].next);
        check_round_trip(pairs[i].name, &base, &next, &delta);
        if (delta.len > pairs[i].at_most)
            check_fail("%s: %zu bytes", pairs[i].name, delta.len);
    }
}

/* Writes a status of many similar entries. */
static void write_steps(const unsigned char *phases, struct buf *out)
{
    static const char *const texts[] = {"Pending", "Running", "Completed"};

    for (int list = 0; list < 3; list++) {
        buf_printf(out, "\"%sJobs\":[", texts[list]);
        for (int i = 0; i < STEPS; i++)
            if (phases[i] == list)
                buf_printf(out, "\"flow-s%d\",", i);
        buf_str(out, "],");
    }
    for (int i = 0; i < STEPS; i++)
        buf_printf(out,
                   "{\"name\":\"flow-s%d\",\"state\":\"%s\",\"startTimestamp\":\"2026-01-01T00:"
                   "00:00Z\",\"restartCount\":0,\"runningHistories\":[{\"state\":\"%s\"}]},",
                   i, texts[phases[i]], texts[phases[i]]);
}

static void a_delta_is_as_long_as_what_changed(void **state)
{
    unsigned char phases[STEPS] = {0};
    struct dice dice = {7};

    for (int round = 0; round < ROUNDS; round++) {
        scoped(buf) struct buf base = {0}, next = {0}, delta = {0};
        int changed = 1 + dice_roll(&dice, 4);

        write_steps(phases, &base);
        for (int n = 0; n < changed; n++) {
            int step = dice_roll(&dice, STEPS);

            phases[step] = (unsigned char)((phases[step] + 1) % 3);
        }
        write_steps(phases, &next);
        check_round_trip("steps", &base, &next, &delta);
        if (delta.len > (size_t)changed * 256)
            check_fail("round %d: %zu bytes for %d steps of %zu bytes", round, delta.len, changed,
                       next.len);
    }
}

static void a_damaged_delta_is_refused(void **state)
{
    scoped(buf) struct buf base = {0}, next = {0}, delta = {0};
    struct dice dice = {11};

    buf_str(&base, FILLER FILLER);
    buf_str(&next, "x" FILLER "y" FILLER "z");
    check_round_trip("whole", &base, &next, &delta);
    for (size_t len = 0; len < delta.len; len++) {
        scoped(buf) struct buf made = {0};

        check("cut", !delta_apply(text_of(&base), (struct delta_text){delta.data, len}, &made));
    }
    for (int i = 0; i < CUTS; i++) {
        scoped(buf) struct buf made = {0}, bad = {0};
        int at = dice_roll(&dice, (int)delta.len), bit = dice_roll(&dice, 8);

        buf_add(&bad, delta.data, delta.len);
        bad.data[at] = (char)(bad.data[at] ^ 1 << bit);
        if (delta_apply(text_of(&base), text_of(&bad), &made))
            check("the same text, if any",
                  made.len == next.len && memcmp(made.data, next.data, next.len) == 0);
    }
    check("another base", !delta_apply((struct delta_text){"short", 5}, text_of(&delta), &next));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_comes_back),
        cmocka_unit_test(a_delta_is_as_long_as_what_changed),
        cmocka_unit_test(a_damaged_delta_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
