/*
 * Tests a command that reads a store while a process takes it.
 */
#include "tests/unit.h"

#include <sys/wait.h>
#include <unistd.h>

#include "cli/client/client.h"
#include "tests/support/objects.h"
#include "tests/support/store_fixture.h"

/* Longer than the store waits for another reader. */
enum { HELD_S = 3 };

/* Starts a process that opens the store, and returns when it has it. The process ends a little
 * later without an answer to anyone. */
static pid_t taken(const char *directory)
{
    struct store_fixture fixture = {.directory = (char *)(size_t)directory};
    struct error err;
    int ready[2];
    char byte = 0;
    pid_t pid;

    assert_int_equal(pipe(ready), 0);
    pid = fork();
    if (pid == 0) {
        fixture.clock = clock_virtual_new(0, 1);
        fixture.loop = loop_new(fixture.clock);
        if (!store_fixture_open(&fixture, &err) || write(ready[1], "x", 1) != 1)
            _exit(1);
        sleep(HELD_S);
        _exit(0);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return pid;
}

static void a_store_that_is_taken_meanwhile_is_read_afterwards(void **state)
{
    static const char target[] = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs";
    struct store_fixture fixture = store_fixture_new("taken");
    struct client *client;
    struct error err;
    json_t *list;
    pid_t pid;

    store_put(fixture.store, sample_object(.name = "a"));
    store_fixture_close(&fixture);
    client = client_open(fixture.directory, CLIENT_LOOK, &err);
    check_ok("open", client, err);
    pid = taken(fixture.directory);
    list = client_get(client, target, &err);
    check_ok("list", list, err);
    check_int("jobs", json_array_size(json_object_get(list, "items")), 1);
    json_decref(list);
    client_close(client);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    store_fixture_free(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_store_that_is_taken_meanwhile_is_read_afterwards),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
