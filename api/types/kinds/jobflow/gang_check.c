/*
 * Admission of gangs: members exist, make one job each, belong to one gang, and do not wait for
 * each other.
 */
#include "api/types/checks.h"
#include "api/types/kinds/jobflow/internal.h"
#include "api/types/kinds/jobflow/step_names.h"
#include "base/compiler.h"
#include "base/mem.h"

/* Why a step cannot be a member of a gang; NULL when it can. */
static const char *membership_problem(const struct flow_step *step)
{
    if (!flow_step_makes_jobs(step))
        return "makes no job";
    if (step->loop)
        return "is a loop: give its jobs minAvailable of their own";
    if (flow_step_is_final(step))
        return "runs at the end of the flow";
    if (flow_step_serves(step))
        return "ends with the steps that depend on it";
    return NULL;
}

static void check_member(struct control_check *c, size_t g, size_t m, uint32_t *gang_of)
{
    const struct flow_gang *gang = &c->spec->gangs.items[g];
    uint32_t at = name_index_get(c->names, gang->steps.items[m]);
    scoped_str near =
        at == NAME_NONE ? jobflow_near_step(c->spec, gang->steps.items[m], c->errors) : NULL;
    const char *why = at == NAME_NONE ? "no step of this flow has that name"
                                      : membership_problem(&c->spec->steps.items[at]);

    if (!why && gang_of[at])
        why = "is in a gang already";
    if (why)
        FINDING(c->errors, ("spec.gangs[%zu].flows[%zu]", g, m), "Invalid value: \"%.64s\": %s%s",
                gang->steps.items[m], why, near ? near : "");
    if (at != NAME_NONE)
        gang_of[at] = (uint32_t)g + 1;
}

/* The search for ancestors of all members of one gang. The members share one mark, so each step is
 * visited once for all of them. */
struct gang_search {
    struct ancestor_search search;
    const uint32_t *gang_of; /* for each step 1 + the position of its gang, [steps]; 0 = none */
    size_t gang, member;     /* the member whose ancestors are searched */
    uint32_t from;           /* step of the edge */
};

static void report_member(struct ancestor_search *search, uint32_t step)
{
    const struct gang_search *s = container_of(search, struct gang_search, search);
    const struct jobflow_spec *spec = search->c->spec;

    if (s->gang_of[step] != s->gang + 1 || step == s->from)
        return;
    FINDING(search->c->errors, ("spec.gangs[%zu].flows[%zu]", s->gang, s->member),
            "Invalid value: \"%.64s\": waits for %.64s to complete, which is in the same "
            "gang: they could never start together; a probe would let it start earlier",
            spec->steps.items[s->from].name, spec->steps.items[step].name);
}

static void check_gang_order(struct control_check *c, size_t g, const uint32_t *gang_of)
{
    const struct str_list *members = &c->spec->gangs.items[g].steps;
    struct gang_search s = {.search = {.c = c, .wanted = NAME_NONE, .reached = report_member},
                            .gang_of = gang_of,
                            .gang = g};

    c->mark++;
    for (s.member = 0; s.member < members->count; s.member++) {
        s.from = name_index_get(c->names, members->items[s.member]);
        if (s.from == NAME_NONE || ancestors_search(&s.search, s.from) != ANCESTOR_TOO_FAR)
            continue;
        FINDING(c->errors, ("spec.gangs[%zu].flows", g),
                "Too many: the gangs of this flow are too large to be checked");
        return;
    }
}

/* A gang that needs more jobs than maxRunningJobs allows could never start. */
static void check_gang_fits(struct control_check *c, size_t g)
{
    const struct flow_gang *gang = &c->spec->gangs.items[g];
    const struct flow_scheduling *scheduling = c->spec->scheduling;
    size_t least = gang->min_available.set ? (size_t)gang->min_available.value : gang->steps.count;

    if (!scheduling || !scheduling->max_running || least <= (size_t)scheduling->max_running)
        return;
    FINDING(c->errors, ("spec.gangs[%zu]", g),
            "Invalid value: \"%.64s\": needs %zu jobs at once, and spec.scheduling.maxRunningJobs "
            "allows %d: raise that, or give the gang a smaller minAvailable",
            gang->name, least, scheduling->max_running);
}

static void check_gang_names(struct control_check *c)
{
    scoped(name_index) struct name_index names = {0};

    name_index_init(&names, c->spec->gangs.count);
    for (size_t g = 0; g < c->spec->gangs.count; g++) {
        const char *name = c->spec->gangs.items[g].name;

        if (name_index_put(&names, name, (uint32_t)g) != NAME_NONE)
            FINDING(c->errors, ("spec.gangs[%zu].name", g), "Duplicate value: \"%.64s\"", name);
    }
}

void jobflow_check_gangs(struct control_check *c)
{
    uint32_t *gang_of =
        c->spec->gangs.count ? mem_array(c->spec->steps.count + 1, sizeof *gang_of) : NULL;

    check_gang_names(c);
    for (size_t g = 0; g < c->spec->gangs.count; g++) {
        const struct flow_gang *gang = &c->spec->gangs.items[g];

        for (size_t m = 0; m < gang->steps.count; m++)
            check_member(c, g, m, gang_of);
        if (gang->min_available.set && (size_t)gang->min_available.value > gang->steps.count)
            FINDING(c->errors, ("spec.gangs[%zu].minAvailable", g),
                    "Invalid value: %d: the gang has %zu members", gang->min_available.value,
                    gang->steps.count);
        check_gang_order(c, g, gang_of);
        check_gang_fits(c, g);
    }
    mem_free(gang_of);
}
