/*
 * Tests which state of a flow may follow which: every pair is compared with a list written down a
 * second time.
 */
#include "tests/unit.h"

#include "flow/states.h"

struct edge {
    int from, to;
};

static bool is_listed(const struct edge *edges, size_t n, int from, int to)
{
    for (size_t i = 0; i < n; i++)
        if (edges[i].from == from && edges[i].to == to)
            return true;
    return false;
}

static void a_deleted_flow_is_never_opened_again(void **state)
{
    static const struct edge edges[] = {
        {FLOW_CLOSED, FLOW_OPEN},   {FLOW_OPEN, FLOW_CLOSED}, {FLOW_OPEN, FLOW_UNUSABLE},
        {FLOW_UNUSABLE, FLOW_OPEN}, {FLOW_CLOSED, FLOW_GONE}, {FLOW_OPEN, FLOW_GONE},
        {FLOW_UNUSABLE, FLOW_GONE},
    };

    for (int from = 0; from < FLOW_OPENING_N; from++)
        for (int to = 0; to < FLOW_OPENING_N; to++)
            check_int("edge", flow_opening_follows((enum flow_opening)from, (enum flow_opening)to),
                      is_listed(edges, countof(edges), from, to));
}

static void a_status_is_sent_only_when_none_is_in_flight(void **state)
{
    static const struct edge edges[] = {
        {STATUS_STORED, STATUS_WAITING},      {STATUS_STORED, STATUS_DUE},
        {STATUS_WAITING, STATUS_STORED},      {STATUS_WAITING, STATUS_DUE},
        {STATUS_WAITING, STATUS_SENT},        {STATUS_DUE, STATUS_STORED},
        {STATUS_DUE, STATUS_WAITING},         {STATUS_DUE, STATUS_SENT},
        {STATUS_SENT, STATUS_STORED},         {STATUS_SENT, STATUS_SENT_AGAIN},
        {STATUS_SENT, STATUS_SENT_DUE},       {STATUS_SENT_AGAIN, STATUS_WAITING},
        {STATUS_SENT_AGAIN, STATUS_SENT_DUE}, {STATUS_SENT_DUE, STATUS_DUE},
    };

    for (int from = 0; from < STATUS_WRITE_N; from++)
        for (int to = 0; to < STATUS_WRITE_N; to++)
            check_int("edge", status_write_follows((enum status_write)from, (enum status_write)to),
                      is_listed(edges, countof(edges), from, to));
}

static void a_change_is_never_forgotten(void **state)
{
    for (int s = 0; s < STATUS_WRITE_N; s++) {
        enum status_write write = (enum status_write)s;
        bool in_flight = status_write_in_flight(write);

        status_write_want(&write);
        check("wanted", status_write_wanted(write));
        check_int("still in flight", status_write_in_flight(write), in_flight);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deleted_flow_is_never_opened_again),
        cmocka_unit_test(a_status_is_sent_only_when_none_is_in_flight),
        cmocka_unit_test(a_change_is_never_forgotten),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
