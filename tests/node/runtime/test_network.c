/*
 * Tests pods in the private network, with real processes and the rights of the user who runs the
 * tests.
 */
#include "tests/unit.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "node/sandbox/network.h"
#include "node/shim/entry.h"
#include "tests/support/pods.h"

enum { LIMIT_MS = 60000 };

static struct pods_fixture *fixture;

static int set_up(void **state)
{
    struct runtime_host_options options = {.network = "private", .restart_backoff_ms = 20};
    scoped_str dir = test_path("network");

    fixture = pods_new(dir, &options);
    return 0;
}

static int tear_down(void **state)
{
    pods_free(fixture);
    return 0;
}

static int listen_mode(const char *port)
{
    const struct sockaddr_in any = {.sin_family = AF_INET,
                                    .sin_port = htons((uint16_t)strtol(port, NULL, 10))};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (bind(fd, (const struct sockaddr *)&any, sizeof any) || listen(fd, 8)) {
        perror("bind");
        return 1;
    }
    for (;;) {
        struct sockaddr_in from = {0};
        int peer = accept(fd, (struct sockaddr *)&from, &(socklen_t){sizeof from});

        dprintf(peer, "hello %s\n", inet_ntoa(from.sin_addr));
        close(peer);
    }
}

static int ask(int fd, const char *ip, const char *port, char *answer, size_t size)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)strtol(port, NULL, 10))};
    ssize_t n = -1;

    inet_pton(AF_INET, ip, &to.sin_addr);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
        n = read(fd, answer, size - 1);
    answer[n > 0 ? n : 0] = 0;
    close(fd);
    return n > 0;
}

static int ask_mode(const char *ip, const char *port)
{
    char answer[64];

    while (!ask(socket(AF_INET, SOCK_STREAM, 0), ip, port, answer, sizeof answer))
        usleep(10000); /* the server may still be starting */
    dprintf(STDOUT_FILENO, "%s", answer);
    return 0;
}

static void start_server(const char *uid, const char *ip, const char *port)
{
    pods_start(fixture,
               &(struct test_pod){uid, .ip = ip, .hostname = uid, .hosts = "127.0.0.1 localhost\n",
                                  .main = {{.argv = {test_program(), "listen", port}}}});
    check(uid, pods_phase(fixture, uid, POD_RUNNING, LIMIT_MS));
}

static void end(const char *uid)
{
    pods_runtime(fixture)->ops->stop(pods_runtime(fixture), uid, 0);
    check(uid, pods_final(fixture, uid, LIMIT_MS));
    pods_runtime(fixture)->ops->release(pods_runtime(fixture), uid);
}

/* covers: local-runtime.md LRT-08 */
static void
pods_reach_one_another_by_their_addresses_and_have_all_ports_for_themselves(void **state)
{
    scoped_str log = NULL;
    struct test_pod client = {"client", .ip = "10.127.4.9",
                              .main = {{.argv = {test_program(), "ask", "10.127.4.2", "80"}}}};
    const struct pod_status *status;

    start_server("one", "10.127.4.1", "80");
    start_server("two", "10.127.4.2", "80");
    pods_start(fixture, &client);
    status = pods_final(fixture, "client", LIMIT_MS);
    check("ends", status);
    check_int("phase", status->phase, POD_SUCCEEDED);
    log = pods_log(fixture, "client", NULL);
    check_str("who is asked sees who asks", log, "hello 10.127.4.9\n");
    pods_runtime(fixture)->ops->release(pods_runtime(fixture), "client");
    end("one");
    end("two");
}

static void the_node_reaches_pods_by_sockets_of_their_network(void **state)
{
    struct runtime *rt = pods_runtime(fixture);
    struct sockaddr_in pod = {.sin_family = AF_INET}, other = {.sin_family = AF_INET};
    char answer[64] = "";

    inet_pton(AF_INET, "10.127.4.3", &pod.sin_addr);
    inet_pton(AF_INET, "127.0.0.1", &other.sin_addr);
    start_server("probed", "10.127.4.3", "8080");
    for (int i = 0; i < LIMIT_MS / 10 && !*answer; i++) {
        int fd = rt->ops->socket_to(rt, (struct sockaddr *)&pod, SOCK_STREAM);

        check("a socket", fd >= 0);
        if (!ask(fd, "10.127.4.3", "8080", answer, sizeof answer))
            pods_run(fixture, 10);
    }
    check_str("it answers", answer, "hello 10.127.0.1\n");
    check_int("elsewhere any socket will do",
              rt->ops->socket_to(rt, (struct sockaddr *)&other, SOCK_STREAM), -1);
    end("probed");
}

static void a_pod_sees_its_own_interfaces_and_no_way_out(void **state)
{
    scoped_str log = NULL;
    struct test_pod pod = {
        "inside", .ip = "10.127.4.5",
        .main = {{.argv = {"/bin/sh", "-c",
                           "tail -n +2 /proc/net/route | cut -f1-2; "
                           "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' ' | sort"}}}};

    pods_start(fixture, &pod);
    check("ends", pods_final(fixture, "inside", LIMIT_MS));
    log = pods_log(fixture, "inside", NULL);
    check_str("one route, to the pods", log, "eth0\t00007F0A\neth0\nlo\n");
    pods_runtime(fixture)->ops->release(pods_runtime(fixture), "inside");
}

static void pods_and_their_network_outlive_the_node(void **state)
{
    struct test_pod client = {"later", .ip = "10.127.4.8",
                              .main = {{.argv = {test_program(), "ask", "10.127.4.4", "80"}}}};
    const struct pod_status *status;

    start_server("server", "10.127.4.4", "80");
    tear_down(state);
    set_up(state);
    check("found", pods_found(fixture, "server"));
    pods_start(fixture, &client);
    status = pods_final(fixture, "later", LIMIT_MS);
    check("ends", status);
    check_int("phase", status->phase, POD_SUCCEEDED);
    pods_runtime(fixture)->ops->release(pods_runtime(fixture), "later");
    end("server");
}

static void a_network_that_cannot_be_made_is_refused_with_the_reason(void **state)
{
    scoped_str dir = test_path("refused");
    struct loop *loop = loop_new(clock_real());
    struct error err = {0};

    check("refused",
          !runtime_host_new(loop,
                            &(struct runtime_host_options){
                                .directory = dir, .isolation = "plain", .network = "private"},
                            NULL, NULL, &err));
    check_int("code", err.code, ERR_UNAVAILABLE);
    check_has("what", err.message, "--network private does not work here");
    check_has("why", err.message, "level plain has no namespaces");
    loop_free(loop);
}

/* covers: local-runtime.md LRT-08 */
static void a_port_below_1024_of_the_machine_is_refused_to_a_user_and_told(void **state)
{
    scoped_str dir = test_path("shared");
    scoped_str log = NULL;
    struct test_pod pod = {"low", .ip = "127.10.4.2",
                           .main = {{.argv = {test_program(), "listen", "80"}, .port = 80}}};
    const struct pod_status *status;
    FILE *first = fopen("/proc/sys/net/ipv4/ip_unprivileged_port_start", "re");
    char line[32];
    long open_from = 1024;

    if (first && fgets(line, sizeof line, first))
        open_from = strtol(line, NULL, 10);
    if (first)
        fclose(first);
    if (!geteuid() || open_from <= 80) {
        print_message("skipped: port 80 is open to this user\n");
        return;
    }
    fixture = pods_new(dir, &(struct runtime_host_options){.isolation = "auto"});
    pods_start(fixture, &pod);
    status = pods_final(fixture, "low", LIMIT_MS);
    check("ends", status);
    check_int("phase", status->phase, POD_FAILED);
    log = pods_log(fixture, "low", NULL);
    check_has("the program says so", log, "bind: Permission denied");
    check_has("told", status->containers.items[0].message, "port 80: permission denied");
    pods_runtime(fixture)->ops->release(pods_runtime(fixture), "low");
    pods_free(fixture);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            pods_reach_one_another_by_their_addresses_and_have_all_ports_for_themselves),
        cmocka_unit_test(the_node_reaches_pods_by_sockets_of_their_network),
        cmocka_unit_test(a_pod_sees_its_own_interfaces_and_no_way_out),
        cmocka_unit_test(pods_and_their_network_outlive_the_node),
    };
    const struct CMUnitTest anywhere[] = {
        cmocka_unit_test(a_network_that_cannot_be_made_is_refused_with_the_reason),
        cmocka_unit_test(a_port_below_1024_of_the_machine_is_refused_to_a_user_and_told),
    };
    int code = shim_main(argc, argv);
    struct error err = {0};

    if (code >= 0)
        return code;
    if (argc == 3 && strcmp(argv[1], "listen") == 0)
        return listen_mode(argv[2]);
    if (argc == 4 && strcmp(argv[1], "ask") == 0)
        return ask_mode(argv[2], argv[3]);
    code = cmocka_run_group_tests(anywhere, NULL, NULL);
    if (!network_check(geteuid() ? ISOLATION_USER : ISOLATION_MOUNTS, &err)) {
        print_message("skipped: no private network here: %s\n", err.message);
        return code;
    }
    return code + cmocka_run_group_tests(tests, set_up, tear_down);
}
