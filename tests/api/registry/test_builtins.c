#include "tests/unit.h"

#include "api/registry/registry.h"
#include "base/mem.h"

/* What a store begins with. */

struct bed {
    struct clock *clock;
    struct loop *loop;
    struct store *store;
    struct registry *registry;
};

static struct bed bed_start(bool cluster)
{
    const struct registry_options options = {.cluster_objects = cluster};
    struct bed bed = {.clock = clock_virtual_new(1800000000000, 1)};

    bed.loop = loop_new(bed.clock);
    bed.store = store_open(bed.loop, &(const struct store_options){0}, NULL);
    bed.registry = registry_new(bed.loop, bed.store, &options);
    loop_settle(bed.loop);
    return bed;
}

static void bed_stop(struct bed *bed)
{
    registry_free(bed->registry);
    store_close(bed->store);
    loop_free(bed->loop);
    clock_free(bed->clock);
}

static void a_run_has_one_namespace_and_no_accounts(void **state)
{
    struct bed bed = bed_start(false);

    check_int("namespaces", store_count(bed.store, &kind_namespace, NULL), 1);
    check_int("accounts", store_count(bed.store, &kind_service_account, NULL), 0);
    bed_stop(&bed);
}

static void a_daemon_has_what_clients_look_for(void **state)
{
    struct bed bed = bed_start(true);
    scoped(json) json_t *doc = json_pack("{s:s,s:s,s:{s:s}}", "apiVersion", "v1", "kind",
                                         "Namespace", "metadata", "name", "team");
    struct error_list errors = {0};

    check("system", store_get(bed.store, &kind_namespace, "", "kube-system"));
    check("public", store_get(bed.store, &kind_namespace, "", "kube-public"));
    check("account", store_get(bed.store, &kind_service_account, "kube-system", "default"));
    check("made",
          registry_create(bed.registry, doc, &(const struct registry_write){0}, NULL, &errors));
    check("its account", store_get(bed.store, &kind_service_account, "team", "default"));
    check_int("accounts", store_count(bed.store, &kind_service_account, NULL), 4);
    bed_stop(&bed);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_has_one_namespace_and_no_accounts),
        cmocka_unit_test(a_daemon_has_what_clients_look_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
