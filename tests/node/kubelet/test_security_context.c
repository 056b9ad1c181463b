/*
 * Tests the warnings of node/kubelet/start.c about a securityContext that has no effect.
 */
#include "tests/unit.h"

#include <unistd.h>

#include "tests/support/kubelet_fixture.h"

/* Returns the text with user ids in place of SELF and OTHER (owned). */
static char *with_users(const char *begin, const char *members)
{
    const char *at = strstr(members, ":SELF"), *other = strstr(members, ":OTHER");

    if (at || other)
        return mem_printf("%s%.*s:%u}", begin, (int)((at ? at : other) - members), members,
                          (unsigned)geteuid() + !at);
    return mem_printf("%s%s}", begin, members);
}

/* The level of isolation decides the user of programs. Here it is plain, so programs run as the
 * user of this process. */
static void a_pod_that_asks_for_another_user_gets_a_warning(void **state)
{
    const struct {
        const char *name;
        const char *pod, *container; /* securityContext of each; SELF stands for the uid of this
                                      * process, OTHER for another one */
        const char *says;            /* part of the warning; NULL: there is none */
    } rows[] = {
        {"nothing", "", "", NULL},
        {"the pod", "'runAsUser':OTHER", "", "container c: securityContext.runAsUser"},
        {"the container", "", "'runAsUser':OTHER", "container c: securityContext.runAsUser"},
        {"the container goes first", "'runAsUser':OTHER", "'runAsUser':SELF", NULL},
        {"who we are", "'runAsUser':SELF", "", NULL},
        {"not root", "'runAsNonRoot':true", "", geteuid() ? NULL : "securityContext.runAsNonRoot"},
        {"root is fine", "'runAsNonRoot':false", "", NULL},
    };

    for (size_t i = 0; i < countof(rows); i++) {
        struct node_fixture *fixture = kubelet_fixture_new(1);
        scoped_str container =
            with_users("," KUBELET_FIXTURE_COMMAND ",'securityContext':{", rows[i].container);
        scoped_str pod = with_users(",'securityContext':{", rows[i].pod);

        kubelet_fixture_pod(fixture, "p", container, pod);
        check(rows[i].name, node_fixture_started(fixture, "p"));
        check_int(rows[i].name,
                  node_fixture_has_event(fixture, "SecurityContextIgnored",
                                         rows[i].says ? rows[i].says : ""),
                  rows[i].says != NULL);
        node_fixture_free(fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pod_that_asks_for_another_user_gets_a_warning),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
