/*
 * Why a server refuses with Forbidden, from messages of kube-apiserver and of this program, and
 * from texts of users that look like them.
 */
#include "tests/unit.h"

#include "api/types/text/denial.h"

static const struct {
    const char *name, *message;
    enum denial denial;
} cases[] = {
    {"quota", "pods \"a\" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1",
     DENIAL_QUOTA},
    {"quota of limits", "pods \"a\" is forbidden: failed quota: q: must specify limits.cpu",
     DENIAL_QUOTA},
    {"quota that is not counted yet",
     "pods \"a\" is forbidden: status unknown for quota: q, resources: pods", DENIAL_QUOTA},
    {"namespace that ends",
     "pods \"a\" is forbidden: unable to create new content in namespace ns because it is being "
     "terminated",
     DENIAL_CLOSING},
    {"rights to create", "pods is forbidden: User \"u\" cannot create resource \"pods\"",
     DENIAL_RIGHTS},
    {"rights to delete",
     "podgroups.scheduling.volcano.sh \"a\" is forbidden: User \"u\" cannot delete", DENIAL_RIGHTS},
    {"webhook that names a quota",
     "admission webhook \"w\" denied the request: pods \"a\" is forbidden: exceeded quota: q",
     DENIAL_OTHER},
    {"webhook that names an end", "admission webhook \"w\" denied the request: being terminated",
     DENIAL_OTHER},
    {"policy with a text that names a quota",
     "pods \"a\" is forbidden: violates PodSecurity \"x\": label quota", DENIAL_OTHER},
    {"policy with a text that names a user",
     "pods \"a\" is forbidden: violates: pods is forbidden: User \"u\" cannot", DENIAL_OTHER},
    {"policy with a text that names an end",
     "pods \"a\" is forbidden: unable to create new content in namespace a b because it is being "
     "terminated",
     DENIAL_OTHER},
    {"name that is not closed", "pods \"a is forbidden: exceeded quota: q", DENIAL_OTHER},
    {"no resource", " is forbidden: exceeded quota: q", DENIAL_OTHER},
    {"empty", "", DENIAL_OTHER},
};

static void only_the_fixed_beginning_of_a_message_decides(void **state)
{
    for (size_t i = 0; i < countof(cases); i++)
        check_int(cases[i].name, denial_of(cases[i].message), cases[i].denial);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_fixed_beginning_of_a_message_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
