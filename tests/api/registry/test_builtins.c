#include "tests/unit.h"

#include "api/registry/registry.h"

/* Tests the objects that every new store has. */

struct fixture {
    struct clock *clock;
    struct loop *loop;
    struct store *store;
    struct registry *registry;
};

static struct fixture fixture_start(bool cluster)
{
    const struct registry_options options = {.cluster_objects = cluster};
    struct fixture fixture = {.clock = clock_virtual_new(1800000000000, 1)};

    fixture.loop = loop_new(fixture.clock);
    fixture.store = store_open(fixture.loop, &(const struct store_options){0}, NULL);
    fixture.registry = registry_new(fixture.loop, fixture.store, &options);
    loop_settle(fixture.loop);
    return fixture;
}

static void fixture_stop(struct fixture *fixture)
{
    registry_free(fixture->registry);
    store_close(fixture->store);
    loop_free(fixture->loop);
    clock_free(fixture->clock);
}

static void a_run_has_one_namespace_and_no_accounts(void **state)
{
    struct fixture fixture = fixture_start(false);

    check_int("namespaces", store_count(fixture.store, &kind_namespace, NULL), 1);
    check_int("accounts", store_count(fixture.store, &kind_service_account, NULL), 0);
    fixture_stop(&fixture);
}

static void a_daemon_has_what_clients_look_for(void **state)
{
    struct fixture fixture = fixture_start(true);
    scoped(json) json_t *doc = json_pack("{s:s,s:s,s:{s:s}}", "apiVersion", "v1", "kind",
                                         "Namespace", "metadata", "name", "team");
    struct error_list errors = {0};

    check("system", store_get(fixture.store, &kind_namespace, "", "kube-system"));
    check("public", store_get(fixture.store, &kind_namespace, "", "kube-public"));
    check("account", store_get(fixture.store, &kind_service_account, "kube-system", "default"));
    check("made",
          registry_create(fixture.registry, doc, &(const struct registry_write){0}, NULL, &errors));
    check("its account", store_get(fixture.store, &kind_service_account, "team", "default"));
    check_int("accounts", store_count(fixture.store, &kind_service_account, NULL), 4);
    fixture_stop(&fixture);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_has_one_namespace_and_no_accounts),
        cmocka_unit_test(a_daemon_has_what_clients_look_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
