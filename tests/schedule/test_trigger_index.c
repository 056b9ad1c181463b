#include "tests/unit.h"

#include "schedule/trigger_index.h"
#include "tests/support/schedule_fixture.h"

enum { MANY = 1000 };

static int visited[3]; /* [enum trigger_role] */
static struct buf order;

struct owner {
    const char *name;
    struct trigger_names names;
};

static void note(struct trigger_names *names, enum trigger_role role)
{
    visited[role]++;
    buf_printf(&order, "%s ", container_of(names, struct owner, names)->name);
}

/* Asks the index for a flow. Returns "NAME " of each visited trigger, valid until the next call. */
static const char *ask(struct schedule_fixture *f, const struct trigger_index *index,
                       const char *flow)
{
    memset(visited, 0, sizeof visited);
    buf_release(&order);
    trigger_index_each(index, schedule_fixture_get(f, &kind_job_flow, flow), note);
    return order.data ? order.data : "";
}

static void set(struct schedule_fixture *f, struct trigger_index *index, struct owner *owner,
                const char *spec)
{
    schedule_fixture_trigger(f, owner->name, spec);
    trigger_names_set(index, &owner->names,
                      schedule_fixture_get(f, &kind_flow_trigger, owner->name));
}

static void labelled(struct schedule_fixture *f, const char *name, const char *trigger)
{
    scoped_str yaml = mem_printf("apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: "
                                 "{name: %s, labels: {flow.volcano.sh/trigger: %s}}\nspec: "
                                 "{suspend: true, flows: [{name: s, run: 'true'}]}\n",
                                 name, trigger);

    schedule_fixture_apply(f, yaml);
}

static void a_flow_reaches_the_triggers_that_name_it_or_its_maker(void **state)
{
    static const struct {
        const char *flow, *reached;
        int visits[3];
    } cases[] = {
        {"p", "a b c ", {2, 1, 0}},
        {"etl", "b ", {0, 1, 0}},
        {"made", "c ", {0, 0, 1}},
        {"none", "", {0, 0, 0}},
    };
    scoped(schedule_fixture) struct schedule_fixture *f =
        schedule_fixture_new("2026-01-02T03:04:05Z");
    struct trigger_index index = {0};
    struct owner a = {"a"}, b = {"b"}, c = {"c"};

    schedule_fixture_pattern(f, "p");
    schedule_fixture_pattern(f, "etl");
    schedule_fixture_pattern(f, "none");
    labelled(f, "made", "nightly");
    set(f, &index, &a, "flowName: p");
    set(f, &index, &b, "flowName: p, flows: [{name: etl}]");
    set(f, &index, &c, "flowName: q, flows: [{trigger: nightly}, {name: p}]");
    for (size_t i = 0; i < countof(cases); i++) {
        check_str(cases[i].flow, ask(f, &index, cases[i].flow), cases[i].reached);
        for (int role = 0; role < 3; role++)
            check_int(cases[i].flow, visited[role], cases[i].visits[role]);
    }
    trigger_names_clear(&index, &a.names);
    trigger_names_clear(&index, &b.names);
    trigger_names_clear(&index, &c.names);
    buf_release(&order);
}

static void a_changed_spec_replaces_the_names(void **state)
{
    scoped(schedule_fixture) struct schedule_fixture *f =
        schedule_fixture_new("2026-01-02T03:04:05Z");
    struct trigger_index index = {0};
    struct owner a = {"a"};

    schedule_fixture_pattern(f, "p");
    schedule_fixture_pattern(f, "q");
    set(f, &index, &a, "flowName: p, flows: [{name: p}]");
    check_str("both mentions", ask(f, &index, "p"), "a a ");
    set(f, &index, &a, "flowName: q");
    check_str("before", ask(f, &index, "p"), "");
    check_str("after", ask(f, &index, "q"), "a ");
    trigger_names_clear(&index, &a.names);
    check_str("cleared", ask(f, &index, "q"), "");
    check("no memory", !index.names);
    buf_release(&order);
}

static void a_flow_among_many_triggers_reaches_its_own(void **state)
{
    scoped(schedule_fixture) struct schedule_fixture *f =
        schedule_fixture_new("2026-01-02T03:04:05Z");
    struct owner *owners = mem_alloc(MANY * sizeof *owners);
    struct trigger_index index = {0};

    for (int i = 0; i < MANY; i++) {
        scoped_str spec = mem_printf("flowName: p, flows: [{name: etl-%d}]", i);

        owners[i].name = mem_printf("t%d", i);
        set(f, &index, &owners[i], spec);
    }
    schedule_fixture_pattern(f, "etl-617");
    check_str("one", ask(f, &index, "etl-617"), "t617 ");
    for (int i = 0; i < MANY; i++) {
        trigger_names_clear(&index, &owners[i].names);
        mem_free((char *)(uintptr_t)owners[i].name);
    }
    check("no memory", !index.names);
    mem_free(owners);
    buf_release(&order);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flow_reaches_the_triggers_that_name_it_or_its_maker),
        cmocka_unit_test(a_changed_spec_replaces_the_names),
        cmocka_unit_test(a_flow_among_many_triggers_reaches_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
