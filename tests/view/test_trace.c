/*
 * Tests the tracks of a trace: slices of a track do not overlap, slices of different templates share
 * no track, and a template has as many tracks as it has slices at one moment.
 */
#include "tests/unit.h"

#include <stdlib.h>

#include "base/mem.h"
#include "view/trace.h"

enum { STEPS = 4, SLICES = 60, SEEDS = 300, SPAN_MS = 40 };

static struct flow_view *four_steps_of_two_templates(void)
{
    json_t *doc = json_loads("{\"metadata\":{\"name\":\"f\"},\"spec\":{\"flows\":["
                             "{\"name\":\"a\",\"jobTemplateName\":\"t\"},"
                             "{\"name\":\"b\",\"jobTemplateName\":\"u\"},"
                             "{\"name\":\"c\",\"jobTemplateName\":\"t\"},"
                             "{\"name\":\"d\",\"jobTemplateName\":\"u\"}]}}",
                             0, NULL);
    struct error err = {0};
    struct flow_view *view = flow_view_from_document(doc, &err);

    json_decref(doc);
    return view;
}

/* A slice without length takes one millisecond. */
static int64_t end_of(const struct trace_slice *slice)
{
    int64_t begin_ms = trace_begin_ms(slice);

    return slice->end_ms > begin_ms ? slice->end_ms : begin_ms + 1;
}

static void check_tracks(const struct trace_slices *slices)
{
    uint32_t most[STEPS] = {0}, tracks[STEPS] = {0}, highest = 0;

    for (size_t i = 0; i < slices->count; i++) {
        const struct trace_slice *a = &slices->items[i];
        uint32_t at_once = 0;

        for (size_t k = 0; k < slices->count; k++) {
            const struct trace_slice *b = &slices->items[k];
            bool apart = end_of(b) <= trace_begin_ms(a) || end_of(a) <= trace_begin_ms(b);

            if (i != k && a->track == b->track) {
                check("slices of a track do not overlap", apart);
                check_int("group of a track", b->group, a->group);
            }
            at_once += a->group == b->group && trace_begin_ms(b) <= trace_begin_ms(a) &&
                       trace_begin_ms(a) < end_of(b);
        }
        most[a->group] = at_once > most[a->group] ? at_once : most[a->group];
        tracks[a->group] += a->track > highest;
        highest = a->track > highest ? a->track : highest;
    }
    for (uint32_t group = 0; group < STEPS; group++)
        check_int("tracks of a group", tracks[group], most[group]);
}

static void test_tracks_are_as_few_as_possible(void **state)
{
    scoped(flow_view) struct flow_view *view = four_steps_of_two_templates();

    for (unsigned seed = 0; seed < SEEDS; seed++) {
        scoped(trace) struct trace trace = {.view = view};
        unsigned at = seed;

        for (int i = 0; i < SLICES; i++) {
            struct trace_slice *slice = trace_add(&trace, TRACE_STEPS);

            slice->step = (uint32_t)rand_r(&at) % STEPS;
            slice->made_ms = 1 + rand_r(&at) % SPAN_MS;
            slice->ready_ms = rand_r(&at) % 2 ? slice->made_ms - rand_r(&at) % slice->made_ms : 0;
            slice->end_ms = slice->made_ms + rand_r(&at) % 6;
            slice->name = (size_t)i;
        }
        trace_assign_tracks(&trace);
        check_tracks(&trace.of[TRACE_STEPS]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tracks_are_as_few_as_possible),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
